"""A state as bits: every field at its own place in one word, as narrow as its range allows.

Private fields (those that only the node itself reads) come first, at the low end, so that one mask separates
them from what neighbours can see. A field that a state does not have is packed as 0, so equal states are equal words.
"""

from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.state import StateSpace

LARGEST_WORD = 62  # bits: a word stays positive as a signed number, and -1 can mean out of range


class Packing:
    def __init__(self, space: StateSpace, private: tuple[str, ...] = ()):
        self.space = space
        self.shifts, self.widths, place = {}, {}, 0
        for name in sorted(space.names, key=lambda name: name not in private):
            low, high = space.bounds[name]
            self.shifts[name], self.widths[name] = place, (high - low).bit_length()
            place += self.widths[name]
        self.bits = place
        self.private_bits = sum(self.widths[name] for name in private)
        if self.bits > LARGEST_WORD:
            raise InvalidInput(f"{space.owner} needs {self.bits} bits per node; at most {LARGEST_WORD} can be packed")

    @property
    def dtype(self) -> Any:
        """The word that holds a state."""
        return np.uint32 if self.bits <= 32 else np.int64

    @property
    def private_mask(self) -> int:
        return (1 << self.private_bits) - 1

    def source(self) -> tuple[str, list[int]]:
        """`pack(a, layout)` and `unpack(word, a, layout)` as Python text, and the numbers they read.

        `pack` returns -1 for a state with a field outside its range. The text depends on the fields alone,
        so that one compiled pair serves every choice of parameters.
        """
        layout: list[int] = []
        pack, unpack = ["def pack(a, layout):", "    word = 0"], ["def unpack(word, a, layout):"]
        for name in self.space.names:
            low, high = self.space.bounds[name]
            slot = len(layout)
            layout += [low, high - low, self.shifts[name], (1 << self.widths[name]) - 1]
            indent = "    "
            exists = self.space.existence_test(name)
            if exists:
                pack += [f"    if {exists}:"]
                indent += "    "
            pack += [
                f"{indent}digit = a.{name} - layout[{slot}]",
                f"{indent}if digit < 0 or digit > layout[{slot + 1}]:",
                f"{indent}    return -1",
                f"{indent}word |= digit << layout[{slot + 2}]",
            ]
            unpack += [f"    a.{name} = layout[{slot}] + ((word >> layout[{slot + 2}]) & layout[{slot + 3}])"]
        return "\n".join([*pack, "    return word", *unpack]) + "\n", layout
