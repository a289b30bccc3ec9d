"""The rounds model: chains against a product over all coins, Γ_L on every small graph, exact against simulated."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import hegemon as hg
from hegemon.exact.closure import closure_everywhere, closure_on, connected_graphs
from hegemon.exact.rounds import RoundConfigurations
from hegemon.protocols.trains.listing import legitimate_configurations, trains_away_from_a_leader
from hegemon.protocols.trains.starts import legitimate
from hegemon.runs.setting import topology_for


@pytest.mark.parametrize("graph", ["path:2", "ring:3", "star:4"])
def test_successors_are_those_of_all_coins(graph):
    n = int(graph[-1])
    protocol = hg.Trains(n=n)
    topology = topology_for(protocol, graph)
    space = RoundConfigurations(protocol, topology)
    rng = np.random.default_rng(4)
    codes = np.concatenate([rng.integers(space.q, size=(6, n)), legitimate_configurations(protocol, topology)[::97]])
    rows, after, weights = space.successors(codes)
    for row in range(len(codes)):
        expected = Counter()
        nodes = [protocol.space.namespace(code) for code in codes[row]]
        for coins in itertools.product(range(4), repeat=n):
            moved = []
            for v in range(n):
                me = protocol.space.namespace(codes[row][v])
                protocol.update(me, [nodes[u] for u in topology.neighbours(v)], coins[v], protocol.p)
                moved.append(protocol.space.code(me))
            expected[tuple(moved)] += 1
        found = Counter()
        for target, weight in zip(after[rows == row].tolist(), weights[rows == row].tolist(), strict=True):
            found[tuple(target)] += weight
        assert found == expected and sum(found.values()) == space.arcs


def is_leader(a, p):
    return a.leader == 1


class Restless(hg.RoundsProtocol):
    """Every node forgets in every round, with probability 1/2, whether it leads."""

    random_bits = 1
    public = ("leader",)

    class State:
        leader: hg.Bit = 1

    safe = hg.exactly(1, is_leader)

    def update(me, neighbours, coins, p):
        if coins == 1:
            me.leader = 1 - me.leader


def test_a_leader_is_held_until_any_node_changes():
    holding = hg.verify(Restless(3), graph="path:3", property="holding").holding
    assert holding.worst == pytest.approx(8 / 7, rel=1e-12)  # all three coins must keep their nodes as they are
    assert holding.breaks == ()  # a round is no meeting of two


def test_there_are_143_connected_graphs_of_up_to_six_nodes():
    sizes = Counter(graph.n for graph in connected_graphs(6))
    assert sizes == {1: 1, 2: 1, 3: 2, 4: 6, 5: 21, 6: 112}  # OEIS A001349


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_listing_finds_what_is_built_and_nothing_else(depth):
    """Every head index, and every way to mark the trains, of which a path of this depth sees some number."""
    n = depth + 1
    protocol = hg.Trains(n=n)
    topology = topology_for(protocol, f"path:{n}")
    built = {
        tuple(protocol.space.encode_array(legitimate(protocol, topology, 0, head, flags)).tolist())
        for head in range(protocol.N)
        for flags in itertools.product((0, 1), repeat=2 + 2 * n // protocol.N)
    }
    assert len(built) == len(trains_away_from_a_leader(protocol.N, depth))
    rows = legitimate_configurations(protocol, topology)
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert built <= {tuple(row) for row in rows.tolist()}


def test_legitimate_configurations_are_closed_on_small_graphs():
    checked = closure_everywhere(hg.Trains, 4)
    assert len(checked) == 10 and all(one.holds for one in checked)
    assert sum(one.successors for one in checked) > sum(one.configurations for one in checked) > 8000


@pytest.mark.full
def test_legitimate_configurations_are_closed_on_every_graph_of_up_to_six_nodes():
    checked = closure_everywhere(hg.Trains, 6)
    assert len(checked) == 143 and all(one.holds for one in checked)


def test_closure_needs_no_numbers():
    """Five nodes of trains have 10^19 configurations; those of a listed set are still checked one by one."""
    protocol = hg.Trains(n=5)
    assert closure_on(protocol, topology_for(protocol, "path:5")).holds


def test_a_broken_round_is_caught():
    class Forgetful(hg.Trains):
        def update(me, neighbours, coins, p):
            hg.Trains.update(me, neighbours, coins, p)
            if me.leader == 1 and coins == 3:
                me.leader = 0

    protocol = Forgetful(n=2)
    found = closure_on(protocol, topology_for(protocol, "path:2"))
    assert not found.holds and "leader" in found.flaw
    answer = hg.verify(protocol, graph="path:2", start="all-leaders", property="leader")
    assert not answer.findings[0].holds and answer.findings[0].counterexample.lines()[-1].startswith("round")


def test_one_node_from_everywhere():
    answer = hg.verify(hg.Trains(n=1), graph="path:1")
    assert answer.ok and answer.chain.size == 6724 and answer.hitting.worst == pytest.approx(3)


@pytest.mark.full
@pytest.mark.parametrize("graph", ["path:2", "ring:3"])
def test_exact_and_simulated_rounds(graph):
    n = int(graph[-1])
    answer = hg.verify(hg.Trains(n=n), graph=graph, start="all-leaders")
    assert answer.ok
    runs = hg.run_trials(hg.Trains(n=n), 400, graph=graph, start="all-leaders", seed=2, workers=1).runs
    rounds = np.array([run.steps for run in runs], float)
    assert abs(rounds.mean() - answer.hitting.mean) <= 3 * rounds.std(ddof=1) / math.sqrt(len(rounds))


def test_what_does_not_fit_is_refused():
    with pytest.raises(hg.InvalidInput, match="GiB"):
        hg.verify(hg.Trains(n=2), graph="path:2")
    with pytest.raises(hg.InvalidInput, match="cannot list"):
        hg.Timer(n=2).listed("safe", None)
    with pytest.raises(hg.InvalidInput, match="atlas"):
        connected_graphs(8)
