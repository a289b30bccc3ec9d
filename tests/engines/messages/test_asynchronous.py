"""Messages that take time, overtake, are lost or doubled, and nodes that crash: laws, and twins that break them."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import hegemon as hg
from hegemon import InvalidInput
from hegemon.engines.choice import choose_for_messages
from hegemon.engines.messages.asynchronous import Asynchronous
from hegemon.engines.messages.nodes import Nodes
from hegemon.models.domains import Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol
from hegemon.process.messages.surroundings import Surroundings
from hegemon.runs.setting import topology_for

LESS_LIKELY = 1e-4


def made(protocol, options, trial=0, kind=None, graph=None):
    topology, around = topology_for(protocol, graph), Surroundings(protocol, **options)
    kind = kind or choose_for_messages("auto", protocol, topology, around)[0]
    return kind(protocol, topology, around, 5, trial)


def agreement(protocol, options, kind=None, runs=1000):
    """How likely these runs are under the law that `verify` finds, of leaders and rounds together."""
    exact = {key: float(chance) for key, chance in hg.verify(protocol, **options).tally.ends.items()}
    outcomes = (made(protocol, options, trial, kind).run(1000) for trial in range(runs))
    seen = Counter((outcome.leaders, outcome.rounds) for outcome in outcomes)
    if not seen.keys() <= exact.keys():
        return 0.0
    common = [key for key, chance in exact.items() if chance * runs >= 5]
    expected = np.array([exact[key] * runs for key in common])
    found = np.array([seen[key] for key in common])
    rest = runs - expected.sum(), runs - found.sum()
    if rest[0] > 1:
        expected, found = np.append(expected, rest[0]), np.append(found, rest[1])
    return stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue if len(found) > 1 else 1.0


class Overtaking(Asynchronous):
    """Broken: forgets the order of a link."""

    def _send(self, v, port, message):
        self.latest.clear()
        super()._send(v, port, message)


class Eager(Asynchronous):
    """Broken: asks the links for the shortest of two delays."""

    def _send(self, v, port, message):
        before = self.chance.randint
        self.chance.randint = lambda low, high: min(before(low, high), before(low, high))
        super()._send(v, port, message)
        self.chance.randint = before


class Careless(Nodes):
    """Broken: loses what it should not."""

    def is_lost(self):
        return super().is_lost() or super().is_lost()


class Undead(Nodes):
    """Broken: crashed nodes go on for a round."""

    def lives(self, v, round=None):
        return super().lives(v, (self.round if round is None else round) - 1)


class Repeating(Asynchronous):
    """Broken: a doubled message arrives three times."""

    def _send(self, v, port, message):
        before = self.duplicated
        super()._send(v, port, message)
        if self.duplicated > before:
            self.flying.append((*self.flying[-1][:1], self.number + 0.5, *self.flying[-1][2:]))


ONE = [2, 3, 1]
LAWS = {
    "delay": (hg.ChangRoberts(n=3), {"delay": "uniform:1..3", "identifiers": ONE}, Eager),
    "fifo": (hg.Peterson(n=3), {"delay": "uniform:1..3", "identifiers": ONE}, Overtaking),
    "any order": (hg.Peterson(n=3), {"delay": "uniform:1..3", "order": "any", "identifiers": ONE}, Eager),
    "loss": (hg.ChangRoberts(n=4), {"loss": "1/10"}, Careless),
    "crashes": (hg.ChangRoberts(n=4), {"crashes": ["round=2,nodes=1"]}, Undead),
    "all": (hg.ChangRoberts(n=3), {"delay": "uniform:1..2", "loss": "1/5", "crashes": ["round=3,node=1"]}, Eager),
}


@pytest.mark.parametrize("name", LAWS)
def test_runs_follow_the_exact_law(name):
    protocol, options, _ = LAWS[name]
    assert agreement(protocol, options) > LESS_LIKELY


@pytest.mark.parametrize("name", LAWS)
def test_a_broken_engine_does_not(name):
    protocol, options, broken = LAWS[name]
    assert agreement(protocol, options, broken) < LESS_LIKELY


class Numbers(MessageProtocol):
    """Node 0 sends 1, 2, …, k, one in each round; node 1 is elected if they come in this order, each once."""

    k = hg.Parameter(2, low=1)

    class Message:
        number: Range(1, "k")

    class Node:
        sender = False
        sent = 0
        heard = ()

    def begin(self, node, rng):
        if node.degree and node.identifier == 1:
            return self.next_one(node, node.round)

    def next_one(self, node, round):
        node.sent += 1
        if node.sent < self.k:
            node.wake_at(round)
        return {0: self.message(number=node.sent)}

    def round(self, node, inbox, rng):
        node.heard += tuple(message.number for message in inbox.values())
        node.status = ELECTED if node.heard == tuple(range(1, self.k + 1)) else NON_ELECTED
        if node.identifier == 1 and not inbox:
            node.status = NON_ELECTED
            return self.next_one(node, node.round + 1)

    has_identifiers = True

    def measure(self, nodes):
        return {"order": next(node.heard for node in nodes if node.identifier != 1)}


PAIR = {"graph": "path:2", "identifiers": [1, 2]}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["uniform:1..9", "exponential:4", "adversary:6"]),
    st.integers(0, 10**6),
    st.sampled_from([0, "1/3"]),
)
def test_links_that_keep_the_order_never_reorder(delay, seed, duplicate):
    run = hg.simulate(Numbers(n=2, k=8), delay=delay, duplicate=duplicate, seed=seed, **PAIR)
    order = run.measures["order"]
    assert list(order) == sorted(order) and set(order) == set(range(1, 9))
    assert duplicate or run.reached


def test_others_do_with_the_probability_that_one_computes_by_hand():
    """The second message, sent a round later, is first only if the delays are 3 and 1: in one case of nine."""
    options = {"delay": "uniform:1..3", "order": "any", **PAIR}
    assert hg.verify(Numbers(n=2), **options).one_leader == pytest.approx(8 / 9, abs=0)
    runs = hg.run_trials(Numbers(n=2), 900, seed=3, **options).runs
    swapped = sum(run.measures["order"] == (2, 1) for run in runs)
    assert stats.binomtest(swapped, 900, 1 / 9).pvalue > LESS_LIKELY
    assert stats.binomtest(swapped, 900, 1 / 6).pvalue < LESS_LIKELY  # of three delays without a round between


def test_exponential_delays_have_their_law():
    """Each of two messages that are sent together takes an exponential time: the later one is their maximum."""

    class Both(Numbers):
        def begin(self, node, rng):
            return {0: self.message(number=1)}

    runs = hg.run_trials(Both(n=2, k=1), 600, seed=4, delay="exponential:5/2", graph="path:2").runs
    times = [run.measures["time"] for run in runs]
    assert stats.kstest(times, lambda t: (1 - np.exp(-t / 2.5)) ** 2).pvalue > LESS_LIKELY
    assert stats.kstest(times, lambda t: 1 - np.exp(-t / 2.5)).pvalue < LESS_LIKELY  # of a single message
    assert all(run.steps == int(np.ceil(run.measures["time"])) for run in runs)


def test_losses_have_their_law():
    """On the ring of Chang and Roberts the largest identifier must survive n messages; whatever else is lost."""
    for n in (3, 5):
        assert hg.verify(hg.ChangRoberts(n=n), loss="1/4", identifiers="increasing").one_leader == (3 / 4) ** n
    run = hg.simulate(Numbers(n=2, k=4000), loss="1/4", delay="uniform:1..1", **PAIR)
    lost = run.measures["lost"]
    assert len(run.measures["order"]) == 4000 - lost and run.measures["messages"] == 4000
    assert stats.binomtest(lost, 4000, 1 / 4).pvalue > LESS_LIKELY


def test_doubles_have_their_law():
    options = {"delay": "uniform:1..3", "duplicate": "1/5", "identifiers": [1, 2]}

    def doubles(kind):
        return len(made(Numbers(n=2, k=1500), options, 0, kind, "path:2").run(None).measures["order"]) - 1500

    assert stats.binomtest(doubles(Asynchronous), 1500, 1 / 5).pvalue > LESS_LIKELY
    assert stats.binomtest(doubles(Repeating), 1500, 1 / 5).pvalue < LESS_LIKELY


def test_crashes_at_a_rate_have_their_law():
    """A node that crashes in every round with probability 1/8 is silent from a geometric round on."""
    rounds = [made(hg.ChangRoberts(n=50), {"crashes": ["rate=1/8"]}, trial).crashing for trial in range(40)]
    seen = np.bincount(np.minimum(np.concatenate(rounds), 30), minlength=31)[1:]
    law = np.append(stats.geom(1 / 8).pmf(np.arange(1, 30)), stats.geom(1 / 8).sf(29))
    assert stats.chisquare(seen, law * 2000).pvalue > LESS_LIKELY
    assert stats.chisquare(seen, np.roll(law, 1) * 2000).pvalue < LESS_LIKELY  # a round later


def test_a_node_that_crashes_in_the_first_round_never_begins_and_a_crashed_leader_is_none():
    protocol = hg.ChangRoberts(n=4)
    dead = hg.simulate(protocol, identifiers=[4, 3, 2, 1], crashes=["round=1,node=0"])
    assert not dead.reached and dead.measures["messages"] == 6 and dead.measures["crashed"] == 1
    assert hg.simulate(protocol, crashes=["round=5,nodes=4"]).leaders == 1  # elected in round 4, and over
    assert hg.simulate(protocol, identifiers=[4, 3, 2, 1], crashes=["round=2,node=2"]).leaders == 0

    def slow(time, sender, receiver, message):
        return 20 if message.id == 2 else 1

    lost = {"delay": slow, "order": "any", "identifiers": [3, 2, 1]}  # elected at 3, and one message lasts until 20
    assert hg.simulate(hg.ChangRoberts(n=3), **lost).leaders == 1
    assert hg.simulate(hg.ChangRoberts(n=3), crashes=["round=10,node=0"], **lost).leaders == 0


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["chang-roberts", "hirschberg-sinclair", "franklin", "peterson"]),
    st.permutations(range(1, 8)),
    st.sampled_from(["uniform:1..7", "exponential:3", "adversary:5"]),
    st.integers(0, 1000),
)
def test_classical_elections_cost_the_same_whatever_the_delays(name, identifiers, delay, seed):
    protocol = hg.CATALOGUE[name](n=7)
    usual = hg.simulate(protocol, identifiers=identifiers)
    other = hg.simulate(protocol, identifiers=identifiers, delay=delay, seed=seed)
    assert other.reached and other.measures["messages"] == usual.measures["messages"]


def test_delays_of_one_give_the_synchronous_rounds():
    for name in ("chang-roberts", "peterson", "franklin"):
        protocol = hg.CATALOGUE[name](n=6)
        one, other = (hg.simulate(protocol, seed=2, delay=delay) for delay in (None, "uniform:1..1"))
        assert (one.steps, one.measures["messages"]) == (other.steps, other.measures["messages"])


@pytest.mark.parametrize("options", [{"delay": "exponential:3", "duplicate": "1/9", "loss": "1/50"}, {"loss": "1/50"}])
def test_a_run_goes_on_from_where_it_was_frozen(options):
    protocol = hg.ChangRoberts(n=12)
    whole = made(protocol, options).run(None)
    for rounds in (1, 4, 9):
        part, rest = made(protocol, options), made(protocol, options)
        part.run(rounds)
        rest.thaw(json.loads(json.dumps(part.freeze())))
        assert rest.run(None) == whole


def test_an_adversary_stays_within_its_bound_and_a_function_is_asked():
    asked = []

    def slow(time, sender, receiver, message):
        asked.append((sender, receiver, message.id))
        return 3 if sender == 0 else 1

    run = hg.simulate(hg.ChangRoberts(n=4), delay=slow, identifiers=[4, 3, 2, 1])
    assert run.reached and len(asked) == 10 and run.steps == 3 + 3
    greedy = hg.simulate(hg.ChangRoberts(n=4), delay="adversary:5", identifiers=[4, 3, 2, 1])
    assert 4 < greedy.steps <= 20


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": "any"}, "order any needs messages that take time"),
        ({"duplicate": 0.1}, "duplicate needs messages that take time"),
        ({"order": "lifo"}, "choose fifo or any"),
        ({"delay": "uniform:0..3"}, "out of range; write uniform:LOW..HIGH"),
        ({"delay": "uniform:3"}, "write uniform:LOW..HIGH"),
        ({"delay": "exponential:-1"}, "write exponential:MEAN"),
        ({"delay": "adversary:x"}, "write adversary:BOUND"),
        ({"delay": "gamma:2"}, "is not known; choose uniform"),
        ({"delay": lambda *_: 0}, "the delay 0 of .* is out of range"),
        ({"loss": 1}, "loss = 1 is out of range"),
        ({"crashes": ["round=0,nodes=1"]}, "is out of range"),
        ({"crashes": ["round=2,nodes=9"]}, "more nodes than there are"),
        ({"crashes": ["rate=2"]}, "is out of range"),
        ({"crashes": ["nodes=2"]}, "is not understood"),
        ({"delay": "uniform:1..2", "engine": "nodes"}, "engine nodes cannot run on .* with delay"),
        ({"engine": "asynchronous"}, "engine asynchronous cannot run on"),
    ],
)
def test_what_is_not_meant_is_refused(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        hg.simulate(hg.ChangRoberts(n=4), **options)


@pytest.mark.parametrize("engine", ["contacts", "auto"])
def test_compiled_patterns_are_for_synchronous_rounds(engine):
    for options in ({"loss": 0.1}, {"delay": "uniform:1..2"}, {"crashes": ["round=2,nodes=1"]}):
        if engine == "auto":
            assert hg.simulate(hg.Referees(n=30), **options).engine in ("nodes", "asynchronous")
        else:
            with pytest.raises(InvalidInput, match="engine contacts cannot run on .* with"):
                hg.simulate(hg.Referees(n=30), engine=engine, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delay": "exponential:2"}, "too many or depends on the past"),
        ({"delay": "adversary:2"}, "too many or depends on the past"),
        ({"crashes": ["rate=1/8"]}, "no rate"),
    ],
)
def test_verify_refuses_what_it_cannot_follow(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        hg.verify(hg.ChangRoberts(n=3), **options)
    with pytest.raises(InvalidInput, match="means nothing to pairwise"):
        hg.verify(hg.Pairwise(n=3), **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"identifiers": "increasing", "crashes": ["round=2,nodes=20"]}, {"delay": "uniform:1..1000000000"}],
)
def test_verify_refuses_too_many_outcomes_before_it_makes_them(options):
    with pytest.raises(InvalidInput, match="different states .* GiB"):
        hg.verify(hg.ChangRoberts(n=3 if "delay" in options else 400), **options)


def test_what_is_watched_and_traced_is_the_run():
    from hegemon.cli.tracing import trace, traceable
    from hegemon.runs.record import RunRecord
    from hegemon.web.session import Session

    protocol, options = hg.Franklin(n=8), {"delay": "exponential:2", "loss": "1/200", "seed": 4}
    run = hg.simulate(protocol, **options)
    session = Session(protocol, **options)
    session.advance(run.steps)
    values, found = session.world.readings()
    assert values["messages"] == run.measures["messages"] and values["leaders"] == run.leaders and found["finished"]
    assert session.world.engine.name == run.engine == "asynchronous"
    lines = trace(traceable(RunRecord(protocol, **options)), run.steps, 10_000)
    assert sum("tells" in line for line in lines) == run.measures["messages"] - run.measures["lost"]
