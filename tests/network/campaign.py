"""A campaign of random faults against a network in virtual time: does it always come back to one leader, and when?

A fault is a kill, a pause, a restart, a corruption, a partition, or a spell of loss, delay and reordering. When it
is over (the dead restarted, the partition healed, the spell past), the time runs until exactly one leader has
been seen for `settled` seconds without a break: that leader's beginning is the recovery.
"""

import random
from dataclasses import dataclass

from tests.network.population import Population
from tests.network.virtual import Conditions

KINDS = ("kill", "pause", "restart", "corrupt", "partition", "loss", "delay")
SPELL = Conditions(loss=0.2, duplication=0.1, delay=0.005, jitter=0.2)


@dataclass(frozen=True)
class Outcome:
    """One fault: how many it struck, and the seconds from its end to one leader (None: not within the limit)."""

    kind: str
    struck: int
    seconds: float | None


class Campaign:
    """`strike` once per fault; the network is the same throughout."""

    def __init__(
        self, population: Population, seed: int, *, lasts: float = 5.0, settled: float = 5.0, limit: float = 1e4
    ):
        self.population, self.rng = population, random.Random(seed)
        self.lasts, self.settled, self.limit = lasts, settled, limit

    def strike(self, kind: str | None = None) -> Outcome:
        kind = kind or self.rng.choice(KINDS)
        numbers = sorted(self.population.agents)
        struck = self.rng.sample(numbers, self.rng.randint(1, len(numbers)))
        getattr(self, f"_{kind}")(struck)
        return Outcome(kind, len(struck), self._recovery())

    def _pass(self) -> None:
        self.population.clock.run(seconds=self.lasts)

    def _kill(self, struck) -> None:
        """Gone for a while, and back in some state."""
        for number in struck:
            self.population.leave(number)
        self._pass()
        for number in struck:
            self.population.enter(number)

    def _restart(self, struck) -> None:
        for number in struck:
            self.population.leave(number)
            self.population.enter(number)

    def _pause(self, struck) -> None:
        """Deaf and still, with timers stopped, and then as before."""
        agents = self.population.agents
        for number in struck:
            agents[number].stop()
        self._cut(lambda a, b: b in struck)
        for number in struck:
            agents[number].start()

    def _corrupt(self, struck) -> None:
        for number in struck:
            code = self.rng.randrange(self.population.rules.size)
            self.population.agents[number].state = self.population.codes[number] = code

    def _partition(self, struck) -> None:
        self._cut(lambda a, b: (a in struck) != (b in struck))

    def _cut(self, separated) -> None:
        before, self.population.network.separated = self.population.network.separated, separated
        self._pass()
        self.population.network.separated = before

    def _loss(self, struck) -> None:
        before, self.population.network.conditions = self.population.network.conditions, SPELL
        self._pass()
        self.population.network.conditions = before

    _delay = _loss

    def _recovery(self) -> float | None:
        population, clock = self.population, self.population.clock
        began = clock.time()
        since: float | None = None

        def settled() -> bool:
            nonlocal since
            if population.leaders != 1:
                since = None
            elif since is None:
                since = clock.time()
            return since is not None and clock.time() - since >= self.settled

        return since - began if clock.run(settled, seconds=self.limit) and since is not None else None
