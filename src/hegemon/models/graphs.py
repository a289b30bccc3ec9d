"""The families of graphs, and `parse`, which turns a spec such as `ring:64` or a file path into a topology."""

import math
from pathlib import Path

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.graph_files import from_file
from hegemon.models.random_graphs import gnp, random_regular
from hegemon.models.topology import LARGEST_COMPLETE, Topology, require_room

FAMILIES = (
    "complete:N",
    "ring:N",
    "directed-ring:N",
    "path:N",
    "star:N",
    "grid:ROWSxCOLUMNS",
    "torus:ROWSxCOLUMNS",
    "hypercube:DIMENSION",
    "regular:N,DEGREE",
    "gnp:N,P",
    "lollipop:CLIQUE,TAIL",
)


def complete(n: int) -> Topology:
    """Every pair of n nodes; implicit, so that n may be astronomically large."""
    if not 1 <= n <= LARGEST_COMPLETE:
        raise InvalidInput(f"'complete:{n}' has {n} nodes, but n must be in 1..{LARGEST_COMPLETE}: choose such an n")
    return Topology(f"complete:{n}", n)


def ring(n: int) -> Topology:
    """The undirected cycle 0 - 1 - ... - n-1 - 0; for n = 2 a single edge."""
    _require("ring", n, 2)
    nodes = np.arange(n if n > 2 else 1)
    return Topology.from_edges(f"ring:{n}", n, nodes, (nodes + 1) % n)


def directed_ring(n: int) -> Topology:
    """The arcs i -> i+1 mod n: the initiator is the left neighbour."""
    _require("directed-ring", n, 2)
    nodes = np.arange(n)
    return Topology.from_edges(f"directed-ring:{n}", n, nodes, (nodes + 1) % n, directed=True)


def path(n: int) -> Topology:
    """0 - 1 - ... - n-1."""
    _require("path", n, 1)
    nodes = np.arange(n - 1)
    return Topology.from_edges(f"path:{n}", n, nodes, nodes + 1)


def star(n: int) -> Topology:
    """n nodes in all; the hub is node 0."""
    _require("star", n, 2)
    leaves = np.arange(1, n)
    return Topology.from_edges(f"star:{n}", n, np.zeros_like(leaves), leaves)


def grid(rows: int, columns: int) -> Topology:
    """Rows of `columns` nodes each, numbered row by row, with edges to the right and down."""
    return _lattice("grid", rows, columns, wraps=False)


def torus(rows: int, columns: int) -> Topology:
    """The grid closed in both directions; a side of 1 or 2 has nothing to close."""
    return _lattice("torus", rows, columns, wraps=True)


def hypercube(dimension: int) -> Topology:
    """2**dimension nodes; neighbours differ in one bit."""
    if dimension < 1:
        raise InvalidInput(
            f"'hypercube:{dimension}' has dimension {dimension}, but it must be at least 1: use for "
            "instance hypercube:6, which has 64 nodes"
        )
    name = f"hypercube:{dimension}"
    require_room(name, 2 ** min(dimension, 1000), dimension * 2.0 ** min(dimension, 1000))
    nodes = np.arange(2**dimension)
    pairs = [(nodes[nodes & bit == 0], bit) for bit in (1 << np.arange(dimension))]
    return Topology.from_edges(
        name,
        2**dimension,
        np.concatenate([low for low, _ in pairs]),
        np.concatenate([low | bit for low, bit in pairs]),
    )


def lollipop(clique: int, tail: int) -> Topology:
    """A complete graph on the nodes 0..clique-1, and a path of `tail` more nodes hanging from node clique-1."""
    name = f"lollipop:{clique},{tail}"
    if clique < 2 or tail < 1:
        raise InvalidInput(
            f"{name!r} has a clique of {clique} and a tail of {tail} nodes, but the clique needs at "
            "least 2 and the tail at least 1: use for instance lollipop:20,10, or complete:N"
        )
    require_room(name, clique + tail, clique * (clique - 1) + 2 * tail)
    low, high = np.triu_indices(clique, 1)
    beads = np.arange(clique - 1, clique + tail - 1)
    return Topology.from_edges(name, clique + tail, np.concatenate((low, beads)), np.concatenate((high, beads + 1)))


def parse(spec: str, n: int | None, rng: np.random.Generator) -> Topology:
    """The topology a spec names: a family with its size (taken from `n` where left out), or a graph file."""
    family, _, arguments = spec.strip().partition(":")
    usage = next((usage for usage in FAMILIES if usage.partition(":")[0] == family), None)
    if usage is not None:
        topology = _build(usage, arguments, n, rng)
    elif Path(spec).is_file():
        topology = from_file(spec)
    else:
        raise InvalidInput(
            f"the topology {spec!r} is neither a known family nor an existing file: use one of "
            f"{', '.join(FAMILIES)}, or the path of an edge list or a .graphml file"
        )
    if n is not None and topology.n != n:
        raise InvalidInput(
            f"the topology {spec!r} has {topology.n} nodes, but n = {n} was asked for: leave one of "
            "the two out or make them agree"
        )
    return topology


_BY_SIZE = {"complete": complete, "ring": ring, "directed-ring": directed_ring, "path": path, "star": star}


def _build(usage: str, arguments: str, n: int | None, rng: np.random.Generator) -> Topology:
    family, _, shape = usage.partition(":")
    if not arguments.strip():
        return _build_from_size(usage, n)
    texts = arguments.split("x" if "x" in shape else ",")
    kinds = (int, float) if family == "gnp" else (int,) * (1 + ("x" in shape or "," in shape))
    try:
        values = [kind(text) for kind, text in zip(kinds, texts, strict=True)]
    except ValueError:
        raise InvalidInput(
            f"the topology '{family}:{arguments}' cannot be read: write it as {usage} with plain "
            "numbers for the capital letters"
        ) from None
    match family:
        case "grid":
            return grid(*values)
        case "torus":
            return torus(*values)
        case "hypercube":
            return hypercube(*values)
        case "regular":
            return random_regular(*values, rng)
        case "gnp":
            return gnp(*values, rng)
        case "lollipop":
            return lollipop(*values)
    return _BY_SIZE[family](*values)


def _build_from_size(usage: str, n: int | None) -> Topology:
    family = usage.partition(":")[0]
    if family in ("regular", "gnp", "lollipop"):
        raise InvalidInput(f"the topology {family!r} has more than one number: write it as {usage}")
    if n is None:
        raise InvalidInput(f"the topology {family!r} has no size: write it as {usage}, or give n")
    if family in _BY_SIZE:
        return _BY_SIZE[family](n)
    if family == "hypercube":
        if n < 2 or n & (n - 1):
            raise InvalidInput(
                f"a hypercube cannot have n = {n} nodes, only a power of two from 2 on: use "
                f"n = {2 ** max(1, n.bit_length() - 1)} or n = {2 ** max(1, n.bit_length())}"
            )
        return hypercube(n.bit_length() - 1)
    require_room(family, n, n)
    rows = next((side for side in range(math.isqrt(max(n, 0)), 1, -1) if n % side == 0), None)
    if rows is None:
        raise InvalidInput(
            f"a {family} of n = {n} nodes would be a single row: choose an n with a divisor other than "
            f"1 and n, or write the sides as {usage}"
        )
    return _lattice(family, rows, n // rows, wraps=family == "torus")


def _lattice(family: str, rows: int, columns: int, wraps: bool) -> Topology:
    name = f"{family}:{rows}x{columns}"
    if rows < 1 or columns < 1 or rows * columns < 2:
        raise InvalidInput(
            f"{name!r} has sides {rows} and {columns}, but both must be at least 1 and their product at "
            f"least 2: use for instance {family}:8x8"
        )
    require_room(name, rows * columns, 4 * rows * columns)
    nodes = np.arange(rows * columns).reshape(rows, columns)
    edges = [(nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])]
    if wraps and columns > 2:
        edges.append((nodes[:, -1], nodes[:, 0]))
    if wraps and rows > 2:
        edges.append((nodes[-1], nodes[0]))
    tails, heads = (np.concatenate([pair[side].ravel() for pair in edges]) for side in (0, 1))
    return Topology.from_edges(name, rows * columns, tails, heads)


def _require(family: str, n: int, least: int) -> None:
    if n < least:
        raise InvalidInput(
            f"'{family}:{n}' has {n} nodes, but n must be at least {least}: use for instance {family}:64"
        )
    require_room(f"{family}:{n}", n, 2 * n)
