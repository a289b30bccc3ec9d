"""A whole network in one process: many agents over virtual ports or real sockets, with an observer that sees all.

What members cannot see, tests and measurements need: the configuration of all agents after each interaction, in the
order in which the responders made them.
"""

import random
from collections import Counter
from functools import lru_cache

from hegemon.network.agent import Agent
from hegemon.network.keys import Keys
from hegemon.network.rules import InteractionRules, neighbours_of
from hegemon.network.wire import Wire, fingerprint_of
from tests.network.virtual import Clock, Conditions, Network


class Population:
    """Agents 0..n-1 in virtual time, from one seed. `codes` holds what each state is once every exchange is over."""

    def __init__(
        self,
        protocol,
        *,
        seed: int = 0,
        topology=None,
        start=None,
        rate: float = 1.0,
        conditions: Conditions | None = None,
        patience: float = 1.0,
        keys: Keys | None = None,
    ):
        self.protocol, self.rules = protocol, InteractionRules(protocol)
        self._state = lru_cache(1 << 16)(protocol.space.namespace)
        self.rng = random.Random(seed)
        self.clock = Clock()
        self.network = Network(self.clock, random.Random(self.rng.getrandbits(64)), conditions)
        self.rate, self.patience, self.start = rate, patience, start
        self.keys = keys or Keys((self.rng.randbytes(32),))
        self.fingerprint = fingerprint_of(protocol)
        self.neighbours = neighbours_of(protocol.n, topology)
        self.codes = self._first_codes()
        self.agents: dict[int, Agent] = {}
        self.leading: set[int] = set()
        self.counters: Counter[str] = Counter()  # of agents that are gone
        self.steps = self.one_sided = 0
        self.pairs: list[tuple[int, int]] | None = None  # set it to [] to keep every pair
        self._half_done: dict[int, int] = {}  # initiators whose responder has changed: the step at which it did
        self._first = list(self.codes)
        self._changes: list[tuple[int, int, int, int]] = []  # what every step changed, for `first_step_in`
        for number, code in enumerate(self.codes):
            self.enter(number, code)

    def enter(self, number: int, code: int | None = None) -> Agent:
        """Agent `number` starts, or starts again, with the given state or that of its own start."""
        rng = random.Random(self.rng.getrandbits(64))
        mean = sum(map(len, self.neighbours)) / len(self.neighbours)
        wire = Wire(self.keys, self.fingerprint, most_senders=4 * self.protocol.n + 64, random=rng.randbytes)
        agent = Agent(
            self.rules,
            wire,
            self.network.port(number),
            self.clock,
            state=self.rules.start(self.start, rng) if code is None else code,
            peers=self.neighbours[number],
            rate=self.rate * max(1, len(self.neighbours[number])) / mean,
            patience=self.patience,
            rng=rng,
            random_bytes=rng.randbytes,
            wall=self.clock.time,
            tell=lambda event: (self.leading.add if event.kind == "elected" else self.leading.discard)(number),
        )
        agent.ended = lambda is_complete: self._ended(number, is_complete)
        agent.met = lambda peer, theirs, own: self._met(peer, number, theirs, own)
        self.network.receivers[number] = agent.receive
        self.agents[number] = agent
        self.codes[number] = agent.state
        agent.start()
        return agent

    def leave(self, number: int) -> None:
        """Agent `number` is gone without a word."""
        self.network.receivers.pop(number, None)
        agent = self.agents.pop(number)
        agent.stop()
        self.leading.discard(number)
        self.counters += agent.counters

    def _met(self, initiator: int, responder: int, theirs: int, own: int) -> None:
        self._half_done[initiator] = self.steps
        self._changes.append((initiator, responder, theirs, own))
        self.steps += 1
        self.codes[initiator], self.codes[responder] = theirs, own
        if self.pairs is not None:
            self.pairs.append((initiator, responder))

    def _ended(self, number: int, is_complete: bool) -> None:
        """Agent `number` got its ANSWER or gave up: if the responder had changed, the interaction was one-sided."""
        step = self._half_done.pop(number, None)
        if step is not None and not is_complete:
            self.one_sided += 1
            self.codes[number] = self.agents[number].state
            _, responder, _, own = self._changes[step]
            self._changes[step] = (responder, responder, own, own)

    @property
    def leaders(self) -> int:
        return len(self.leading)

    @property
    def totals(self) -> Counter:
        """The counters of all agents, those that are gone included."""
        return sum((agent.counters for agent in self.agents.values()), Counter(self.counters))

    def configuration(self) -> list:
        """The states of all agents, to be read only."""
        return [self._state(code) for code in self.codes]

    def is_in(self, chosen) -> bool:
        """Whether the configuration that the interactions made so far is in a set."""
        return chosen.contains(self.configuration(), self.protocol.p, self.protocol.values)

    def steps_to(self, chosen, limit: int) -> int | None:
        """The number of interactions to a set of configurations, or None when it takes more than `limit`."""
        last = -1

        def arrived() -> bool:
            nonlocal last
            if self.steps == last and not self.network.conditions.loss:
                return False
            last = self.steps
            return last >= limit or (not (self.network.conditions.loss and self._half_done) and self.is_in(chosen))

        if self.is_in(chosen):
            return 0
        self.clock.run(arrived)
        if not self.is_in(chosen):
            return None
        return self._first_step_in(chosen) if self.network.conditions.loss else self.steps

    def _first_step_in(self, chosen) -> int:
        """The same once it is known which interactions were one-sided: they are gone through again."""
        codes, last = list(self._first), self.codes
        try:
            self.codes = codes
            for step, (initiator, responder, theirs, own) in enumerate(self._changes, start=1):
                codes[initiator], codes[responder] = theirs, own
                if self.is_in(chosen):
                    return step
        finally:
            self.codes = last
        return self.steps

    def _first_codes(self) -> list[int]:
        import numpy as np

        name = self.start or self.protocol.default_start
        configuration = self.protocol.initial(name, np.random.default_rng(self.rng.getrandbits(64)))
        return [int(code) for code in self.protocol.space.encode_array(configuration.agents)]
