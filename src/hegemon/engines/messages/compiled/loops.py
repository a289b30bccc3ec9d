"""Loops and comprehensions of an author's function, translated."""

import ast
from typing import Any

from hegemon.engines.messages.compiled.expressions import Expressions, Found
from hegemon.engines.messages.compiled.kinds import (
    HELD,
    LIST,
    MESSAGE,
    VALUE,
    Untranslatable,
    assign,
    call,
    name,
    number,
    statements,
    whole,
)  # fmt: skip

COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp)


class Loops(Expressions):
    """Loops over ranges, lists and the inbox, and comprehensions, which are functions of their own."""

    def _listcomp(self, node: ast.ListComp) -> Found:
        """A list comprehension of whole numbers."""

        def add(element: ast.expr) -> list[ast.stmt]:
            return [ast.Expr(ast.Call(ast.Attribute(name("found"), "append", ast.Load()), [element], []))]

        self.program.allocates = True
        start = statements("found = [0]\nfound.pop()")
        return self.reduction(node, [node], start, add, statements("return found")), LIST

    def loop(self, target: ast.expr, iterable: ast.expr, inside: Any) -> list[ast.stmt]:
        """A loop over a range, the inbox or a list; `inside()` translates its body, where the targets have values."""
        targets = list(target.elts) if isinstance(target, ast.Tuple) else [target]
        if not all(isinstance(one, ast.Name) for one in targets):
            raise Untranslatable(f"`for {ast.unparse(target)} in …` cannot be compiled", target)
        ways = {("values", 1): [MESSAGE], ("items", 2): [VALUE, MESSAGE], ("keys", 1): [VALUE]}
        kinds = [VALUE] if self.is_inbox(iterable) and len(targets) == 1 else None
        for (method, length), found in ways.items():
            if self.is_inbox(iterable, method) and length == len(targets):
                kinds = found
        if kinds is not None:
            port = self.program.fresh("port")
            sources = {VALUE: name(port), MESSAGE: call("fetch", name(port))}
            filled = [assign(self.bind(one, kind), sources[kind]) for one, kind in zip(targets, kinds, strict=True)]
            body = [*statements(f"{port} = after(w, {port})\nif {port} < 0:\n    break"), *filled, *inside()]
            return [*statements(f"{port} = -1"), ast.While(number(True), body, [])]
        if len(targets) != 1:
            raise Untranslatable(f"a loop over `{ast.unparse(iterable)}` cannot be compiled", iterable)
        before: list[ast.stmt] = []
        if isinstance(iterable, ast.Call) and (self.object(iterable.func) or (None,))[0] is range:
            limits = []
            for one in self.arguments(iterable, 1, 3):
                limits.append(self.program.fresh("limit"))
                before.append(assign(limits[-1], whole(self.number(one))))
            source: ast.expr = ast.Call(name("range"), [name(one) for one in limits], [])
        else:
            is_listed = isinstance(iterable, ast.Tuple | ast.List)
            listed = self._ports(iterable) if is_listed else self.of(LIST, iterable)
            limits = [self.program.fresh("limit")]
            before.append(assign(limits[0], listed))
            source = name(limits[0])
        step = self.program.fresh("step")
        filled = [assign(self.bind(targets[0], VALUE), name(step))]
        return [*before, ast.For(name(step, stored=True), source, [*filled, *inside()], [])]

    def _ports(self, node: Any) -> ast.expr:
        """Whole numbers that are listed."""
        if not node.elts:
            raise Untranslatable("a loop over nothing cannot be compiled", node)
        return ast.Tuple([whole(self.number(one)) for one in node.elts], ast.Load())

    def bind(self, target: Any, kind: str) -> str:
        """Give a variable a value of this kind; returns its name in compiled code."""
        word = self.renamed.get(target.id, target.id)
        if self.kinds.setdefault(word, kind) != kind:
            raise Untranslatable(f"`{target.id}` is {self.kinds[word]} at first and then {kind}", target)
        self.bound.add(word)
        return self.local(word)

    def comprehended(self, generators: list[ast.comprehension], inside: Any) -> list[ast.stmt]:
        """Loops of a comprehension, whose variables are its own, around `inside()`."""
        if not generators:
            return inside()
        first, *rest = generators
        if first.is_async:
            raise Untranslatable("`async for` cannot be compiled", first.target)

        def body() -> list[ast.stmt]:
            tests = [self.truth(one) for one in first.ifs]
            deeper = self.comprehended(rest, inside)
            for test in reversed(tests):
                deeper = [ast.If(test, deeper, [])]
            return deeper

        around = self.renamed
        words = [one.id for one in ast.walk(first.target) if isinstance(one, ast.Name)]
        self.renamed = around | {word: self.program.fresh(word) for word in words}
        try:
            return self.loop(first.target, first.iter, body)
        finally:
            self.renamed = around

    def reduction(self, node: ast.expr, parts: list[ast.expr], start: list[Any], add: Any, end: list[Any]) -> ast.expr:
        """A call of a function written for this place, which goes through every element of these parts."""

        def each(element: ast.expr) -> list[ast.stmt]:
            return add(whole(self.number(element)))

        before = set(self.bound)
        body = [*start]
        for part in parts:
            if isinstance(part, ast.Starred):
                part = part.value
                if not isinstance(part, COMPREHENSIONS):
                    target, item = ast.Name("item", ast.Store()), ast.copy_location(ast.Name("item", ast.Load()), node)
                    body += self.comprehended([ast.comprehension(target, part, [], 0)], lambda item=item: each(item))
                    continue
            if isinstance(part, COMPREHENSIONS):
                body += self.comprehended(part.generators, lambda part=part: each(part.elt))
            else:
                body += each(part)
        body += end
        known = {self.local(word) for word in before if self.kinds[word] in HELD}
        read = {one.id for piece in body for one in ast.walk(piece) if isinstance(one, ast.Name)}
        given = sorted((known | {"base"}) & read)
        self.bound = before
        title = self.program.fresh("over")
        self.program.define(title, ["w", "node", *given], body, node, self.function)
        return ast.Call(name(title), [name("w"), name("node"), *map(name, given)], [])

    def arguments(self, node: ast.Call, low: int, high: int) -> list[ast.expr]:
        plain = not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
        if not plain or not low <= len(node.args) <= high:
            raise Untranslatable(f"`{ast.unparse(node)}` has arguments that cannot be compiled", node)
        return node.args
