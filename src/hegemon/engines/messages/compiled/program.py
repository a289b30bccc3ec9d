"""A protocol's `begin` and `round` as compiled functions, with the numbers and arrays that they work on."""

import ast
import copy
import inspect
import re
import types
from collections import namedtuple
from functools import cache, cached_property
from typing import Any

import numpy as np

from hegemon.compute import mersenne
from hegemon.compute.border import NumbaError, ingredient
from hegemon.compute.compilation import part, specialize
from hegemon.compute.intrinsics import require
from hegemon.engines.messages.compiled import kernel
from hegemon.engines.messages.compiled.formats import plumbing
from hegemon.engines.messages.compiled.kinds import (
    ANSWER,
    HELD,
    INBOX,
    NODE,
    NOTHING,
    REAL,
    RNG,
    SELF,
    SINGLE,
    TEXT,
    VALUE,
    Texts,
    Untranslatable,
    expression,
    name,
    plain,
)  # fmt: skip
from hegemon.engines.messages.compiled.statements import Function, tree_of
from hegemon.errors import InvalidInput
from hegemon.models.messages import MessageProtocol

OWN = ("wake", "after", "holds", "nonzero")  # of the kernel, which translated functions call
COINS = ("randint", "randrange", "getrandbits", "uniform")
READ_ONLY = ("round", "degree", "identifier")


class Program:
    """A protocol's translated functions. Raises Untranslatable where one cannot be translated."""

    def __init__(self, protocol: MessageProtocol):
        self.protocol, self.texts = protocol, Texts()
        self.numbers: list[str] = []  # members of the protocol that the functions read
        self.reals: list[str] = []
        self.makers: dict[tuple[str, ...], str] = {}
        self._fresh = 0
        self.allocates = False  # whether the functions make lists
        self._made: dict[tuple[Any, ...], Function | None] = {}  # None while it is being translated
        self._parts: list[tuple[str, ast.FunctionDef]] = []  # file and function
        self._require_fields()
        self.message_kinds = {one.name: TEXT if one.domain.names else VALUE for one in protocol.message_fields}
        self.conditional = {one.name for one in protocol.message_fields if one.domain.condition}
        self.node_kinds = {one.name: TEXT if one.domain.names else VALUE for one in protocol.node_fields}
        for one in (*protocol.message_fields, *protocol.node_fields):
            for word in one.domain.names:
                self.texts.number(word)
        for title, kinds in (("begin", [SELF, NODE, RNG]), ("round", [SELF, NODE, INBOX, RNG])):
            function = inspect.getattr_static(type(protocol), title)
            made = self._function(function, kinds, title)
            if made.kind not in (ANSWER, NOTHING):
                raise Untranslatable(f"{title} returns {made.kind}")
        self.plumbing = plumbing(protocol, self.texts, self.makers)

    def _require_fields(self) -> None:
        protocol = self.protocol
        for word, value in protocol.undeclared.items():
            if word != "status" or not isinstance(value, str | None):
                raise Untranslatable(f"Node.{word} = {value!r} has no declared type; write {word}: Range(low, high)")
        for owner, fields, bounds in (
            ("Message", protocol.message_fields, protocol.format.bounds),
            ("Node", protocol.node_fields, protocol.node_bounds),
        ):
            for one in fields:
                low, high = bounds[one.name]
                if not -(2**62) <= low <= high < 2**62:
                    raise Untranslatable(f"{owner}.{one.name} has values up to {high:.3g}, beyond 62 bits")

    # -- what translation calls ------------------------------------------------------------------------------------

    def fresh(self, word: str) -> str:
        self._fresh += 1
        return f"{word}_{self._fresh}"

    def parameter(self, node: ast.Attribute) -> tuple[ast.expr, str]:
        """A member of the protocol: a number or a text that is known before the run."""
        try:
            value = plain(getattr(self.protocol, node.attr))
        except Exception as error:  # an author's property may raise anything; plain nodes raise it
            raise Untranslatable(f"`{ast.unparse(node)}` cannot be read: {error}", node) from None
        if isinstance(value, float):
            return self._place(self.reals, "reals", node.attr), REAL
        if isinstance(value, bool | int) and -(2**63) <= value < 2**63:
            return self._place(self.numbers, "numbers", node.attr), VALUE
        if isinstance(value, str) and value:
            return self._place(self.numbers, "numbers", node.attr), TEXT
        if value is None:
            return self._place(self.numbers, "numbers", node.attr), NOTHING
        raise Untranslatable(f"`{ast.unparse(node)}` is neither a number of 64 bits nor a text", node)

    def _place(self, listed: list[str], array: str, word: str) -> ast.expr:
        if word not in listed:
            listed.append(word)
        return expression(f"w.{array}[{listed.index(word)}]")

    def field(self, node: ast.Attribute) -> str:
        return node.attr

    def field_kind(self, node: ast.Attribute, changed: bool = False) -> str:
        """The kind of a variable of a node."""
        if node.attr in self.node_kinds:
            return self.node_kinds[node.attr]
        if node.attr == "status":
            return TEXT
        known = node.attr in READ_ONLY and (node.attr != "identifier" or self.protocol.has_identifiers)
        if changed or not known:
            raise Untranslatable(f"`{ast.unparse(node)}` is not declared in class Node", node)
        return VALUE

    def message_field(self, node: ast.Attribute) -> str:
        if node.attr != "bits" and node.attr not in self.message_kinds:
            raise Untranslatable(f"`{ast.unparse(node)}`: a message has no field {node.attr}", node)
        return self.message_kinds.get(node.attr, VALUE)

    def maker(self, words: tuple[str, ...]) -> str:
        """The function that makes a message of these fields."""
        return self.makers.setdefault(words, f"make_{len(self.makers)}")

    def method(self, node: ast.Call) -> tuple[types.FunctionType, list[str]]:
        """A method of the protocol, and the kinds of the arguments that Python passes implicitly."""
        assert isinstance(node.func, ast.Attribute)
        word = node.func.attr
        found = inspect.getattr_static(self.protocol, word, None)
        if isinstance(found, staticmethod) and isinstance(found.__func__, types.FunctionType):
            return found.__func__, []
        if not isinstance(found, types.FunctionType) or word in vars(self.protocol) or hasattr(MessageProtocol, word):
            raise Untranslatable(f"`{ast.unparse(node.func)}` cannot be called in compiled code", node)
        return found, [SELF]

    def called(self, caller: Any, node: ast.Call, function: types.FunctionType, first: list[str]) -> tuple[Any, ...]:
        """A call of an author's other function, and the kind of what it returns."""
        try:
            names = [one.name for one in inspect.signature(function).parameters.values()]
            given = inspect.signature(function).bind(*first, *node.args, **{str(one.arg): one for one in node.keywords})
        except (TypeError, ValueError) as error:
            raise Untranslatable(f"`{ast.unparse(node)}`: {error}", node) from None
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise Untranslatable(f"`{ast.unparse(node)}` has arguments that cannot be compiled", node)
        if [one.arg for one in node.keywords] != [one for one in names if one in {k.arg for k in node.keywords}]:
            raise Untranslatable(f"`{ast.unparse(node)}` gives arguments by name in another order", node)
        kinds, values = [], []
        for word in names:
            if word not in given.arguments:
                value, kind = caller.constant(inspect.signature(function).parameters[word].default, node)
            elif given.arguments[word] == SELF:
                value, kind = name("w"), SELF
            else:
                argument = given.arguments[word]
                value, kind = caller.value(argument.value if isinstance(argument, ast.keyword) else argument)
            kind = TEXT if kind == NOTHING else kind
            if kind not in (*SINGLE, *HELD):
                raise Untranslatable(f"`{ast.unparse(node)}` is given {kind}", node)
            kinds.append(kind)
            values += [] if kind in SINGLE else [value]
        made = self._function(function, kinds, function.__name__, node)
        return ast.Call(name(made.title), [name("w"), name("node"), *values], []), made.kind  # type: ignore[attr-defined]

    # -- functions -------------------------------------------------------------------------------------------------

    def _function(self, function: Any, kinds: list[str], word: str, node: ast.AST | None = None) -> Function:
        key = function, tuple(kinds)
        if key in self._made and self._made[key] is None:
            raise Untranslatable(f"{word} calls itself", node)
        if (known := self._made.get(key)) is not None:
            return known
        self._made[key] = None
        tree, file = tree_of(function)
        try:
            made: Any = Function(self, function, tree, kinds)
        except Untranslatable as reason:
            reason.file = reason.file or file
            raise
        made.title = word if word in ("begin", "round") else self.fresh(word)
        self.define(made.title, ["w", "node", *map(made.local, made.given)], made.body, tree, function)
        self._made[key] = made
        return made

    def define(self, title: str, words: list[str], body: list[Any], origin: Any, function: Any) -> None:
        given = ast.arguments([], [ast.arg(word) for word in words], None, [], [], None, [])
        made = ast.copy_location(ast.FunctionDef(title, given, body, [], None, None), origin)
        if "type_params" in ast.FunctionDef._fields:
            made.type_params = []  # type: ignore[attr-defined]
        self._parts.append((function.__code__.co_filename, ast.fix_missing_locations(made)))

    @cached_property
    def kernel(self) -> Any:
        """The compiled rounds of this protocol; compiled once for all its numbers."""
        text = "\n".join(f"{file} {ast.dump(one, include_attributes=True)}" for file, one in self._parts)
        key = text, self.plumbing, tuple(self.message_kinds), self.allocates
        functions = _made.get(key) or _made.setdefault(key, self._functions())
        records = f"{self.node_record} {self.message_record}"
        bound = {word: functions[word] for word in ("fits", "deliver")}
        collect = part(kernel.collect, records, allocates=False, **bound)
        called = {"begin": functions["begin"], "hear": functions["round"], "collect": collect}
        return specialize(kernel.play, records, allocates=self.allocates, **called)

    def _functions(self) -> dict[str, Any]:
        """The functions that compiled code calls, by name."""
        scope: dict[str, Any] = {"Message": _message(tuple(self.message_kinds)), "require": require}
        scope |= {"__name__": __name__} | {word: getattr(kernel, word) for word in OWN}
        scope |= {word: getattr(mersenne, word) for word in COINS}
        exec(self.plumbing, scope)
        from hegemon.engines.messages.compiled.guards import SCOPE, guarded  # which take long to load

        scope |= SCOPE
        for file, tree in self._parts:
            exec(compile(ast.Module([guarded(file, copy.deepcopy(tree))], []), file, "exec"), scope)
        inlined = {"forceinline": True} | ({} if self.allocates else {"_nrt": False})
        for word, function in scope.items():
            if isinstance(function, types.FunctionType):
                scope[word] = ingredient(**inlined)(function)
        return scope

    # -- numbers and arrays ----------------------------------------------------------------------------------------

    @property
    def node_record(self) -> np.dtype:
        return np.dtype([(one, np.int64) for one in (*self.node_kinds, "status", *READ_ONLY)])

    @property
    def message_record(self) -> np.dtype:
        return np.dtype([("_round", np.int64), *((one, np.int64) for one in (*self.message_kinds, "bits"))])

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The protocol's numbers, whole and real, and the bounds of all fields."""
        numbers = [self.code(plain(getattr(self.protocol, word))) for word in self.numbers]
        reals = [float(getattr(self.protocol, word)) for word in self.reals]
        layout = []
        for low, high in self.protocol.format.bounds.values():
            layout += [low, high, (high - low).bit_length()]
        for low, high in self.protocol.node_bounds.values():
            layout += [low, high]
        return np.array(numbers, np.int64), np.array(reals, np.float64), np.array(layout, np.int64)

    def code(self, value: Any) -> int:
        """A number itself, a text as its number."""
        return self.texts.number(value) if value is None or isinstance(value, str) else int(value)

    def shown(self, kind: str, value: int) -> Any:
        return self.texts.all[value] if kind == TEXT else int(value)


_made: dict[tuple[Any, ...], dict[str, Any]] = {}  # the functions of programs: nothing is compiled twice


@cache
def _message(names: tuple[str, ...]) -> type:
    return namedtuple("Message", (*names, "bits"))


def refusal(protocol: MessageProtocol, reason: Exception) -> InvalidInput:
    """Why a protocol cannot be compiled, with the line."""
    if isinstance(reason, NumbaError):
        found = re.search(r'File "([^"]+)", line (\d+)', str(reason))
        place = f" ({found[1].rpartition('/')[2]}, line {found[2]})" if found else ""
        what = "a variable or an operation has no type in compiled code"
    else:
        file, line = getattr(reason, "file", ""), getattr(reason, "line", None)
        place = f" ({file.rpartition('/')[2]}, line {line})" if file and line else ""
        what = str(reason)
    return InvalidInput(f"engine compiled cannot run {protocol.id}: {what}{place}; use auto or nodes")
