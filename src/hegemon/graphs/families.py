"""The families of graphs, and `parse`, which turns a spec such as `ring:64` or a path into a topology."""

import inspect
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from hegemon import parts
from hegemon.errors import InvalidInput, meant
from hegemon.graphs.files import from_file, from_networkx
from hegemon.graphs.random import gnp, random_regular
from hegemon.graphs.topology import LARGEST_COMPLETE, LARGEST_IN_MEMORY, Topology, frozen, require_room

LONGEST_NUMBER = 40  # characters: no size or probability of a graph needs more


def complete(n: int) -> Topology:
    """Every pair of n nodes; implicit, so that n may be astronomically large."""
    if not 1 <= n <= LARGEST_COMPLETE:
        raise InvalidInput(
            f"'complete:{n}' has {n} nodes, but n must be in 1..{LARGEST_COMPLETE}: use for instance complete:1000"
        )
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


def oriented_ring(n: int) -> Topology:
    """The undirected cycle in which every node knows which neighbour is the left one (v-1) and which the right."""
    _require("oriented-ring", n, 3)
    nodes = np.arange(n)
    targets = np.stack([(nodes - 1) % n, (nodes + 1) % n], axis=1).ravel().astype(np.int32)
    offsets = 2 * np.arange(n + 1, dtype=np.int64)
    return Topology(f"oriented-ring:{n}", n, rows=(frozen(offsets), frozen(targets)), oriented=True)


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
    largest = max(d for d in range(64) if d << d <= LARGEST_IN_MEMORY)
    if not 1 <= dimension <= largest:
        raise InvalidInput(
            f"'hypercube:{dimension}' has dimension {dimension}, but it must be in "
            f"1..{largest}: use for instance hypercube:6, which has 64 nodes"
        )
    name, n = f"hypercube:{dimension}", 2**dimension
    require_room(name, n, n * dimension)
    targets = np.arange(n, dtype=np.int32)[:, None] ^ (1 << np.arange(dimension, dtype=np.int32))
    targets.sort(axis=1)
    offsets = dimension * np.arange(n + 1, dtype=np.int64)
    return Topology(name, n, rows=(frozen(offsets), frozen(targets.ravel())))


def lollipop(clique: int, tail: int) -> Topology:
    """A complete graph on the nodes 0..clique-1, and a path of `tail` more nodes from node clique-1 on."""
    name = f"lollipop:{clique},{tail}"
    if clique < 2 or tail < 1:
        raise InvalidInput(
            f"{name!r} has a clique of {clique} and a tail of {tail} nodes, but the clique "
            "needs at least 2 and the tail at least 1: use for instance lollipop:20,10"
        )
    require_room(name, clique + tail, clique * (clique - 1) + 2 * tail)
    low, high = np.triu_indices(clique, 1)
    beads = np.arange(clique - 1, clique + tail - 1)
    tails, heads = np.concatenate((low, beads)), np.concatenate((high, beads + 1))
    return Topology.from_edges(name, clique + tail, tails, heads)


def as_topology(graph: Any, n: int | None, rng: np.random.Generator | None) -> Topology:
    """A graph in whatever form it is given: a topology, a NetworkX graph, a spec such as `ring:64`, or a path."""
    if isinstance(graph, Topology):
        return graph
    if isinstance(graph, str | os.PathLike):
        return parse(os.fspath(graph), n, rng)
    if all(callable(getattr(graph, name, None)) for name in ("nodes", "edges", "is_directed")):
        return from_networkx(graph)
    kind = type(graph).__name__
    raise InvalidInput(
        f"a graph cannot be read from a value of type {kind}; give a spec such as ring:64, a path, a NetworkX graph "
        "or a Topology"
    )


def parse(spec: str, n: int | None, rng: np.random.Generator | None) -> Topology:
    """The topology a spec names: a family with its size (taken from `n` where left out), or a graph file."""
    family, _, arguments = spec.strip().partition(":")
    if family not in FAMILIES and os.path.isfile(spec):
        topology = from_file(spec)
    elif family_of(family):
        topology = _build(family, arguments, rng) if arguments.strip() else _build_from_size(family, n, rng)
    else:
        known = [*FAMILIES, *parts.names("graphs")]
        raise InvalidInput(
            f"the topology {_shown(spec)} is neither a known family nor an existing file: use one "
            f"of {', '.join(map(_usage, known))}, or the path of an edge list or GraphML"
            f"{meant(family, known)}"
        )
    if n is not None and topology.n != n:
        raise InvalidInput(
            f"the topology {_shown(spec)} has {topology.n} nodes, and n is {n}: leave "
            "one of the two out or make them agree"
        )
    return topology


FAMILIES: dict[str, tuple[str, Callable[..., Topology]]] = {
    "complete": ("N", complete),
    "ring": ("N", ring),
    "directed-ring": ("N", directed_ring),
    "oriented-ring": ("N", oriented_ring),
    "path": ("N", path),
    "star": ("N", star),
    "grid": ("ROWSxCOLUMNS", grid),
    "torus": ("ROWSxCOLUMNS", torus),
    "hypercube": ("DIMENSION", hypercube),
    "regular": ("N,DEGREE", random_regular),
    "gnp": ("N,P", gnp),
    "lollipop": ("CLIQUE,TAIL", lollipop),
}


def family_of(name: str) -> tuple[str, Callable[..., Topology]] | None:
    """The numbers that a family takes, and what builds it; None if there is no such family.

    One of another package is a function of whole numbers, such as `wheel(n)`, and of `rng` where it draws.
    """
    if name in FAMILIES or not parts.is_known("graphs", name):
        return FAMILIES.get(name)
    builder = parts.part("graphs", name)
    words = [word.upper() for word in inspect.signature(builder).parameters if word != "rng"]
    return ",".join(words), builder


def _known(name: str) -> tuple[str, Callable[..., Topology]]:
    family = family_of(name)
    assert family is not None
    return family


def _shown(spec: str) -> str:
    """A spec as it is quoted in a sentence: printable and short."""
    return repr(spec if len(spec) <= 80 else spec[:77] + "…")


def _usage(family: str) -> str:
    return f"{family}:{_known(family)[0]}"


def node_count(spec: str, n: int | None = None) -> int | None:
    """How many nodes the graph of a spec has, before it is made; None where only making it shows it, as for a file."""
    family, _, arguments = spec.strip().partition(":")
    if family not in FAMILIES:  # a file, or a family of another package
        return None
    if not arguments.strip():
        return n
    shape, values = FAMILIES[family][0], _numbers(family, arguments)
    if shape == "DIMENSION":
        return 1 << max(0, min(int(values[0]), 1000))
    return int(math.prod(values) if "x" in shape else sum(values) if family == "lollipop" else values[0])


def _numbers(family: str, arguments: str) -> list[Any]:
    shape = _known(family)[0]
    separator = "x" if "x" in shape else ","
    kinds = [float if word == "P" else int for word in shape.split(separator)]
    try:
        texts = arguments.split(separator)
        if max(map(len, texts)) > LONGEST_NUMBER:
            raise ValueError
        return [kind(text) for kind, text in zip(kinds, texts, strict=True)]
    except ValueError:
        raise InvalidInput(
            f"the topology {_shown(f'{family}:{arguments}')} cannot be read: write it as "
            f"{_usage(family)}, with plain numbers for the words in capitals"
        ) from None


def _build(family: str, arguments: str, rng: np.random.Generator | None) -> Topology:
    builder, values = _known(family)[1], _numbers(family, arguments)
    return builder(*values, rng=rng) if "rng" in inspect.signature(builder).parameters else builder(*values)


def _build_from_size(family: str, n: int | None, rng: np.random.Generator | None) -> Topology:
    shape, builder = _known(family)
    if "," in shape:
        raise InvalidInput(f"the topology {family!r} has no numbers: write it as {_usage(family)}")
    if n is None:
        raise InvalidInput(f"the topology {family!r} has no size: write it as {_usage(family)}, or give n")
    if shape == "N":
        return _build(family, str(n), rng)
    if family == "hypercube":
        if n < 2 or n & (n - 1):
            above = max(2, 1 << max(n, 0).bit_length())
            raise InvalidInput(
                f"a hypercube cannot have n = {n} nodes, only a power of two from 2 on: use for instance n = {above}"
            )
        return hypercube(n.bit_length() - 1)
    require_room(family, n, n)
    rows = next((side for side in range(math.isqrt(max(n, 0)), 1, -1) if n % side == 0), None)
    if rows is None:
        raise InvalidInput(
            f"a {family} cannot have n = {n} nodes, only a product of two sides from 2 on: "
            f"choose such an n, or write the sides as {_usage(family)}"
        )
    return builder(rows, n // rows)


def _lattice(family: str, rows: int, columns: int, wraps: bool) -> Topology:
    name = f"{family}:{rows}x{columns}"
    if rows < 1 or columns < 1 or rows * columns < 2:
        raise InvalidInput(
            f"{name!r} has sides {rows} and {columns}, but both must be at least 1 and their "
            f"product at least 2: use for instance {family}:8x8"
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
