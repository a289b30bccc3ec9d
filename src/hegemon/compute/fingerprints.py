"""What a compiled function is built from: its code and, through every name it reads, the code of all the rest.

Numba's disk cache finds a function by its own file alone, and would serve machine code that was compiled from an
older version of a function in another file. A fingerprint covers just what a kernel can reach: no more, so that
work elsewhere compiles nothing again, and no less.
"""

import dis
import enum
import hashlib
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterable
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from hegemon.compute.border import is_compiled, is_intrinsic, options_of, plain

CALCULATING = (np, math)  # modules without functions that read fields
WITHOUT_NAMES = {"view", "tobytes", "ctypes", "data", "carray", "literal_unroll", "getattr"}  # ways to read memory
# Modules that a fingerprint covers by their names alone, or by their whole text if they are our own.
KNOWN_MODULES = {*sys.stdlib_module_names, "numpy", "scipy", "numba", "llvmlite", "hegemon"} - {"__main__"}
OPTIONS = ("error_model", "fastmath", "_nrt", "parallel")  # of a compiled function: they change its machine code


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest of the function's code and of everything that it reads, recursively."""
    digest = hashlib.sha256()
    places: dict[Callable[..., Any], int] = {}  # the functions met, numbered in this order
    waiting = [function]
    while waiting:
        plain, options = _plain(waiting.pop())
        if plain in places:
            continue
        places[plain] = len(places)
        # compiled code on disk names the module it came from, so the same text elsewhere is another function
        digest.update(f"{plain.__globals__.get('__name__')} {options} {plain.__defaults__!r}".encode())
        _add_code(digest, plain.__code__)
        for name, value in sorted(_everything_read(plain).items()):
            digest.update(name.encode())
            if is_function(value):
                inner = _plain(value)[0]
                digest.update(f"function {places.get(inner, 'new')}".encode())
                if inner not in places:
                    waiting.append(value)
            else:
                digest.update(_constant(value))
    return digest.hexdigest()


def _everything_read(function: Callable[..., Any]) -> dict[str, Any]:
    """Its free variables and, as `module.name` or `Class.name`, what it may read of modules and classes, except ours
    and those of libraries."""
    found = free_variables(function)
    attributes, waiting, seen = _mentioned(function.__code__), sorted(found.items(), key=itemgetter(0)), set()
    while waiting:
        path, value = waiting.pop()
        if not isinstance(value, types.ModuleType | type) or value in seen or _root(value) in KNOWN_MODULES:
            continue
        seen.add(value)
        names = sorted(attributes & {name for owner in getattr(value, "__mro__", (value,)) for name in vars(owner)})
        held = [(f"{path}.{name}", _behind(getattr(value, name))) for name in names]
        found |= held
        waiting += held
    return found


def _behind(member: Any) -> Any:
    """What a class holds under a name; a property, whose text is an address, is the function that calculates it."""
    return member.fget if isinstance(member, property) else member


def is_function(value: Any) -> bool:
    return isinstance(value, types.FunctionType) or is_compiled(value) or is_intrinsic(value)


def free_variables(function: Callable[..., Any]) -> dict[str, Any]:
    """The global and enclosing names that a plain function reads."""
    variables = {k: function.__globals__[k] for k in _referenced(function.__code__) if k in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        variables[name] = cell.cell_contents
    return variables


def speaks_of(
    functions: Iterable[Callable[..., Any]], names: Iterable[str], seen: set[Callable[..., Any]] | None = None
) -> bool:
    """Whether any of the functions, or a function that it calls, mentions one of the names."""
    seen = set() if seen is None else seen
    for function in functions:
        if function in seen:
            continue
        seen.add(function)
        if _mentioned(function.__code__) & set(names):
            return True
        called = [value for value in free_variables(function).values() if isinstance(value, types.FunctionType)]
        if speaks_of(called, names, seen):
            return True
    return False


def names_read(functions: Iterable[Callable[..., Any]]) -> set[str] | None:
    """Every name that these functions and all that they call mention: they read no other field of a state.

    None if that is unknown: memory is read without a name, or something is called whose code is not available.
    """
    names: set[str] = set()
    waiting, seen = list(functions), set()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        if function.__defaults__ or function.__kwdefaults__:
            return None
        names |= _mentioned(function.__code__)
        for value in free_variables(function).values():
            if isinstance(value, types.FunctionType):
                waiting.append(value)
            elif isinstance(value, str):
                names.add(value)
            elif not isinstance(value, int | float | np.generic) and value not in CALCULATING:
                return None
    return None if names & WITHOUT_NAMES else names


def _root(value: types.ModuleType | type) -> str:
    return (value.__module__ if isinstance(value, type) else value.__name__).partition(".")[0]


def _plain(function: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A compiled function or an intrinsic as the Python function behind it, and the options that matter."""
    return plain(function), {k: v for k, v in options_of(function).items() if k in OPTIONS}


def _add_code(digest: Any, code: types.CodeType) -> None:
    digest.update(code.co_code + repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _add_code(digest, constant)
        else:
            digest.update(repr(constant).encode())


def _constant(value: Any) -> bytes:
    """Data as bytes that are the same in every process."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}".encode() + value.tobytes()
    if isinstance(value, types.ModuleType):
        own = _root(value) == __name__.partition(".")[0]
        return inspect.getsource(value).encode() if own else value.__name__.encode()
    if isinstance(value, type):
        members = [(member.name, member.value) for member in value] if issubclass(value, enum.Enum) else ""
        return f"{value.__qualname__} {getattr(value, '_fields', '')}{members}".encode()
    if callable(value):  # a function of NumPy or of Python, a type of Numba
        return str(getattr(value, "__name__", value)).encode()
    return repr(value).encode()


@cache
def _referenced(code: types.CodeType) -> set[str]:
    """The global names that code reads; cached, since many kernels call the same small functions."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _referenced(constant)
    return names


def _mentioned(code: types.CodeType) -> set[str]:
    """Every name and text in a function's code: attributes, global names, keys."""
    names = set(code.co_names)
    waiting = list(code.co_consts)
    while waiting:
        constant = waiting.pop()
        if isinstance(constant, types.CodeType):
            names |= _mentioned(constant)
        elif isinstance(constant, str):
            names.add(constant)
        elif isinstance(constant, tuple | frozenset):
            waiting += constant
    return names
