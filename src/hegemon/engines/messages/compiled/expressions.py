"""Expressions of an author's function, translated: what cannot mean the same in compiled code is refused."""

import ast
import builtins
import types
from typing import Any, cast

from hegemon.engines.messages.compiled.kinds import (
    INBOX,
    LIST,
    MESSAGE,
    NODE,
    NOTHING,
    REAL,
    SELF,
    TEXT,
    VALUE,
    Untranslatable,
    call,
    expression,
    name,
    number,
    plain,
    whole,
)  # fmt: skip

Found = tuple[ast.expr, str]
EQUAL, ORDERED = (ast.Eq, ast.NotEq), (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _is_nonzero(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and bool(value.value)


class Expressions:
    """One function's expressions. `kinds`: the kind of each variable; `bound`: those that surely have a value."""

    program: Any
    function: Any
    kinds: dict[str, str]
    bound: set[str]
    renamed: dict[str, str]  # variables of the comprehensions around
    accumulator: str | None
    gathers_by_port: bool

    def value(self, node: ast.expr) -> Found:
        """The expression in compiled code, and its kind."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        found, kind = method(node)
        return ast.copy_location(found, node), kind

    def number(self, node: ast.expr) -> ast.expr:
        return self.of(VALUE, node)

    def numeric(self, node: ast.expr) -> Found:
        """A number, whole or real."""
        found, kind = self.value(node)
        return (found, REAL) if kind == REAL else (self.of(VALUE, node), VALUE)

    def of(self, kind: str, node: ast.expr) -> ast.expr:
        found, is_kind = self.value(node)
        if (kind, is_kind) == (TEXT, NOTHING):
            return ast.copy_location(number(0), node)
        if is_kind != kind:
            raise Untranslatable(f"`{ast.unparse(node)}` is {is_kind}, where {kind} is needed", node)
        return found

    def truth(self, node: ast.expr) -> ast.expr:
        """The expression as a condition."""
        if isinstance(node, ast.BoolOp):
            found: ast.expr = ast.BoolOp(node.op, [self.truth(one) for one in node.values])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = ast.UnaryOp(ast.Not(), self.truth(node.operand))
        elif isinstance(node, ast.Name) and node.id == self.accumulator and self.accumulator:
            self.surely(node)
            found = expression("w.count[0] != base")
        else:
            value, kind = self.value(node)
            tests = {VALUE: value, REAL: value, TEXT: ast.Compare(value, [ast.NotEq()], [number(0)]),
                     INBOX: expression("w.heard != 0"), NOTHING: number(False),
                     LIST: ast.Compare(ast.Call(name("len"), [value], []), [ast.NotEq()], [number(0)])}  # fmt: skip
            if kind not in tests:
                raise Untranslatable(f"`{ast.unparse(node)}` is {kind}, which is no condition", node)
            found = tests[kind]
        return ast.copy_location(found, node)

    def _constant(self, node: ast.Constant) -> Found:
        return self.constant(node.value, node)

    def constant(self, value: Any, node: ast.expr) -> Found:
        value = plain(value)
        if value is None:
            return number(0), NOTHING
        if isinstance(value, str) and value:
            return number(self.program.texts.number(str(value))), TEXT
        if isinstance(value, bool | int | float):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise Untranslatable(f"`{ast.unparse(node)}` leaves 64 bits", node)
            return number(value), REAL if isinstance(value, float) else VALUE
        raise Untranslatable(f"`{ast.unparse(node)}` is neither a number nor a text", node)

    def _name(self, node: ast.Name) -> Found:
        word = self.renamed.get(node.id, node.id)
        if word in self.kinds:
            self.surely(node)
            kind = self.kinds[word]
            return name(self.local(word)), kind
        return self.constant(self.looked_up(node), node)

    def local(self, word: str) -> str:
        """The name of an author's variable in compiled code: no name of compiled code itself is equal to it."""
        return f"own_{word}"

    def surely(self, node: ast.Name) -> None:
        """Refuse a variable that may have no value: Python notices that at run time, compiled code does not."""
        if self.renamed.get(node.id, node.id) not in self.bound:
            raise Untranslatable(f"`{node.id}` may have no value here; give it one before", node)

    def looked_up(self, node: ast.Name) -> Any:
        """What a name that is no variable of the function means."""
        function, word = self.function, node.id
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if word in self.stores:
            raise Untranslatable(f"`{word}` may have no value here; give it one before", node)
        if word in cells:
            return cells[word].cell_contents
        if word in function.__globals__:
            return function.__globals__[word]
        if hasattr(builtins, word):
            return getattr(builtins, word)
        raise Untranslatable(f"`{word}` is not known", node)

    stores: set[str]  # the names that the function assigns

    def _attribute(self, node: ast.Attribute) -> Found:
        owner = self.object(node.value)
        if owner is not None:  # of a module or a class
            if not hasattr(owner[0], node.attr):
                raise Untranslatable(f"`{ast.unparse(node)}` is not known", node)
            return self.constant(getattr(owner[0], node.attr), node)
        value, kind = self.value(node.value)
        if kind == SELF:
            return self.program.parameter(node)
        if kind == NODE:
            return ast.Attribute(name("node"), self.program.field(node), ast.Load()), self.program.field_kind(node)
        if kind == MESSAGE:
            found = self.program.message_field(node)
            if node.attr in self.program.conditional:
                return ast.Call(name(f"read_{node.attr}"), [value], []), found
            return ast.Attribute(value, node.attr, ast.Load()), found
        raise Untranslatable(f"`{ast.unparse(node)}` is not known of {kind}", node)

    def object(self, node: ast.expr) -> tuple[Any] | None:
        """The module, class or function that a name means; None if it is a value."""
        if not isinstance(node, ast.Name) or self.renamed.get(node.id, node.id) in self.kinds:
            return None
        found = self.looked_up(node)
        is_one = isinstance(found, types.ModuleType | type | types.FunctionType | types.BuiltinFunctionType)
        return (found,) if is_one else None

    def _binop(self, node: ast.BinOp) -> Found:
        (left, first), (right, second) = self.numeric(node.left), self.numeric(node.right)
        if isinstance(node.op, ast.MatMult):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        if isinstance(node.op, ast.Pow):  # of real numbers, the last digit may differ
            left, right = self.number(node.left), self.number(node.right)
        if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) and not _is_nonzero(right):
            right = ast.Call(name("nonzero"), [right], [])
        is_real = isinstance(node.op, ast.Div) or REAL in (first, second)
        return ast.BinOp(left, node.op, right), REAL if is_real else VALUE

    def _unaryop(self, node: ast.UnaryOp) -> Found:
        if isinstance(node.op, ast.Not):
            return self.truth(node), VALUE
        if isinstance(node.op, ast.Invert):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled; write -x - 1", node)
        operand, kind = self.numeric(node.operand)
        if isinstance(operand, ast.Constant) and isinstance(node.op, ast.USub):
            return number(-cast(int | float, operand.value)), kind
        return ast.UnaryOp(node.op, whole(operand) if kind == VALUE else operand), kind

    def _boolop(self, node: ast.BoolOp) -> Found:
        parts = [self.value(one) for one in node.values]
        if (kinds := {kind for _, kind in parts}) not in ({VALUE}, {REAL}):
            raise Untranslatable(f"`{ast.unparse(node)}` is a condition, and is used as a value", node)
        return ast.BoolOp(node.op, [part for part, _ in parts]), kinds.pop()

    def _ifexp(self, node: ast.IfExp) -> Found:
        test = self.truth(node.test)
        (first, kind), (second, other) = self.value(node.body), self.value(node.orelse)
        kinds = {kind, other} - ({NOTHING} if TEXT in (kind, other) else set())
        if len(kinds) != 1 or not kinds <= {VALUE, REAL, TEXT, MESSAGE}:
            raise Untranslatable(f"`{ast.unparse(node)}` is {kind} or {other}", node)
        return ast.IfExp(test, first, second), kinds.pop()

    def _compare(self, node: ast.Compare) -> Found:
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership(node)
        parts = [self.value(one) for one in (node.left, *node.comparators)]
        operators: list[ast.cmpop] = []
        for operator, (_, first), (_, second) in zip(node.ops, parts, parts[1:], strict=False):
            kinds = {first, second}
            if isinstance(operator, ast.Is | ast.IsNot):
                allowed = kinds in ({TEXT, NOTHING}, {NOTHING})
                operator = ast.Eq() if isinstance(operator, ast.Is) else ast.NotEq()
            elif isinstance(operator, EQUAL):
                allowed = kinds <= {VALUE, REAL} or kinds <= {TEXT, NOTHING}
            else:
                allowed = isinstance(operator, ORDERED) and kinds <= {VALUE, REAL}
            if not allowed:
                raise Untranslatable(f"`{ast.unparse(node)}` compares {first} with {second}", node)
            operators.append(operator)
        return ast.Compare(parts[0][0], operators, [part for part, _ in parts[1:]]), VALUE

    def _membership(self, node: ast.Compare) -> Found:
        container = node.comparators[0]
        if len(node.ops) > 1:
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        is_in = isinstance(node.ops[0], ast.In)
        if isinstance(container, ast.Tuple | ast.List | ast.Set) and isinstance(node.left, ast.Name | ast.Attribute):
            for one in container.elts:
                if not self.is_still(one):
                    what = "all of which Python evaluates, also after the first equal one; compare with == and or"
                    raise Untranslatable(f"`{ast.unparse(one)}` stands in a list, {what}", one)
            parts = [self._compare(ast.copy_location(ast.Compare(node.left, [ast.Eq()], [one]), node))[0]
                     for one in container.elts]  # fmt: skip
            found: ast.expr = ast.BoolOp(ast.Or(), parts) if len(parts) > 1 else parts[0] if parts else number(False)
        elif self.is_inbox(container):
            found = call("holds", whole(self.number(node.left)))
        else:
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        return (found if is_in else ast.UnaryOp(ast.Not(), found)), VALUE

    def is_still(self, node: ast.expr) -> bool:
        """Whether evaluating it changes nothing, draws nothing and always succeeds."""
        if isinstance(node, ast.UnaryOp):
            return self.is_still(node.operand)
        if isinstance(node, ast.BinOp):
            simple = isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
            return simple and self.is_still(node.left) and self.is_still(node.right)
        if isinstance(node, ast.Attribute):
            return self.object(node.value) is not None or self.value(node.value)[1] in (SELF, NODE)
        return isinstance(node, ast.Constant | ast.Name)

    def _subscript(self, node: ast.Subscript) -> Found:
        if not self.is_inbox(node.value):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        return call("fetch", whole(self.number(node.slice))), MESSAGE

    def is_inbox(self, node: ast.expr, method: str = "") -> bool:
        if method:
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
            return is_call and node.func.attr == method and self.is_inbox(node.func.value)  # type: ignore[attr-defined]
        return isinstance(node, ast.Name) and self.kinds.get(self.renamed.get(node.id, node.id)) == INBOX
