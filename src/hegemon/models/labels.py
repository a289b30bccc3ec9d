"""The values of a Choice by name, in the author's functions: `a.phase == "CH"` means `a.phase == 0`.

The same holds for the words of a parameter: `p.mode == "fast"` compares with the place of "fast" among the choices.

States are integers, in plain Python and in machine code alike. So the names are replaced in the function's
constants, and in those of every plain function that it calls, before it is run or compiled.
"""

import contextlib
import dis
import itertools
import types
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

from hegemon.errors import InvalidInput, meant
from hegemon.models.authors import where
from hegemon.models.fields import Field


@lru_cache(maxsize=4096)
def with_integers(
    function: Callable[..., Any],
    fields: tuple[Field, ...],
    owner: str,
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = (),
    copies: int = 0,
) -> Callable[..., Any]:
    """The same function with every name of a Choice, or choice of a parameter, replaced by its integer.

    If it has none, and `copies` is 0, the function itself is returned.

    Equal calls return the same function, so that it is compiled once.
    """
    choices = {field.name: field.domain.names for field in fields if field.domain.names} | dict(chosen)
    if not isinstance(function, types.FunctionType):
        return function
    if (
        not copies
        and not choices
        and not any(_names_of(item) - {function.__doc__} for item in function.__code__.co_consts)
    ):
        return function  # quick test: it contains no text besides its docstring
    replacement = _Replacement(choices, {*(field.name for field in fields), *dict(chosen)}, owner, copies > 0)
    replacement.refuse_hidden(function, set())
    return replacement.of(function)


class _Replacement:
    def __init__(self, choices: dict[str, tuple[str, ...]], fields: set[str], owner: str, copies_all: bool):
        self.choices, self.fields, self.owner, self._copies_all = choices, fields, owner, copies_all
        self.names = {name for names in choices.values() for name in names}
        self.made: dict[Callable[..., Any], Any] = {}

    def of(self, function: Any) -> Any:
        if not self._copies_all and not self._concerns(function, set()):
            return function
        if function in self.made:
            return self.made[function]
        scope = dict(function.__globals__)
        code, cells = function.__code__, function.__closure__ or ()
        closure = tuple(types.CellType() for _ in cells)
        made = types.FunctionType(
            self._code(function, code), scope, function.__name__, function.__defaults__, closure or None
        )
        made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
        self.made[function] = made
        for cell, old in zip(closure, cells, strict=True):
            with contextlib.suppress(ValueError):  # bound later
                cell.cell_contents = self._inner(old.cell_contents)
        for name in global_names(code):
            if name in scope:
                scope[name] = self._inner(scope[name])
        return made

    def _inner(self, value: Any) -> Any:
        return self.of(value) if isinstance(value, types.FunctionType) else value

    def refuse_hidden(self, function: Any, seen: set[Any]) -> None:
        """Refuse `module.helper(a)` where the helper has names: it would compare them with integers, and find none."""
        seen.add(function)
        held = function.__globals__
        for step, after in itertools.pairwise(_steps(function.__code__)):
            value = held.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
            if isinstance(value, types.FunctionType) and value not in seen:
                self.refuse_hidden(value, seen)
            elif isinstance(value, types.ModuleType) and value.__name__.split(".")[0] not in ("math", "numpy"):
                helper = getattr(value, str(after.argval), None) if after.opname.startswith("LOAD_") else None
                if isinstance(helper, types.FunctionType) and self._concerns(helper, set()):
                    place = where(function, step.positions.lineno if step.positions else None)
                    raise InvalidInput(
                        f"{self.owner}: {step.argval}.{after.argval} has names of a Choice, and is called through a "
                        f"module ({place}); write from {value.__name__} import {after.argval}, and call it by that name"
                    )

    def _concerns(self, function: Any, seen: set[Any]) -> bool:
        """Whether a function, or one that it calls, mentions the name of a value."""
        if function in seen:
            return False
        seen.add(function)
        if self._mentions(function.__code__):
            return True
        held = [function.__globals__.get(name) for name in global_names(function.__code__)]
        for cell in function.__closure__ or ():
            try:
                held.append(cell.cell_contents)
            except ValueError:  # bound later
                continue
        return any(isinstance(value, types.FunctionType) and self._concerns(value, seen) for value in held)

    def _mentions(self, code: types.CodeType) -> bool:
        """Whether the code has a name of a value, or any text in a place for such a name."""
        if any(texts & self.names or field for _, texts, field in self._texts(code)):
            return True
        return any(self._mentions(item) for item in code.co_consts if isinstance(item, types.CodeType))

    def _texts(self, code: types.CodeType) -> Iterator[tuple[dis.Instruction, set[str], str | None]]:
        """Every load of a text, or of several in a tuple, with the field that it is compared with or written to."""
        steps = _steps(code)
        for index, step in enumerate(steps):
            if step.opname in ("LOAD_CONST", "RETURN_CONST") and (texts := _names_of(step.argval)):
                yield step, texts, self._field_beside(steps, index)

    def _code(self, function: Any, code: types.CodeType) -> types.CodeType:
        constants = list(code.co_consts)
        for step, texts, field in self._texts(code):
            if texts & self.names or field:
                place = where(function, step.positions.lineno if step.positions else None)
                if field and field not in self.choices and not texts & self.names:
                    raise InvalidInput(
                        f"{self.owner}: {field} is a number, and {step.argval!r} is a text ({place}); write the "
                        'number, or declare the field as a Choice("…", "…")'
                    )
                value = self._integers(step.argval, field, place)
                index = step.arg or 0
                if constants[index] not in (step.argval, value):
                    raise InvalidInput(f"{self.owner}: {step.argval!r} means two numbers in one function ({place})")
                constants[index] = value
        inner = [self._code(function, item) if isinstance(item, types.CodeType) else item for item in constants]
        return code.replace(co_consts=tuple(inner))

    def _field_beside(self, steps: tuple[Any, ...], index: int) -> str | None:
        """The field that a constant is compared with or written to, as far as the code shows it."""
        after = [step for step in steps[index + 1 : index + 5] if step.opname != "COPY"]
        operations = [step.opname for step in after] + ["", "", ""]
        comparisons = ("COMPARE_OP", "CONTAINS_OP")
        if index and steps[index - 1].opname == "LOAD_ATTR" and operations[0] in comparisons:
            found = steps[index - 1].argval
        elif operations[1] == "STORE_ATTR" or (operations[1] == "LOAD_ATTR" and operations[2] in comparisons):
            found = after[1].argval
        else:
            return None
        return found if found in self.fields else None

    def _integers(self, constant: Any, field: str | None, place: str) -> Any:
        if isinstance(constant, tuple | frozenset):
            return type(constant)(self._integers(item, field, place) for item in constant)
        if not isinstance(constant, str):
            return constant
        if field in self.choices:
            if constant not in self.choices[field]:
                known = ", ".join(self.choices[field])
                raise InvalidInput(
                    f"{self.owner}: {field} has no value {constant!r} ({place}); it has {known}"
                    f"{meant(constant, self.choices[field])}"
                )
            return self.choices[field].index(constant)
        meanings = {names.index(constant) for names in self.choices.values() if constant in names}
        if len(meanings) != 1:
            raise InvalidInput(f"{self.owner}: {constant!r} is the name of several values ({place}); use their numbers")
        return meanings.pop()


@cache
def _steps(code: types.CodeType) -> tuple[dis.Instruction, ...]:
    """The instructions, cached: the functions of a protocol share those that they call."""
    return tuple(step for step in dis.get_instructions(code) if step.opname != "CACHE")


def global_names(code: types.CodeType) -> set[str]:
    names = {step.argval for step in _steps(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(global_names(item) for item in code.co_consts if isinstance(item, types.CodeType)))


@lru_cache(maxsize=64)
def names_read(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]] | None:
    """The globals and the attributes that a function and those inside it read; None if it does more with names."""
    constants: set[str] = set()
    attributes: set[str] = set()
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            inner = names_read(item)
            if inner is None:
                return None
            constants |= inner[0]
            attributes |= inner[1]
    for step in _steps(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            constants.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(step.argval)
        elif step.opcode in dis.hasname:
            return None
    return frozenset(constants), frozenset(attributes)


def _names_of(constant: Any) -> set[str]:
    if isinstance(constant, str):
        return {constant}
    return set().union(*map(_names_of, constant)) if isinstance(constant, tuple | frozenset) else set()
