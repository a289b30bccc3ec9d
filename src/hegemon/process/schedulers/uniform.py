"""The uniform scheduler (Angluin, Aspnes, Diamadi, Fischer, Peralta 2006): every arc is equally likely in every step.

Its law is written here once for compiled code and once for plain Python; the rows are all arcs, each once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import uint64

from hegemon.compute.randomness import is_fair, turn
from hegemon.graphs.topology import Topology
from hegemon.process.schedulers.scheduler import SchedulePlan, Scheduler, memoryless


def pair_complete(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """Two different agents of n < 2**32, from one word, and the generator's words, which stay in registers.

    Numbers are unsigned: for signed indices the compiler tests at every access whether they count from the end.
    """
    while True:
        word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
        first, second = (word >> uint64(32)) * uint64(n), (word & uint64(0xFFFFFFFF)) * uint64(n - 1)
        if is_fair(first, n) and is_fair(second, n - 1):
            i, j = first >> uint64(32), second >> uint64(32)
            return i, j + (uint64(1) if j >= i else uint64(0)), s0, s1, s2, s3


def pair_arcs(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """A uniformly random row."""
    while True:
        word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
        product = (word >> uint64(32)) * uint64(len(rows))
        if is_fair(product, len(rows)):
            arc = product >> uint64(32)
            return uint64(rows[arc, 0]), uint64(rows[arc, 1]), s0, s1, s2, s3


def all_arcs(topology: Topology) -> np.ndarray:
    """Initiator and responder of every arc."""
    return np.stack([topology.sources, topology.targets], axis=1).astype(np.int32)


class UniformScheduler(Scheduler):
    name = "uniform"
    even = True

    def plan(self, topology: Topology) -> SchedulePlan:
        return memoryless(all_arcs(topology))

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        if topology.is_complete:
            return pair_complete, np.empty((0, 2), np.int32)
        return pair_arcs, all_arcs(topology)

    def meet(self, topology: Topology, below: Callable[[int], int]) -> tuple[int, int]:
        """The same in plain Python; `below(k)` returns a uniform number in 0..k-1."""
        if topology.is_complete:
            i, j = below(topology.n), below(topology.n - 1)
            return int(i), int(j + (j >= i))
        arc = below(topology.arcs)
        return int(topology.sources[arc]), int(topology.targets[arc])


UNIFORM = UniformScheduler()
