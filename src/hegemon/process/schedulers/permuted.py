"""Schedulers that take turns in a random order.

`permutation`: every arc once in a sweep. `matching`: every agent at most once in a round, a random maximal set of
disjoint pairs; on complete graphs there are n/2 of them, and all such sets are alike.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import uint64

from hegemon.compute.randomness import turn_below
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.process.schedulers.scheduler import SchedulePlan, Scheduler, explored
from hegemon.process.schedulers.uniform import all_arcs

MOST_REMEMBERED = 16  # arcs or agents: an exact chain keeps every set of them apart


def pair_unused(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """An arc that this sweep has not used, each alike. Row 0 says where they begin; those before are used."""
    first = rows[0, 0]
    rest = len(rows) - first
    ahead, s0, s1, s2, s3 = turn_below(rest, s0, s1, s2, s3)
    k = first + np.int64(ahead)
    for end in range(2):
        rows[first, end], rows[k, end] = rows[k, end], rows[first, end]
    rows[0, 0] = first + 1 if first + 1 < len(rows) else 1
    return uint64(rows[first, 0]), uint64(rows[first, 1]), s0, s1, s2, s3


def pair_unmatched(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """The same, where arcs with an end that has met in this round are passed over.

    `rows[0]` holds where unused arcs begin and the number of the round; the last n rows, in which round each agent met.
    """
    arcs = len(rows) - n
    while True:
        first = rows[0, 0]
        if first == 1:
            rows[0, 1] += 1
        ahead, s0, s1, s2, s3 = turn_below(arcs - first, s0, s1, s2, s3)
        k = first + np.int64(ahead)
        for end in range(2):
            rows[first, end], rows[k, end] = rows[k, end], rows[first, end]
        rows[0, 0] = first + 1 if first + 1 < arcs else 1
        i, j, now = rows[first, 0], rows[first, 1], rows[0, 1]
        if rows[arcs + i, 0] != now and rows[arcs + j, 0] != now:
            rows[arcs + i, 0], rows[arcs + j, 0] = now, now
            return uint64(i), uint64(j), s0, s1, s2, s3


def pair_of_matching(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """On a complete graph: two agents that have not met in this round. Row 0 says where they begin."""
    first = rows[0, 0]
    for place in range(first, first + 2):
        ahead, s0, s1, s2, s3 = turn_below(n + 1 - place, s0, s1, s2, s3)
        k = place + np.int64(ahead)
        rows[place, 0], rows[k, 0] = rows[k, 0], rows[place, 0]
    rows[0, 0] = first + 2 if first + 3 <= n else 1
    return uint64(rows[first, 0]), uint64(rows[first + 1, 0]), s0, s1, s2, s3


class Permutation(Scheduler):
    """In every sweep each arc is used once, in an order that is drawn anew."""

    name = "permutation"
    memoryless = False

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        return pair_unused, np.concatenate([[[1, 0]], all_arcs(topology)]).astype(np.int64)

    def plan(self, topology: Topology) -> SchedulePlan:
        arcs = all_arcs(topology).tolist()
        require_few(self.name, len(arcs), "arcs")
        full = (1 << len(arcs)) - 1

        def rows_after(used: int) -> list[tuple[int, int, int]]:
            left = [k for k in range(len(arcs)) if not used >> k & 1]
            return [(*arcs[k], (used | 1 << k) % full) for k in left]

        return explored(self.name, rows_after)


class Matching(Scheduler):
    """In every round each agent meets at most once: arcs in a random order, those whose ends are free.

    A step is still one interaction, so that the first step inside a set is known; a round is n/2 of them.
    """

    name = "matching"
    memoryless = False

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        if topology.is_complete:
            return pair_of_matching, np.concatenate([[1], np.arange(topology.n)]).astype(np.int64)[:, None]
        empty = np.zeros((topology.n, 2), np.int64)
        return pair_unmatched, np.concatenate([[[1, 0]], all_arcs(topology), empty]).astype(np.int64)

    def plan(self, topology: Topology) -> SchedulePlan:
        arcs = all_arcs(topology).tolist()
        require_few(self.name, topology.n, "agents")

        def free(met: int) -> list[Any]:
            return [(i, j) for i, j in arcs if not met >> i & 1 and not met >> j & 1]

        def rows_after(met: int) -> list[tuple[int, int, int]]:
            after = [(i, j, met | 1 << i | 1 << j) for i, j in free(met)]
            return [(i, j, then if free(then) else 0) for i, j, then in after]

        return explored(self.name, rows_after)


def require_few(name: str, number: int, what: str) -> None:
    if number > MOST_REMEMBERED:
        raise InvalidInput(
            f"an exact chain under the scheduler {name} keeps every set of {what} apart, and {number} are too many; "
            f"take at most {MOST_REMEMBERED}, or use run, which simulates it exactly"
        )
