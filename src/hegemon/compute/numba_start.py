"""Numba without what it looks for when it starts and kernels never use; done before anything else imports it.

A kernel that is compiled already needs little of Numba. The compiler, which takes as long to load as all the rest of a
command, comes with the first kernel that is not.
"""

import contextlib
import importlib
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy

COMMAND = "hegemon.cli.main"
# SciPy is looked for to see its version, and for a faster np.convolve: with all that it loads, a seventh of a start.
LIBRARIES = ("scipy", "scipy.linalg")
OF_OTHERS = ("cffi", "colorama", "yaml")  # foreign functions, coloured messages, and Numba's own file of settings
COMPILER = ("numba.np.arraymath", "numba.core.typing.cffi_utils")  # the parts that look for other libraries


def load() -> None:
    """Load Numba as far as kernels need it that are compiled already."""
    if COMMAND in sys.modules:
        # SciPy asks NumPy for every name; behind this one is a compiler of Fortran, which takes long to load.
        vars(numpy).setdefault("f2py", ModuleType("numpy.f2py"))
    with _alone():
        importlib.import_module("numba")


@cache
def load_compiler() -> None:
    """Load the rest: before the first kernel is compiled."""
    with _alone():
        for name in COMPILER:
            importlib.import_module(name)


@cache
def load_runtime() -> None:
    """Tell what compiled kernels call by name. Numba itself would load its compiler for that."""
    from llvmlite import binding

    runtime = importlib.import_module("numba.core.runtime._nrt_python")
    for name, address in runtime.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@contextlib.contextmanager
def _alone():
    """Whoever looks for other libraries now finds none, in this thread.

    Somebody who uses Numba besides us may need what a command does not: from him only what he would not miss is hidden.
    """
    hidden = LIBRARIES
    if COMMAND in sys.modules and not Path(".numba_config.yaml").exists():
        hidden += OF_OTHERS
    finder = _Nowhere(hidden)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Nowhere:
    """Hides libraries that are not loaded yet from one thread."""

    def __init__(self, names: tuple[str, ...]):
        self._names, self._thread = names, threading.get_ident()

    def find_spec(self, name, path=None, target=None):
        if name in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"no {name} is looked for here", name=name)
