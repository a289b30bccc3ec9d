"""Statements of an author's function, translated, and what it returns: messages by port.

Messages that are returned are put down one after the other (`push`), and are taken from there when the node's call has
ended. A variable in which a function gathers messages is the part of them that this function has put down so far, from
`base` on; a function that returns something else removes them.
"""

import ast
import inspect
import types
from typing import Any

from hegemon.engines.messages.compiled.calls import Calls
from hegemon.engines.messages.compiled.kinds import (
    ANSWER,
    HELD,
    MESSAGE,
    NODE,
    NOTHING,
    SINGLE,
    TEXT,
    Untranslatable,
    assign,
    call,
    name,
    raised,
    statements,
    whole,
)  # fmt: skip

GATHERING = {"append": 1, "extend": 1, "update": 1}


class Function(Calls):
    """One function of an author, for arguments of given kinds."""

    def __init__(self, program: Any, function: types.FunctionType, tree: ast.FunctionDef, kinds: list[str]):
        self.program, self.function, self.renamed, self.accumulator = program, function, {}, None
        words = [one.arg for one in tree.args.args]
        self.kinds = dict(zip(words, kinds, strict=True))
        self.bound = set(words)
        self.given = [word for word, kind in self.kinds.items() if kind not in SINGLE]
        self.gathers_by_port = self._gathers_by_port(tree)
        self.stores = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        self.returned: set[str] = set()
        body = self.block(tree.body)
        if not self._ends(tree.body):
            self.returned.add(NOTHING)
            body += self._taken_back()
        if ANSWER in self.returned:
            self.returned.discard(NOTHING)
        if len(self.returned) > 1:
            raise Untranslatable(f"{tree.name} returns {' or '.join(sorted(self.returned))}", tree)
        (self.kind,) = self.returned or {NOTHING}
        self.body = [*statements("base = w.count[0]"), *body]

    def _gathers_by_port(self, tree: ast.FunctionDef) -> bool:
        """Whether a variable may be a dictionary of messages, where a port that is repeated counts once."""
        values = [one.value for one in ast.walk(tree) if isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign)]
        made = [part for value in values if value is not None for part in ast.walk(value)]
        calls = [one.func for one in made if isinstance(one, ast.Call)]
        named = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in calls}
        return bool(named & {"dict", "fromkeys"}) or any(isinstance(one, ast.Dict | ast.DictComp) for one in made)

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            method = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is None:
                raise Untranslatable(f"`{ast.unparse(statement).splitlines()[0]}` cannot be compiled", statement)
            for one in method(statement):
                made.append(ast.fix_missing_locations(ast.copy_location(one, statement)))
        return made or [ast.Pass()]

    def _ends(self, body: list[ast.stmt]) -> bool:
        """Whether nothing after these statements is reached."""
        last = body[-1] if body else None
        if isinstance(last, ast.If):
            return self._ends(last.body) and self._ends(last.orelse)
        return isinstance(last, ast.Return | ast.Continue | ast.Break)

    def _do_pass(self, node: ast.Pass) -> list[ast.stmt]:
        return [node]

    _do_break = _do_continue = _do_pass

    def _do_raise(self, node: ast.Raise) -> list[ast.stmt]:
        return raised()

    def _do_assert(self, node: ast.Assert) -> list[ast.stmt]:
        return [ast.If(ast.UnaryOp(ast.Not(), self.truth(node.test)), raised(), [])]

    def _do_if(self, node: ast.If) -> list[ast.stmt]:
        test, before = self.truth(node.test), set(self.bound)
        branches, after = [], []
        for body in (node.body, node.orelse):
            self.bound = set(before)
            branches.append(self.block(body) if body else [])
            after += [] if self._ends(body) else [self.bound]
        self.bound = set.intersection(*after) if after else before
        return [ast.If(test, *branches)]

    def _do_while(self, node: ast.While) -> list[ast.stmt]:
        if node.orelse:
            raise Untranslatable("`else` of a loop cannot be compiled", node)
        test, before = self.truth(node.test), set(self.bound)
        body = self.block(node.body)
        self.bound = before
        return [ast.While(test, body, [])]

    def _do_for(self, node: ast.For) -> list[ast.stmt]:
        if node.orelse:
            raise Untranslatable("`else` of a loop cannot be compiled", node)
        before = set(self.bound)
        made = self.loop(node.target, node.iter, lambda: self.block(node.body))
        self.bound = before
        return made

    def _do_return(self, node: ast.Return) -> list[ast.stmt]:
        if node.value is None or self.is_answer(node.value):
            self.returned.add(NOTHING if node.value is None else ANSWER)
            return [*self._anew(node.value), ast.Return(None)]
        found, kind = self.value(node.value)
        if kind in (NOTHING, ANSWER):
            self.returned.add(ANSWER if kind == ANSWER else NOTHING)
            called = [ast.Expr(found)] if isinstance(found, ast.Call) else []
            return [*self._taken_back(), *called, ast.Return(None)]
        if kind not in HELD:
            raise Untranslatable(f"{kind} cannot be returned", node)
        self.returned.add(kind)
        held = self.program.fresh("held")
        return [assign(held, found), *self._taken_back(), ast.Return(name(held))]

    def _do_expr(self, node: ast.Expr) -> list[ast.stmt]:
        value = node.value
        if isinstance(value, ast.Constant):
            return []  # a description
        if not isinstance(value, ast.Call):
            raise Untranslatable(f"`{ast.unparse(value)}` has no effect", node)
        owner = value.func.value if isinstance(value.func, ast.Attribute) else None
        method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        if isinstance(owner, ast.Name) and self.kinds.get(owner.id) == NODE and method == "wake_at":
            return [ast.Expr(call("wake", whole(self.number(self.arguments(value, 1, 1)[0]))))]
        if isinstance(owner, ast.Name) and owner.id == self.accumulator and method in GATHERING:
            self.surely(owner)
            (what,) = self.arguments(value, 1, 1)
            return self.pushed(what) if method == "append" else self.answer(what)
        found, kind = self.value(value)
        if kind == ANSWER:
            raise Untranslatable(f"`{ast.unparse(value)}` makes messages that are not sent", node)
        return [ast.Expr(found)]

    # -- assignments -----------------------------------------------------------------------------------------------

    def _do_annassign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return []
        return self._do_assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _do_assign(self, node: ast.Assign) -> list[ast.stmt]:
        (target, *others), value = node.targets, node.value
        if not others and isinstance(target, ast.Subscript) and self._is_gathered(target.value):
            held = self.program.fresh("held")
            return [assign(held, self.of(MESSAGE, value)), self._push(target.slice, name(held))]
        if not others and isinstance(target, ast.Name) and self.is_answer(value):
            if self.accumulator not in (None, target.id):
                raise Untranslatable("a function can gather messages in one variable only", node)
            self.accumulator = target.id
            made = self._anew(value)
            self.bind(target, ANSWER)
            return made
        if not others and isinstance(target, ast.Tuple):
            if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
                raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
            parts = [self.value(one) for one in value.elts]
            places = [self._target(one, kind) for one, (_, kind) in zip(target.elts, parts, strict=True)]
            values = ast.Tuple([part for part, _ in parts], ast.Load())
            return [ast.Assign([ast.Tuple(places, ast.Store())], values)]
        found, kind = self.value(value)
        if kind in SINGLE:
            for one in node.targets:
                if not isinstance(one, ast.Name):
                    raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
                self.bind(one, kind)
            return []
        return [ast.Assign([self._target(one, kind) for one in node.targets], found)]

    def _target(self, target: ast.expr, kind: str) -> ast.expr:
        kind = TEXT if kind == NOTHING else kind
        if isinstance(target, ast.Name) and kind in HELD:
            return name(self.bind(target, kind), stored=True)
        if isinstance(target, ast.Attribute) and self.value(target.value)[1] == NODE:
            wanted = self.program.field_kind(target, changed=True)
            if wanted != kind:
                raise Untranslatable(f"{kind} is written into `{ast.unparse(target)}`, which is {wanted}", target)
            return ast.Attribute(name("node"), self.program.field(target), ast.Store())
        raise Untranslatable(f"`{ast.unparse(target)} = …` cannot be compiled", target)

    def _do_augassign(self, node: ast.AugAssign) -> list[ast.stmt]:
        if self._is_gathered(node.target):
            if not isinstance(node.op, ast.Add | ast.BitOr):
                raise Untranslatable(f"`{ast.unparse(node)}` cannot be compiled", node)
            return self.answer(node.value)
        read = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        for part in ast.walk(read):
            ast.copy_location(part, node)
        return self._do_assign(ast.copy_location(ast.Assign([node.target], ast.copy_location(
            ast.BinOp(read, node.op, node.value), node)), node))  # fmt: skip

    def _is_gathered(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and self.accumulator and node.id == self.accumulator:
            self.surely(node)
            return True
        return False

    # -- messages by port ------------------------------------------------------------------------------------------

    def is_answer(self, node: ast.expr) -> bool:
        """Whether the expression is written as messages by port."""
        if isinstance(node, ast.IfExp):
            return self.is_answer(node.body) or self.is_answer(node.orelse)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Add | ast.BitOr) and (
                self.is_answer(node.left) or self.is_answer(node.right)
            )
        if isinstance(node, ast.ListComp):
            return isinstance(node.elt, ast.Tuple)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fromkeys":
            return self.object(node.func.value) == (dict,)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.object(node.func) in ((dict,), (list,)) and not node.args and not node.keywords
        is_gathered = isinstance(node, ast.Name) and self.accumulator is not None and node.id == self.accumulator
        return is_gathered or isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.DictComp)

    def _anew(self, node: ast.expr | None) -> list[ast.stmt]:
        """Replace the messages gathered so far by these."""
        first = node
        while isinstance(first, ast.BinOp):
            first = first.left
        goes_on = isinstance(first, ast.Name) and self.accumulator is not None and first.id == self.accumulator
        if goes_on and first is node:
            self.surely(first)  # type: ignore[arg-type]
        taken = [] if goes_on else self._taken_back()
        return [*taken, *(self.answer(node, goes_on) if node is not None else [])]

    def _taken_back(self) -> list[ast.stmt]:
        return statements("w.count[0] = base")

    def answer(self, node: ast.expr, goes_on: bool = False) -> list[ast.stmt]:
        """Statements that put these messages down; with `goes_on` the first of them are there already."""
        if isinstance(node, ast.Constant) and node.value is None:
            return []
        if isinstance(node, ast.Name) and goes_on and node.id == self.accumulator:
            self.surely(node)
            return []
        if isinstance(node, ast.BinOp):
            return [*self.answer(node.left, goes_on), *self.answer(node.right)]
        if isinstance(node, ast.IfExp):
            test = self.truth(node.test)
            branches = [self.answer(one) or [ast.Pass()] for one in (node.body, node.orelse)]
            return [ast.If(test, *branches)]
        if isinstance(node, ast.Dict):
            made = []
            for key, value in zip(node.keys, node.values, strict=True):
                made += self.answer(value) if key is None else self._pair(key, value)
            return made
        if isinstance(node, ast.List | ast.Tuple):
            return [one for pair in node.elts for one in
                    (self.answer(pair.value) if isinstance(pair, ast.Starred) else self.pushed(pair))]  # fmt: skip
        if isinstance(node, ast.DictComp):
            return self._comprehension(node.generators, lambda: self._pair(node.key, node.value))
        if isinstance(node, ast.ListComp):
            return self._comprehension(node.generators, lambda: self.pushed(node.elt))
        if isinstance(node, ast.Call) and self.is_answer(node):
            return self._same_for_all(node) if node.args else []
        found, kind = self.value(node)
        if kind != ANSWER or not isinstance(found, ast.Call):
            raise Untranslatable(f"`{ast.unparse(node)}` is {kind}, where {ANSWER} are needed", node)
        return [ast.Expr(found)]

    def _comprehension(self, generators: list[ast.comprehension], inside: Any) -> list[ast.stmt]:
        before = set(self.bound)
        made = self.comprehended(generators, inside)
        self.bound = before
        return made

    def _same_for_all(self, node: ast.Call) -> list[ast.stmt]:
        """dict.fromkeys(ports, message)."""
        ports, message = self.arguments(node, 2, 2)
        target = ast.copy_location(ast.Name("port", ast.Store()), node)
        held = self.program.fresh("held")
        read = ast.copy_location(ast.Name("port", ast.Load()), node)
        loop = self._comprehension([ast.comprehension(target, ports, [], 0)], lambda: [self._push(read, name(held))])
        made = assign(held, self.of(MESSAGE, message))
        return [*loop[:-1], made, loop[-1]]  # the arguments are evaluated in their order, and then the loop begins

    def pushed(self, pair: ast.expr) -> list[ast.stmt]:
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            raise Untranslatable(f"`{ast.unparse(pair)}` is no pair of a port and a message", pair)
        return self._pair(*pair.elts)

    def _pair(self, port: ast.expr, message: ast.expr) -> list[ast.stmt]:
        held = self.program.fresh("to")
        return [assign(held, whole(self.number(port))), ast.Expr(call("push", name(held), self.of(MESSAGE, message)))]

    def _push(self, port: ast.expr, message: ast.expr) -> ast.stmt:
        return ast.Expr(call("push", whole(self.number(port)), message))


def tree_of(function: types.FunctionType) -> tuple[ast.FunctionDef, str]:
    """The syntax of an author's function, with the lines of its file, and the file."""
    try:
        lines, first = inspect.getsourcelines(function)
        indented = lines[0][:1].isspace()
        tree: ast.AST = ast.parse(("if 1:\n" if indented else "") + "".join(lines)).body[0]
        tree = tree.body[0] if isinstance(tree, ast.If) else tree
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        raise Untranslatable(f"the text of {function.__qualname__} cannot be read") from None
    if not isinstance(tree, ast.FunctionDef):
        raise Untranslatable(f"{function.__qualname__} is not written as a function")
    ast.increment_lineno(tree, first - 1 - indented)
    given = tree.args
    decorators = [one for one in tree.decorator_list if ast.unparse(one) != "staticmethod"]
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or decorators:
        raise Untranslatable(f"{tree.name} has arguments or a decorator that cannot be compiled", tree)
    return tree, function.__code__.co_filename
