"""Who can meet whom: a graph on the nodes 0..n-1, held as arcs in compressed sparse rows.

An undirected graph holds both arcs of every edge, so one arc drawn uniformly is one ordered pair
(initiator, responder) drawn uniformly. The complete graph is implicit: it costs nothing at any size.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hegemon import doors
from hegemon.errors import InvalidInput
from hegemon.files import written
from hegemon.system import memory_available

LARGEST_COMPLETE = 2**60  # nodes of an implicit complete graph
LARGEST_COMPLETE_IN_MEMORY = 20_000  # nodes of a complete graph whose arcs may be written out
KINDS = {"complete": "complete graph", "directed-ring": "directed ring", "oriented-ring": "oriented ring"}
LARGEST_IN_MEMORY = 2**28  # nodes, or arcs, of any other graph
NODES = doors.whole(1, LARGEST_COMPLETE)
ROWS = doors.several(doors.instance("an array", "numpy:ndarray"), fewest=2, most=2) | doors.none
PER_ARC, PER_NODE = 80, 40  # bytes, at most, while a graph is built and searched and its spectrum is computed
PER_PAIR = 30  # bytes, for each arc of a complete graph that is written out


@dataclass(frozen=True, eq=False)
class Topology:
    """A simple graph: no loops, no double arcs. The builders are in `hegemon.graphs.families`."""

    name: str
    n: int
    directed: bool = False
    rows: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)  # None: implicit complete
    oriented: bool = False  # a ring whose nodes tell left from right: every row is (left, right)

    def __post_init__(self) -> None:
        doors.require_fields(self, name=doors.text, n=NODES, directed=doors.switch, rows=ROWS, oriented=doors.switch)

    @classmethod
    def from_edges(cls, name: str, n: int, tails: Any, heads: Any, directed: bool = False) -> "Topology":
        """The graph with the edges {tail, head}, each given once; if `directed`, the arcs tail -> head."""
        _require_size(name, n, len(tails) * (1 if directed else 2))
        tails, heads = np.asarray(tails, np.int64), np.asarray(heads, np.int64)
        if len(tails) and not 0 <= min(tails.min(), heads.min()) <= max(tails.max(), heads.max()) < n:
            raise InvalidInput(
                f"the graph {name!r} has an edge to a node that is not in 0..{n - 1}: renumber its nodes or raise n"
            )
        arcs = tails * n + heads if directed else np.concatenate((tails * n + heads, heads * n + tails))
        arcs.sort()
        sources, targets = np.divmod(arcs, n)
        for broken, what in ((sources == targets, "loop"), (arcs[1:] == arcs[:-1], "double edge")):
            if broken.any():
                at = int(broken.argmax())
                raise InvalidInput(
                    f"the graph {name!r} has the {what} {sources[at]} {targets[at]}, but only "
                    "simple graphs are allowed: give every edge once, between different nodes"
                )
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(sources, minlength=n), out=offsets[1:])
        return cls(name, n, directed, (frozen(offsets), frozen(targets.astype(np.int32))))

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        if self.rows is not None:
            return self.rows
        n = self.n
        if n > LARGEST_COMPLETE_IN_MEMORY:
            raise InvalidInput(
                f"the arcs of {self.name!r} cannot be written out: where every arc is needed "
                f"a complete graph may have at most {LARGEST_COMPLETE_IN_MEMORY} nodes, so "
                "take a smaller n or a sparser graph such as regular:N,DEGREE"
            )
        require_memory(self.name, n * (n - 1), PER_PAIR * n * (n - 1))
        # Row v of the n x n table of columns without its diagonal: n-1 windows of length n, each one further.
        twice = np.tile(np.arange(n, dtype=np.int32), 2)
        targets = np.lib.stride_tricks.sliding_window_view(twice, n)[1:n].ravel()
        return frozen(np.arange(n + 1, dtype=np.int64) * (n - 1)), frozen(targets)

    @property
    def offsets(self) -> np.ndarray:
        """Where the out-neighbours of each node begin in `targets`; one more entry for the end."""
        return self._rows[0]

    @property
    def targets(self) -> np.ndarray:
        """The head of every arc: the out-neighbours of 0, then of 1, ..., each row increasing."""
        return self._rows[1]

    @cached_property
    def sources(self) -> np.ndarray:
        """The tail of every arc, in the order of `targets`."""
        return frozen(np.repeat(np.arange(self.n, dtype=np.int32), self.degrees))

    @property
    def arcs(self) -> int:
        """The number of arcs: ordered pairs that can interact."""
        return self.n * (self.n - 1) if self.rows is None else len(self.rows[1])

    @cached_property
    def degrees(self) -> np.ndarray:
        """The number of out-neighbours of every node."""
        return frozen(np.diff(self.offsets))

    @cached_property
    def back(self) -> np.ndarray:
        """Of an undirected graph, for every arc: the place of its tail in the row of its head."""
        # Sorted by (source, target) and by (target, source), arcs stand beside their reverses.
        reverse = np.empty(self.arcs, np.int64)
        reverse[np.lexsort((self.sources, self.targets))] = np.lexsort((self.targets, self.sources))
        return frozen(reverse - self.offsets[self.targets])

    def backs(self, v: int) -> np.ndarray:
        """The places of v in the rows of its neighbours."""
        return self.back[self.offsets[v] : self.offsets[v + 1]]

    def neighbours(self, v: int) -> np.ndarray:
        """The out-neighbours of v, increasing."""
        return self.targets[self.offsets[v] : self.offsets[v + 1]]

    @property
    def is_complete(self) -> bool:
        """Whether every ordered pair can interact, however the graph was given."""
        return self.arcs == self.n * (self.n - 1)

    @cached_property
    def components(self) -> int:
        """The number of connected components (weakly connected, if directed)."""
        if self.is_complete or self.is_directed_ring:
            return 1
        return count_components(self.n, self.sources, self.targets)

    @property
    def is_connected(self) -> bool:
        return self.components == 1

    def require(self, kind: str, who: str) -> None:
        """Refuse a graph that is not of this kind, one of `KINDS`, which `who` needs."""
        is_one = {
            "complete": self.is_complete, "directed-ring": self.is_directed_ring, "oriented-ring": self.oriented,
        }  # fmt: skip
        if not is_one[kind]:
            raise InvalidInput(f"{who} runs on {KINDS[kind]}s only, and {self.name} is not one; use {kind}:{self.n}")

    def require_connected(self) -> None:
        """Refuse a graph that is not connected: no single leader is possible there."""
        if not self.is_connected:
            raise InvalidInput(
                f"the graph {self.name!r} falls into {self.components} connected components, "
                "but one leader needs a connected graph: add edges between the components, "
                "raise the degree or the edge probability, or try another seed"
            )

    @cached_property
    def is_bipartite(self) -> bool:
        """Whether two colours suffice, arcs taken as edges: the double cover then has 2 x the components."""
        if self.is_complete:
            return self.n <= 2
        left, right = self.sources, self.targets + np.int64(self.n)
        if self.directed:  # an undirected graph has both arcs of every edge already
            left, right = np.concatenate((left, self.targets)), np.concatenate((right, self.sources + np.int64(self.n)))
        return count_components(2 * self.n, left, right) == 2 * self.components

    @cached_property
    def is_directed_ring(self) -> bool:
        """Whether the arcs are exactly i -> i+1 mod n, so that ring protocols may rely on array order."""
        return (
            self.directed
            and self.n >= 2
            and self.arcs == self.n
            and np.array_equal(self.sources, np.arange(self.n))
            and np.array_equal(self.targets, (np.arange(self.n) + 1) % self.n)
        )

    def to_networkx(self) -> Any:
        """The same graph on the nodes 0..n-1."""
        import networkx as nx  # only here: it takes long to load

        graph: nx.Graph = nx.DiGraph(name=self.name) if self.directed else nx.Graph(name=self.name)
        graph.add_nodes_from(range(self.n))
        graph.add_edges_from(zip(self.sources.tolist(), self.targets.tolist(), strict=True))
        return graph


def require_room(name: str, n: int, arcs: int) -> None:
    """Refuse a graph that would not fit in memory; called before any of it is built."""
    _require_size(name, n, arcs)
    require_memory(name, arcs, PER_ARC * arcs + PER_NODE * n)


def require_memory(name: str, arcs: int, needed: int) -> None:
    free = memory_available()
    if free is not None and needed > free:
        raise InvalidInput(
            f"the graph {name!r} with {arcs:,} arcs takes about {written(needed)} of memory, and {written(free)} are "
            "free: make it smaller"
        )


def _require_size(name: str, n: int, arcs: int) -> None:
    if max(n, arcs) > LARGEST_IN_MEMORY:
        raise InvalidInput(
            f"the graph {name!r} is too large, at most {LARGEST_IN_MEMORY} nodes and as many "
            "arcs are allowed: make it smaller, or use complete:N, which needs no memory "
            f"up to N = {LARGEST_COMPLETE}"
        )


def frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def count_components(n: int, tails: np.ndarray, heads: np.ndarray) -> int:
    """The number of connected components of the graph with these edges.

    SciPy's function takes as long on 10^6 arcs, and a third of a second to load.
    """
    least = np.arange(n)  # of the nodes that a node is known to be connected with
    while True:
        here, there = least[tails], least[heads]
        if np.array_equal(here, there):
            return int((least == np.arange(n)).sum())
        np.minimum.at(least, np.maximum(here, there), np.minimum(here, there))
        while not np.array_equal(least, least[least]):
            least = least[least]
