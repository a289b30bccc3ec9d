"""Compiled kernels on disk: kept wherever this installation may write, and written by one process at a time."""

import contextlib
import gc
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.sigutils import normalize_signature

from hegemon.compute.ingredients import KernelCompiler, ingredient
from hegemon.compute.numba_start import load_compiler, load_runtime
from hegemon.compute.resolving import remembered


def cached(function, **options):
    """`function` compiled when it is first called, and kept on disk if any folder can be written."""
    options |= {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
    kernel = _kept(lambda **cache: _forgiving(njit(**cache, **options)(function)))
    _compile_alone(kernel)
    return kernel


def kernel(function):
    """The decorator of kernels that belong to no protocol and hold no lock; in one another they are ingredients."""
    made = ingredient()(function)
    made.open_door = partial(cached, function, nogil=True)  # most are never called from Python: not before one is
    return made


def inlined_kernel(function):
    """The same, copied into the kernels that call it."""
    return cached(function, nogil=True, inline="always")


def cached_callback(function, signature):
    """The same with a C calling convention."""

    def make(cache=False):
        made = CFunc(function, normalize_signature(signature), {}, {}, pipeline_class=KernelCompiler)
        if cache:
            made.enable_caching()
            _forgiving(made)
        made.compile()
        return made

    with global_compiler_lock, _hurry():
        return _kept(make)


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


def _forgiving(kernel):
    """Files that an older version of the code has left may name types that are gone: they are as good as absent.

    What is there is loaded without the compiler: Numba would load that first, a fifth of a command's start.
    """
    cache = getattr(kernel, "_cache", None)
    load = getattr(cache, "_load_overload", None)

    def load_overload(signature, context):
        found = None
        try:
            load_runtime()
            found = load(signature, context)
        except Exception:
            cache.flush()
        if found is None:
            load_compiler()
        return found

    if load is not None:
        cache.load_overload = load_overload
    return kernel


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


def _compile_alone(kernel) -> None:
    """One process at a time compiles a kernel, or loads what another one has compiled meanwhile.

    Two processes that compile it for different types would give their files the same name, besides.
    """
    path = getattr(kernel._cache, "_cache_path", None)
    if path is None:
        return  # nothing is kept
    compile_for, save = kernel.compile, kernel._cache.save_overload
    lock = os.path.join(path, f".{kernel.py_func.__qualname__}.lock")

    def compile_alone(signature):
        # The compiler's own lock first: no thread may hold the file while another one, which holds the compiler, waits.
        with global_compiler_lock, _held(lock), _hurry():
            return compile_for(signature)

    def save_overload(signature, data):
        with contextlib.suppress(OSError):  # a full disk costs time, not the run
            save(signature, data)

    kernel.compile, kernel._cache.save_overload = compile_alone, save_overload


@contextlib.contextmanager
def _hurry():
    """The compiler makes many small objects and keeps most of them: looking for garbage takes a tenth of its time."""
    looking = gc.isenabled()
    gc.disable()
    try:
        with remembered():
            yield
    finally:
        if looking:
            gc.enable()


@contextlib.contextmanager
def _held(lock):
    """Where files cannot be written or locked, nobody waits."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            os.makedirs(os.path.dirname(lock), exist_ok=True)
            file = stack.enter_context(open(lock, "w"))
            fcntl.flock(file, fcntl.LOCK_EX)
            stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open, too
        yield
