"""Informative Trains against a second reading of section 3; its starts, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.errors import InvalidInput
from hegemon.graphs.families import parse, path, ring
from hegemon.graphs.topology import Topology
from hegemon.protocols.trains.legitimate import first_flaw, is_legitimate
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.trains.starts import fitting_cycle, legitimate
from tests.protocols import train_reading as reading
from tests.protocols.train_worlds import rows, seeds


@settings(max_examples=300, deadline=None)
@given(seeds, st.integers(5, 9))
def test_update_is_the_papers(seed, N):
    rng = np.random.default_rng(seed)
    protocol = Trains(16, N=N)
    for _ in range(20):
        codes = rng.integers(protocol.space.size, size=1 + rng.integers(6))
        states = [protocol.space.namespace(code) for code in codes]
        for state in states:  # often one step apart, as wagons of a train are
            if rng.random() < 0.7:
                state.F = state.L = 1
                state.F_idx = (states[0].L_idx + rng.integers(3)) % N
                state.L_idx = (state.F_idx + 1) % N
        coins = int(rng.integers(4))
        expected = reading.update(*_split(states), int(coins == 0), N)
        protocol.update(states[0], states[1:], coins, protocol.p)
        assert reading.node(states[0]) == expected


def _split(states):
    nodes = [reading.node(state) for state in states]
    return nodes[0], nodes[1:]


def test_states_and_bits():
    """4 (8N + 1)² states in arbitrary configurations; without local errors Θ(N): linear in N."""
    for N in (5, 8):
        assert Trains(16, N=N).states == 4 * (8 * N + 1) ** 2
    counts = []
    for N in (5, 6, 7, 8):
        protocol = Trains(16, N=N)
        sound = 0
        for code in range(protocol.states):
            state = protocol.space.namespace(code)
            v = reading.node(state)
            sound += v.L is not None and (v.F is None or v.L.idx == (v.F.idx + 1) % N)
        counts.append(sound)
    assert np.ptp(np.diff(counts)) == 0


# -- starts and bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["ring:12", "path:7", "star:9", "grid:4x5", "complete:8", "path:1", "lollipop:6,5"])
def test_starts(spec):
    rng = np.random.default_rng(3)
    graph = parse(spec, None, rng)
    protocol = Trains(graph.n, k=min(3, graph.n))
    safe = protocol.namespaces(protocol.start_safe(rng, graph))
    assert is_legitimate(safe, *rows(graph), protocol.p)
    assert (protocol.start_all_leaders(rng, graph)["leader"] == 1).all()
    assert (protocol.start_no_leader(rng, graph)["leader"] == 0).all()
    for name in protocol.starts:
        if name != "initial":
            protocol.initial(name, rng, topology=graph).multiset  # noqa: B018 - every state can be encoded


def test_a_corrupted_start_differs_in_at_most_k_nodes():
    graph = ring(12)
    protocol = Trains(12, k=3)
    before = protocol.start_safe(np.random.default_rng(5), graph)
    after = protocol.start_corrupted(np.random.default_rng(5), graph)
    assert 1 <= (before != after).sum() <= 3


@pytest.mark.parametrize(("spec", "divisor"), [("complete:9", 7), ("ring:14", 7), ("grid:6x6", 4), ("lollipop:8,4", 5)])
def test_a_fitting_cycle_is_a_cycle(spec, divisor):
    rng = np.random.default_rng(1)
    graph = parse(spec, None, rng)
    cycle = fitting_cycle(graph, divisor, rng)
    assert len(cycle) % divisor == 0 and len(set(cycle)) == len(cycle) >= 3
    for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert b in graph.neighbours(a)


def test_no_fitting_cycle():
    rng = np.random.default_rng(1)
    assert fitting_cycle(path(9), 3, rng) is None
    assert fitting_cycle(ring(64), 7, rng) is None


@pytest.mark.parametrize(("n", "N"), [(4, 4), (16, 4), (17, 5), (1000, 10)])
def test_n_must_be_large_enough(n, N):
    with pytest.raises(InvalidInput, match="N = "):
        Trains(n, N=N)


def test_directed_and_disconnected_graphs_are_refused():
    with pytest.raises(InvalidInput, match="undirected"):
        Trains(6).check_topology(parse("directed-ring:6", None, None))
    with pytest.raises(InvalidInput, match="components"):
        Trains(4).check_topology(Topology.from_edges("two edges", 4, [0, 2], [1, 3]))


def test_flaws_are_found_in_arrays_of_records_too():
    graph, protocol = ring(5), Trains(5)
    nodes = legitimate(protocol, graph, 0, 4).view(np.recarray)
    assert first_flaw(nodes, *rows(graph), protocol.p)[0] == 0


def test_a_leader_without_a_last_wagon_is_not_eliminated():
    """The paper is silent: ⊥ has no flag, so the leader stays and begins a new unmarked train."""
    empty = {"leader": 1, "rand": 0, "F": "empty", "L": "empty"}
    wagon = {"F_idx": 0, "F_bit": 1, "F_carry": 0, "F_flag": 1}
    head = {"leader": 0, "rand": 0, "F": "wagon", "L": "empty"} | wagon
    for coins in range(4):
        after = Trains(n=4).transition(empty, [head], coins)
        last = {"L_idx": 0, "L_bit": 0, "L_carry": 0, "L_flag": 0}
        assert after == {"leader": 1, "rand": int(coins == 0), "F": "empty", "L": "wagon"} | last
    with_wagon = empty | {"L": "wagon", "L_idx": 2, "L_bit": 0, "L_carry": 0, "L_flag": 0}
    assert Trains(n=4).transition(with_wagon, [head])["leader"] == 0  # Is-Eliminated
