"""Graphs from outside: NetworkX graphs, edge lists and GraphML files."""

import os
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np

from hegemon.errors import InvalidInput, shown
from hegemon.files import note_reading
from hegemon.graphs.topology import Topology


def from_networkx(graph: Any) -> Topology:
    """The topology of any NetworkX graph; integer labels keep their order, others their order of insertion.

    A single directed cycle is relabelled so that its arcs are i -> i+1.
    """
    name = graph.name or type(graph).__name__
    seen: set[tuple[Any, Any]] = set()
    for u, v in graph.edges():
        _require_simple(f"the graph {name!r}", u, v, graph.is_directed(), seen)
    return _from_labels(name, graph.nodes(), graph.edges(), graph.is_directed())


def from_file(path: str | Path) -> Topology:
    """A `.graphml` file, or an edge list, `u v` or `u,v` a line, `#` comments, first `# directed` if so."""
    path = Path(path)
    if not os.path.isfile(path):  # unlike Path.is_file it works for every string
        raise InvalidInput(f"there is no graph file {str(path)!r}: give the path of an edge list or a .graphml file")
    note_reading(path)
    try:
        if path.suffix.lower() == ".graphml":
            return _from_graphml(path)
        return _from_edge_list(path, path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"the graph file {str(path)!r} cannot be read as UTF-8 text ({error}): check its permissions and encoding"
        ) from error


def _from_graphml(path: Path) -> Topology:
    import networkx as nx  # only here: it takes long to load

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what cannot be used is refused below
            graph = nx.read_graphml(path)
    except (nx.NetworkXError, ParseError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"the file {str(path)!r} is not readable GraphML ({error}): export it again, or "
            "give an edge list with one 'u v' per line"
        ) from error
    graph.name = str(path)
    return from_networkx(graph)


def _from_edge_list(path: Path, text: str) -> Topology:
    directed = False
    edges: list[tuple[str, ...]] = []
    labels: dict[str, None] = {}
    seen: set[tuple[Any, Any]] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        content, _, comment = line.partition("#")
        if not content.strip():
            if comment.strip().lower() == "directed":
                if edges:
                    raise InvalidInput(
                        f"line {number} of {str(path)!r} says '# directed' after the first "
                        "edge: make it the first line of the file"
                    )
                directed = True
            continue
        edge = tuple(label.strip() for label in content.split("," if "," in content else None))
        if len(edge) != 2 or not all(edge):
            raise InvalidInput(
                f"line {number} of {str(path)!r} is {shown(line.strip())}, but a line must hold "
                "two node labels, 'u v' or 'u,v': correct it, or begin it with '#'"
            )
        _require_simple(f"line {number} of {str(path)!r}", *edge, directed, seen)
        edges.append(edge)
        labels.update(dict.fromkeys(edge))
    return _from_labels(str(path), labels, edges, directed)


def _require_simple(where: str, u: Any, v: Any, directed: bool, seen: set[tuple[Any, Any]]) -> None:
    """Refuse a loop, or an edge already among `seen`; otherwise add it there."""
    if u == v:
        raise InvalidInput(f"{where} has the loop {u} {v}, but a node cannot be its own neighbour: remove it")
    if (u, v) in seen:
        raise InvalidInput(
            f"{where} has the edge {u} {v} a second time, but every edge may be given only "
            "once: remove it, or begin an edge list with '# directed' if u v and v u differ"
        )
    seen.add((u, v))
    if not directed:
        seen.add((v, u))


def _from_labels(name: str, labels: Iterable[Any], edges: Iterable[tuple[Any, ...]], directed: bool) -> Topology:
    labels = list(labels)
    if len(labels) < 2:
        raise InvalidInput(f"the graph {name!r} has {len(labels)} nodes, but n must be at least 2: give it an edge")
    with suppress(ValueError):  # not all integers: the order of appearance is kept
        labels = sorted(labels, key=lambda label: int(str(label)))
    index = {label: i for i, label in enumerate(labels)}
    n = len(labels)
    ends = np.array([(index[u], index[v]) for u, v in edges], np.int64).reshape(-1, 2)
    if directed:
        ends = _along_the_ring(n, ends)
    return Topology.from_edges(name, n, ends[:, 0], ends[:, 1], directed)


def _along_the_ring(n: int, arcs: np.ndarray) -> np.ndarray:
    """If the arcs form one directed cycle, that cycle relabelled from node 0 on; otherwise the arcs."""
    if n < 2 or len(arcs) != n or len(np.unique(arcs[:, 0])) != n:
        return arcs
    following = np.empty(n, np.int64)
    following[arcs[:, 0]] = arcs[:, 1]
    successor = following.tolist()
    node, length = successor[0], 1
    while node != 0 and length < n:
        node, length = successor[node], length + 1
    if node != 0 or length < n:
        return arcs
    ring = np.arange(n)
    return np.stack((ring, (ring + 1) % n), axis=1)
