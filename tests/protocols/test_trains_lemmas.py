"""How trains converge: the lemmas of section 4 on random graphs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.claims.errata import erratum
from hegemon.claims.papers.trains_lemmas import on_two_nodes
from hegemon.graphs.families import path, ring
from hegemon.protocols.trains.legitimate import breadth_first, is_legitimate, station
from hegemon.protocols.trains.protocol import Trains, error_overflow_first
from hegemon.protocols.trains.values import extreme_value, extreme_values, marked_wagons, train_heads
from tests.protocols.train_worlds import one_round, random_nodes, rows, seeds, world


@settings(max_examples=80, deadline=None)
@given(seeds, st.booleans())
def test_lemma_4_3_the_structure_grows_around_a_marked_train(seed, planted):
    """From any configuration without marked wagons in which one leader is about to emit a marked train, up to the first
    non-leader at which a train overflows just as the marked head arrives: that node becomes a leader instead."""
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
    beside = int(graph.neighbours(chosen)[0])
    if planted:  # random starts hardly ever overflow there: this one does, where the train behind it allows
        a = nodes[beside]
        a.leader, a.F, a.L = 0, 1, 1
        a.F_idx, a.F_bit, a.F_carry, a.L_idx, a.L_bit, a.L_carry = N - 4, 0, 1, N - 3, 1, 1
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
        beside_head = [v for v in range(graph.n) if 2 * distance[v] - 1 == k and nodes[v].leader == 0]
        spoilt = [v for v in beside_head if error_overflow_first(nodes[v], protocol.p)]
        nodes = one_round(protocol, graph, nodes, rng, mark=False)
        if spoilt:
            assert all(nodes[v].leader == 1 for v in spoilt)  # clause (i) fails for k + 1
            return


def test_lemma_4_3_fails_from_16_starts_of_two_nodes_and_only_where_a_train_overflows():
    good, overflows = on_two_nodes(Trains, 5)
    assert len(good) == 74_088 and (~good).sum() == 16
    assert ((~good) == overflows).all()


def test_lemma_4_5_fails_at_time_0_from_the_shipped_start():
    known = erratum("trains-lemma-4-5")
    protocol, graph = Trains(8, **known["parameters"]), path(8)
    nodes = [protocol.space.parse(state) for state in known["agents"]]
    after = one_round(protocol, graph, nodes, None, mark=False)
    assert [extreme_value(one, *rows(graph), 1, 1, protocol.p) for one in (nodes, after)] == [31, 1]
    assert not any(a.leader and (a.F_flag or a.L_flag) for a in after)


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


def circulating_or_random(rng, graph, protocol, in_a_circle: bool):
    return circulating(rng) if in_a_circle else (protocol, graph, random_nodes(protocol, rng))


@settings(max_examples=60, deadline=None)
@given(seeds, st.booleans())
def test_lemma_4_5_the_smallest_value_grows(seed, in_a_circle):
    """From time 1 on: an arbitrary start may hold the pieces of a train (trains that circulate are none)."""
    rng, *either = world(seed, largest=8)
    protocol, graph, nodes = circulating_or_random(rng, *either, in_a_circle)
    if not in_a_circle:
        nodes = one_round(protocol, graph, nodes, rng)
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
    rng, *either = world(seed, largest=6)
    protocol, graph, nodes = circulating_or_random(rng, *either, in_a_circle)
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
    rng, *either = world(seed, largest=6)
    protocol, graph, nodes = circulating_or_random(rng, *either, in_a_circle)
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
