"""The threads of engine `rounds`: each makes its share of the nodes, in memory of its own."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from hegemon.compute.records import widened
from hegemon.engines.rounds.kernels import Room
from hegemon.graphs.topology import Topology

LARGE = 40_000  # nodes and arcs: from here on a round is worth more than one thread


class Shares:
    """Consecutive nodes for every thread, about equally many arcs each. `seen` is the type of what a node reads of a
    neighbour."""

    def __init__(self, topology: Topology, threads: int | None, state: np.dtype, seen: np.dtype):
        size = topology.n + topology.arcs
        number = 1 if size < LARGE else threads or os.cpu_count() or 1
        self._state, self._seen, self._largest_degree = state, seen, int(topology.degrees.max())
        work = topology.offsets + np.arange(topology.n + 1)
        edges = np.searchsorted(work, np.linspace(0, work[-1], number + 1))
        self._parts = [(int(low), int(high), self.room()) for low, high in pairwise(edges)]
        self.first = self._parts[0][2]

    def __len__(self) -> int:
        return len(self._parts)

    def room(self) -> Room:
        return Room(np.zeros(1, widened(self._state)), np.zeros(self._largest_degree, self._seen))

    def spread(self, kernel: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call `kernel(low, high, room, ...)` for all nodes, by all threads; a list has an item for each."""
        calls = [
            (*part, *(given[k] if isinstance(given, list) else given for given in arguments))
            for k, part in enumerate(self._parts)
        ]
        if len(calls) == 1:
            return [kernel(*calls[0])]
        return [job.result() for job in [pool().submit(kernel, *call) for call in calls]]


@cache
def pool() -> ThreadPoolExecutor:
    """Threads for large graphs, shared by all engines of the process."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="rounds")
