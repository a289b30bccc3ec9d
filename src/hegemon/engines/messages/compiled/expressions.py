"""Expressions of an author's function, translated: what cannot mean the same in compiled code is refused."""

import ast
import builtins
import types
from typing import Any

from hegemon.engines.messages.compiled.kinds import (
    HELD,
    INBOX,
    LIST,
    MESSAGE,
    NODE,
    NOTHING,
    RNG,
    SELF,
    TEXT,
    VALUE,
    Untranslatable,
    assign,
    call,
    expression,
    name,
    number,
    plain,
    raised,
    statements,
    whole,
)  # fmt: skip

Found = tuple[ast.expr, str]
EQUAL, ORDERED = (ast.Eq, ast.NotEq), (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
COINS = {"randint": (2, 2), "randrange": (1, 2), "random": (0, 0), "getrandbits": (1, 1)}
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp)


class Expressions:
    """One function's expressions. `kinds` says what each of its variables is, `bound` which surely have a value."""

    program: Any
    function: types.FunctionType
    kinds: dict[str, str]
    bound: set[str]
    renamed: dict[str, str]  # variables of the comprehensions around
    accumulator: str | None

    # -- values ----------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Found:
        """The expression in compiled code, and its kind."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        found, kind = method(node)
        return ast.copy_location(found, node), kind

    def number(self, node: ast.expr) -> ast.expr:
        return self.of(VALUE, node)

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
            tests = {VALUE: value, TEXT: ast.Compare(value, [ast.NotEq()], [number(0)]),
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
            return number(value), VALUE
        raise Untranslatable(f"`{ast.unparse(node)}` is neither a number nor a text", node)

    def _name(self, node: ast.Name) -> Found:
        word = self.renamed.get(node.id, node.id)
        if word in self.kinds:
            self.surely(node)
            kind = self.kinds[word]
            return name(self.local(word)), kind
        return self.constant(self.looked_up(node), node)

    def local(self, word: str) -> str:
        """The author's variables have names that compiled code's own have not."""
        return f"own_{word}"

    def surely(self, node: ast.Name) -> None:
        """Python notices a variable without a value, compiled code does not."""
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
        left, right = self.number(node.left), self.number(node.right)
        if isinstance(node.op, ast.MatMult):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        if isinstance(node.op, ast.Pow):  # of real numbers the last digit is another
            left, right = whole(left), whole(right)
        return ast.BinOp(left, node.op, right), VALUE

    def _unaryop(self, node: ast.UnaryOp) -> Found:
        if isinstance(node.op, ast.Not):
            return self.truth(node), VALUE
        if isinstance(node.op, ast.Invert):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled; write -x - 1", node)
        operand = self.number(node.operand)
        if isinstance(operand, ast.Constant) and isinstance(node.op, ast.USub):
            return number(-operand.value), VALUE
        return ast.UnaryOp(node.op, whole(operand)), VALUE

    def _boolop(self, node: ast.BoolOp) -> Found:
        if all(isinstance(one, ast.Compare | ast.BoolOp | ast.UnaryOp) for one in node.values):
            return self.truth(node), VALUE
        parts = [self.value(one) for one in node.values]
        if {kind for _, kind in parts} != {VALUE}:
            raise Untranslatable(f"`{ast.unparse(node)}` is a condition, and is used as a value", node)
        return ast.BoolOp(node.op, [part for part, _ in parts]), VALUE

    def _ifexp(self, node: ast.IfExp) -> Found:
        test = self.truth(node.test)
        (first, kind), (second, other) = self.value(node.body), self.value(node.orelse)
        kinds = {kind, other} - ({NOTHING} if TEXT in (kind, other) else set())
        if len(kinds) != 1 or not kinds <= {VALUE, TEXT, MESSAGE}:
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
                allowed = kinds == {VALUE} or kinds <= {TEXT, NOTHING}
            else:
                allowed = isinstance(operator, ORDERED) and kinds == {VALUE}
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
            parts = [self._compare(ast.copy_location(ast.Compare(node.left, [ast.Eq()], [one]), node))[0]
                     for one in container.elts]  # fmt: skip
            found: ast.expr = ast.BoolOp(ast.Or(), parts) if len(parts) > 1 else parts[0] if parts else number(False)
        elif self.is_inbox(container):
            found = call("holds", whole(self.number(node.left)))
        else:
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        return (found if is_in else ast.UnaryOp(ast.Not(), found)), VALUE

    def _subscript(self, node: ast.Subscript) -> Found:
        if not self.is_inbox(node.value):
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
        return call("fetch", whole(self.number(node.slice))), MESSAGE

    def _listcomp(self, node: ast.ListComp) -> Found:
        """A list of whole numbers, which is made at once."""

        def add(element: ast.expr) -> list[ast.stmt]:
            return [ast.Expr(ast.Call(ast.Attribute(name("found"), "append", ast.Load()), [element], []))]

        self.program.allocates = True
        start = statements("found = [0]\nfound.pop()")
        return self.reduction(node, [node], start, add, statements("return found")), LIST

    # -- iterating -------------------------------------------------------------------------------------------------

    def is_inbox(self, node: ast.expr, method: str = "") -> bool:
        if method:
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
            return is_call and node.func.attr == method and self.is_inbox(node.func.value)  # type: ignore[attr-defined]
        return isinstance(node, ast.Name) and self.kinds.get(self.renamed.get(node.id, node.id)) == INBOX

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
            found = self._ports(iterable) if isinstance(iterable, ast.Tuple | ast.List) else self.of(LIST, iterable)
            limits = [self.program.fresh("limit")]
            before.append(assign(limits[0], found))
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
        """Let a variable have a value of this kind; its name in compiled code."""
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

    def reduction(self, node: ast.expr, parts: list[ast.expr], start: list, add: Any, end: list) -> ast.expr:
        """A call of a function made for this place, which takes in every element of these parts."""

        def each(element: ast.expr) -> list[ast.stmt]:
            return add(whole(self.number(element)))

        before = set(self.bound)
        body = [*start]
        for part in parts:
            if isinstance(part, ast.Starred):
                part = part.value
                if not isinstance(part, COMPREHENSIONS):
                    body += self.comprehended([ast.comprehension(ast.Name("item", ast.Store()), part, [], 0)],
                                              lambda: each(ast.copy_location(ast.Name("item", ast.Load()), node)))  # fmt: skip
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

    # -- calls -----------------------------------------------------------------------------------------------------

    def arguments(self, node: ast.Call, low: int, high: int) -> list[ast.expr]:
        plain = not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
        if not plain or not low <= len(node.args) <= high:
            raise Untranslatable(f"`{ast.unparse(node)}` has arguments that cannot be compiled", node)
        return node.args

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
            return ast.Call(name(method if method != "random" else "uniform"), [coins, *numbers], []), VALUE
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
        return call(self.program.maker(tuple(words)), *values), MESSAGE  # type: ignore[arg-type]

    def _builtin(self, node: ast.Call, function: Any) -> Found:
        if function in (abs, int):
            return ast.Call(
                name(function.__name__), [self.number(one) for one in self.arguments(node, 1, 1)], []
            ), VALUE
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
            none = [ast.Return(whole(self.number(default["default"])))]
        end = [ast.If(expression("not any_yet"), none, []), *statements("return best")]
        return self.reduction(node, parts, statements("any_yet = False\nbest = 0"), compared, end)
