"""Daemons (Dijkstra, CACM 1974; Dubois and Tixeuil 2011): which of the enabled nodes may act together in one step.

A node is *enabled* if its action can change its state, for some coins. A daemon leaves open which nodes act; as long
as a node is enabled, at least one node acts in every step.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology

MOST_SUBSETS = 100_000  # sets of nodes that may act together


def _each(topology: Topology) -> list[int]:
    return [1 << node for node in range(topology.n)]


def _independent(topology: Topology) -> list[int]:
    """Every non-empty set without two neighbours."""
    near = [sum(1 << int(other) for other in topology.neighbours(node)) for node in range(topology.n)]
    found = [(0, 0)]  # sets, and their neighbours
    for node in range(topology.n):
        found += [(chosen | 1 << node, around | near[node]) for chosen, around in found if not around >> node & 1]
        _require_few(len(found), topology)
    return [chosen for chosen, _ in found[1:]]


def _any(topology: Topology) -> list[int]:
    _require_few(1 << topology.n, topology)
    return list(range(1, 1 << topology.n))


def _require_few(number: int, topology: Topology) -> None:
    if number > MOST_SUBSETS:
        raise InvalidInput(
            f"on {topology.name} more than {MOST_SUBSETS:,} sets of nodes may act together under this daemon; ask for "
            "the daemon central, or take a smaller graph"
        )


@dataclass(frozen=True)
class Daemon:
    """`together` lists the sets of nodes, as bits, that may act in one step if all of them are enabled."""

    name: str
    meaning: str
    together: Callable[[Topology], list[int]]
    takes_all: bool = False  # every enabled node acts in every step


DAEMONS = {
    one.name: one
    for one in (
        Daemon("central", "one enabled node acts", _each),
        Daemon("locally-central", "enabled nodes act, but no two neighbours at once", _independent),
        Daemon("distributed", "any enabled nodes act at once", _any),
        Daemon("synchronous", "all enabled nodes act at once", _any, takes_all=True),
    )
}
