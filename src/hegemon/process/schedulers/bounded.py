"""The bounded scheduler: arcs at random, but none waits longer than K times as many steps as there are arcs.

Every window of K · arcs steps uses every arc (bounded fairness, as in the literature on bounded daemons: Beauquier,
Gradinaru, Johnen 2007). An arc is drawn uniformly unless one is due: if serving the arcs that have waited longest one
after the other would just meet all bounds, one of those that must come first is drawn.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import uint64

from hegemon.compute.randomness import turn_below
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import SchedulePlan, Scheduler
from hegemon.process.schedulers.uniform import all_arcs

MOST_ARCS = 20_000  # each step reads all of them
LARGEST_BOUND = 10**9


def pair_in_time(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """Rows are the arcs, those that have waited longest first, and the step of their last use; row 0 holds the present
    step and the bound."""
    arcs, now, bound = len(rows) - 1, rows[0, 0], rows[0, 1]
    among = arcs
    for place in range(arcs):  # an arc is served after all arcs that stand before it
        if now + place + 1 >= rows[place + 1, 2] + bound:
            among = place + 1
            break
    drawn, s0, s1, s2, s3 = turn_below(among, s0, s1, s2, s3)
    k = np.int64(drawn) + 1
    i, j = rows[k, 0], rows[k, 1]
    for place in range(k, arcs):
        for column in range(3):
            rows[place, column] = rows[place + 1, column]
    rows[arcs, 0], rows[arcs, 1], rows[arcs, 2] = i, j, now + 1
    rows[0, 0] = now + 1
    return uint64(i), uint64(j), s0, s1, s2, s3


class Bounded(Scheduler):
    memoryless = False

    def __init__(self, bound: int):
        self.bound, self.name = bound, f"bounded:{bound}"

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        arcs = all_arcs(topology)
        if len(arcs) > MOST_ARCS:
            raise InvalidInput(f"{self.name} follows at most {MOST_ARCS:,} arcs, and {topology.name} has {len(arcs):,}")
        rows = np.zeros((len(arcs) + 1, 3), np.int64)
        rows[1:, :2] = arcs
        rows[0, 1] = self.bound * len(arcs)
        return pair_in_time, rows

    def plan(self, topology: Topology) -> SchedulePlan:
        raise InvalidInput(
            f"the scheduler {self.name} remembers when every arc was used, which is too much for an exact chain; use "
            "run, which simulates it exactly, or round-robin or permutation, which remember less"
        )


def read_bounded(words: str, protocol: Protocol, topology: Topology) -> Bounded:
    """`bounded:K`."""
    if not words.isascii() or not words.isdigit() or not 1 <= int(words) <= LARGEST_BOUND:
        raise InvalidInput(f"bounded:{words[:40]} is not understood; write bounded:K, K >= 1: no arc waits K sweeps")
    return Bounded(int(words))
