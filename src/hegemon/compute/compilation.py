"""From plain Python to machine code: the author's functions compiled, and kernels specialized to them.

A kernel is written once against names such as `interact` that it does not define; `specialize` binds them
to one protocol's functions. Numba's disk cache finds a function by file and qualified name alone, so the
specialized kernel carries in its name a fingerprint of everything it was built from.
"""

import hashlib
import os
import threading
import types
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from hegemon.compute.border import STOCK, by_types, ingredient, is_compiled, make_callback
from hegemon.compute.caching import cached, cached_callback
from hegemon.compute.fingerprints import fingerprint, free_variables

# For functions that allocate nothing: arrays are not reference-counted, which would otherwise cost more than
# the work of a small function, division follows IEEE 754, and the compiler does not search for sums of whole arrays.
LEAN: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_rewrites": True}
lean = ingredient(**LEAN)
PACKAGE = Path(__file__).parent.parent
PROTOCOLS = f"{PACKAGE / 'protocols'}{os.sep}"
WRITTEN = ("<hegemon>", "<condition>")  # texts of the laboratory's own, whose numbers stay in their bounds
# What gives an author's function its machine code is part of every kernel.
TEXTS = (*sorted((PACKAGE / "language").glob("*.py")), *(
    PACKAGE / "compute" / name for name in ("arithmetic.py", "translation.py", "authored.py")))  # fmt: skip
CHECKS = hashlib.sha256(b"".join(file.read_bytes() for file in TEXTS)).hexdigest()


# plain functions as ingredients, shared by the kernels for the same records
_compiled: dict[tuple[Callable[..., Any], str], Any] = {}


def is_authored(function: Callable[..., Any]) -> bool:
    """Neither the laboratory's own nor written by it; the catalogue's protocols count as an author's."""
    name = function.__code__.co_filename
    return name not in WRITTEN and (not name.startswith(f"{PACKAGE}{os.sep}") or name.startswith(PROTOCOLS))


def compiled(function: Callable[..., Any], records: str = "") -> Any:
    """The author's plain function, and every plain function it calls, as compiled code."""
    if is_compiled(function):
        return function
    key = function, records
    if key not in _compiled:
        if is_authored(function):
            _compiled[key] = by_types(function, partial(_version, function, records))
        else:
            scope = dict(function.__globals__)
            _compiled[key] = ingredient(forceinline=True)(_rebind(function, scope))
            for name, value in free_variables(function).items():
                if isinstance(value, types.FunctionType):
                    scope[name] = compiled(value, records)
    return _compiled[key]


@cache
def _authored(function: Callable[..., Any], records: str) -> Any:
    from hegemon.compute.authored import Authored  # a kernel from the disk does not need it

    return Authored(function, records)


def _version(function: Callable[..., Any], records: str, given: tuple[Any, ...]) -> Any:
    """The ingredient for arguments of these types."""
    return _authored(function, records)(given)


def _rebind(function: Callable[..., Any], scope: dict[str, Any]) -> types.FunctionType:
    """The same code reading its global names from `scope`."""
    return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)


_lock = threading.Lock()  # trials run in threads


def specialize(
    template: Callable[..., Any], records: str = "", parallel: bool = False, allocates: bool = True, **bindings: Any
) -> Any:
    """The kernel `template` with the given names bound to functions; compiled once, cached on disk.

    A kernel that does not allocate is compiled lean. `records` separates protocols whose states differ: Numba
    would let a function compiled for one record type serve another that begins with the same fields.
    """
    with _lock:
        return _specialize(template, records, parallel, allocates, tuple(sorted(bindings.items())))


@cache
def _specialize(
    template: Callable[..., Any],
    records: str,
    parallel: bool,
    allocates: bool,
    bindings: tuple[tuple[str, Callable[..., Any]], ...],
) -> Any:
    options = {"parallel": parallel} if allocates else LEAN
    return cached(_bound(template, records, bindings), nogil=True, **options)


def part(
    template: Callable[..., Any], records: str = "", allocates: bool = True, inlined: bool = False, **bindings: Any
) -> Any:
    """As `specialize`, but for kernels to call, and compiled with them; `inlined`: copied to wherever it is called."""
    with _lock:
        return _part(template, records, allocates, inlined, tuple(sorted(bindings.items())))


@cache
def _part(
    template: Callable[..., Any],
    records: str,
    allocates: bool,
    inlined: bool,
    bindings: tuple[tuple[str, Callable[..., Any]], ...],
) -> Any:
    options = {"forceinline": True} if inlined else {}
    return ingredient(**options, **{} if allocates else LEAN)(_bound(template, records, bindings))


def callback(template: Callable[..., Any], signature: Any, records: str = "", **bindings: Any) -> Any:
    """As `specialize`, but with a C calling convention and a fixed address: for kernels shared by protocols."""
    with _lock:
        return _callback(template, signature, records, tuple(sorted(bindings.items())))


@cache
def _callback(
    template: Callable[..., Any], signature: Any, records: str, bindings: tuple[tuple[str, Callable[..., Any]], ...]
) -> Any:
    return cached_callback(_bound(template, records, bindings), signature)


def llvm_of(template: Callable[..., Any], signature: Any, records: str = "", **bindings: Any) -> str:
    """The optimized LLVM code of a callback, compiled anew: what is loaded from the disk has none."""
    with _lock:
        bound = _bound(template, records, tuple(sorted(bindings.items())))
        return str(make_callback(bound, signature).inspect_llvm())


def _bound(
    template: Callable[..., Any], records: str, bindings: tuple[tuple[str, Callable[..., Any]], ...]
) -> types.FunctionType:
    """The template with the names bound; its own name contains a fingerprint of all that it was built from."""
    kernel = _rebind(template, {**template.__globals__, **{k: compiled(f, records) for k, f in bindings}})
    key = hashlib.sha256(f"{STOCK} {CHECKS} {records} {fingerprint(kernel)}".encode())
    kernel.__qualname__ = f"{template.__qualname__}_{key.hexdigest()[:20]}"
    kernel.__module__ = template.__module__
    return kernel
