"""Anything may arrive: mutated datagrams, half of them sealed with the right key, crash nothing and change no state
but by an interaction that the definition allows."""

import os
import random
from collections import Counter

import pytest

from hegemon.network import agent as agents
from hegemon.network.keys import Keys
from hegemon.network.wire import DATAGRAM_BYTES, Wire
from hegemon.protocols import Timer
from tests.network.population import Population
from tests.network.virtual import Conditions

PROTOCOL = Timer(n=6, s=12)


class Attack:
    """Listens to a running network and throws what it heard back at it, changed; it even has the key."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.population = Population(PROTOCOL, seed=seed, rate=1.0, conditions=Conditions(jitter=0.01))
        self.heard: list[bytes] = []
        self.insider = Wire(self.population.keys, self.population.fingerprint, random=self.rng.randbytes)
        self.stranger = Wire(Keys((self.rng.randbytes(32),)), self.population.fingerprint, random=self.rng.randbytes)
        self.population.network.tap = self.listen
        for agent in self.population.agents.values():
            agent.met = agent.ended = None  # the insider is nobody whom the population knows
        self.legal = True

    def listen(self, datagram, source, target):
        if len(self.heard) > 200:
            self.heard[self.rng.randrange(200)] = datagram
        else:
            self.heard.append(datagram)

    def outsider(self) -> bytes:
        """Without the key: replay, cut, extend, flip, splice, forge, or noise."""
        rng = self.rng
        datagram = bytearray(rng.choice(self.heard))
        match rng.randrange(7):
            case 0:
                return bytes(datagram)
            case 1:
                return bytes(datagram[: rng.randrange(len(datagram))])
            case 2:
                return bytes(datagram) + rng.randbytes(rng.randrange(1, 2000))
            case 3:
                for _ in range(rng.randrange(1, 9)):
                    datagram[rng.randrange(len(datagram))] ^= 1 << rng.randrange(8)
                return bytes(datagram)
            case 4:
                cut = rng.randrange(len(datagram))
                return bytes(datagram[:cut]) + rng.choice(self.heard)[cut:]
            case 5:
                return self.stranger.seal(rng.randrange(256), rng.randbytes(8))
            case _:
                return rng.randbytes(rng.choice((0, 1, DATAGRAM_BYTES, rng.randrange(3000))))

    def sealed(self, agent) -> bytes:
        """With the key: any kind, true or false exchange and nonce, any state, any fencing number."""
        rng = self.rng
        pending, offers = agent.pending, [(e, o) for life in agent._offers.values() for e, o in life.items()]
        exchange, nonce = rng.randbytes(8), rng.choice((bytes(16), rng.randbytes(16)))
        if pending and rng.random() < 0.4:
            exchange, nonce = pending[0].exchange, rng.choice((nonce, pending[0].nonce))
        elif offers and rng.random() < 0.4:
            exchange, offer = rng.choice(offers)
            nonce = rng.choice((nonce, offer.nonce))
        kind = rng.choice((0, 1, 2, 3, 4, rng.randrange(256)))
        state = rng.choice((0, PROTOCOL.states - 1, PROTOCOL.states, 2**64 - 1, rng.randrange(2**64)))
        return self.insider.seal(kind, exchange, nonce, state, rng.randrange(2**64))

    def throw(self) -> None:
        number = self.rng.randrange(PROTOCOL.n)
        agent = self.population.agents[number]
        before, counters, expects = agent.state, Counter(agent.counters), agent._promised
        is_sealed = self.rng.random() < 0.5 or not self.heard
        datagram = self.sealed(agent) if is_sealed else self.outsider()
        agent.receive(datagram, self.rng.choice((0, 1, 2, "elsewhere")))
        made = agent.counters["responded"] - counters["responded"]
        taken = agent.counters["completed"] - counters["completed"]
        allowed = made + taken <= 1 and (not taken or expects is not None)
        if agent.state != before:
            allowed = allowed and made + taken == 1
        self.legal = self.legal and allowed and 0 <= agent.state < PROTOCOL.states
        self.legal = self.legal and len(agent._offers) <= agent.wire.most_senders

    def run(self, datagrams: int) -> None:
        for count in range(datagrams):
            self.throw()
            if count % 5 == 0:
                self.population.clock.run(seconds=0.05)


def test_a_few_thousand_mutated_datagrams():
    attack = Attack(1)
    attack.population.clock.run(seconds=5)
    attack.run(4000)
    assert attack.legal
    totals = attack.population.totals
    for reason in ("malformed", "other_key", "forged", "replayed", "reflected", "stale", "invalid", "other_version"):
        assert totals[reason] > 0, reason
    attack.population.network.tap = None
    attack.population.clock.run(until=lambda: attack.population.leaders == 1, seconds=10**5)
    assert attack.population.leaders == 1  # and the network goes on


def test_a_receiver_that_believes_everything_is_caught(monkeypatch):
    """The broken twin accepts any ANSWER as the one that it waits for."""

    def gullible(agent, letter, address):
        agent.state = letter.state % PROTOCOL.states

    monkeypatch.setattr(agents, "_ACTIONS", (*agents._ACTIONS[:3], gullible, *agents._ACTIONS[4:]))
    attack = Attack(1)
    attack.population.clock.run(seconds=5)
    attack.run(500)
    assert not attack.legal


@pytest.mark.full
def test_a_million_mutated_datagrams():
    datagrams = int(os.environ.get("HEGEMON_DATAGRAMS", "1000000"))
    for seed in range(10):
        attack = Attack(100 + seed)
        attack.population.clock.run(seconds=5)
        attack.run(datagrams // 10)
        assert attack.legal
