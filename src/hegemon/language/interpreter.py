"""The reference interpreter: what a form means, in the plainest way.

Values are Python's own, and every operation is Python's own operator, so what remains to be right is which operations
are made, in which order, and on which line an error is reported. The tests compare it with CPython on random programs.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, cast

from hegemon.language import form

BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor,
}  # fmt: skip
IN_PLACE: dict[str, Callable[..., Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "<<": operator.ilshift, ">>": operator.irshift, "&": operator.iand,
    "|": operator.ior, "^": operator.ixor,
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_,
}  # fmt: skip
COMPARISONS: dict[str, Callable[..., Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda item, items: item in items, "not in": lambda item, items: item not in items,
}  # fmt: skip


class _Leave(Exception):
    """Thrown by `break`, `continue` and `return`."""


class _Break(_Leave):
    pass


class _Continue(_Leave):
    pass


class _Return(_Leave):
    def __init__(self, value: Any):
        self.value = value


class Failure(Exception):
    """What a program raises, and where: file and line of the innermost function."""

    def __init__(self, error: Exception, file: str, line: int):
        super().__init__(f"{file}, line {line}: {error!r}")
        self.error, self.file, self.line = error, file, line


def run(function: form.Function, *arguments: Any) -> Any:
    """Call a function; raises Failure where CPython raises an exception."""
    return _Frame(function, dict(zip(function.parameters, arguments, strict=False))).result()


class _Frame:
    """One call, or a generator within one, whose names hide those around it."""

    def __init__(self, function: form.Function, given: dict[str, Any], own: frozenset[str] | None = None):
        self._function = function
        self._names = function.defaults | given
        self._own = own

    def result(self) -> Any:
        try:
            self._run(self._function.body)
        except _Return as end:
            return end.value
        return None

    def _run(self, body: form.Body) -> None:
        for statement in body:
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _made(self, line: int, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation; its errors have this line."""
        try:
            return operation(*operands)
        except (Failure, _Leave):
            raise
        except Exception as error:  # what an author's operation raises, with its line
            raise Failure(error, self._function.file, line) from error

    # -- statements ----------------------------------------------------------------------------------------

    def _assign(self, statement: form.Assign) -> None:
        value = self._value(statement.value)
        for target in statement.targets:
            self._write(target, value)

    def _write(self, target: form.Target, value: Any) -> None:
        match target:
            case form.Local():
                self._names[target.name] = value
            case form.Field():
                self._made(target.line, setattr, self._value(target.of), target.name, value)
            case form.Item():
                of, index = self._value(target.of), self._index(target.index)
                self._made(target.line, operator.setitem, of, index, value)
            case form.Tuple():
                parts = self._made(target.line, _unpacked, value, len(target.parts))
                for part, item in zip(target.parts, parts, strict=True):
                    self._write(cast(form.Target, part), item)

    def _change(self, statement: form.Change) -> None:
        target, operation = statement.target, IN_PLACE[statement.operation]
        match target:
            case form.Local():
                before = self._value(target)
                value = self._made(statement.line, operation, before, self._value(statement.value))
                self._names[target.name] = value
            case form.Field():
                of = self._value(target.of)
                before = self._made(target.line, getattr, of, target.name)
                value = self._made(statement.line, operation, before, self._value(statement.value))
                self._made(target.line, setattr, of, target.name, value)
            case form.Item():
                of, index = self._value(target.of), self._index(target.index)
                before = self._made(target.line, operator.getitem, of, index)
                value = self._made(statement.line, operation, before, self._value(statement.value))
                self._made(target.line, operator.setitem, of, index, value)

    def _evaluate(self, statement: form.Evaluate) -> None:
        self._value(statement.value)

    def _if(self, statement: form.If) -> None:
        self._run(statement.then if self._truth(statement.test) else statement.otherwise)

    def _while(self, statement: form.While) -> None:
        while self._truth(statement.test):
            try:
                self._run(statement.body)
            except _Break:
                return
            except _Continue:
                continue
        self._run(statement.otherwise)

    def _for(self, statement: form.For) -> None:
        for value in self._items(statement.over):
            self._write(statement.target, value)
            try:
                self._run(statement.body)
            except _Break:
                return
            except _Continue:
                continue
        self._run(statement.otherwise)

    def _items(self, over: form.Expression) -> Iterator[Any]:
        items = self._made(over.line, iter, self._value(over))
        while True:
            try:
                value = next(items)
            except StopIteration:
                return
            except Exception as error:  # what an author's iterator raises, with its line
                raise Failure(error, self._function.file, over.line) from error
            yield value

    def _return(self, statement: form.Return) -> None:
        raise _Return(None if statement.value is None else self._value(statement.value))

    def _break(self, statement: form.Break) -> None:
        raise _Break

    def _continue(self, statement: form.Continue) -> None:
        raise _Continue

    def _pass(self, statement: form.Pass) -> None:
        return None

    # -- expressions ---------------------------------------------------------------------------------------

    def _truth(self, expression: form.Expression) -> bool:
        return bool(self._made(expression.line, bool, self._value(expression)))

    def _index(self, index: Any) -> Any:
        if isinstance(index, form.Slice):
            edges = (index.low, index.high, index.step)
            return slice(*[None if edge is None else self._value(edge) for edge in edges])
        return self._value(index)

    def _value(self, node: form.Expression) -> Any:
        match node:
            case form.Constant() | form.Known():
                return node.value
            case form.Local():
                return self._local(node)
            case form.Field():
                return self._made(node.line, getattr, self._value(node.of), node.name)
            case form.Item():
                of = self._value(node.of)
                return self._made(node.line, operator.getitem, of, self._index(node.index))
            case form.Unary(operation="not"):
                return not self._truth(node.operand)
            case form.Unary():
                return self._made(node.line, UNARY[node.operation], self._value(node.operand))
            case form.Binary():
                left = self._value(node.left)
                return self._made(node.line, BINARY[node.operation], left, self._value(node.right))
            case form.Compare():
                return self._compared(node)
            case form.Logic():
                return self._joined(node)
            case form.Either():
                return self._value(node.yes if self._truth(node.test) else node.no)
            case form.Bind():
                value = self._names[node.name] = self._value(node.value)
                return value
            case form.Tuple():
                return tuple(self._value(part) for part in node.parts)
            case form.Gather():
                named = {}
                items = self._gathered(node)
                for name, value in node.named:
                    named[name] = self._value(value)
                return self._made(node.line, lambda: node.function(items, **named))
            case form.Call():
                given = {name: self._value(value) for name, value in node.arguments}
                return _Frame(node.function, given).result()
            case form.Builtin():
                arguments = [self._value(argument) for argument in node.arguments]
                named = {name: self._value(value) for name, value in node.named}
                return self._made(node.line, lambda: node.function(*arguments, **named))
        raise TypeError(f"{type(node).__name__} is no expression")

    def _local(self, node: form.Local) -> Any:
        try:
            return self._names[node.name]
        except KeyError:
            kind: type[NameError] = UnboundLocalError
            what = f"local variable {node.name!r} where it is not associated with a value"
            if self._own is not None and node.name not in self._own:
                kind, what = NameError, what.replace("local", "free", 1) + " in enclosing scope"
            raise Failure(kind(f"cannot access {what}"), self._function.file, node.line) from None

    def _compared(self, node: form.Compare) -> Any:
        left, result = self._value(node.first), True
        for place, (operation, operand) in enumerate(zip(node.operations, node.rest, strict=True)):
            if place and not self._made(node.line, bool, result):
                return result
            right = self._value(operand)
            result = self._made(node.line, COMPARISONS[operation], left, right)
            left = right
        return result

    def _joined(self, node: form.Logic) -> Any:
        *first, last = node.parts
        for part in first:
            value = self._value(part)
            if bool(self._made(part.line, bool, value)) == (node.operation == "or"):
                return value
        return self._value(last)

    def _gathered(self, node: form.Gather) -> Iterator[Any]:
        """The elements of a generator, one by one as they are wanted; its names hide those of the function."""
        over = iter(self._made(node.line, iter, self._value(node.clauses[0].over)))
        own = frozenset(name for clause in node.clauses for name in _names_in(clause.target))
        inner = _Frame(self._function, {name: value for name, value in self._names.items() if name not in own}, own)
        return inner._elements(node, 0, over)

    def _elements(self, node: form.Gather, depth: int, items: Iterator[Any]) -> Iterator[Any]:
        clause = node.clauses[depth]
        for item in items:
            self._write(clause.target, item)
            if not all(self._truth(condition) for condition in clause.conditions):
                continue
            if depth + 1 == len(node.clauses):
                yield self._value(node.element)
            else:
                over = self._value(node.clauses[depth + 1].over)
                yield from self._elements(node, depth + 1, self._made(node.line, iter, over))


def _names_in(target: form.Target) -> Iterator[str]:
    if isinstance(target, form.Local):
        yield target.name
    elif isinstance(target, form.Tuple):
        for part in target.parts:
            yield from _names_in(cast(form.Target, part))


def _unpacked(value: Any, number: int) -> list[Any]:
    """The parts of a value, as many as there are names; the messages are Python's."""
    try:
        items = iter(value)
    except TypeError:
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
    parts = []
    for item in items:
        parts.append(item)
        if len(parts) > number:
            raise ValueError(f"too many values to unpack (expected {number})")
    if len(parts) < number:
        raise ValueError(f"not enough values to unpack (expected {number}, got {len(parts)})")
    return parts
