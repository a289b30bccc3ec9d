"""Functions `(a, p)` made from expressions over fields and parameters, for sets, stops and observables.

The text is parsed by our grammar; the function is compiled from a syntax tree that is built here, node by node,
from what the grammar allows, so that no text is ever run. It means the same in plain Python and in machine code:
every number on the way fits in 63 bits, and nothing is divided by what can be zero.

A comparison that reads a field which the state does not have is false, and `not` of it is true; `present(field)`
tests whether the field exists. `unguarded` returns the fields that a text reads without that test.
"""

import ast
import types
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hegemon.errors import InvalidInput, meant, shown
from hegemon.models.expressions import calculate, parse, value_of
from hegemon.models.grammar import Call, Comparison, Logic, Name, Number, Operation, Quoted, Tree

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol

LARGEST = 2**62  # of a number in compiled code
LARGEST_FLOAT = 2**53  # beyond, a whole number beside a real one would be rounded
COMPARISONS = {"==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE}
OPERATIONS = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "^": ast.Pow,
}  # fmt: skip


class Part(NamedTuple):
    """A piece of arithmetic: its syntax, and the least and the largest value that it can have."""

    syntax: ast.expr
    low: int | float
    high: int | float


def condition(text: str | Tree, protocol: "Protocol", guarded: bool = True) -> Callable[..., Any]:
    """The function `(a, p) -> bool` of a text over fields and parameters."""
    tree = parse(text) if isinstance(text, str) else text
    return function_from(Source(SyntaxBuilder(protocol, guarded).truth(tree)))


def number(text: str, protocol: "Protocol") -> Callable[..., Any]:
    """The function `(a, p) -> number` of an arithmetic text, which may read fields that every state has."""
    tree = parse(text)
    for name in sorted(names_in(tree)):
        if name in protocol.space.names and protocol.space.presence(name):
            raise InvalidInput(f"{shown(text)} reads {name}, which not every state of {protocol.id} has; count instead")
    return function_from(Source(SyntaxBuilder(protocol, True).arithmetic(tree).syntax))


def names_in(tree: Tree) -> set[str]:
    """Every name that a tree mentions."""
    if isinstance(tree, Name):
        return {tree.name}
    return set().union(*(names_in(operand) for operand in getattr(tree, "operands", ())))


class Source:
    """A syntax tree that equals every tree of the same text, so that each function is made once."""

    def __init__(self, syntax: ast.expr | ast.FunctionDef):
        self.syntax = ast.fix_missing_locations(syntax)
        self.text = ast.unparse(syntax)

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.text == other.text


@lru_cache(maxsize=4096)
def function_from(source: Source, called: tuple[tuple[str, Callable[..., Any]], ...] = ()) -> Callable[..., Any]:
    """A function definition as a function, which may call others by these names; an expression as `(a, p)`."""
    if isinstance(source.syntax, ast.FunctionDef):
        module: ast.Module | ast.Expression = ast.Module([source.syntax], [])
    else:
        arguments = ast.arguments([], [ast.arg("a"), ast.arg("p")], None, [], [], None, [])
        module = ast.Expression(ast.Lambda(arguments, source.syntax))
    kind = "exec" if isinstance(module, ast.Module) else "eval"
    code = compile(ast.fix_missing_locations(module), "<condition>", kind)
    body = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return types.FunctionType(body, {"__name__": __name__, **dict(called)}, "condition")


class SyntaxBuilder:
    """Makes syntax from trees, for the fields and parameters of one protocol."""

    def __init__(self, protocol: "Protocol", guarded: bool):
        self.protocol, self.guarded = protocol, guarded
        self.fields: tuple[str, ...] = protocol.space.names

    # -- truth ------------------------------------------------------------------------------------------

    def truth(self, tree: Tree) -> ast.expr:
        """The syntax of a condition: logic over atoms, each guarded by the presence of what it reads."""
        if isinstance(tree, Logic):
            parts = [self.truth(operand) for operand in tree.operands]
            if tree.operator == "not":
                return ast.UnaryOp(ast.Not(), parts[0])
            return ast.BoolOp(ast.And() if tree.operator == "and" else ast.Or(), parts)
        if isinstance(tree, Call) and tree.function == "present":
            return _all(self._presence(self._field_of(tree)))
        if isinstance(tree, Comparison):
            test = self.comparison(tree)
        else:
            test = ast.Compare(self.arithmetic(tree).syntax, [ast.NotEq()], [ast.Constant(0)])
        guards: list[ast.expr] = []
        if self.guarded:
            for name in self.fields:
                if name in names_in(tree):
                    guards += [guard for guard in self._presence(name) if guard not in guards]
        return _all([*_distinct(guards), test])

    def comparison(self, tree: Comparison) -> ast.expr:
        parts = [self._side(operand, tree) for operand in tree.operands]
        for left, right in zip(parts[:-1], parts[1:], strict=True):
            _require_exact(left, right)
        operators: list[ast.cmpop] = [COMPARISONS[symbol]() for symbol in tree.operators]
        return ast.Compare(parts[0].syntax, operators, [part.syntax for part in parts[1:]])

    def _side(self, operand: Tree, tree: Comparison) -> Part:
        """One side of a comparison; a name, quoted or not, may be a value of the Choice on another side."""
        domains = self.protocol.space.domains
        beside = [other.name for other in tree.operands if isinstance(other, Name) and other.name in self.fields]
        if isinstance(operand, Name) and not {operand.name} & {*self.fields, *self.protocol.values}:
            operand = Quoted(operand.name) if any(domains[name].names for name in beside) else operand
        if not isinstance(operand, Quoted):
            return self.arithmetic(operand)
        for name in beside:
            if operand.text in domains[name].names:
                return _constant(domains[name].index(operand.text))
        if beside:
            known = ", ".join(domains[beside[0]].names) or "numbers only"
            raise InvalidInput(f"{beside[0]} of {self.protocol.id} has no value {shown(operand.text)}; it has {known}")
        raise InvalidInput(
            f"{shown(operand.text)} is compared with no field of {self.protocol.id} that has such a value"
        )

    def _field_of(self, call: Call) -> str:
        operand = call.operands[0]
        if len(call.operands) != 1 or not isinstance(operand, Name) or operand.name not in self.fields:
            raise InvalidInput(f"present asks for one field of {self.protocol.id}: {', '.join(self.fields)}")
        return operand.name

    def _presence(self, name: str) -> list[ast.expr]:
        """Tests that are all true where the field exists."""
        tests: list[ast.expr] = []
        for other, values in self.protocol.space.presence(name):
            options: list[ast.expr] = [
                ast.Compare(_attribute("a", other), [ast.Eq()], [_constant(value).syntax]) for value in values
            ]
            tests.append(options[0] if len(options) == 1 else ast.BoolOp(ast.Or(), options))
        return tests

    # -- arithmetic -------------------------------------------------------------------------------------

    def arithmetic(self, tree: Tree) -> Part:
        """The syntax of a number, which reads fields as `a.field` and parameters as `p.parameter`."""
        if isinstance(tree, Name):
            return self.name(tree.name)
        if isinstance(tree, Number):
            return _constant(tree.value)
        if isinstance(tree, Operation) and tree.operator in "+-*":
            return self._operation(tree.operator, *(self.arithmetic(operand) for operand in tree.operands))
        if isinstance(tree, Operation | Call) and not self.reads(tree):
            return self._fixed(tree)
        if isinstance(tree, Operation):
            divisor = tree.operands[1]
            if self.reads(divisor):
                raise InvalidInput(
                    f"{tree.operator} by a field may divide by zero or overflow; use a fixed number there"
                )
            return self._operation(tree.operator, self.arithmetic(tree.operands[0]), self._fixed(divisor))
        if isinstance(tree, Call) and tree.function in ("min", "max", "abs"):
            return self._call(tree)
        what = f"{tree.function}(…) of fields" if isinstance(tree, Call) else "a truth value or a name in quotes"
        raise InvalidInput(f"{what} where a number belongs; a condition may only compare and calculate with fields")

    def reads(self, tree: Tree) -> bool:
        """Whether a tree reads anything that is not fixed by the parameters."""
        return bool(names_in(tree) & set(self.fields))

    def name(self, name: str) -> Part:
        values = self.protocol.values
        if name in self.fields:
            return Part(_attribute("a", name), *self.protocol.space.bounds[name])
        if name not in values:
            known = ", ".join([*self.protocol.space.columns, *values])
            raise InvalidInput(
                f"a condition mentions {name!r}; {self.protocol.id} knows {known}{meant(name, (*self.fields, *values))}"
            )
        value = value_of(Name(name), values)
        return _checked(_attribute("p", name), value, value)

    def _fixed(self, tree: Tree) -> Part:
        """A number of the parameters alone: calculated now."""
        try:
            return _constant(value_of(tree, self.protocol.values))
        except InvalidInput:
            raise
        except (ArithmeticError, ValueError) as error:
            raise InvalidInput(f"a part of the condition has no value ({error})") from None

    def _operation(self, symbol: str, left: Part, right: Part | None = None) -> Part:
        if right is None:
            return Part(ast.UnaryOp(ast.USub(), left.syntax), -left.high, -left.low)
        _require_exact(left, right)
        if symbol == "^" and not (isinstance(right.low, int) and right.low >= 0):
            raise InvalidInput("a field may only be raised to a whole power from 0 on")
        if symbol in ("/", "//", "%") and right.low == 0:
            raise InvalidInput("a condition divides by zero")
        syntax = ast.BinOp(left.syntax, OPERATIONS[symbol](), right.syntax)
        if symbol == "%":
            return _checked(syntax, min(right.low, 0), max(right.low, 0))
        corners = [calculate(symbol, x, y) for x in (left.low, left.high) for y in (right.low, right.high)]
        if symbol == "^" and left.low < 0 < left.high:
            corners.append(0)
        if symbol == "/":
            corners = [float(corner) for corner in corners]
        return _checked(syntax, min(corners), max(corners))

    def _call(self, tree: Call) -> Part:
        parts = [self.arithmetic(operand) for operand in tree.operands]
        syntax = ast.Call(ast.Name(tree.function, ast.Load()), [part.syntax for part in parts], [])
        if tree.function == "abs":
            if len(parts) != 1:
                raise InvalidInput("abs takes one number")
            low, high = parts[0].low, parts[0].high
            return _checked(syntax, 0, max(abs(low), abs(high)))
        if len(parts) < 2:
            raise InvalidInput(f"{tree.function} takes two numbers or more")
        for part in parts[1:]:
            _require_exact(parts[0], part)
        choose: Callable[..., Any] = min if tree.function == "min" else max
        return _checked(syntax, choose(part.low for part in parts), choose(part.high for part in parts))


def _attribute(owner: str, name: str) -> ast.expr:
    return ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Load())


def _constant(value: int | float) -> Part:
    syntax: ast.expr = ast.Constant(abs(value))
    return _checked(ast.UnaryOp(ast.USub(), syntax) if value < 0 else syntax, value, value)


def _checked(syntax: ast.expr, low: int | float, high: int | float) -> Part:
    if max(abs(low), abs(high)) >= LARGEST:
        raise InvalidInput("a number of the condition may go beyond 2^62; scale it down")
    return Part(syntax, low, high)


def _require_exact(left: Part, right: Part) -> None:
    """Refuse whole numbers that would be rounded when combined with real ones."""
    bounds = (left.low, left.high, right.low, right.high)
    if any(isinstance(bound, float) for bound in bounds) and max(map(abs, bounds)) > LARGEST_FLOAT:
        raise InvalidInput("a condition mixes real numbers with whole ones beyond 2^53, which would be rounded")


def _distinct(tests: list[ast.expr]) -> list[ast.expr]:
    return list({ast.unparse(test): test for test in tests}.values())


def _all(tests: list[ast.expr]) -> ast.expr:
    if not tests:
        return ast.Constant(True)
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
