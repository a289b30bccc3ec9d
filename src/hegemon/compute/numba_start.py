"""Numba without what it loads and kernels never use: imported before anything is compiled."""

import importlib
import sys
from typing import Any

BLAS = "scipy.linalg.cython_blas"  # a seventh of the time that a command takes to start, for a faster np.convolve


def load() -> None:
    """Load the part of Numba that looks for SciPy's linear algebra, and let it find none."""
    modules: dict[str, Any] = sys.modules
    if BLAS in modules:
        return
    modules[BLAS] = None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del modules[BLAS]


load()
