"""Many arrays as one argument of a kernel: a bundle of addresses.

Numba passes an array from function to function as seven words or more, and tests at every access whether the index
counts from the end. In kernels that share a dozen arrays, that was most of the code, and most of the time to compile
it. A bundle is a named tuple: of arrays for Python, of bare addresses for compiled code. There, the only operation on
an array is `bundle.name[index]`. The index is not checked: it must not be negative, and must be less than the length.
With HEGEMON_CHECK_INDICES=1 kernels are given the arrays themselves and compare every index with their lengths.
"""

from collections import namedtuple
from ctypes import addressof, c_char
from typing import Any

import numpy as np
from numba import from_dtype

from hegemon.compute.border import CHECKED
from hegemon.compute.intrinsics import opener


def bundle(name: str, **kinds: Any) -> Any:
    """The named tuple, and the function with which a kernel opens the addresses that are passed to it."""
    element_types = tuple(np.dtype(kind) for kind in kinds.values())
    group: Any = type(name, (namedtuple(name, tuple(kinds)),), {"element_types": element_types})
    return group, opener(group, [from_dtype(kind) for kind in element_types])


def addresses(arrays: Any) -> np.ndarray:
    """What is passed to a kernel for a bundle, found once; the caller must keep the arrays."""
    known: np.ndarray | None = vars(arrays).get("_addresses")
    if known is not None:
        return known
    for array, kind in zip(arrays, arrays.element_types, strict=True):
        if array.dtype != kind or not array.flags.c_contiguous:
            raise TypeError(f"{type(arrays).__name__} holds an array of {array.dtype} in place of {kind}")
    if CHECKED:
        return arrays
    known = arrays._addresses = np.array([_address(array) for array in arrays], np.int64)
    return known


def _address(array: np.ndarray) -> int:
    """The address of an array; 0 if it is empty. NumPy's own attribute takes several times as long."""
    if array.size and array.flags.writeable:
        return addressof(c_char.from_buffer(array.data))
    place: int = array.__array_interface__["data"][0] if array.size else 0
    return place
