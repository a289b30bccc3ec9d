"""Coins of any rational probability in `update`: exact in every engine, in verify, on the page and in networks."""

import itertools
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.border import ingredient
from hegemon.compute.philox import number_below, word_at
from hegemon.compute.randomness import KERNEL, START, generator, stream
from hegemon.engines.rounds import kernels
from hegemon.exact.rounds import RoundConfigurations
from hegemon.models import Bit, Coin, Parameter, Range, RoundsProtocol, at_least, everywhere
from hegemon.network.rules import RoundsRules
from hegemon.runs.setting import topology_for
from hegemon.web import choosing


class Dice(RoundsProtocol):
    """What a node becomes depends on its neighbours, a biased coin and a die."""

    topology = "ring"
    chance = Parameter(1 / 3, low=0, high=1, real=True)

    class State:
        x: Range(0, 3)

    class Coins:
        heads: Coin("chance")
        die: Range(1, 3)

    def update(me, neighbours, coins, p):
        top = me.x
        for k in range(len(neighbours)):
            top = max(top, neighbours[k].x)
        if coins.heads == 1:
            me.x = min(3, top + (coins.die == 3))
        else:
            me.x = (me.x + coins.die) % 4

    full = at_least(2, lambda a, p: a.x == 3)


def plain_number(values, key, time, index):
    """Uniform below `values`: the words that cannot be shared out evenly are skipped."""
    fair = 2**64 - 2**64 % values
    for again in itertools.count():
        word = int(word_at(key, time, index + (again << 32)))
        if word < fair:
            return word % values


@pytest.mark.parametrize("values", [1, 2, 3, 10, 588, 2**62 - 1, 3 << 62, 2**63 + 1])
def test_numbers_are_shared_out_evenly(values):
    words = [np.uint64(word_at(7, 3, v)) for v in range(200)]
    found = [int(number_below(np.uint64(values), word, 7, 3, v)) % 2**64 for v, word in enumerate(words)]
    assert found == [plain_number(values, 7, 3, v) for v in range(200)]
    if values in (3 << 62, 2**63 + 1):  # a remainder alone would be another law
        assert found != [int(word) % values for word in words]


@pytest.mark.parametrize("graph", ["ring:30", "gnp:30,0.2"])
def test_the_rounds_are_those_of_plain_python(graph):
    protocol = Dice(30)
    topology = topology_for(protocol, graph, 4)
    nodes = protocol.namespaces(protocol.initial("random", generator(4, 0, START), topology=topology).agents)
    key = stream(4, 0, KERNEL)[0]
    for time in range(12):
        after = []
        for v, me in enumerate(nodes):
            state = type(me)(**vars(me))
            number = plain_number(9, key, time, v)
            drawn = protocol.coins.kind(int(number % 3 < 1), 1 + number // 3)
            protocol.update(state, [nodes[u] for u in topology.neighbours(v)], drawn, protocol.p)
            after.append(protocol.space.namespace(protocol.space.code(state)))
        nodes = after
        run = hg.simulate(protocol, graph=graph, seed=4, until=f"rounds:{time + 1}")
        assert run.configuration.mappings() == [protocol.space.mapping(state) for state in nodes]


@pytest.mark.parametrize("chance", [1 / 3, 0.3, 0, 1, 0.5])
def test_successors_are_those_of_all_values(chance):
    protocol = Dice(3, chance=chance)
    assert sum(ways for _, ways in protocol.coin_faces) == protocol.coin_values
    assert all(protocol.coin_face(number) == k for k, (number, _) in enumerate(protocol.coin_faces))
    topology = topology_for(protocol, "path:3")
    space, codes = RoundConfigurations(protocol, topology), np.array([[0, 3, 1], [2, 2, 0]])
    rows, after, weights = space.successors(codes)
    for row, start in enumerate(codes.tolist()):
        law: Counter = Counter({(): Fraction(1)})
        for v in range(3):
            mine: Counter = Counter()
            for number in range(protocol.coin_values):
                me = protocol.space.namespace(start[v])
                protocol.move(me, [protocol.space.namespace(start[u]) for u in topology.neighbours(v)], number)
                mine[protocol.space.code(me)] += Fraction(1, protocol.coin_values)
            law = Counter({(*told, code): p * q for told, p in law.items() for code, q in mine.items()})
        found: Counter = Counter()
        for target, weight in zip(after[rows == row].tolist(), weights[rows == row].tolist(), strict=True):
            found[tuple(target)] += Fraction(weight, space.arcs)
        assert found == law


def deviation(protocol, scheduler, exact, trials=400) -> float:
    """How far the mean time of runs is from the exact one, in standard errors."""
    runs = hg.run_trials(protocol, trials, graph="ring:4", until="full", seed=3, scheduler=scheduler).runs
    times = np.array([run.steps for run in runs])
    return abs(times.mean() - exact) / (times.std() / trials**0.5)


@pytest.mark.parametrize("scheduler", [None, "central:uniform", "distributed:1/3"])
def test_engines_follow_the_law_of_the_exact_chain(scheduler):
    exact = hg.verify(Dice(4), graph="ring:4", scheduler=scheduler, property="time:full").hitting.mean
    assert deviation(Dice(4), scheduler, exact) < 4.5
    assert deviation(Dice(4, chance=0.8), scheduler, exact) > 4.5


def share_of_states(n=4000) -> float:
    """The p-value of what many nodes became after a round, all from x = 0."""
    run = hg.simulate(Dice(n), graph=f"ring:{n}", start=[{"x": 0}] * n, until="rounds:1", seed=1)
    return stats.chisquare(
        np.bincount(run.configuration.agents["x"]), [2 * n / 9, 3 * n / 9, 2 * n / 9, 2 * n / 9]
    ).pvalue


@ingredient()  # a part of a kernel, not an author's function: words are unsigned, which the language does not have
def toss_folded(word, place, node, time, coins):
    """A twin: the next power of two, of which what is too much is folded back."""
    return np.int64(word % np.uint64(16)) % coins.values


def test_a_coin_that_is_not_shared_out_evenly_is_caught(monkeypatch):
    assert share_of_states() > 1e-4
    monkeypatch.setattr(kernels, "toss_values", toss_folded)
    assert share_of_states() < 1e-9


class Lamps(RoundsProtocol):
    """A node lights its lamp after two heads in a row of a rare coin."""

    private = ("heads",)
    default_start = "initial"

    class State:
        heads: Bit = 0
        lit: Bit = 0

    class Coins:
        head: Coin("1/30")

    def update(me, neighbours, coins, p):
        if me.lit == 0 and coins.head == 1 and me.heads == 1:
            me.lit = 1
        me.heads = coins.head

    all_lit = everywhere(lambda a, p: a.lit == 1)


def test_fast_forward_has_the_law_of_plain_rounds():
    protocol = Lamps(2)
    skipped, plain = (
        [hg.simulate(protocol, seed=seed, trial=k, fast_forward=skip, until="all_lit") for k in range(300)]
        for seed, skip in ((1, True), (2, False))
    )
    assert all(run.measures["fast_forwarded_rounds"] > 0 for run in skipped)
    assert stats.ks_2samp([run.steps for run in skipped], [run.steps for run in plain]).pvalue > 1e-4
    exact = hg.verify(protocol, graph="complete:2", property="time:all_lit").hitting.worst
    times = np.array([run.steps for run in skipped])
    assert abs(times.mean() - exact) < 4.5 * times.std() / len(times) ** 0.5


def test_members_of_a_network_toss_them():
    node = RoundsRules(Dice(5)).agent(0, 2, None, None, SimpleNamespace(time=lambda: 0.0)).node
    drawn = Counter(node.coins(round) for round in range(900))
    assert set(drawn) == set(range(9))
    assert stats.chisquare([drawn[k] for k in range(9)]).pvalue > 1e-6


def test_the_page_knows_the_probabilities():
    class Session:
        protocol = Dice(3)
        topology = topology_for(protocol, "path:3")

    nodes = [Session.protocol.space.namespace(code) for code in (0, 2, 1)]
    assert choosing._outcomes(Session, 0, nodes) == {
        2: Fraction(4, 9), 3: Fraction(3, 9), 1: Fraction(2, 9),
    }  # fmt: skip


def test_the_hand_tool_and_refusals():
    assert Dice(3).transition({"x": 1}, [{"x": 2}], {"heads": 1, "die": 3}) == {"x": 3}
    with pytest.raises(hg.InvalidInput, match="the coins are heads, die, not"):
        Dice(3).transition({"x": 1}, [{"x": 2}], 1)
    with pytest.raises(hg.InvalidInput, match="random_bits = 1 and `class Coins:`"):
        type("Both", (Dice,), {"random_bits": 1})

    class Wide(RoundsProtocol):
        class State:
            x: Bit

        class Coins:
            die: Range(1, 100_000)

        def update(me, neighbours, coins, p):
            me.x = coins.die % 2

    with pytest.raises(hg.InvalidInput, match="its coins show one of 100,000 values, and at most 65,536"):
        Wide(2)
