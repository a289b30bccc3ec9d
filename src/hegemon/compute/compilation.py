"""From plain Python to machine code: the author's functions compiled, and kernels specialized to them.

A kernel is written once against names such as `interact` that it does not define; `specialize` binds them
to one protocol's functions. Numba's disk cache knows a function by file and qualified name alone, so the
specialized kernel carries in its name a fingerprint of everything it was built from.
"""

import dis
import hashlib
import threading
import types
from functools import cache
from pathlib import Path

import numpy as np
from numba import cfunc, njit
from numba.core.dispatcher import Dispatcher

# For functions that allocate nothing: arrays are not reference-counted, which would otherwise cost more than
# the work of a small function, and division follows IEEE 754.
LEAN = {"error_model": "numpy", "_nrt": False}
lean = njit(**LEAN)


@cache
def _engine_sources() -> bytes:
    """Numba does not notice a change in a called function of another file: the fingerprint must."""
    root = Path(__file__).parent.parent
    files = (path for room in ("compute", "engines", "exact") for path in sorted((root / room).rglob("*.py")))
    return b"".join(path.read_bytes() for path in files)


def _referenced(code) -> set[str]:
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _referenced(constant)
    return names


def _free_variables(function) -> dict:
    """The global and enclosing names that a function reads."""
    found = {k: function.__globals__[k] for k in _referenced(function.__code__) if k in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    return found


def fingerprint(function, seen=None) -> str:
    """A digest of the function's code and, recursively, of every function and constant it reads."""
    seen = {} if seen is None else seen
    function = function.py_func if isinstance(function, Dispatcher) else function
    if function in seen:
        return "again"
    seen[function] = True
    # compiled code on disk names the module it came from, so the same text elsewhere is another function
    digest = hashlib.sha256(str(function.__globals__.get("__name__")).encode())

    def add_code(code):
        digest.update(code.co_code + repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                add_code(constant)
            else:
                digest.update(repr(constant).encode())

    add_code(function.__code__)
    for name, value in sorted(_free_variables(function).items()):
        digest.update(name.encode())
        if isinstance(value, types.FunctionType | Dispatcher):
            digest.update(fingerprint(value, seen).encode())
        elif not isinstance(value, types.ModuleType | types.BuiltinFunctionType | type):
            digest.update(repr(value).encode())
    return digest.hexdigest()


def speaks_of(functions, names, seen=None) -> bool:
    """Whether any of the functions, or a function that it calls, mentions one of the names."""
    seen = set() if seen is None else seen
    for function in functions:
        if function in seen:
            continue
        seen.add(function)
        if _mentioned(function.__code__) & set(names):
            return True
        called = [value for value in _free_variables(function).values() if isinstance(value, types.FunctionType)]
        if speaks_of(called, names, seen):
            return True
    return False


def _mentioned(code) -> set[str]:
    """Every name and text in a function's code: attributes, global names, keys."""
    names = set(code.co_names) | {constant for constant in code.co_consts if isinstance(constant, str)}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _mentioned(constant)
    return names


def compiled(function, memo=None):
    """The author's plain function, and every plain function it calls, as compiled code."""
    memo = {} if memo is None else memo
    if isinstance(function, Dispatcher):
        return function
    if function not in memo:
        scope = dict(function.__globals__)
        memo[function] = njit(forceinline=True)(_rebind(function, scope))
        for name, value in _free_variables(function).items():
            if isinstance(value, types.FunctionType):
                scope[name] = compiled(value, memo)
    return memo[function]


def _rebind(function, scope):
    """The same code reading its global names from `scope`."""
    return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)


_lock = threading.Lock()  # trials run in threads


def specialize(template, records: str = "", parallel: bool = False, allocates: bool = True, **bindings):
    """The kernel `template` with the given names bound to functions; compiled once, cached on disk.

    A kernel that does not allocate is compiled lean. `records` tells apart protocols whose states differ: Numba
    would let a function compiled for one record type serve another that begins with the same fields.
    """
    with _lock:
        return _specialize(template, records, parallel, allocates, tuple(sorted(bindings.items())))


@cache
def _specialize(template, records, parallel, allocates, bindings):
    options = {"parallel": parallel} if allocates else LEAN
    return njit(cache=True, nogil=True, **options)(_bound(template, records, bindings))


def from_python(function):
    """A lean function as Python may call it: compiled once, cached on disk."""
    return specialize(function.py_func, allocates=False)


def callback(template, signature, records: str = "", **bindings):
    """As `specialize`, but with a C calling convention and a fixed address: for kernels shared by protocols."""
    with _lock:
        return _callback(template, signature, records, tuple(sorted(bindings.items())))


@cache
def _callback(template, signature, records, bindings):
    return cfunc(signature, cache=True)(_bound(template, records, bindings))


def _bound(template, records, bindings):
    """The template reading the bound names, itself named after all that it was built from."""
    key = hashlib.sha256(_engine_sources() + records.encode())
    for name, function in bindings:
        key.update(name.encode() + fingerprint(function).encode())
    memo: dict = {}
    kernel = _rebind(template, {**template.__globals__, **{k: compiled(f, memo) for k, f in bindings}})
    kernel.__qualname__ = f"{template.__qualname__}_{key.hexdigest()[:20]}"
    kernel.__module__ = template.__module__
    return kernel


def codec(space):
    """`encode(a, layout)` and `decode(code, a, layout)` to bind in kernels, and the layout to pass them."""
    text, layout = space.source()
    encode, decode = _functions(text, "encode", "decode")
    return encode, decode, np.array(layout, dtype=np.int64)


def record_functions(space) -> tuple:
    """`copy(a, b)`, which writes the fields of a into b, and `same(a, b)`."""
    copy = "".join(f"\n    b.{name} = a.{name}" for name in space.names)
    same = "(" + " | ".join(f"(a.{name} ^ b.{name})" for name in space.names) + ") == 0"  # without branches
    return _functions(f"def copy(a, b):{copy}\ndef same(a, b):\n    return {same}\n", "copy", "same")


def packer(packing):
    """`pack(a, layout)` and `unpack(word, a, layout)` to bind in kernels, and the layout to pass them."""
    text, layout = packing.source()
    pack, unpack = _functions(text, "pack", "unpack")
    return pack, unpack, np.array(layout, dtype=np.int64)


def copier(names):
    """`show(a, face)`, which copies the named fields of a state, to bind in kernels."""
    (show,) = _functions("\n".join(["def show(a, face):", *(f"    face.{name} = a.{name}" for name in names)]), "show")
    return show


@cache
def _functions(text: str, *names: str) -> tuple:
    """Functions defined by generated text: the same text gives the same functions."""
    scope: dict = {}
    exec(text, scope)
    return tuple(scope[name] for name in names)


@cache
def marks(conditions: tuple):
    """One function that answers, as bits, which of the conditions an agent satisfies."""
    lines = ["def marks(a, p):", "    mask = 0"]
    for index in range(len(conditions)):
        lines += [f"    if condition{index}(a, p):", f"        mask |= {1 << index}"]
    scope = {f"condition{index}": condition for index, condition in enumerate(conditions)}
    exec("\n".join(lines + ["    return mask"]), scope)
    return scope["marks"]
