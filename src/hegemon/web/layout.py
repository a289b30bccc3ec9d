"""Where nodes are drawn: every family of graphs in its own layout, in the square from -1 to 1."""

import math
from typing import Any

import numpy as np

from hegemon.engines.choice import engine_named
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.runs.setting import Graph

LARGEST_DRAWN = 3000  # nodes drawn one by one; larger graphs are drawn as a raster
LARGEST_RASTER = 1_000_000  # agents in a raster; larger populations are drawn as counts
MOST_EDGES = 12_000
LARGEST_SPRING = 600
LARGEST_CIRCLE = 30  # agents of a complete graph on a circle; more of them fill a disc, which gives each more room


def require_watchable(protocol: Protocol, graph: Graph, engine: str = "auto") -> None:
    """Raise InvalidInput if the run cannot be watched, or has too many agents. Called before the graph is built."""
    n, model, graph = protocol.n, protocol.model, graph or protocol.topology
    model.require("world")
    if model.has_objects and n > LARGEST_DRAWN:
        raise InvalidInput(f"n = {n} agents that are Python objects are too many; at most {LARGEST_DRAWN}")
    is_complete = graph.startswith("complete") if isinstance(graph, str) else getattr(graph, "is_complete", False)
    is_counted = (
        model.wakes or model.has_interactions and (engine == "auto" or engine_named(engine, protocol).as_multiset)
    )
    if n > LARGEST_RASTER and not (is_complete and is_counted):
        raise InvalidInput(
            f"n = {n:,} is too large to be watched agent by agent; at most {LARGEST_RASTER:,} are, "
            "or any number on a complete graph with engine batch"
        )


def places(topology: Topology) -> np.ndarray:
    """Two coordinates per node."""
    family = topology.name.partition(":")[0]
    n = topology.n
    if family.endswith("ring") or (family == "complete" and n <= LARGEST_CIRCLE):
        return _circle(n)
    if family == "complete":
        return _sunflower(n)
    if family in ("grid", "torus"):
        rows, columns = (int(side) for side in topology.name.partition(":")[2].split("x"))
        return _lattice(rows, columns)
    if family == "path":
        return _snake(n)
    if family == "star":
        return np.vstack([np.zeros((1, 2)), _circle(n - 1)])
    return _springs(topology)


def torus(size: tuple[int, int], n: int) -> dict[str, Any]:
    """How agents on a torus are drawn: each at a point of its own in its cell, so that several agents in one cell are
    apart (evenly, by the R2 sequence of Roberts 2018), and as large as their number allows."""
    columns, rows = size
    within = (np.arange(n)[:, None] * [0.7548776662466927, 0.5698402909980532]) % 1 * 0.6 + 0.2
    cell, cells = 2 / max(columns, rows), columns * rows
    gap = 0.85 * cell * min(1, math.sqrt(cells / n))
    even = cell * math.sqrt(cells / n)  # the distance between evenly spread agents
    return {"columns": columns, "rows": rows, "within": np.round(within, 3).tolist(), "gap": max(gap, min(even, 0.03))}


def edges(topology: Topology) -> np.ndarray:
    """The pairs to draw a line between; none where every pair is an edge, or where there are too many."""
    if topology.is_complete and topology.n > 12 or topology.arcs > 2 * MOST_EDGES:
        return np.empty((0, 2), np.int32)
    pairs = np.stack([topology.sources, topology.targets], axis=1)
    return pairs if topology.directed else pairs[pairs[:, 0] < pairs[:, 1]]


def _circle(n: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(n) / max(n, 1) - np.pi / 2
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _sunflower(n: int) -> np.ndarray:
    """Evenly over a disc (Vogel 1979)."""
    k = np.arange(n) + 0.5
    radius, angle = np.sqrt(k / n), k * np.pi * (3 - math.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _lattice(rows: int, columns: int) -> np.ndarray:
    y, x = np.divmod(np.arange(rows * columns), columns)
    side = max(rows, columns, 2) - 1
    return np.stack([(2 * x - columns + 1) / side, (2 * y - rows + 1) / side], axis=1)


def _snake(n: int) -> np.ndarray:
    """A path in rows, every second one backwards; short paths are a line."""
    columns = n if n <= 24 else math.ceil(math.sqrt(2 * n))
    y, x = np.divmod(np.arange(n), columns)
    x = np.where(y % 2, columns - 1 - x, x)
    rows = math.ceil(n / columns)
    side = max(columns, 2) - 1
    return np.stack([(2 * x - columns + 1) / side, (2 * y - rows + 1) * min(2, side / max(rows, 1)) / side], axis=1)


def _springs(topology: Topology) -> np.ndarray:
    """By distances where the graph is small, by springs, else evenly over a disc in the order of the nodes."""
    n = topology.n
    if n > LARGEST_SPRING or topology.arcs > 40 * n:
        return _sunflower(n)
    import networkx as nx

    graph = topology.to_networkx().to_undirected()
    if n <= 150:
        found = nx.kamada_kawai_layout(graph)
    else:
        found = nx.spring_layout(graph, seed=0, iterations=80)
    place = np.array([found[v] for v in range(n)])
    place -= (place.max(axis=0) + place.min(axis=0)) / 2
    return place / max(np.abs(place).max(), 1e-9)
