"""An author's function as pseudo-code: one line of LaTeX for each line of the algorithm, as papers print it."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\(<\)",
    ">": r"\(>\)",
}
SPECIAL |= {letter: f"\\{letter}" for letter in "&%$#_{}"}
UNICODE = {
    "≥": r"\(\geq\)", "≤": r"\(\leq\)", "→": r"\(\to\)", "←": r"\(\gets\)", "·": r"\(\cdot\)", "×": r"\(\times\)",
    "⌈": r"\(\lceil\)", "⌉": r"\(\rceil\)", "⌊": r"\(\lfloor\)", "⌋": r"\(\rfloor\)", "√": r"\(\surd\)", "²": r"\(^2\)",
    "∈": r"\(\in\)", "≠": r"\(\neq\)", "₂": r"\(_2\)", "…": r"\dots{}", "–": "--", "Ω": r"\(\Omega\)",
    "Θ": r"\(\Theta\)",
    "⊥": r"\(\bot\)", "λ": r"\(\lambda\)", "∪": r"\(\cup\)", "¬": r"\(\neg\)", "−": "--", "³": r"\(^3\)",
}  # fmt: skip
COMPARISONS = {
    ast.Eq: "=", ast.NotEq: r"\neq", ast.Lt: "<", ast.LtE: r"\leq", ast.Gt: ">", ast.GtE: r"\geq", ast.In: r"\in",
    ast.NotIn: r"\notin", ast.Is: "=", ast.IsNot: r"\neq",
}  # fmt: skip
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: r"\cdot", ast.Div: "/", ast.Mod: r"\bmod", ast.BitXor: r"\oplus",
    ast.BitAnd: r"\mathbin{\&}", ast.BitOr: r"\mathbin{|}", ast.LShift: r"\ll", ast.RShift: r"\gg",
}  # fmt: skip
STRENGTH = {ast.BoolOp: 1, ast.UnaryOp: 2, ast.Compare: 3, ast.BinOp: 4}


class CodeLine(NamedTuple):
    depth: int
    text: str


def escaped(text: str) -> str:
    """Plain text for LaTeX."""
    known = SPECIAL | UNICODE
    return "".join(known.get(letter, letter if ord(letter) < 0x250 else "?") for letter in text)


def pseudocode(source: str) -> list[CodeLine]:
    """The lines of a function, its heading first."""
    function = ast.parse(source).body[0]
    if not isinstance(function, ast.FunctionDef):  # a lambda that stands alone
        return [CodeLine(0, rf"\texttt{{{escaped(source.strip())}}}")]
    arguments = ", ".join(argument.arg for argument in function.args.args if argument.arg not in ("p", "self"))
    heading = CodeLine(0, rf"\textbf{{procedure}} \textsc{{{escaped(_words(function.name))}}}\(({arguments})\)")
    return [heading, *_block(function.body, 1)]


def _block(statements: list[ast.stmt], depth: int) -> Iterator[CodeLine]:
    for statement in statements:
        yield from _statement(statement, depth)


def _statement(node: ast.stmt, depth: int) -> Iterator[CodeLine]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.If):
        yield from _if(node, depth, "if")
    elif isinstance(node, ast.For):
        yield CodeLine(
            depth, rf"\textbf{{for each}} {_math(node.target)} \textbf{{in}} {_math(node.iter)} \textbf{{do}}"
        )
        yield from _block(node.body, depth + 1)
    elif isinstance(node, ast.While):
        yield CodeLine(depth, rf"\textbf{{while}} {_math(node.test)} \textbf{{do}}")
        yield from _block(node.body, depth + 1)
    elif isinstance(node, ast.Assign):
        targets = [_expression(target) for target in node.targets]
        becomes = r" \gets ".join([*targets, _expression(node.value)])
        yield CodeLine(depth, rf"\({becomes}\)")
    elif isinstance(node, ast.AugAssign):
        changed = ast.BinOp(node.target, node.op, node.value)
        yield CodeLine(depth, rf"\({_expression(node.target)} \gets {_expression(changed)}\)")
    elif isinstance(node, ast.Return):
        yield CodeLine(depth, r"\textbf{return}" + (f" {_math(node.value)}" if node.value else ""))
    elif isinstance(node, ast.Expr):
        yield CodeLine(depth, _math(node.value))
    elif isinstance(node, ast.Pass | ast.Break | ast.Continue):
        yield CodeLine(depth, rf"\textbf{{{type(node).__name__.lower().replace('pass', 'do nothing')}}}")
    else:
        yield CodeLine(depth, rf"\texttt{{{escaped(ast.unparse(node))}}}")


def _if(node: ast.If, depth: int, word: str) -> Iterator[CodeLine]:
    yield CodeLine(depth, rf"\textbf{{{word}}} {_math(node.test)} \textbf{{then}}")
    yield from _block(node.body, depth + 1)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _if(node.orelse[0], depth, "else if")
    elif node.orelse:
        yield CodeLine(depth, r"\textbf{else}")
        yield from _block(node.orelse, depth + 1)


def _math(node: ast.expr) -> str:
    return rf"\({_expression(node)}\)"


def _expression(node: ast.expr, around: int = 0) -> str:
    """A formula; parentheses where a weaker operation stands inside a stronger one."""
    strength = STRENGTH.get(type(node), 9)
    text = _plain(node, strength)
    return rf"({text})" if strength < around else text


def _plain(node: ast.expr, strength: int) -> str:
    match node:
        case ast.BoolOp():
            sign = r" \wedge " if isinstance(node.op, ast.And) else r" \vee "
            return sign.join(_expression(value, 2) for value in node.values)
        case ast.UnaryOp():
            sign = {ast.Not: r"\neg ", ast.USub: "-", ast.Invert: r"{\sim}"}.get(type(node.op), "+")
            return sign + _expression(node.operand, 4)
        case ast.Compare():
            parts = [_expression(node.left, 4)]
            for operator, value in zip(node.ops, node.comparators, strict=True):
                parts += [COMPARISONS[type(operator)], _expression(value, 4)]
            return " ".join(parts)
        case ast.BinOp(op=ast.FloorDiv()):
            return rf"\lfloor {_expression(node.left, 4)} / {_expression(node.right, 9)} \rfloor"
        case ast.BinOp(op=ast.Pow()):
            return rf"{_expression(node.left, 9)}^{{{_expression(node.right)}}}"
        case ast.BinOp():
            tight = isinstance(node.op, ast.Mult | ast.Div | ast.Mod)
            left = 9 if tight and isinstance(node.left, ast.BinOp) and _is_sum(node.left) else 4
            right = 9 if isinstance(node.right, ast.BinOp) and (tight or _is_sum(node.right)) else 4
            return f"{_expression(node.left, left)} {OPERATORS[type(node.op)]} {_expression(node.right, right)}"
        case ast.Attribute(value=ast.Name(id="p")):
            return _name(node.attr)
        case ast.Attribute():
            return rf"{_expression(node.value, 9)}.{_name(node.attr)}"
        case ast.Name():
            return _name(node.id)
        case ast.Constant(value=str()):
            return rf"\textsc{{{escaped(str(node.value))}}}"
        case ast.Constant():
            return rf"\textbf{{{str(node.value).lower()}}}" if isinstance(node.value, bool) else str(node.value)
        case ast.Call(func=ast.Name(id="range"), args=[end]):
            return rf"\{{0, \dots, {_expression(ast.BinOp(end, ast.Sub(), ast.Constant(1)))}\}}"
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            return rf"|{_expression(inner)}|"
        case ast.Call(func=ast.Name(id=name)) if not node.keywords:
            passed = [_expression(item) for item in node.args if not (isinstance(item, ast.Name) and item.id == "p")]
            known = {"max": r"\max", "min": r"\min"}.get(name, rf"\textsc{{{escaped(_words(name))}}}")
            return f"{known}({', '.join(passed)})"
        case ast.IfExp():
            return (
                rf"{_expression(node.body)} \textbf{{ if }} {_expression(node.test)} \textbf{{ else }} "
                f"{_expression(node.orelse)}"
            )
        case ast.Subscript():
            return rf"{_expression(node.value, 9)}[{_expression(node.slice)}]"
        case ast.Tuple() | ast.List() | ast.Set():
            return f"({', '.join(_expression(item) for item in node.elts)})"
        case _:
            return rf"\texttt{{{escaped(ast.unparse(node))}}}"


def _is_sum(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Add | ast.Sub)


def _words(name: str) -> str:
    return name.replace("_", "-")


def _name(name: str) -> str:
    """A name in LaTeX: one letter is a variable, several are a word; what follows an underscore is an index."""
    if match := re.fullmatch(r"([A-Za-z]+)_([A-Za-z0-9]{1,3}|max|min)", name):
        stem, index = match.groups()
        lower = index if len(index) == 1 else rf"\mathrm{{{index}}}"
        upper = stem if len(stem) == 1 else rf"\mathit{{{stem}}}"
        return rf"{upper}_{{{lower}}}"
    if len(name) == 1:
        return name
    if name.isupper():
        return rf"\textsc{{{escaped(name)}}}"
    return rf"\mathit{{{escaped(name)}}}"
