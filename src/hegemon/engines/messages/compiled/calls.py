"""Calls in an author's function, translated."""

import ast
import types
from typing import Any

from hegemon.engines.messages.compiled.expressions import Found
from hegemon.engines.messages.compiled.kinds import (
    INBOX,
    LIST,
    MESSAGE,
    REAL,
    RNG,
    SELF,
    VALUE,
    Untranslatable,
    assign,
    call,
    expression,
    name,
    number,
    raised,
    statements,
    whole,
)  # fmt: skip
from hegemon.engines.messages.compiled.loops import COMPREHENSIONS, Loops

STILL = (ast.Constant, ast.Name, ast.UnaryOp, ast.unaryop, ast.expr_context)  # whatever else happens has the same value
COINS = {"randint": (2, 2), "randrange": (1, 2), "random": (0, 0), "getrandbits": (1, 1)}


class Calls(Loops):
    """Calls of coins, messages, functions of the author's own and a few of Python's."""

    def _call(self, node: ast.Call) -> Found:
        if isinstance(node.func, ast.Name):
            found = self.object(node.func)
            if found is None:
                raise Untranslatable(f"`{ast.unparse(node.func)}` cannot be called in compiled code", node)
            if isinstance(found[0], types.FunctionType):
                return self.program.called(self, node, found[0], [])
            return self._builtin(node, found[0])
        if not isinstance(node.func, ast.Attribute) or self.object(node.func.value) is not None:
            raise Untranslatable(f"`{ast.unparse(node.func)}` cannot be called in compiled code", node)
        _, kind = self.value(node.func.value)
        method = node.func.attr
        if kind == SELF and method == "message":
            return self._message(node)
        if kind == SELF:
            function, first = self.program.method(node)
            return self.program.called(self, node, function, first)
        if kind == RNG and method in COINS:
            numbers = [whole(self.number(one)) for one in self.arguments(node, *COINS[method])]
            if method == "randrange" and len(numbers) == 1:
                numbers = [number(0), *numbers]
            coins = ast.Attribute(name("w"), "rng", ast.Load())
            kind = REAL if method == "random" else VALUE
            return ast.Call(name(method if method != "random" else "uniform"), [coins, *numbers], []), kind
        if kind == RNG:
            known = ", ".join(f"rng.{one}" for one in COINS)
            raise Untranslatable(f"`{ast.unparse(node.func)}` cannot be compiled, only {known}", node)
        raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)

    def _message(self, node: ast.Call) -> Found:
        words = [one.arg for one in node.keywords]
        if node.args or None in words:
            raise Untranslatable(f"`{ast.unparse(node)}` must give its fields by name", node)
        values = []
        for one in node.keywords:
            if one.arg not in self.program.message_kinds:
                raise Untranslatable(f"`{ast.unparse(node)}`: a message has no field {one.arg}", node)
            kind = self.program.message_kinds[one.arg]
            found = self.of(kind, one.value)
            values.append(whole(found) if kind == VALUE else found)
        return call(self.program.maker(tuple(words)), *values), MESSAGE

    def _builtin(self, node: ast.Call, function: Any) -> Found:
        if function in (abs, int):
            found, kind = self.numeric(self.arguments(node, 1, 1)[0])
            return ast.Call(name(function.__name__), [found], []), VALUE if function is int else kind
        if function is bool:
            return ast.Compare(self.truth(self.arguments(node, 1, 1)[0]), [ast.NotEq()], [number(0)]), VALUE
        if function is len:
            return self._len(node), VALUE
        if function in (max, min, sum, any, all):
            return self._reduced(node, function), VALUE
        raise Untranslatable(f"`{ast.unparse(node.func)}` cannot be called in compiled code", node)

    def _len(self, node: ast.Call) -> ast.expr:
        (what,) = self.arguments(node, 1, 1)
        if isinstance(what, ast.Name) and what.id == self.accumulator:
            self.surely(what)
            if self.gathers_by_port:
                raise Untranslatable(f"`{ast.unparse(node)}` counts a repeated port once; count in a variable", node)
            return expression("w.count[0] - base")
        found, kind = self.value(what)
        if kind == INBOX:
            return expression("w.heard")
        if kind != LIST:
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        return ast.Call(name("len"), [found], [])

    def _reduced(self, node: ast.Call, function: Any) -> ast.expr:
        parts = list(node.args)
        default = {one.arg: one.value for one in node.keywords}
        if len(parts) == 1 and isinstance(parts[0], ast.List | ast.Tuple):
            parts = list(parts[0].elts)
        elif len(parts) == 1 and not isinstance(parts[0], ast.Starred):
            parts = [parts[0] if isinstance(parts[0], COMPREHENSIONS) else ast.Starred(parts[0], ast.Load())]
        elif function in (sum, any, all):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        if default.keys() - ({"default"} if function in (max, min) else set()):
            raise Untranslatable(f"`{ast.unparse(node)}` has arguments that cannot be compiled", node)
        if function is sum:
            added = lambda element: [ast.AugAssign(name("total", stored=True), ast.Add(), element)]  # noqa: E731
            return self.reduction(node, parts, statements("total = 0"), added, statements("return total"))
        if function in (any, all):
            sign = function is all
            lazy = len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)

            def tested(element: ast.expr) -> list[ast.stmt]:
                leave = statements(f"return {not sign}" if lazy else f"found = {not sign}")
                is_true = ast.Compare(element, [ast.Eq() if sign else ast.NotEq()], [number(0)])
                return [ast.If(is_true, leave, [])]

            return self.reduction(node, parts, statements(f"found = {sign}"), tested, statements("return found"))
        order = ast.Gt() if function is max else ast.Lt()

        def compared(element: ast.expr) -> list[ast.stmt]:
            better = ast.BoolOp(
                ast.Or(), [expression("not any_yet"), ast.Compare(name("item"), [order], [name("best")])]
            )
            return [assign("item", element), ast.If(better, statements("best = item\nany_yet = True"), [])]

        none: list[ast.stmt] = raised()
        if "default" in default:
            if any(not isinstance(one, STILL) for one in ast.walk(default["default"])):
                what = "which Python evaluates before the elements; write it into a variable before"
                raise Untranslatable(f"default={ast.unparse(default['default'])}, {what}", node)
            none = [ast.Return(whole(self.number(default["default"])))]
        end = [ast.If(expression("not any_yet"), none, []), *statements("return best")]
        return self.reduction(node, parts, statements("any_yet = False\nbest = 0"), compared, end)
