"""Which node lies behind a port, and which port leads back."""

from functools import lru_cache

from hegemon.graphs.topology import Topology


class CompletePorts:
    """Port k of node v leads to k, or to k+1 from v on: nothing is stored."""

    def __init__(self, n: int):
        self.n = n

    def degree(self, v: int) -> int:
        return self.n - 1

    def cross(self, v: int, port: int) -> tuple[int, int]:
        """The node behind a port of v, and the port there that leads back to v."""
        w = port + (port >= v)
        return w, v - (v > w)


class ListedPorts:
    """Port k of node v is the k-th arc of its row."""

    def __init__(self, topology: Topology):
        self.offsets = topology.offsets.tolist()
        self.targets = topology.targets.tolist()
        self.back = topology.back.tolist()

    def degree(self, v: int) -> int:
        return self.offsets[v + 1] - self.offsets[v]

    def cross(self, v: int, port: int) -> tuple[int, int]:
        arc = self.offsets[v] + port
        return self.targets[arc], self.back[arc]


@lru_cache(maxsize=4)
def ports_of(topology: Topology) -> CompletePorts | ListedPorts:
    """Ports are numbered in the order of the neighbours; drawing among them is drawing among neighbours."""
    implicit = topology.is_complete and not topology.oriented
    return CompletePorts(topology.n) if implicit else ListedPorts(topology)
