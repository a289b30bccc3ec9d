"""Compiled kernels on disk: kept wherever this installation may write, and written by one process at a time."""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numba
from numba import cfunc, njit


def cached(function, **options):
    """`function` compiled when it is first called, and kept on disk if any folder can be written."""
    kernel = _kept(lambda **cache: njit(**cache, **options)(function))
    _save_alone(kernel)
    return kernel


def kernel(function):
    """The decorator of kernels that belong to no protocol: compiled once, and they hold no lock."""
    return cached(function, nogil=True)


def inlined_kernel(function):
    """The same, copied into the kernels that call it."""
    return cached(function, nogil=True, inline="always")


def cached_callback(function, signature):
    """The same with a C calling convention."""
    return _kept(lambda **cache: cfunc(signature, **cache)(function))


def _kept(make):
    """Numba keeps its files beside the source or in the home; where neither can be written, in a folder of
    temporary files that belongs to this user; and where even that cannot be, nowhere."""
    try:
        return make(cache=True)
    except RuntimeError:
        if _use_temporary_folder():
            with contextlib.suppress(RuntimeError):
                return make(cache=True)
    return make()


def _use_temporary_folder() -> bool:
    settings: Any = numba.config  # its names are made when it is loaded
    if settings.CACHE_DIR:
        return False
    try:
        folder = Path(tempfile.gettempdir()) / f"hegemon-kernels-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return False  # machine code is loaded from here: it must be our own
    except OSError:
        return False
    settings.CACHE_DIR = str(folder)
    return True


def _save_alone(kernel) -> None:
    """Two processes that compile one kernel for different types would give their files the same name."""
    cache = kernel._cache
    path = getattr(cache, "_cache_path", None)
    if path is None:
        return  # nothing is kept
    save = cache.save_overload

    def save_overload(signature, data):
        with contextlib.suppress(OSError), _lock(path):  # a full disk costs time, not the run
            save(signature, data)

    cache.save_overload = save_overload


@contextlib.contextmanager
def _lock(folder):
    try:
        import fcntl

        os.makedirs(folder, exist_ok=True)
        file = open(os.path.join(folder, ".hegemon.lock"), "w")  # noqa: SIM115 - closed below
    except (ImportError, OSError):
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
