"""Protocols that are made for a central daemon: their rules read a second time, and what enumeration found of them."""

import itertools

import networkx as nx
import numpy as np
import pytest

import hegemon as hg
from hegemon.exact.strategies import Optimizer
from hegemon.protocols import CATALOGUE

HUANG, RING3, BEAUQUIER, JALFON = (
    CATALOGUE[name] for name in ("huang", "leader-ring-3", "beauquier", "israeli-jalfon")
)


class LooseHuang(HUANG):
    """On rings of any size."""

    def validate(self):
        return None


class LooseRing3(RING3):
    assumes = ()


# -- a second reading of the rules --------------------------------------------------------------------------------

MOVES = ["000>1", "001>2", "210>2", "211>0", "011>2", "012>2", "020>1"]
LEADING = ["111", "112", "212", "121", "122", "222"]
RESTING = {0: ["201", "010", "110", "022", "120", "220"], 1: ["101", "102", "202"]}


def ring3(l, x, leader, r):  # noqa: E741
    told = f"{l}{x}{r}"
    for rule in MOVES:
        if rule.startswith(told):
            return int(rule[-1]), 0
    if told in LEADING:
        return 0, 1
    for value, places in RESTING.items():
        if told in places:
            return x, value
    return x, leader


def test_the_table_of_leader_ring_3():
    protocol = RING3(3)
    for l, x, leader, r in itertools.product(range(3), range(3), (0, 1), range(3)):  # noqa: E741
        near = [{"x": value, "leader": 0} for value in (l, r)]
        assert tuple(protocol.transition({"x": x, "leader": leader}, near).values()) == ring3(l, x, leader, r)


def test_the_rule_of_huang():
    protocol = HUANG(5)
    for l, x, r in itertools.product(range(5), repeat=3):  # noqa: E741
        gaps = (x - l) % 5, (r - x) % 5
        moves = gaps[1] == 0 or (gaps[0] != 0 and gaps[0] < gaps[1])
        expected = (x + 1) % 5 if moves else x
        assert protocol.transition({"x": x}, [{"x": l}, {"x": r}]) == {"x": expected}


def test_the_rules_with_tokens():
    ring = BEAUQUIER(3)
    for d, t, ld, lt, coin in itertools.product((0, 1), repeat=5):
        after = {"d": 1 - d, "t": coin if t == lt else t} if d == ld else {"d": d, "t": t}
        assert ring.transition({"d": d, "t": t}, [{"d": ld, "t": lt}, {"d": 0, "t": 0}], coin) == after
    walk = JALFON(3)
    for a, b in itertools.product((0, 1), repeat=2):
        expected = ({"token": 0}, {"token": 1}) if a else ({"token": 0}, {"token": b})
        assert walk.transition({"token": a}, {"token": b}) == expected


# -- what was enumerated --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "moves"), [(3, 3), (5, 15), pytest.param(7, 42, marks=pytest.mark.full)])
def test_huang_ends_whatever_the_daemon_does(n, moves):
    answer = hg.verify(HUANG(n))
    assert answer.ok and answer.inside.sum() == n * (n - 1) and answer.chain.size == n**n
    assert answer.finding("reached").sentence.endswith(f"at most {moves} moves")
    idle = np.diff(answer.case.decisions.first) == 0
    assert np.array_equal(idle, answer.inside)  # silent there, and nowhere else


def test_huang_needs_a_prime_and_a_daemon():
    with pytest.raises(hg.InvalidInput, match="4 is divisible by 2; take a prime n"):
        HUANG(4)
    four = hg.verify(LooseHuang(4))
    idle = np.diff(four.case.decisions.first) == 0
    assert idle.sum() == 12 and (idle & ~four.inside).sum() == 4 and not four.finding("reached").holds
    assert not hg.verify(HUANG(3), scheduler="synchronous").finding("reached").holds


@pytest.mark.parametrize(("n", "moves"), [(3, 3), (5, 7)])
def test_leader_ring_3_elects_on_three_and_five_nodes(n, moves):
    answer = hg.verify(RING3(n))
    process, codes = answer.case.decisions, answer.chain.codes
    assert answer.ok and np.array_equal(np.diff(process.first) == 0, answer.inside)
    values = codes // 2 if RING3(n).space.mapping_of(1) == {"x": 0, "leader": 1} else codes % 3
    targets = process.targets[process.offsets[:-1]]
    costs = (values[targets] != values[process.owners]).any(axis=1).astype(float)
    longest = answer.schedules.expected["moves"][0].extreme
    assert Optimizer(process, ~answer.inside).sums(costs, True, longest).values.max() == pytest.approx(moves)


def test_leader_ring_3_fails_on_four_nodes():
    with pytest.raises(hg.InvalidInput, match="take n = 3 or n = 5"):
        RING3(4)
    assert not hg.verify(LooseRing3(4)).finding("reached").holds


@pytest.mark.full
@pytest.mark.parametrize("n", [6, 7])
def test_leader_ring_3_fails_on_six_and_seven_nodes(n):
    assert not hg.verify(LooseRing3(n)).finding("reached").holds


@pytest.mark.parametrize("n", range(2, 9))
def test_leader_ring_3_has_no_cycle_and_elects_on_two_three_and_five_nodes(n):
    """From the second reading alone, where a ring may have two nodes: x moves whatever the leaders are."""
    after: dict[tuple, list] = {}
    for xs in itertools.product(range(3), repeat=n):
        moved = [ring3(xs[v - 1], xs[v], 0, xs[(v + 1) % n])[0] for v in range(n)]
        after[xs] = [(*xs[:v], moved[v], *xs[v + 1 :]) for v in range(n) if moved[v] != xs[v]]
    longest: dict[tuple, int] = {}  # in the order in which everything that follows is known: all, if there is no cycle
    fathers: dict[tuple, list] = {xs: [] for xs in after}
    for xs, targets in after.items():
        for target in targets:
            fathers[target].append(xs)
    waits = {xs: len(targets) for xs, targets in after.items()}
    ready = [xs for xs, number in waits.items() if number == 0]
    while ready:
        xs = ready.pop()
        longest[xs] = max((longest[target] + 1 for target in after[xs]), default=0)
        for father in fathers[xs]:
            waits[father] -= 1
            if waits[father] == 0:
                ready.append(father)
    assert len(longest) == 3**n
    elects = True
    for xs in (xs for xs, targets in after.items() if not targets):
        numbers = []  # of leaders, whatever they were before
        for old in (0, 1):
            numbers.append(sum(ring3(xs[v - 1], xs[v], old, xs[(v + 1) % n])[1] for v in range(n)))
        elects &= numbers == [1, 1]
    assert elects == (n in (2, 3, 5))
    if elects:
        assert max(longest.values()) == {2: 2, 3: 3, 5: 7}[n]


def test_beauquier_under_a_distributed_daemon():
    """Asked, not claimed: at n = 3 any nodes may act at once."""
    answer = hg.verify(BEAUQUIER(3), scheduler="distributed")
    assert answer.finding("reached").holds and not answer.finding("reached").claimed


# -- leader-tree -----------------------------------------------------------------------------------------------------

TREE = CATALOGUE["leader-tree"]
BRANCHED = [(0, 1), (1, 2), (2, 3), (1, 4), (2, 5)]  # six nodes, two of them branchings


def test_the_rule_of_leader_tree():
    """A second reading: look for the one neighbour that does not point here."""
    for degree in (1, 2, 3):
        for pointers in itertools.product((-1, 0, 1, 2), repeat=degree):
            near = [{"parent": pointer, "back": 1} for pointer in pointers]
            missing = [port for port, pointer in enumerate(pointers) if pointer != 1]
            for mine in range(-1, degree):
                after = TREE(4).transition({"parent": mine}, near)
                assert after == {"parent": missing[0] if len(missing) == 1 else -1}


@pytest.mark.parametrize(
    ("graph", "moves"),
    [("path:2", 1), ("path:3", 4), ("path:4", 7), ("path:5", 11), ("path:6", 16), ("star:4", None), (BRANCHED, None)],
    ids=str,
)
def test_leader_tree_ends_with_one_root(graph, moves):
    if graph is BRANCHED:
        graph = nx.Graph(BRANCHED)
    n = graph.number_of_nodes() if isinstance(graph, nx.Graph) else int(graph[-1])
    answer = hg.verify(TREE(n), graph=graph)
    idle = np.diff(answer.case.decisions.first) == 0
    assert answer.ok and idle.sum() == n and np.array_equal(idle, answer.inside)
    roots = (answer.chain.codes[idle] == TREE(n).space.code(TREE(n).space.parse({"parent": -1}))).sum(axis=1)
    assert np.array_equal(roots, np.ones(n))
    assert len({tuple(row) for row in answer.chain.codes[idle].tolist()}) == n  # one end for each root
    if moves is not None:
        unit = "move" if moves == 1 else "moves"
        assert answer.finding("reached").sentence.endswith(f"at most {moves} {unit}")


def test_leader_tree_runs_and_refuses():
    run = hg.simulate(TREE(200), graph="path:200", seed=3)
    assert run.reached and run.leaders == 1 and run.measures["moves"] > 0
    with pytest.raises(hg.InvalidInput, match="runs on trees, and ring:5 has a cycle; use for instance path:5"):
        hg.simulate(TREE(5), graph="ring:5")
    assert not hg.verify(TREE(4), graph="path:4", scheduler="synchronous").finding("reached").holds


class OneSidedTree(TREE):
    """A twin that assumes that every node is on port 0 of its neighbours."""

    def update(me, neighbours, coins, p):
        others, chosen = 0, -1
        for k in range(len(neighbours)):
            if neighbours[k].parent != 0:
                others += 1
                chosen = k
        me.parent = chosen if others == 1 else -1


def test_a_tree_without_ports_back_is_refuted():
    assert not hg.verify(OneSidedTree(4), graph="path:4").ok
