"""Informative Trains against a second reading of section 3, and the lemmas of section 4 on random graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.errors import InvalidInput
from hegemon.graphs.families import parse, path, ring
from hegemon.graphs.topology import Topology
from hegemon.protocols.trains.legitimate import breadth_first, first_flaw, is_legitimate, station, why_not
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.trains.starts import fitting_cycle, legitimate
from hegemon.protocols.trains.values import extreme_value, extreme_values, marked_wagons, train_heads
from tests.protocols import train_reading as reading

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


# -- Γ_L --------------------------------------------------------------------------------------------------


def legitimate_nodes(protocol, graph, rng):
    flags = rng.integers(2, size=2 * graph.n + 2)
    leader, head = int(rng.integers(graph.n)), int(rng.integers(protocol.N))
    nodes = legitimate(protocol, graph, leader, head, flags)
    nodes["rand"] = rng.integers(2, size=graph.n)
    return protocol.namespaces(nodes), leader


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


# -- convergence ------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_lemma_4_3_the_structure_grows_around_a_marked_train(seed):
    """From any configuration without marked wagons in which one leader is about to emit a marked train."""
    rng, graph, protocol = world(seed, extra=2)
    N = protocol.N
    nodes = random_nodes(protocol, rng)
    for a in nodes:
        a.F_flag = a.L_flag = 0
    chosen = int(rng.integers(graph.n))
    for v, a in enumerate(nodes):
        a.rand = int(v == chosen)
        a.leader = max(a.leader, int(v == chosen))
    nodes[chosen].L, nodes[chosen].L_idx, nodes[chosen].L_carry = 1, N - 1, 0
    nodes = [protocol.space.namespace(protocol.space.code(a)) for a in nodes]
    assert not marked_wagons(nodes, *rows(graph), protocol.p)
    nodes = one_round(protocol, graph, nodes, rng, mark=False)  # time t
    _, distance = breadth_first(chosen, *rows(graph))
    assert (nodes[chosen].leader, nodes[chosen].L_idx, nodes[chosen].L_flag) == (1, 0, 1)
    for k in range(2 * max(distance) + 2):
        wagons = [
            [station(nodes[v], i) for v in range(graph.n) if distance[v] == i // 2]
            for i in range(2 * max(distance) + 2)
        ]
        assert all(nodes[v].leader == 0 for v in range(graph.n) if v != chosen and 2 * distance[v] <= k)  # (i)
        value = 0
        for i in range(k + 1):
            assert len(set(wagons[i])) == 1
            idx, bit, carry, flag = wagons[i][0]
            assert (idx + i) % N == wagons[0][0][0]  # (ii)
            alone = i == 0 or idx == N - 1
            assert alone or flag == wagons[i - 1][0][3]
            value = bit + 2 * carry + (0 if alone else 2 * value)
            assert value == i >> idx  # (iii)
        assert all(idx < 0 or flag == 0 for layer in wagons[k + 1 :] for idx, _, _, flag in layer)  # (iv)
        assert (wagons[k][0][0], wagons[k][0][3]) == (0, 1)  # (v)
        if k == 2 * max(distance) + 1:
            assert is_legitimate(nodes, *rows(graph), protocol.p)
        nodes = one_round(protocol, graph, nodes, rng, mark=False)


def all_values(nodes, graph, N, flag):
    """Every complete train of Definition 4.4, one by one."""

    def behind(s):
        v = s // 2
        return [s - 1] if s % 2 else [2 * u + 1 for u in graph.neighbours(v)]

    def values(s, idx):
        at, bit, carry, mark = station(nodes[s // 2], s % 2)
        if at != idx or mark != flag:
            return
        if idx == N - 1:
            yield bit + 2 * carry
            return
        for other in behind(s):
            for value in values(other, idx + 1):
                yield bit + 2 * carry + 2 * value

    return [value for s in range(2 * graph.n) for value in values(s, 0)]


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_values_of_trains_are_those_of_all_trains(seed):
    rng, graph, protocol = world(seed, largest=7)
    nodes = random_nodes(protocol, rng)
    for _ in range(int(rng.integers(12))):
        nodes = one_round(protocol, graph, nodes, rng)
    for flag in (0, 1):
        expected = all_values(nodes, graph, protocol.N, flag)
        assert extreme_value(nodes, *rows(graph), flag, 1, protocol.p) == min(expected, default=-1)
        assert extreme_value(nodes, *rows(graph), flag, -1, protocol.p) == max(expected, default=-1)
    heads = extreme_values(nodes, *rows(graph), -1, 1, protocol.p)
    assert train_heads(nodes, *rows(graph), protocol.p) == sum(
        value >= 0 and station(nodes[s // 2], s % 2)[0] == 0 for s, value in enumerate(heads)
    )


def circulating(rng):
    """A ring on which trains run in a circle without a leader, marked or not."""
    N = int(rng.integers(5, 8))
    graph = ring(N if N % 2 else N // 2 if N > 5 and rng.random() < 0.5 else N)
    protocol = Trains(graph.n, N=N)
    nodes = protocol.start_no_leader(rng, graph)
    flag = rng.integers(2)
    nodes["F_flag"] = nodes["L_flag"] = flag
    return protocol, graph, protocol.namespaces(nodes)


@settings(max_examples=60, deadline=None)
@given(seeds, st.booleans())
def test_lemma_4_5_the_smallest_value_grows(seed, in_a_circle):
    rng, graph, protocol = world(seed, largest=8)
    if in_a_circle:
        protocol, graph, nodes = circulating(rng)
    else:
        nodes = one_round(protocol, graph, random_nodes(protocol, rng), rng)
    for _ in range(40):
        after = one_round(protocol, graph, nodes, rng)
        for flag in (0, 1):
            carried = [station(a, layer) for a in after if a.leader for layer in (0, 1)]
            if any(idx >= 0 and mark == flag for idx, _, _, mark in carried):
                continue
            smallest = extreme_value(after, *rows(graph), flag, 1, protocol.p)
            if smallest >= 0:
                assert smallest >= extreme_value(nodes, *rows(graph), flag, 1, protocol.p) + 1
        nodes = after


@settings(max_examples=25, deadline=None)
@given(seeds, st.booleans())
def test_lemma_4_6_a_leader_within_two_to_the_n_plus_n_rounds(seed, in_a_circle):
    rng, graph, protocol = world(seed, largest=6)
    if in_a_circle:
        protocol, graph, nodes = circulating(rng)
    else:
        nodes = random_nodes(protocol, rng)
        for a in nodes:
            a.leader = 0
    waited = 0
    while not any(a.leader for a in nodes):
        nodes = one_round(protocol, graph, nodes, rng)
        waited += 1
        assert waited < 2**protocol.N + protocol.N
    if in_a_circle:
        assert waited > 2**protocol.N - 3 * protocol.N  # the trains counted up from their age N


@settings(max_examples=25, deadline=None)
@given(seeds, st.booleans())
def test_lemma_4_7_marked_wagons_vanish(seed, in_a_circle):
    """No leader emits a marked wagon: no rand survives, and leaders hold no marked train at time t."""
    rng, graph, protocol = world(seed, largest=6)
    if in_a_circle:
        protocol, graph, nodes = circulating(rng)
    else:
        nodes = random_nodes(protocol, rng)
    for a in nodes:
        a.rand = 0
        if a.leader:
            a.L_flag = 0
    nodes = one_round(protocol, graph, nodes, rng, mark=False)
    for a in nodes:
        a.rand = 0
    for _ in range(2**protocol.N + 2 * protocol.N - 2):
        nodes = one_round(protocol, graph, nodes, rng, mark=False)
    assert marked_wagons(nodes, *rows(graph), protocol.p) == 0


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
