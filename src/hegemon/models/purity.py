"""A transition must be a function of its arguments: anything else that it reads or changes is found in its code.

Engines remember what two states became, so randomness, time or a variable that outlives the call would be read
once and always repeated: the results would be those of another protocol. The code of the function, and of every plain
function that it calls, is searched for such names.
"""

import builtins
import dis
import enum
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.authors import where

IMPURE_MODULES = {
    "random", "secrets", "uuid", "time", "datetime", "os", "sys", "io", "posix", "pathlib", "socket", "threading",
    "subprocess", "multiprocessing", "asyncio", "tempfile", "getpass", "platform", "select", "signal", "shelve",
}  # fmt: skip
IMPURE_BUILTINS = {
    "open", "input", "eval", "exec", "compile", "id", "hash", "globals", "locals", "breakpoint", "exit", "quit",
    "__import__", "print",
}  # fmt: skip
FIXED = (int, float, complex, str, bytes, bool, type(None), range, frozenset, type, np.generic, np.dtype, np.ufunc,
         enum.Enum, types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType, types.GenericAlias,
         types.EllipsisType)  # fmt: skip
KINDS = {
    inspect.CO_COROUTINE: "is declared with async",
    inspect.CO_ASYNC_GENERATOR: "is declared with async",
    inspect.CO_GENERATOR: "has a yield",
}
SUPPORTED = "a transition may only depend on its arguments"


def require_pure(function: Callable[..., Any], what: str, instead: str = SUPPORTED) -> None:
    """Refuse a function that reads or changes anything besides its arguments, naming the call and its line."""
    for reason in impurities(function):
        raise InvalidInput(f"{what} {reason}; {instead}")


def impurities(function: Any, seen: set[Any] | None = None) -> Iterator[str]:
    """The impure operations of a function and of those that it calls, each with its place."""
    seen = set() if seen is None else seen
    function = getattr(function, "py_func", function)  # compiled by its author
    function = getattr(function, "__func__", function)  # a method of a class
    if not isinstance(function, types.FunctionType) or function in seen:
        return
    if not seen:  # a generator may help, but cannot be the transition
        for flag, reason in KINDS.items():
            if function.__code__.co_flags & flag:
                yield f"{reason} ({where(function)})"
    seen.add(function)
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if changeable(default):
            yield f"has a default value that can change ({where(function)})"
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    yield from _code_impurities(function, function.__code__, cells, seen)


def _code_impurities(function: Any, code: types.CodeType, cells: dict[str, Any], seen: set[Any]) -> Iterator[str]:
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "PUSH_NULL", "PRECALL")]
    for index, step in enumerate(steps):
        place = where(function, step.positions.lineno if step.positions else None)
        name = step.argval
        if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            yield f"changes the global variable {name} ({place})"
        elif step.opname == "STORE_DEREF" and name in cells:
            yield f"changes {name}, a variable of the function around it ({place})"
        elif step.opname == "IMPORT_NAME":
            yield f"imports {name} ({place})"
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            found = _looked_up(function, name, cells if step.opname == "LOAD_DEREF" else None)
            if found:
                yield from _used(found[0], name, steps[index + 1 :], place, seen)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_impurities(function, constant, cells, seen)


def _looked_up(function: Any, name: str, cells: dict[str, Any] | None) -> tuple[Any] | None:
    """The object that a name means, in a tuple; None if there is none (yet)."""
    if cells is not None:
        try:
            return (cells[name].cell_contents,) if name in cells else None
        except ValueError:  # the name is bound later
            return None
    if name in function.__globals__:
        return (function.__globals__[name],)
    return (getattr(builtins, name),) if hasattr(builtins, name) else None


def _used(value: Any, path: str, following: list[Any], place: str, seen: set[Any]) -> Iterator[str]:
    """The impurities in the use of an object: `following` are the steps after it, attributes first."""
    for step in following:
        if step.opname == "STORE_ATTR":
            yield f"changes {path}.{step.argval} ({place})"
            return
        holds_names = isinstance(value, types.ModuleType | type | types.FunctionType)
        if step.opname not in ("LOAD_ATTR", "LOAD_METHOD") or not holds_names or not hasattr(value, step.argval):
            break
        value, path = getattr(value, step.argval), f"{path}.{step.argval}"
    if impure(value):
        yield f"calls {path} ({place}){' (run --trace prints what happens)' if value is print else ''}"
    elif changeable(value):
        yield f"reads {path}, {'an array' if isinstance(value, np.ndarray) else 'an object'} that can change ({place})"
    elif not _of_a_library(value):
        yield from impurities(value, seen)


def impure(value: Any) -> bool:
    """Whether an object belongs to randomness, time or the outside world."""
    owner = getattr(value, "__self__", None)
    if isinstance(value, types.ModuleType):
        return _module_is_impure(value.__name__)
    if value in (*(getattr(builtins, name, None) for name in IMPURE_BUILTINS),) if callable(value) else False:
        return True
    for part in (value, owner, type(owner), type(value)):
        module = getattr(part, "__module__", None)
        if isinstance(module, str) and part is not None and _module_is_impure(module):
            return True
    return False


def _module_is_impure(name: str) -> bool:
    return name.split(".")[0] in IMPURE_MODULES or name.startswith("numpy.random")


def _of_a_library(function: Any) -> bool:
    root = (getattr(function, "__module__", "") or "").split(".")[0]
    return root in sys.stdlib_module_names or root in ("numpy", "scipy", "numba")


def changeable(value: Any) -> bool:
    """Whether an object may have another content at the next call."""
    if isinstance(value, tuple):
        return any(changeable(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.flags.writeable
    if isinstance(value, types.MethodType):
        return changeable(value.__self__)
    if isinstance(value, types.FunctionType) or hasattr(value, "py_func") or isinstance(value, FIXED):
        return False
    return not (callable(value) and _of_a_library(value))
