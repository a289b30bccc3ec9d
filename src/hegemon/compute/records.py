"""Functions on records that are written by the program: they read the fields and bounds of one state space."""

from functools import cache

import numpy as np


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
