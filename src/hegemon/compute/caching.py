"""Compiled kernels on disk: kept wherever this installation may write, and written by one process at a time."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba

from hegemon.compute.border import STOCK, compile_alone, ingredient, make_callback, make_kernel
from hegemon.system import is_own, locked, user


def cached(function: Callable[..., Any], **options: Any) -> Any:
    """`function` compiled when it is first called, and kept on disk if any folder can be written."""
    kernel = _kept(partial(make_kernel, function, options))
    compile_alone(kernel, _held)
    return kernel


def kernel(function: Callable[..., Any]) -> Any:
    """The decorator of kernels that belong to no protocol and hold no lock; in other kernels they are ingredients."""
    if STOCK:
        return cached(function, nogil=True)
    made = ingredient()(function)
    made.open_door = partial(cached, function, nogil=True)  # compiled when first called from Python
    return made


def inlined_kernel(function: Callable[..., Any]) -> Any:
    """The same, copied into the kernels that call it."""
    return cached(function, nogil=True, inline="always")


def cached_callback(function: Callable[..., Any], signature: Any) -> Any:
    """The same with a C calling convention."""
    return _kept(partial(make_callback, function, signature))


def _kept(make: Callable[..., Any]) -> Any:
    """Numba keeps its files beside the source or in the home folder. If neither can be written, they are kept in a
    folder of temporary files that belongs to this user; if that fails too, nowhere."""
    try:
        return make(cache=True)
    except RuntimeError:
        if _use_temporary_folder():
            with contextlib.suppress(RuntimeError):
                return make(cache=True)
    return make()


def _use_temporary_folder() -> bool:
    settings: Any = numba.config  # its attributes are created when it is loaded
    if settings.CACHE_DIR:
        return False
    try:
        folder = Path(tempfile.gettempdir()) / f"hegemon-kernels-{user()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if not is_own(folder):
            return False  # machine code is loaded from here: it must be our own
    except OSError:
        return False
    settings.CACHE_DIR = str(folder)
    return True


@contextlib.contextmanager
def _held(lock: str) -> Iterator[None]:
    """Hold this lock file; where files cannot be written or locked, processes do not wait for each other."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(lock), exist_ok=True)
            stack.enter_context(locked(stack.enter_context(open(lock, "w"))))
        yield
