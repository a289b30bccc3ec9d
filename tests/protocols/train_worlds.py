"""Small worlds of trains for the tests: random graphs and configurations, and one round by hand."""

import numpy as np
from hypothesis import strategies as st

from hegemon.graphs.topology import Topology
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.trains.starts import legitimate

seeds = st.integers(0, 2**32 - 1)


def random_graph(rng, largest: int = 9) -> Topology:
    """A random tree with a few random edges more."""
    n = int(rng.integers(2, largest + 1))
    edges = {(int(rng.integers(v)), v) for v in range(1, n)}
    for _ in range(rng.integers(n)):
        a, b = sorted(rng.choice(n, size=2, replace=False).tolist())
        edges.add((a, b))
    return Topology.from_edges("random", n, *np.array(sorted(edges)).T)


def world(seed, largest=9, extra=0):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, largest)
    protocol = Trains(graph.n)
    if extra:
        protocol = Trains(graph.n, N=protocol.N + int(rng.integers(extra + 1)))
    return rng, graph, protocol


def random_nodes(protocol, rng):
    return [protocol.space.namespace(code) for code in rng.integers(protocol.space.size, size=protocol.n)]


def one_round(protocol, graph, nodes, rng, mark=True):
    """A round with random coins; without `mark`, no leader's rand survives."""
    result = []
    for v, me in enumerate(nodes):
        state = type(me)(**vars(me))
        coins = int(rng.integers(4)) if mark else 1
        protocol.update(state, [nodes[u] for u in graph.neighbours(v)], coins, protocol.p)
        result.append(protocol.space.namespace(protocol.space.code(state)))
    return result


def rows(graph):
    return graph.offsets, graph.targets


def legitimate_nodes(protocol, graph, rng):
    flags = rng.integers(2, size=2 * graph.n + 2)
    leader, head = int(rng.integers(graph.n)), int(rng.integers(protocol.N))
    nodes = legitimate(protocol, graph, leader, head, flags)
    nodes["rand"] = rng.integers(2, size=graph.n)
    return protocol.namespaces(nodes), leader
