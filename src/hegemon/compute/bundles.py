"""Many arrays as one argument of a kernel: a bundle of addresses.

Numba hands an array from function to function as seven words or more, and asks at every access whether the index counts
from the end. In kernels that share a dozen arrays, that was most of the code, and most of the time to compile it. A
bundle is a named tuple: of arrays for Python, of bare addresses for compiled code. There, only `bundle.name[index]` is
left of an array, and an index must be right: it neither counts from the end nor is there a length to compare it with.
"""

from collections import namedtuple
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import intrinsic


def bundle(name: str, **kinds) -> Any:
    """The named tuple, and the function with which a kernel opens the addresses that it is given."""
    element_types = tuple(np.dtype(kind) for kind in kinds.values())
    group: Any = type(name, (namedtuple(name, tuple(kinds)),), {"element_types": element_types})
    pointers = [types.CPointer(from_dtype(kind)) for kind in element_types]

    @intrinsic
    def opened(typing_context, given):
        kind = types.BaseTuple.from_types(pointers, group)

        def generate(context, builder, signature, arguments):
            first = context.make_array(given)(context, builder, arguments[0]).data
            words = [builder.load(builder.gep(first, [ir.IntType(32)(k)])) for k in range(len(pointers))]
            parts = [
                builder.inttoptr(word, context.get_value_type(one)) for word, one in zip(words, pointers, strict=True)
            ]
            return context.make_tuple(builder, kind, parts)

        return kind(given), generate

    return group, opened


def addresses(arrays) -> np.ndarray:
    """What a kernel is given for a bundle; whoever calls it keeps the arrays alive."""
    for array, kind in zip(arrays, arrays.element_types, strict=True):
        if array.dtype != kind or not array.flags.c_contiguous:
            raise TypeError(f"{type(arrays).__name__} holds an array of {array.dtype} in place of {kind}")
    return np.array([array.ctypes.data for array in arrays], np.int64)
