"""Numba without what it looks for when it starts and kernels never use; done before anything else imports it."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

BLAS = "scipy.linalg.cython_blas"  # for a faster np.convolve; with all that it loads, a seventh of a command's start
COMMAND = "hegemon.cli.main"
OF_OTHERS = ("cffi", "yaml")  # foreign functions, and Numba's own file of settings
LOOKING = ("numba", "numba.np.arraymath", "numba.core.typing.cffi_utils")


def load() -> None:
    """Load the parts of Numba that look for other libraries, and let them find none.

    Somebody who uses Numba besides us may need what a command does not: from him only the one is hidden that he would
    not miss.
    """
    modules: dict[str, Any] = sys.modules
    hidden = [BLAS]
    if COMMAND in modules:
        # SciPy asks NumPy for every name; behind this one is a compiler of Fortran, which takes long to load.
        vars(numpy).setdefault("f2py", ModuleType("numpy.f2py"))
        if not Path(".numba_config.yaml").exists():
            hidden += OF_OTHERS
    hidden = [name for name in hidden if name not in modules]
    modules.update(dict.fromkeys(hidden))
    try:
        for name in LOOKING:
            importlib.import_module(name)
    finally:
        for name in hidden:
            del modules[name]
