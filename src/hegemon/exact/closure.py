"""Closure of a set on many graphs, where the set can be listed but the chain cannot be built.

The protocol lists the set itself (`listed(name, topology)`); every configuration of it, over every outcome of
every coin, must stay inside and keep its leader.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.containment import contains_rows
from hegemon.exact.rounds import RoundConfigurations
from hegemon.graphs.topology import Topology
from hegemon.models.rounds import RoundsProtocol

if TYPE_CHECKING:
    pass


LARGEST_ATLAS = 7
ROWS = 1 << 15


@dataclass(frozen=True)
class Closure:
    """What was checked on one graph, and the first configuration that leaves the set, if any."""

    graph: Topology
    configurations: int
    successors: int
    flaw: str = ""

    @property
    def holds(self) -> bool:
        return not self.flaw


def connected_graphs(most: int) -> list[Topology]:
    """Every connected graph of 1 to `most` nodes, up to isomorphism (Read and Wilson's atlas)."""
    import networkx as nx  # only here: it takes long to load

    if not 1 <= most <= LARGEST_ATLAS:
        raise InvalidInput(f"graphs of up to {most} nodes cannot be listed; the atlas has 1..{LARGEST_ATLAS}")
    graphs = []
    for index, graph in enumerate(nx.graph_atlas_g()):
        if 1 <= graph.number_of_nodes() <= most and nx.is_connected(graph):
            edges = np.array(sorted(map(sorted, graph.edges())), np.int64).reshape(-1, 2)
            graphs.append(Topology.from_edges(f"atlas:{index}", graph.number_of_nodes(), edges[:, 0], edges[:, 1]))
    return graphs


def closure_everywhere(
    protocol_class: type[Any], most: int, name: str = "safe", progress: Show | None = None, **parameters: Any,
) -> list[Closure]:  # fmt: skip
    """The set on every connected graph of up to `most` nodes."""
    graphs = connected_graphs(most)
    sizes = {n: protocol_class(n=n, **parameters) for n in range(protocol_class.smallest_n, most + 1)}
    closures = []
    for number, graph in enumerate(graphs):
        if graph.n in sizes:
            closures.append(closure_on(sizes[graph.n], graph, name))
        if progress:
            progress("graphs", number + 1, len(graphs))
    return closures


def closure_on(protocol: RoundsProtocol, topology: Topology, name: str = "safe") -> Closure:
    """Check one set on one graph, every member and every outcome."""
    space = _Unnumbered(protocol, topology)
    members = protocol.listed(name, topology)
    chosen = protocol.set_named(name)
    outside = np.flatnonzero(~contains_rows(protocol, chosen, members, topology))
    if len(outside):
        return Closure(topology, len(members), 0, f"listed, but not in {name}: {space.mappings(members[outside[0]])}")
    total = 0
    for first in range(0, len(members), ROWS):
        part = members[first : first + ROWS]
        rows, after, _ = space.successors(part)
        total += len(after)
        distinct, which = np.unique(after, axis=0, return_inverse=True)
        inside = contains_rows(protocol, chosen, distinct, topology)[which.ravel()]
        same = (space.outputs[after] == space.outputs[part][rows]).all(axis=1)
        bad = np.flatnonzero(~(inside & same))
        if len(bad):
            before = space.mappings(part[rows[bad[0]]])
            return Closure(topology, len(members), total, f"{before} → {space.mappings(after[bad[0]])}")
    return Closure(topology, len(members), total)


class _Unnumbered(RoundConfigurations):
    """Configurations too many to be numbered: only their successors are computed."""

    size = 0
    is_numbered = False
