"""What functions read besides their arguments, and whether that is still the same.

A constant in a notebook, or a variable of an enclosing function, may get another value after a function that reads it
was tried or compiled. Results kept for the function are then no longer valid.
"""

import itertools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from hegemon.models.labels import global_names

MISSING = object()
LIBRARIES = ("numpy", "scipy", "numba")


def functions_in(kind: type, below: type) -> list[Any]:
    """The functions that a class and its bases below a given one define, those behind properties included."""
    found = []
    for base in kind.__mro__[: kind.__mro__.index(below)]:
        for one in vars(base).values():
            for part in (one, *(getattr(one, name, None) for name in ("fget", "func", "__func__"))):
                if isinstance(part, types.FunctionType):
                    found.append(part)
    return found


class Readings:
    """The objects that functions, and all functions that these call, read by name.

    An object that is changed in place stays the same object: `purity` refuses functions that read such ones.
    """

    def __init__(self, functions: Iterable[Any]):
        self._names: list[tuple[Any, str, Any]] = []  # a mapping, a name in it and what the name means
        self._cells: list[tuple[Any, Any]] = []
        self._codes: list[tuple[Any, Any, Any]] = []
        self._seen: set[Any] = set()  # the `id` of objects that are kept alive above
        self._waiting = list(functions)
        while self._waiting:
            self._note(self._waiting.pop())

    @property
    def functions(self) -> list[Any]:
        """All functions whose names were read."""
        return [function for function, _, _ in self._codes]

    def mention(self, name: str) -> bool:
        """Whether any of the functions has this name in its code."""
        return any(name in _names_in(code) for _, code, _ in self._codes)

    def last(self) -> bool:
        """Whether everything that was read is unchanged."""
        for mapping, name, value in self._names:
            if mapping.get(name, MISSING) is not value:
                return False
        for cell, value in self._cells:
            if _content(cell) is not value:
                return False
        for function, code, defaults in self._codes:
            if function.__code__ is not code or (function.__defaults__, function.__kwdefaults__) != defaults:
                return False
        return True

    def _note(self, function: Any) -> None:
        function = getattr(function, "py_func", function)  # compiled by its author
        function = getattr(function, "__func__", function)  # a method of a class
        if not isinstance(function, types.FunctionType) or id(function) in self._seen:
            return
        self._seen.add(id(function))
        defaults, named = function.__defaults__, function.__kwdefaults__
        self._codes.append((function, function.__code__, (defaults, named and dict(named))))
        self._waiting += [*(defaults or ()), *(named or {}).values()]
        attributes = set(_names_in(function.__code__))
        for cell in function.__closure__ or ():
            self._cells.append((cell, _content(cell)))
            self._follow(_content(cell), attributes)
        for name in global_names(function.__code__):
            self._name(function.__globals__, name, attributes)

    def _name(self, mapping: Any, name: str, attributes: set[str]) -> None:
        value = mapping.get(name, MISSING)
        self._names.append((mapping, name, value))
        self._follow(value, attributes)

    def _follow(self, value: Any, attributes: set[str]) -> None:
        """Functions are read like the first ones; of a module or a class, whatever has one of these names."""
        self._waiting.append(value)
        if not isinstance(value, types.ModuleType | type) or _is_library(value):
            return
        for owner in value.__mro__ if isinstance(value, type) else (value,):
            for name in attributes & vars(owner).keys():
                if (id(owner), name) not in self._seen:
                    self._seen.add((id(owner), name))
                    self._name(vars(owner), name, attributes)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the name is bound later
        return MISSING


def _is_library(value: Any) -> bool:
    root = (value.__name__ if isinstance(value, types.ModuleType) else value.__module__).partition(".")[0]
    return root in LIBRARIES or root in sys.stdlib_module_names and root != "__main__"


_numbers = itertools.count(1)
_versions: dict[Any, tuple[Readings, int]] = {}


def version(function: Any) -> int:
    """0 as long as a function reads what it read when it was first asked about; another number after every change."""
    found = _versions.get(function)
    if found is None or not found[0].last():
        found = _versions[function] = Readings([function]), next(_numbers) if found else 0
    return found[1]
