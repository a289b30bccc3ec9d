"""What pairs of states become, as a table that engine `agents` fills as pairs occur.

An entry holds the codes after the meeting, and whether it changes anything that the stop counts: most meetings do not,
and then the marks of states need not be looked up.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean
from hegemon.engines.meeting import RESULT
from hegemon.models.population import PopulationProtocol
from hegemon.process.membership import Membership

LARGEST_TABLE = 4096  # states: a table of pairs takes at most 64 MiB
CODE = 12  # bits of a code
KNOWN, MARKED = 1 << 2 * CODE, 1 << 2 * CODE + 1  # this pair was computed; it changes what the stop counts

SMALL_TABLE = 1 << 16  # entries: up to here it outlives its protocol, for the next one that equals it

_known: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


class Pairs:
    """All states of a protocol, which of them meet each of the stop's conditions, and the table, which all trials fill.
    Trials in several threads write the same entries."""

    def __init__(self, protocol: PopulationProtocol):
        self.states = protocol.space.decode_array(np.arange(protocol.space.size))
        self._entries = entries(protocol)
        self._last = np.zeros((len(self.states), 0), np.int8), np.zeros(self._entries, np.uint32)

    def use(self, membership: Membership) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States, marks and table; with other marks than before, the table begins anew."""
        marks, table = self._last
        if membership.stop.conditions or marks.shape[1]:
            now = membership.marks(self.states)
            if not np.array_equal(marks, now):
                marks, table = self._last = now, np.zeros(self._entries, np.uint32)
        return self.states, marks, table


def entries(protocol: PopulationProtocol) -> int:
    """How many entries the table has."""
    return protocol.space.size**2 * protocol.coins.size


def pairs_of(protocol: PopulationProtocol, membership: Membership) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Its states, their marks, and the table of a protocol with this stop."""
    shared = protocol.shared
    if entries(protocol) <= SMALL_TABLE:
        return shared.once(("pairs", membership.stop.conditions), lambda: Pairs(protocol)).use(membership)
    if protocol not in _known or _known[protocol][0] is not shared:
        _known[protocol] = shared, Pairs(protocol)
    found: Pairs = _known[protocol][1]
    return found.use(membership)


@lean
def entry_of(gate, mark, a, b):  # type: ignore[no-untyped-def]
    """The table's entry for two codes that have just met."""
    after_a, after_b = uint64(gate[RESULT]), uint64(gate[RESULT + 1])
    is_marked = False
    for k in range(mark.shape[1]):
        if mark[a, k] != mark[after_a, k] or mark[b, k] != mark[after_b, k]:
            is_marked = True
    return uint64(KNOWN) | uint64(MARKED if is_marked else 0) | (after_a << uint64(CODE)) | after_b


@lean
def codes_in(entry):  # type: ignore[no-untyped-def]
    """Both codes after the meeting."""
    return (entry >> uint64(CODE)) & uint64(LARGEST_TABLE - 1), entry & uint64(LARGEST_TABLE - 1)
