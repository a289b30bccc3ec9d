"""From the form of an author's function to Python that Numba compiles: every operation that could do something else in
machine code is a call of `arithmetic`, and whatever has no such call is refused with its line.

The kinds of all values are followed along every way of the program. A name that is a whole number on one way and a real
one on another, which the compiler would make a real number, is refused where it is read; a name that may have no value
is tested there.
"""

import ast
import operator
import os
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from hegemon.language import form
from hegemon.language.kinds import (
    ELEMENT,
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Kind,
    Mixed,
    Numbers,
    Record,
    RowKind,
    TupleKind,
    is_number,
    joined,
    kind_of_value,
    said,
)  # fmt: skip
from hegemon.language.source import Outside

OWN = "_hg_"  # names that the translation makes begin so
LARGEST, LEAST = 2**63 - 1, -(2**63)
NUMBERED: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "<<": operator.lshift, ">>": operator.rshift, "**": operator.pow, "/": operator.truediv,
}  # fmt: skip
COMPARED: dict[str, Callable[..., Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
PLAIN: dict[str, Any] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "==": ast.Eq,
    "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
}  # fmt: skip
ROWS: dict[Any, Kind] = {
    np.int64: RowKind(WHOLE, "array"), int: RowKind(WHOLE, "array"), np.bool_: RowKind(ELEMENT, "array"),
    bool: RowKind(ELEMENT, "array"), np.float64: RowKind(REAL, "array"), float: RowKind(REAL, "array"),
}  # fmt: skip
NOTHING_YET: dict[Kind, Any] = {WHOLE: 0, TRUTH: False, REAL: 0.0}
MOST_REAL = 5  # in min and max
REAL_FUNCTIONS = ("log", "log2", "log10", "sqrt", "exp")
MIXED = "{} is {} here, which machine code has no place for; make it one of them on every way, with int(…) or float(…)"
TRY = "; write it with whole numbers, or choose engine plain"


class Typed(NamedTuple):
    syntax: ast.expr
    kind: Kind


class NameKind(NamedTuple):
    """What a name means at one place: a value of this kind, or, where `missing`, perhaps none."""

    kind: Kind
    missing: bool = False


class Translated(NamedTuple):
    function: types.FunctionType
    result: Kind
    indexes: bool  # whether it reads or writes an element by a number other than 0
    takes_first: bool  # whether by 0: not looked after in machine code, since every node has a neighbour (see `inside`)


Names = dict[str, NameKind]


class Translation:
    """The translations of a function and its helpers, by the kinds of their arguments. `made(function)` is called with
    each translated helper, and gives what its callers call."""

    def __init__(self, scope: dict[str, Any], compiled: Callable[[form.Function, tuple[Kind, ...], Translated], Any]):
        self._scope, self._compiled = scope, compiled
        self._translated: dict[tuple[Any, ...], tuple[Translated, Any]] = {}

    def of(self, function: form.Function, kinds: tuple[Kind, ...]) -> tuple[Translated, Any]:
        key = function, kinds
        if key not in self._translated:
            made = _Writer(function, kinds, self, self._scope).translated()
            self._translated[key] = made, self._compiled(function, kinds, made)
        return self._translated[key]


def _is_of_states(kind: Kind) -> bool:
    """Whether these are the neighbours of a node."""
    return isinstance(kind, RowKind) and isinstance(kind.element, Record)


class _Unknown(Exception):
    """A name that is read before it is known what it is: later in a loop, or nowhere."""


class _Writer:
    """Translates one function for arguments of these kinds."""

    def __init__(self, function: form.Function, kinds: tuple[Kind, ...], program: Translation, scope: dict[str, Any]):
        self._function, self._program, self._given = function, program, scope
        self._kinds = kinds
        self._flagged: set[str] = set()
        self._ever: dict[str, Kind] = {}  # what a name is at any place
        self._made_loops: dict[Any, Any] = {}
        for name in function.locals:
            if name.startswith(OWN):
                self._refuse(function.line, f"{name} begins with {OWN}; rename it")

    def translated(self) -> Translated:
        while True:  # again, once it is known which names may have no value, and what those of loops are
            before = set(self._flagged), dict(self._ever)
            body = self._body()
            if before == (self._flagged, self._ever):
                break
        for node in self._unknown:
            self._refuse(node.line, f"{node.name} has no value here")
        arguments = ast.arguments([], [ast.arg(name) for name in self._function.parameters], None, [], [], None, [])
        start: list[ast.stmt] = []
        for name in sorted(self._flagged):
            start.append(_set(_flag(name), ast.Constant(False)))
            if self._ever[name] in NOTHING_YET:  # the compiler wants a value
                start.append(_set(name, ast.Constant(NOTHING_YET[self._ever[name]])))
        made = ast.FunctionDef(self._function.name.strip("<>"), arguments, start + body, [], None, None)
        _at(self._function.line, made)
        if "type_params" in ast.FunctionDef._fields:
            made.type_params = []  # type: ignore[attr-defined]
        module = ast.fix_missing_locations(ast.Module([made], []))
        code = compile(module, self._function.file, "exec")
        inner = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
        return Translated(types.FunctionType(inner, self._scope), self._result, self._indexes, self._takes_first)

    def _body(self) -> list[ast.stmt]:
        self._scope: dict[str, Any] = dict(self._given)
        self._names: Names | None = {
            name: NameKind(kind) for name, kind in zip(self._function.parameters, self._kinds, strict=True)
        }
        self._loops: list[tuple[list[Names], list[Names]]] = []  # around a statement: what breaks and continues leave
        self._results: list[Kind] = []
        self._unknown: list[form.Local] = []
        self._temporaries, self._indexes, self._takes_first = 0, False, False
        body = self._statements(self._function.body)
        if self._names is not None:
            self._results.append(NOTHING)
        self._result = self._results[0] if self._results else NOTHING
        for kind in self._results[1:]:
            self._result = joined(self._result, kind)
        return body

    def _refuse(self, line: int, sentence: str) -> NoReturn:
        raise Outside(f"{sentence} ({self._place(line)})")

    def _place(self, line: int) -> str:
        return f"{os.path.basename(self._function.file)}, line {line}"

    # -- names ---------------------------------------------------------------------------------------------

    @property
    def _here(self) -> Names:
        assert self._names is not None  # what cannot be reached is not translated
        return self._names

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"{OWN}{self._temporaries}"

    def _calling(self, name: str, *arguments: ast.expr) -> ast.expr:
        """A call of a function of `arithmetic`, whose names are found when the text is compiled."""
        return ast.Call(ast.Name(f"{OWN}{name}", ast.Load()), list(arguments), [])

    def _checked(self, name: str, line: int, *arguments: ast.expr) -> ast.expr:
        return self._calling(name, *arguments, ast.Constant(self._place(line)))

    def _known_as(self, name: str, kind: Kind) -> None:
        self._here[name] = NameKind(kind)
        self._ever[name] = joined(self._ever.get(name, kind), kind)

    def _local(self, node: form.Local) -> Typed:
        name = self._here.get(node.name)
        if name is None:
            if node.name not in self._ever:
                raise _Unknown(node)
            name = NameKind(self._ever[node.name], True)
        self._require_one(node.line, node.name, name.kind)
        value: ast.expr = ast.Name(node.name, ast.Load())
        if name.missing:
            self._flagged.add(node.name)
            has_value = ast.Name(_flag(node.name), ast.Load())
            sentence = NO_ELEMENTS.get(node.name, f"UnboundLocalError: {node.name} has no value")
            value = self._calling("held", value, has_value, ast.Constant(f"{sentence} ({self._place(node.line)})"))
        return Typed(value, name.kind)

    def _require_one(self, line: int, what: str, kind: Kind) -> None:
        if isinstance(kind, TupleKind):
            for part in kind.kinds:
                self._require_one(line, what, part)
        if isinstance(kind, Mixed):
            self._refuse(line, MIXED.format(what, said(kind)))

    # -- statements ----------------------------------------------------------------------------------------

    def _statements(self, body: form.Body) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            if self._names is None:
                break
            before, depth = dict(self._names), len(self._loops)
            try:
                for one in getattr(self, f"_{type(statement).__name__.lower()}")(statement):
                    made.append(_at(statement.line, one))
            except _Unknown as unknown:
                self._unknown.append(unknown.args[0])
                self._names = before
                del self._loops[depth:]
        return made or [ast.Pass()]

    def _assign(self, statement: form.Assign) -> list[ast.stmt]:
        first, *others = statement.targets
        if not others and isinstance(first, form.Tuple) and isinstance(statement.value, form.Tuple):
            return self._exchanged(first, statement.value)
        value = self._value(statement.value)
        if value.kind == NOTHING:
            self._refuse(statement.line, "nothing is returned here, and cannot be kept")
        if not others and not isinstance(first, form.Tuple):
            return self._written(first, value)
        name = self._temporary()
        made: list[ast.stmt] = [_set(name, value.syntax)]
        for target in statement.targets:
            made += self._written(target, Typed(ast.Name(name, ast.Load()), value.kind))
        return made

    def _exchanged(self, targets: form.Tuple, values: form.Tuple) -> list[ast.stmt]:
        """`a.x, b.x = b.x, a.x`, without a tuple."""
        if len(targets.parts) != len(values.parts):
            self._refuse(targets.line, f"{len(targets.parts)} names get {len(values.parts)} values")
        made, names = [], []
        for part in values.parts:
            value, name = self._value(part), self._temporary()
            if value.kind == NOTHING:
                self._refuse(part.line, "nothing is returned here, and cannot be kept")
            made.append(_set(name, value.syntax))
            names.append(Typed(ast.Name(name, ast.Load()), value.kind))
        for target, value in zip(targets.parts, names, strict=True):
            made += self._written(cast(form.Target, target), value)
        return made

    def _written(self, target: form.Target, value: Typed) -> list[ast.stmt]:
        match target:
            case form.Local():
                self._known_as(target.name, value.kind)
                return [_set(target.name, value.syntax), *self._flag_set(target.name)]
            case form.Field():
                of, syntax = self._field_to_write(target)
                return [_store(ast.Attribute(of, target.name, ast.Store()), self._stored(target.line, value, syntax))]
            case form.Item():
                row, index, kind = self._item_to_write(target)
                return [_store(ast.Subscript(row, index, ast.Store()), self._kept(target.line, value, kind))]
            case form.Tuple():
                if not isinstance(value.kind, TupleKind) or len(value.kind.kinds) != len(target.parts):
                    self._refuse(target.line, f"{len(target.parts)} names get {said(value.kind)} of another length")
                made = []
                for place, (part, one) in enumerate(zip(target.parts, value.kind.kinds, strict=True)):
                    taken = ast.Subscript(value.syntax, ast.Constant(place), ast.Load())
                    made += self._written(cast(form.Target, part), Typed(taken, one))
                return made

    def _flag_set(self, name: str) -> list[ast.stmt]:
        return [_set(_flag(name), ast.Constant(True))] if name in self._flagged else []

    def _field_to_write(self, target: form.Field) -> tuple[ast.expr, Kind]:
        of = self._value(target.of)
        kind = of.kind.field(target.name) if isinstance(of.kind, Record) else None
        if kind is None or not is_number(kind):
            self._refuse(target.line, f"{target.name} is no field of {said(of.kind)}")
        return of.syntax, kind

    def _stored(self, line: int, value: Typed, kind: Kind) -> ast.expr:
        """What is written into a field; a real number is refused when it is written, as in Python."""
        if not is_number(value.kind):
            self._refuse(line, f"{said(value.kind)} is written into a field")
        if value.kind == REAL and kind != REAL:
            return self._checked("stored", line, value.syntax)
        return value.syntax

    def _item_to_write(self, target: form.Item) -> tuple[ast.expr, ast.expr, RowKind]:
        row = self._value(target.of)
        if not isinstance(row.kind, RowKind) or isinstance(row.kind.element, Record) or row.kind.made_as == "list":
            self._refuse(target.line, f"an element of {said(row.kind)} is written")
        return row.syntax, self._index(target.index, row.kind), row.kind

    def _kept(self, line: int, value: Typed, row: RowKind) -> ast.expr:
        if row.made_as == "elements":
            return self._stored(line, value, row.element)
        fits = {WHOLE: (WHOLE, TRUTH), ELEMENT: (TRUTH, ELEMENT), REAL: (REAL,)}
        if value.kind not in fits[row.element]:  # type: ignore[index]
            self._refuse(line, f"{said(value.kind)} is written into a row of another kind, which would change it")
        return value.syntax

    def _change(self, statement: form.Change) -> list[ast.stmt]:
        target, line = statement.target, statement.line
        match target:
            case form.Local():
                before = self._local(target)
                made = self._binary(line, statement.operation, before, self._value(statement.value))
                return self._written(target, made)
            case form.Field(of=form.Local()):
                before = self._value(target)
                made = self._binary(line, statement.operation, before, self._value(statement.value))
                return self._written(target, made)
            case form.Item(of=form.Local() | form.Field(of=form.Local())):
                row, index, kind = self._item_to_write(target)
                name, old = self._temporary(), self._temporary()
                place = ast.Name(name, ast.Load())
                first = [_set(name, index), _set(old, ast.Subscript(row, place, ast.Load()))]
                before = Typed(ast.Name(old, ast.Load()), kind.element)
                made = self._binary(line, statement.operation, before, self._value(statement.value))
                new = self._kept(line, made, kind)
                return [*first, _store(ast.Subscript(row, ast.Name(name, ast.Load()), ast.Store()), new)]
        self._refuse(line, f"what {statement.operation}= changes is calculated; give it a name before")

    def _evaluate(self, statement: form.Evaluate) -> list[ast.stmt]:
        return [ast.Expr(self._value(statement.value).syntax)]

    def _if(self, statement: form.If) -> list[ast.stmt]:
        test = self._truth(statement.test)
        before = dict(self._here)
        then = self._statements(statement.then)
        after, self._names = self._names, before
        otherwise = self._statements(statement.otherwise) if statement.otherwise else []
        self._names = _join(after, self._names)
        return [ast.If(test, then, otherwise)]

    def _while(self, statement: form.While) -> list[ast.stmt]:
        def head() -> ast.expr:
            return self._truth(statement.test)

        test, body, otherwise = self._looped(statement, head, list)
        return [ast.While(test, body, otherwise)]

    def _for(self, statement: form.For) -> list[ast.stmt]:
        over, kind = self._items(statement.over)
        name = self._temporary()
        plain = statement.target.name if isinstance(statement.target, form.Local) else name

        def head() -> ast.expr:
            return ast.Name(plain, ast.Store())

        def first() -> list[ast.stmt]:
            written = self._written(statement.target, Typed(ast.Name(name, ast.Load()), kind))
            return written[1:] if isinstance(statement.target, form.Local) else written

        target, body, otherwise = self._looped(statement, head, first)
        return [ast.For(target, over, body, otherwise)]

    def _looped(
        self, statement: Any, head: Callable[[], ast.expr], first: Callable[[], list[ast.stmt]]
    ) -> tuple[Any, list[ast.stmt], list[ast.stmt]]:
        """The parts of a loop, once what its names mean does not change any more."""
        entry = dict(self._here)
        begin = entry
        while True:
            self._names = dict(begin)
            self._loops.append(([], []))
            test = head()
            end = dict(self._here)  # a loop may end before each turn
            body = [_at(statement.line, one) for one in first()]
            body += self._statements(statement.body)
            breaks, continues = self._loops.pop()
            again: Names | None = begin
            for names in (self._names, *continues):
                again = _join(again, names)
            assert again is not None
            if again == begin:
                break
            begin = again
        self._names = end
        otherwise = self._statements(statement.otherwise) if statement.otherwise else []
        for names in breaks:
            self._names = _join(self._names, names)
        return test, body, otherwise

    def _items(self, node: form.Expression) -> Typed:
        """What a loop goes over, and the kind of each of its items."""
        match node:
            case form.Builtin(name="enumerate", arguments=(inner,)) if not node.named:
                row = self._items(inner)
                return Typed(_call("enumerate", row.syntax), TupleKind((WHOLE, row.kind)))
            case form.Builtin(name="zip", arguments=arguments) if arguments and not node.named:
                rows = [self._items(one) for one in arguments]
                return Typed(_call("zip", *(row.syntax for row in rows)), TupleKind(tuple(row.kind for row in rows)))
            case form.Builtin(name="reversed", arguments=(form.Builtin(name="range") as inner,)):
                return Typed(_call("reversed", self._value(inner).syntax), WHOLE)
        over = self._value(node)
        if isinstance(over.kind, Numbers):
            return Typed(over.syntax, WHOLE)
        if isinstance(over.kind, RowKind):
            return Typed(over.syntax, over.kind.element)
        if isinstance(over.kind, TupleKind) and over.kind.kinds:
            kind = over.kind.kinds[0]
            for other in over.kind.kinds[1:]:
                kind = joined(kind, other)
            self._require_one(node.line, "an item", kind)
            if kind == WHOLE and isinstance(over.syntax, ast.Tuple):
                return Typed(ast.Tuple(list(map(self._as_whole, over.syntax.elts)), ast.Load()), kind)
            if any(one != kind for one in over.kind.kinds):
                self._refuse(node.line, "a tuple of several kinds has no loop in machine code")
            return Typed(over.syntax, kind)
        self._refuse(node.line, f"{said(over.kind)} has no items to go over in machine code; use range(…)")

    def _return(self, statement: form.Return) -> list[ast.stmt]:
        value = None if statement.value is None else self._value(statement.value)
        self._results.append(NOTHING if value is None else value.kind)
        self._names = None
        return [ast.Return(value.syntax if value else None)]

    def _break(self, statement: form.Break) -> list[ast.stmt]:
        self._loops[-1][0].append(self._here)
        self._names = None
        return [ast.Break()]

    def _continue(self, statement: form.Continue) -> list[ast.stmt]:
        self._loops[-1][1].append(self._here)
        self._names = None
        return [ast.Continue()]

    def _pass(self, statement: form.Pass) -> list[ast.stmt]:
        return [ast.Pass()]

    # -- expressions ---------------------------------------------------------------------------------------

    def _truth(self, node: form.Expression) -> ast.expr:
        """An expression of which only the truth matters."""
        match node:
            case form.Logic():
                parts = self._one_after_another(node.parts, self._truth)
                return ast.BoolOp(_logic(node.operation), parts)
            case form.Unary(operation="not"):
                return ast.UnaryOp(ast.Not(), self._truth(node.operand))
        value = self._value(node)
        if isinstance(value.kind, RowKind) and value.kind.made_as == "list":
            return ast.Compare(_call("len", value.syntax), [ast.NotEq()], [ast.Constant(0)])
        if not is_number(value.kind) and value.kind != ELEMENT:
            self._refuse(node.line, f"the truth of {said(value.kind)} is asked; compare numbers")
        return value.syntax

    def _one_after_another(self, nodes: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
        """TupleKind of which the later ones may not be evaluated."""
        first, *others = nodes
        made = [read(first)]
        for node in others:
            before = dict(self._here)
            made.append(read(node))
            self._names = _join(before, self._names)
        return made

    def _number(self, node: form.Expression, what: str) -> Typed:
        value = self._value(node)
        self._require_number(node.line, value.kind, what)
        return value

    def _require_number(self, line: int, kind: Kind, what: str) -> None:
        if kind == ELEMENT:
            self._refuse(
                line, f"{what} gets an element of a row of truth values, where NumPy differs from Python; test it"
            )
        if not is_number(kind):
            self._refuse(line, f"{what} gets {said(kind)}; it takes numbers")

    def _as_whole(self, syntax: ast.expr) -> ast.expr:
        if isinstance(syntax, ast.Constant):
            return ast.Constant(int(cast(Any, syntax.value)))
        return self._calling("truncated", syntax, ast.Constant(""))

    def _value(self, node: form.Expression) -> Typed:
        match node:
            case form.Constant() | form.Known():
                return self._constant(node)
            case form.Local():
                return self._local(node)
            case form.Field():
                of = self._value(node.of)
                kind = of.kind.field(node.name) if isinstance(of.kind, Record) else None
                if kind is None:
                    self._refuse(node.line, f"{said(of.kind)} has no {node.name}")
                return Typed(ast.Attribute(of.syntax, node.name, ast.Load()), kind)
            case form.Item():
                return self._item(node)
            case form.Unary():
                return self._unary(node)
            case form.Binary():
                left = self._value(node.left)
                return self._binary(node.line, node.operation, left, self._value(node.right))
            case form.Compare():
                return self._comparison(node)
            case form.Logic():
                parts = self._one_after_another(node.parts, self._value)
                return self._chosen(node.line, f"{node.operation} …", parts, lambda one: ast.BoolOp(
                    _logic(node.operation), one))  # fmt: skip
            case form.Either():
                test = self._truth(node.test)
                before = dict(self._here)
                yes = self._value(node.yes)
                after, self._names = self._names, before
                no = self._value(node.no)
                self._names = _join(after, self._names)
                return self._chosen(node.line, "… if … else …", [yes, no], lambda one: ast.IfExp(test, *one))
            case form.Bind():
                self._refuse(node.line, f"{node.name} := … is left to Python; write {node.name} = … in a line before")
            case form.Tuple():
                return self._tuple([self._value(part) for part in node.parts])
            case form.Gather():
                return self._gathered(node)
            case form.Call():
                return self._called(node.function, node.arguments)
            case form.Builtin():
                return self._builtin(node)
        raise TypeError(f"{type(node).__name__} is no expression")

    def _tuple(self, parts: list[Typed], wide: bool = True) -> Typed:
        """Whole numbers in a tuple all have 64 bits, so that a loop finds numbers of one width."""
        written = [self._as_whole(one.syntax) if wide and one.kind == WHOLE else one.syntax for one in parts]
        return Typed(ast.Tuple(written, ast.Load()), TupleKind(tuple(one.kind for one in parts)))

    def _chosen(self, line: int, what: str, parts: list[Typed], make: Callable[[list[ast.expr]], ast.expr]) -> Typed:
        kind = parts[0].kind
        for part in parts[1:]:
            kind = joined(kind, part.kind)
        self._require_one(line, what, kind)
        if kind == NOTHING or isinstance(kind, RowKind | Numbers):
            self._refuse(line, f"{what} chooses {said(kind)}; choose numbers")
        return Typed(make([part.syntax for part in parts]), kind)

    def _constant(self, node: form.Constant | form.Known) -> Typed:
        def written(value: Any) -> ast.expr:
            if isinstance(value, tuple):
                return ast.Tuple([written(one) for one in value], ast.Load())
            if isinstance(value, type):
                self._refuse(node.line, f"{getattr(node, 'name', value)} is a type; use it in np.zeros(…) alone")
            if isinstance(value, int) and not LEAST <= value <= LARGEST:
                self._refuse(node.line, f"{value} is no number of 64 bits")
            plain = value if isinstance(value, bool | float) else int(value)
            return ast.Constant(plain)

        return Typed(written(node.value), kind_of_value(node.value))

    def _index(self, node: Any, kind: Kind) -> ast.expr:
        index = self._value(node)
        is_first = isinstance(index.syntax, ast.Constant) and index.syntax.value == 0 and _is_of_states(kind)
        self._indexes, self._takes_first = self._indexes or not is_first, self._takes_first or is_first
        if index.kind == TRUTH and isinstance(kind, RowKind) and kind.made_as == "array" or index.kind not in (
            WHOLE, TRUTH,
        ):  # fmt: skip
            self._refuse(node.line, f"{said(index.kind)} is no index")
        return self._as_whole(index.syntax) if index.kind == TRUTH else index.syntax

    def _item(self, node: form.Item) -> Typed:
        of = self._value(node.of)
        if isinstance(node.index, form.Slice):
            if not isinstance(of.kind, RowKind) or of.kind.made_as == "elements":
                self._refuse(node.line, f"a part of {said(of.kind)} is taken; take one element after another")
            edges = [None if one is None else self._number(one, "an index").syntax
                     for one in (node.index.low, node.index.high, node.index.step)]  # fmt: skip
            return Typed(ast.Subscript(of.syntax, ast.Slice(*edges), ast.Load()), of.kind)
        if isinstance(of.kind, RowKind):
            return Typed(ast.Subscript(of.syntax, self._index(node.index, of.kind), ast.Load()), of.kind.element)
        if not isinstance(of.kind, TupleKind):
            self._refuse(node.line, f"{said(of.kind)} has no elements")
        index, kinds = self._index(node.index, of.kind), of.kind.kinds
        if isinstance(index, ast.Constant):
            place: Any = index.value
            if not -len(kinds) <= place < len(kinds):
                self._refuse(node.line, f"a tuple of {len(kinds)} has no element {place}")
            return Typed(ast.Subscript(of.syntax, index, ast.Load()), kinds[place])
        if not kinds or any(kind != kinds[0] for kind in kinds):
            self._refuse(node.line, "an element of a tuple of several kinds is taken by a calculated index")
        return Typed(ast.Subscript(of.syntax, index, ast.Load()), kinds[0])

    def _unary(self, node: form.Unary) -> Typed:
        if node.operation == "not":
            return Typed(ast.UnaryOp(ast.Not(), self._truth(node.operand)), TRUTH)
        match node:
            case form.Unary(operation="-", operand=form.Constant(value=int() as known)) if known - 1 <= LARGEST:
                return Typed(ast.Constant(-int(known)), WHOLE)
        value = self._number(node.operand, node.operation)
        if node.operation == "~":
            if value.kind == REAL:
                self._refuse(node.line, "~ takes whole numbers")
            return Typed(ast.UnaryOp(ast.Invert(), self._as_whole(value.syntax)), WHOLE)
        if value.kind == REAL:
            return Typed(ast.UnaryOp(ast.USub() if node.operation == "-" else ast.UAdd(), value.syntax), REAL)
        if node.operation == "+":
            return Typed(self._as_whole(value.syntax), WHOLE)
        return Typed(self._checked("negative", node.line, value.syntax), WHOLE)

    def _binary(self, line: int, operation: str, left: Typed, right: Typed) -> Typed:
        for side in (left, right):
            self._require_number(line, side.kind, operation)
        kinds = {left.kind, right.kind}
        if REAL in kinds:
            if operation not in ("+", "-", "*", "/", "//", "%"):
                self._refuse(line, f"{operation} of a real number is left to Python{TRY}")
            if operation in ("+", "-", "*"):
                return Typed(ast.BinOp(left.syntax, PLAIN[operation](), right.syntax), REAL)
        elif operation in ("&", "|", "^"):
            if kinds == {TRUTH}:
                return Typed(ast.BinOp(left.syntax, PLAIN[operation](), right.syntax), TRUTH)
            sides = [self._as_whole(one.syntax) if one.kind == TRUTH else one.syntax for one in (left, right)]
            return Typed(ast.BinOp(sides[0], PLAIN[operation](), sides[1]), WHOLE)
        kind: Kind = REAL if operation == "/" or REAL in kinds else WHOLE
        known = _calculated(operation, left.syntax, right.syntax)
        if known is not None:
            return Typed(ast.Constant(known), kind)
        return Typed(self._checked(NUMBERED[operation].__name__, line, left.syntax, right.syntax), kind)

    # -- comparisons ---------------------------------------------------------------------------------------

    def _comparison(self, node: form.Compare) -> Typed:
        if len(node.operations) == 1 and node.operations[0] in ("in", "not in"):
            found = self._contained(node, self._value(node.first), node.rest[0])
            return Typed(ast.UnaryOp(ast.Not(), found) if node.operations[0] == "not in" else found, TRUTH)
        sides = [self._value(node.first), self._value(node.rest[0])]
        if len(node.rest) > 1:
            sides += self._one_after_another((None, *node.rest[1:]), lambda one: one and self._value(one))[1:]
        if len(sides) == 2:
            return Typed(self._compared(node.line, node.operations[0], *sides), TRUTH)
        if any(side.kind not in (WHOLE, TRUTH) for side in sides) or not set(node.operations) <= COMPARED.keys():
            self._refuse(node.line, "a chain compares something else than whole numbers; write and between")
        operations = [PLAIN[operation]() for operation in node.operations]
        return Typed(ast.Compare(sides[0].syntax, operations, [side.syntax for side in sides[1:]]), TRUTH)

    def _compared(self, line: int, operation: str, left: Typed, right: Typed) -> ast.expr:
        if isinstance(left.kind, TupleKind) and isinstance(right.kind, TupleKind):
            if any(kind not in (WHOLE, TRUTH) for kind in (*left.kind.kinds, *right.kind.kinds)):
                self._refuse(line, f"{operation} compares tuples that hold something else than whole numbers")
        else:
            for side in (left, right):
                if side.kind != ELEMENT or operation not in ("==", "!="):
                    self._require_number(line, side.kind, operation)
            if REAL in (left.kind, right.kind):
                return self._checked(COMPARED[operation].__name__, line, left.syntax, right.syntax)
        return ast.Compare(left.syntax, [PLAIN[operation]()], [right.syntax])

    def _contained(self, node: form.Compare, item: Typed, over: form.Expression) -> ast.expr:
        """`item in over`: all parts of a tuple are evaluated before the first is compared."""
        line = node.line
        if item.kind not in (WHOLE, TRUTH):
            self._refuse(line, f"in looks for {said(item.kind)}; it looks for whole numbers")
        parts = over.parts if isinstance(over, form.Tuple) else ()
        items = self._tuple([self._value(part) for part in parts], wide=False) if parts else self._value(over)
        if isinstance(items.kind, Numbers) or isinstance(items.kind, RowKind) and items.kind.element == WHOLE:
            return ast.Compare(self._as_whole(item.syntax), [ast.In()], [items.syntax])
        if not isinstance(items.kind, TupleKind):
            self._refuse(line, f"in looks into {said(items.kind)}; it looks into a tuple, a row or a range of numbers")
        written = items.syntax.elts if isinstance(items.syntax, ast.Tuple) else [items.syntax]
        if not all(map(_is_simple, [item.syntax, *written])):
            given: tuple[form.Expression, ...] = (node.first, *(parts or (over,)))
            names = [form.Local(line, f"_{place}") for place in range(len(given))]
            among = form.Tuple(line, tuple(names[1:])) if parts else names[1]
            return self._apart(node, given, form.Compare(line, names[0], ("in",), (among,))).syntax
        if not isinstance(items.syntax, ast.Tuple):
            places = range(len(items.kind.kinds))
            written = [ast.Subscript(items.syntax, ast.Constant(place), ast.Load()) for place in places]
        pairs = zip(written, items.kind.kinds, strict=True)
        tests = [self._compared(line, "==", item, Typed(part, kind)) for part, kind in pairs]
        return ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else (*tests, ast.Constant(False))[0]

    def _apart(self, node: form.Node, given: tuple[form.Expression, ...], value: form.Expression) -> Typed:
        """A value of several others, which are evaluated once and called _0, _1, … in it: a function of its own."""
        names = tuple(f"_{place}" for place in range(len(given)))
        if id(node) not in self._made_loops:
            body = (form.Return(node.line, value),)
            around = self._function
            made = form.Function("apart", around.file, node.line, names, {}, body, frozenset(names), around.authored)
            self._made_loops[id(node)] = tuple(zip(names, given, strict=True)), made
        arguments, function = self._made_loops[id(node)]
        return self._called(function, arguments)

    # -- names within expressions, calls -------------------------------------------------------------------

    def _called(self, function: form.Function, arguments: tuple[tuple[str, form.Expression], ...]) -> Typed:
        given = {name: self._value(value) for name, value in arguments}
        for name, value in given.items():
            if value.kind == NOTHING or isinstance(value.kind, Numbers) and name != OVER:
                self._refuse(arguments[0][1].line, f"{said(value.kind)} is passed as {name}; pass numbers and states")
        for name, default in function.defaults.items():
            if name not in given:
                given[name] = self._constant(form.Known(function.line, name, default))
        kinds = tuple(given[name].kind for name in function.parameters)
        made, called = self._program.of(function, kinds)
        name = next((name for name, value in self._scope.items() if value is called), "")
        if not name:
            name = f"{OWN}{function.name.strip('<>')}_{len(self._scope)}"
            self._scope[name] = called
        call = ast.Call(ast.Name(name, ast.Load()), [], [ast.keyword(key, one.syntax) for key, one in given.items()])
        if tuple(given) == function.parameters:
            call = ast.Call(call.func, [one.syntax for one in given.values()], [])
        return Typed(call, made.result)

    def _gathered(self, node: form.Gather, origin: form.Builtin | None = None) -> Typed:
        """any, all, sum, min or max of a generator: a loop in a function of its own, which is given what it reads."""
        if any(name not in ("default", "start") for name, _ in node.named):
            self._refuse(node.line, f"{node.name} with {node.named[0][0]} is left to Python")
        key = id(origin or node), frozenset(self._here)
        if key not in self._made_loops:
            self._made_loops[key] = _loop(self._function, node, set(self._here))
        given, function = self._made_loops[key]
        for name, _ in given:
            if name in self._here and self._here[name].missing:
                self._refuse(node.line, f"{name} may have no value in this {node.name}(…)")
        return self._called(function, given)

    # -- functions of Python, math and NumPy -----------------------------------------------------------------

    def _builtin(self, node: form.Builtin) -> Typed:
        name, line = node.name, node.line
        if name in ("zeros", "ones", "full", "empty"):
            return self._row(node)
        if name in ("min", "max", "sum", "any", "all") and len(node.arguments) == 1 or name == "sum":
            over, *start = node.arguments
            named = (*node.named, *(("start", one) for one in start))
            made = form.Gather(line, name, node.function, form.Local(line, ITEM), (
                form.Clause(line, form.Local(line, ITEM), over, ()),), named)  # fmt: skip
            return self._reduced(made, node)
        if node.named:
            self._refuse(line, f"{name} with {node.named[0][0]} is left to Python")
        if name in ("enumerate", "zip", "reversed"):
            self._refuse(line, f"{name} is for loops: for … in {name}(…)")
        if name == "len" and len(node.arguments) == 1:
            of = self._value(node.arguments[0])
            if not isinstance(of.kind, RowKind | TupleKind | Numbers):
                self._refuse(line, f"{said(of.kind)} has no length")
            return Typed(_call("len", of.syntax), WHOLE)
        if name == "bool" and len(node.arguments) == 1:
            return Typed(_call("bool", self._truth(node.arguments[0])), TRUTH)
        if name == "int" and len(node.arguments) == 1:
            of = self._value(node.arguments[0])
            if of.kind != ELEMENT:
                self._require_number(line, of.kind, name)
            return Typed(self._checked("truncated", line, of.syntax), WHOLE)
        values = [self._number(one, name) for one in node.arguments]
        kinds, given = [value.kind for value in values], [value.syntax for value in values]
        if name in ("min", "max") and len(values) > 1:
            return self._extreme(node, values)
        if name == "range" and 1 <= len(values) <= 3 and REAL not in kinds:
            return Typed(_call("range", *map(self._whole_of, values)), Numbers())
        if name == "divmod" and len(values) == 2:
            pair = form.Local(line, "_0"), form.Local(line, "_1")
            both = form.Tuple(line, tuple(form.Binary(line, operation, *pair) for operation in ("//", "%")))
            return self._apart(node, node.arguments, both)
        if name == "log" and len(values) == 2:
            logarithms = [Typed(self._real_function("log", line, one), REAL) for one in given]
            return self._binary(line, "/", *logarithms)
        if len(values) != 1:
            self._refuse(line, f"{name} with {len(values)} numbers is left to Python")
        if name == "float":
            return Typed(_call("float", given[0]), REAL)
        if name == "abs":
            if kinds[0] == REAL:
                return Typed(_call("abs", given[0]), REAL)
            return Typed(self._checked("absolute", line, given[0]), WHOLE)
        if name in ("floor", "ceil", "round"):
            if kinds[0] == REAL:
                rounded = self._calling(name, given[0])
                return Typed(self._checked("truncated", line, rounded), WHOLE)
            return Typed(self._as_whole(given[0]), WHOLE)
        if name in REAL_FUNCTIONS:
            return Typed(self._real_function(name, line, given[0]), REAL)
        self._refuse(line, f"{name} of these arguments is left to Python{TRY}")

    def _real_function(self, name: str, line: int, argument: ast.expr) -> ast.expr:
        return self._checked(name, line, argument)

    def _whole_of(self, value: Typed) -> ast.expr:
        return self._as_whole(value.syntax) if value.kind == TRUTH else value.syntax

    def _extreme(self, node: form.Builtin, values: list[Typed]) -> Typed:
        kind = values[0].kind
        for value in values[1:]:
            kind = joined(kind, value.kind)
        self._require_one(node.line, f"{node.name}(…)", kind)
        if kind != REAL:
            return Typed(_call(node.name, *map(self._whole_of, values)), WHOLE)
        if len(values) > MOST_REAL:
            self._refuse(node.line, f"{node.name} of more than {MOST_REAL} real numbers is left to Python")
        best, *others = [form.Local(node.line, f"_{place}") for place in range(len(values))]
        chosen: form.Expression = best
        for other in others:  # the first of equal ones, as in Python
            better = form.Compare(node.line, other, (">" if node.name == "max" else "<",), (chosen,))
            chosen = form.Either(node.line, better, other, chosen)
        return self._apart(node, node.arguments, chosen)

    def _reduced(self, node: form.Gather, origin: form.Builtin) -> Typed:
        """A function of the items of a row or a tuple: that of a generator which passes them on."""
        over = node.clauses[0].over
        made = self._value(over)
        if isinstance(made.kind, TupleKind) and any(kind not in (WHOLE, TRUTH) for kind in made.kind.kinds):
            self._refuse(node.line, f"{node.name} goes over a tuple that holds something else than whole numbers")
        return self._gathered(node, origin)

    def _row(self, node: form.Builtin) -> Typed:
        """An array of NumPy, of one dimension."""
        names = ("shape", "fill_value", "dtype") if node.name == "full" else ("shape", "dtype")
        given = dict(zip(names, node.arguments, strict=False)) | dict(node.named)
        if set(given) - set(names) or len(node.arguments) > len(names) or "shape" not in given:
            self._refuse(node.line, f"{node.name} takes {', '.join(names)}")
        shape = self._number(given["shape"], f"the length of {node.name}")
        if shape.kind == REAL:
            self._refuse(node.line, f"the length of {node.name} is a real number; write a whole one")
        fill = [self._number(given["fill_value"], node.name)] if node.name == "full" else []
        kind = given.get("dtype")
        if kind is None:
            row = {WHOLE: ROWS[np.int64], TRUTH: ROWS[np.bool_]}.get(fill[0].kind if fill else REAL, ROWS[np.float64])  # type: ignore[arg-type]
        elif isinstance(kind, form.Known) and kind.value in ROWS:
            row = ROWS[kind.value]
        else:
            self._refuse(node.line, f"{node.name} has elements of fewer bits than Python's numbers; write np.int64")
        assert isinstance(row, RowKind)
        filled = [self._kept(node.line, one, row) for one in fill]
        self._scope |= {f"{OWN}{node.name}": node.function, f"{OWN}{_dtype(row)}": getattr(np, _dtype(row))}
        dtype = ast.Name(f"{OWN}{_dtype(row)}", ast.Load())
        return Typed(self._calling(node.name, self._whole_of(shape), *filled, dtype), row)


ITEM, OVER, BEST, SUM = "_item", "_over", "_best", "_sum"
NO_ELEMENTS = {BEST: "ValueError: min() or max() of nothing, without a default"}


def _loop(
    around: form.Function, node: form.Gather, known: set[str]
) -> tuple[tuple[tuple[str, form.Expression], ...], form.Function]:
    """The arguments and the function of a loop that does what Python does for a generator."""
    line, first = node.line, node.clauses[0]
    own = {name for clause in node.clauses for name in _names_of(clause.target)}
    read = {one.name for one in _locals_in((node.element, node.clauses[1:], *(c.conditions for c in node.clauses)))}
    free = sorted(read & known - own)
    item = form.Local(line, ITEM)
    inner: dict[str, form.Body] = {
        "any": (form.If(line, item, (form.Return(line, form.Constant(line, True)),), ()),),
        "all": (form.If(line, item, (), (form.Return(line, form.Constant(line, False)),)),),
        "sum": (form.Change(line, form.Local(line, SUM), "+", item),),
    }
    if node.name in inner:
        step: form.Body = (form.Assign(line, (item,), node.element), *inner[node.name])
    else:
        best, seen = form.Local(line, BEST), form.Local(line, "_seen")
        better = form.Compare(line, item, (">" if node.name == "max" else "<",), (best,))
        keep = form.Assign(line, (best,), item)
        step = (
            form.Assign(line, (item,), node.element),
            form.If(line, seen, (form.If(line, better, (keep,), ()),), (
                keep, form.Assign(line, (seen,), form.Constant(line, True)))),
        )  # fmt: skip
    for place, clause in reversed(list(enumerate(node.clauses))):
        for condition in reversed(clause.conditions):
            step = (form.If(line, condition, step, ()),)
        step = (form.For(line, clause.target, form.Local(line, OVER) if place == 0 else clause.over, step, ()),)
    named = dict(node.named)
    arguments = {OVER: first.over, **{f"_{name}": value for name, value in named.items()}}
    arguments |= {name: form.Local(line, name) for name in free}
    if node.name == "sum":
        start = form.Local(line, "_start") if named else form.Constant(line, 0)
        begin: form.Body = (form.Assign(line, (form.Local(line, SUM),), start),)
        end: form.Expression = form.Local(line, SUM)
    elif node.name in ("min", "max"):
        begin, end = (form.Assign(line, (seen,), form.Constant(line, False)),), best
        end = form.Either(line, seen, best, form.Local(line, "_default")) if named else end
    else:
        begin, end = (), form.Constant(line, node.name == "all")
    body = (*begin, *step, form.Return(line, end))
    names = frozenset({*arguments, *own, ITEM, BEST, SUM, "_seen"})
    made = form.Function(node.name, around.file, line, tuple(arguments), {}, body, names, around.authored)
    return tuple(arguments.items()), made


def _names_of(target: form.Target) -> set[str]:
    if isinstance(target, form.Tuple):
        return set().union(*(_names_of(cast(form.Target, part)) for part in target.parts))
    return {target.name} if isinstance(target, form.Local) else set()


def _locals_in(node: Any) -> list[form.Local]:
    if isinstance(node, form.Local):
        return [node]
    if isinstance(node, form.Node):
        return [one for name in node.fields for one in _locals_in(getattr(node, name))]
    return [one for part in node for one in _locals_in(part)] if isinstance(node, tuple) else []


def _join(one: Names | None, other: Names | None) -> Names | None:
    """What names mean where two ways of a program meet."""
    if one is None or other is None:
        return other if one is None else one
    made = {}
    for name in (*one, *(name for name in other if name not in one)):
        pair = [names[name] for names in (one, other) if name in names]
        kind = pair[0].kind if len(pair) == 1 else joined(pair[0].kind, pair[1].kind)
        made[name] = NameKind(kind, len(pair) == 1 or any(one.missing for one in pair))
    return made


def _calculated(operation: str, left: ast.expr, right: ast.expr) -> int | None:
    """The value of two constants, where it is a whole number of 64 bits."""
    if not isinstance(left, ast.Constant) or not isinstance(right, ast.Constant) or operation == "/":
        return None
    x, y = cast(Any, left.value), cast(Any, right.value)
    if isinstance(x, float) or isinstance(y, float) or operation in ("**", "<<") and not 0 <= y < 64:
        return None
    try:
        value = NUMBERED[operation](int(x), int(y))
    except (ArithmeticError, ValueError):
        return None
    return value if LEAST <= value <= LARGEST else None


def _is_simple(syntax: ast.expr) -> bool:
    """Whether it may be evaluated twice, if nothing else is evaluated between."""
    if isinstance(syntax, ast.Attribute):
        return isinstance(syntax.value, ast.Name)
    return isinstance(syntax, ast.Constant | ast.Name)


def _at(line: int, node: ast.stmt) -> ast.stmt:
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = 0
    return node


def _dtype(row: RowKind) -> str:
    return "int64" if row.element == WHOLE else "float64" if row.element == REAL else "bool_"


def _flag(name: str) -> str:
    return f"{OWN}has_{name}"


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _store(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value)


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _logic(operation: str) -> ast.boolop:
    return ast.And() if operation == "and" else ast.Or()
