"""What pairs of states become, as a table that engine `agents` fills as pairs occur.

An entry holds the codes after the meeting, and whether it changes anything that the stop counts: most meetings do not,
and then the marks of states need not be looked up.
"""

from weakref import WeakKeyDictionary

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean
from hegemon.engines.meeting import TOLD
from hegemon.engines.membership import Membership
from hegemon.models.population import PopulationProtocol

LARGEST_TABLE = 4096  # states: a table of pairs takes at most 64 MiB
CODE = 12  # bits of a code
KNOWN, MARKED = 1 << 2 * CODE, 1 << 2 * CODE + 1  # this pair was computed; it changes what the stop counts

_known: WeakKeyDictionary = WeakKeyDictionary()


def pairs_of(protocol: PopulationProtocol, membership: Membership) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Its states, their marks, and the table, which all trials with this stop fill: at the same time, they write the
    same."""
    space = protocol.space
    if protocol not in _known:
        _known[protocol] = space.decode_array(np.arange(space.size)), None, None
    states, marks, table = _known[protocol]
    now = membership.marks(states)
    if not np.array_equal(marks, now):
        marks, table = now, np.zeros(space.size**2 * protocol.coins.size, np.uint32)
        _known[protocol] = states, marks, table
    return states, marks, table


@lean
def entry_of(gate, mark, a, b):  # type: ignore[no-untyped-def]
    """What the table says of two codes that have just met."""
    after_a, after_b = uint64(gate[TOLD]), uint64(gate[TOLD + 1])
    is_marked = False
    for k in range(mark.shape[1]):
        if mark[a, k] != mark[after_a, k] or mark[b, k] != mark[after_b, k]:
            is_marked = True
    return uint64(KNOWN) | uint64(MARKED if is_marked else 0) | (after_a << uint64(CODE)) | after_b


@lean
def codes_in(entry):  # type: ignore[no-untyped-def]
    """Both codes after the meeting."""
    return (entry >> uint64(CODE)) & uint64(LARGEST_TABLE - 1), entry & uint64(LARGEST_TABLE - 1)
