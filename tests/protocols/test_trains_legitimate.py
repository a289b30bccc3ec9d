"""The legitimate configurations of trains: Definition 4.1, and Lemma 4.2 that they are closed."""

import numpy as np
import pytest
from hypothesis import given, settings

from hegemon.graphs.families import path, ring
from hegemon.protocols.trains.legitimate import breadth_first, is_legitimate, station, why_not
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.trains.starts import legitimate
from tests.protocols.train_worlds import legitimate_nodes, one_round, rows, seeds, world


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_lemma_4_2_legitimate_configurations_are_closed_under_all_coins(seed):
    rng, graph, protocol = world(seed, extra=3)
    nodes, leader = legitimate_nodes(protocol, graph, rng)
    assert is_legitimate(nodes, *rows(graph), protocol.p)
    for _ in range(2 * protocol.N):
        following = list(protocol.successors(nodes, graph))
        for after in following:
            assert why_not(after, *rows(graph), protocol.p) == "in Γ_L"
            assert after[leader].leader == 1
        nodes = following[rng.integers(len(following))]


def test_lemma_4_2_at_the_tightest_path():
    """A path of n = 2^(N-1) nodes with the leader at its end: the longest trains that N allows."""
    graph, rng = path(32), np.random.default_rng(0)
    protocol = Trains(32, N=6)
    nodes = protocol.namespaces(legitimate(protocol, graph, 0, 2))
    for _ in range(3 * protocol.N):
        nodes = one_round(protocol, graph, nodes, rng)
        assert is_legitimate(nodes, *rows(graph), protocol.p)


def definition_4_1(nodes, graph, N) -> bool:
    """Word for word, with values summed up from Definition 3.4."""
    leaders = [v for v, a in enumerate(nodes) if a.leader]
    if len(leaders) != 1:
        return False
    _, distance = breadth_first(leaders[0], *rows(graph))
    layers = []
    for i in range(max(distance) + 1):
        for layer in (2 * i, 2 * i + 1):
            wagons = {station(nodes[v], layer) for v in range(graph.n) if distance[v] == i}
            if len(wagons) != 1 or (wagon := wagons.pop())[0] < 0:
                return False
            layers.append(wagon)
    for i, (idx, _, _, _) in enumerate(layers):
        if (idx + i) % N != layers[0][0]:
            return False
    for k, (idx, _, _, flag) in enumerate(layers):
        train = [layers[j] for j in range(k, k - min(k, N - 1 - idx) - 1, -1)]
        if any(wagon[3] != flag for wagon in train):
            return False
        if [wagon[0] for wagon in train] != list(range(idx, idx + len(train))):
            return False
        if sum(2**j * (bit + 2 * carry) for j, (_, bit, carry, _) in enumerate(train)) != k // 2**idx:
            return False
    return True


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_the_predicate_is_definition_4_1(seed):
    rng, graph, protocol = world(seed, extra=2)
    nodes, _ = legitimate_nodes(protocol, graph, rng)
    assert definition_4_1(nodes, graph, protocol.N)
    victim = nodes[rng.integers(graph.n)]
    for name in rng.choice(protocol.space.names, size=1 + rng.integers(2)):
        low, high = protocol.space.bounds[name]
        setattr(victim, name, int(rng.integers(low, high + 1)))
    expected = definition_4_1(nodes, graph, protocol.N)
    assert is_legitimate(nodes, *rows(graph), protocol.p) == expected
    assert (why_not(nodes, *rows(graph), protocol.p) == "in Γ_L") == expected
    everything = protocol.safe.contains(nodes, protocol.p, protocol.values, *rows(graph))
    assert everything == expected


@pytest.mark.parametrize(
    ("node", "changes", "sentence"),  # which ends with where it is
    [
        (2, {"leader": 1}, "clause (a): there are 2 leaders instead of one"),
        (0, {"leader": 0}, "clause (a): there are 0 leaders instead of one"),
        (2, {"F": 0}, "clause (b): there is no wagon at node 2, station F, layer 5"),
        (2, {"L_idx": 0}, "clause (b): the index does not line up with the layer before at node 2, station L, layer 4"),
        (3, {"L_bit": 0}, "clause (c): the train does not have the value ⌊6/2^idx⌋ at node 3, station L, layer 6"),
        (1, {"L_flag": 1}, "clause (c): the flag is not that of the wagon behind it at node 1, station L, layer 2"),
    ],
)  # fmt: skip
def test_which_clause_fails_and_where(node, changes, sentence):
    graph = path(4)
    protocol = Trains(4)
    nodes = protocol.namespaces(legitimate(protocol, graph, 0, 3))
    for name, value in changes.items():
        setattr(nodes[node], name, value)
    assert why_not(nodes, *rows(graph), protocol.p) == sentence


def test_a_layer_must_be_a_singleton():
    graph, protocol = ring(5), Trains(5)
    nodes = protocol.namespaces(legitimate(protocol, graph, 0, 4))
    nodes[4].F_bit ^= 1
    assert why_not(nodes, *rows(graph), protocol.p) == (
        "clause (b): the wagon differs from the others of its layer at node 4, station F, layer 3"
    )
