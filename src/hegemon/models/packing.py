"""A state as bits: every field at its own place in one word, as narrow as its range allows.

Private fields (those that only the node itself reads) come first, at the low end, so that one mask tells
what neighbours can see. A field that a state does not have is packed as 0, so equal states are equal words.
"""

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
    def dtype(self):
        """The word that holds a state."""
        return np.uint32 if self.bits <= 32 else np.int64

    @property
    def private_mask(self) -> int:
        return (1 << self.private_bits) - 1

    def source(self) -> tuple[str, list[int]]:
        """`pack(a, layout)` and `unpack(word, a, layout)` as Python text, and the numbers they read.

        `pack` answers -1 for a state with a field outside its range. Places and widths are written into the
        text, where they cost nothing; only bounds that are not powers of two are read from the layout, so
        that one compiled pair serves many choices of parameters.
        """
        layout: list[int] = []
        pack, unpack = ["def pack(a, layout):", "    word = 0"], ["def unpack(word, a, layout):"]
        for name in self.space.names:
            low, high = self.space.bounds[name]
            shift, mask = self.shifts[name], (1 << self.widths[name]) - 1
            largest = str(mask)
            if high - low < mask:
                largest = f"layout[{len(layout)}]"
                layout.append(high - low)
            indent = "    "
            condition = self.space.domains[name].condition
            if condition:
                tests = [f"a.{other} == {self.space.domains[other].index(value)}" for other, value in condition]
                pack += [f"    if {' and '.join(tests)}:"]
                indent += "    "
            pack += [
                f"{indent}digit = a.{name} - {low}",
                f"{indent}if digit < 0 or digit > {largest}:",
                f"{indent}    return -1",
                f"{indent}word |= digit << {shift}",
            ]
            unpack += [f"    a.{name} = {low} + ((word >> {shift}) & {mask})"]
        return "\n".join([*pack, "    return word", *unpack]) + "\n", layout
