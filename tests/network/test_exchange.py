"""One interaction over a bad network: it happens at both ends, at none, or, when answers are lost, at the responder."""

import itertools
import random

import pytest

from hegemon.models import Parameter, PopulationProtocol, Range
from hegemon.network import agent as agents
from hegemon.network.agent import Agent
from hegemon.protocols import Timer
from tests.network.population import Population
from tests.network.virtual import Conditions


class Counting(PopulationProtocol):
    """Each interaction adds one to both, so that a double interaction is detected."""

    most = Parameter(1000, low=1)

    class State:
        made: Range(0, "most") = 0

    def interact(a, b, p):
        a.made = min(a.made + 1, p.most)
        b.made = min(b.made + 1, p.most)


TWO = Counting(n=2)


class Forgetful(Agent):
    """The broken twin: a repeated STATE is carried out again."""

    def _stated(self, letter, address):
        super()._stated(letter, address)
        self._offers[letter.life][letter.exchange].answer = None


class Hesitant(Agent):
    """The broken twin: a refused STATE may be answered when a copy of it comes later."""

    def _refuse(self, letter, address):
        super()._refuse(letter, address)
        if letter.kind == agents.STATE:
            self._offers[letter.life][letter.exchange] = agents.Offer(letter.nonce)


def pair(agent_class, monkeypatch):
    """Two agents that begin nothing by themselves."""
    monkeypatch.setattr("tests.network.population.Agent", agent_class)
    population = Population(TWO, rate=1e-9)
    for agent in population.agents.values():
        monkeypatch.setattr(agents, "_ACTIONS", tuple(getattr(type(agent), f.__name__) for f in agents._ACTIONS))
    return population


def outcomes(agent_class, monkeypatch, fates=8):
    """The states (initiator, responder) after one exchange, for every fate of its first datagrams."""
    found = set()
    for fate in itertools.product((False, True), repeat=fates):
        population = pair(agent_class, monkeypatch)
        rest = iter(fate)
        population.network.separated = lambda a, b, rest=rest: next(rest, False)
        population.agents[0].ask(1)
        population.clock.run(seconds=10)
        found.add((population.agents[0].state, population.agents[1].state))
    return found


def test_every_pattern_of_losses(monkeypatch):
    assert outcomes(Agent, monkeypatch) == {(0, 0), (0, 1), (1, 1)}


def test_a_forgetful_responder_is_caught(monkeypatch):
    assert not outcomes(Forgetful, monkeypatch) <= {(0, 0), (0, 1), (1, 1)}


def refused_and_late(agent_class, monkeypatch):
    """STATE reaches a responder that is promised elsewhere; a copy of it comes when it is free again."""
    population = pair(agent_class, monkeypatch)
    first, second = population.agents.values()
    first.ask(1)
    population.clock.run(until=lambda: first.is_promised)
    second._promised = agents.Pending(b"elsewher", 7, agents.STATE)
    copies = []
    population.network.tap = lambda *sent: copies.append(sent) if sent[1:] == (0, 1) else None
    population.network.separated = lambda a, b: (a, b) == (1, 0)  # the refusal is slow
    population.clock.run(until=lambda: second.counters["refusing"] == 1)
    second._promised = None
    population.clock.run(seconds=0.6)  # the initiator repeats itself
    return first.state, second.state


def test_a_refused_state_stays_refused(monkeypatch):
    assert refused_and_late(Agent, monkeypatch) == (0, 0)
    assert refused_and_late(Hesitant, monkeypatch) == (0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_reordering_and_repetition_change_nothing(seed):
    """Without losses the states are those of the same pairs by the plain definition."""
    protocol = Timer(n=8, s=50)
    population = Population(protocol, seed=seed, conditions=Conditions(duplication=0.5, jitter=0.3), patience=20)
    first, population.pairs = list(population.codes), []
    population.clock.run(seconds=150)
    for agent in population.agents.values():
        agent.rate = 1e-9
        agent._tick.cancel()
    population.clock.run(seconds=100)
    for a, b in population.pairs:
        first[a], first[b] = protocol.transition_codes(first[a], first[b])
    assert [agent.state for agent in population.agents.values()] == first == population.codes
    totals = population.totals
    assert totals["responded"] == totals["completed"] == len(population.pairs) > 300
    assert totals["refused"] > 0 and totals["unanswered"] == 0


def test_the_counters_tell_what_was_lost():
    population = Population(Timer(n=8, s=50), seed=5, conditions=Conditions(loss=0.4, jitter=0.01))
    population.clock.run(seconds=300)
    totals = population.totals
    one_sided = totals["responded"] - totals["completed"]
    assert 0 < one_sided <= totals["unanswered"]
    in_flight = sum(len(agent.pending) for agent in population.agents.values())
    ended = sum(totals[name] for name in ("completed", "refused", "given_up", "unreachable", "unanswered"))
    assert totals["requested"] == ended + in_flight


def test_the_same_seed_is_the_same_run():
    runs = [
        Population(Timer(n=6, s=20), seed=seed, conditions=Conditions(loss=0.2, duplication=0.1, jitter=0.05))
        for seed in (7, 7, 8)
    ]
    for population in runs:
        population.clock.run(seconds=60)
    assert runs[0].codes == runs[1].codes and runs[0].totals == runs[1].totals != runs[2].totals


def test_memory_is_bounded_whoever_asks():
    population = Population(Counting(n=3), rate=1e-9)
    asked = population.agents[0]
    rng = random.Random(1)
    for _ in range(200):
        population.enter(1)
        for _ in range(20):
            population.agents[1].ask(0)
            population.clock.run(seconds=0.00015 if rng.random() < 0.5 else 0.01)
    assert len(asked._offers) <= asked.wire.most_senders
    assert max(map(len, asked._offers.values())) <= agents.OFFERS_PER_LIFE


def test_a_flood_of_requests_is_cut():
    population = Population(Counting(n=2), rate=1e-9)
    flooder, asked = population.agents.values()
    for _ in range(agents.REQUESTS_PER_SECOND + 500):
        asked.receive(flooder.wire.seal(agents.REQUEST, rng_bytes()), 0)
    assert asked.counters["flood"] == 500
    assert asked.state == 0


def rng_bytes(rng=random.Random(3)):  # noqa: B008 - one generator for all
    return rng.randbytes(8)
