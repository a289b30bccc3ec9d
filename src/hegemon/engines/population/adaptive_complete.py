"""On the complete graph: `batch` where it costs less, `agents` while n is small or very many states are occupied.

As in `adaptive`, when to change is decided by the run alone. Costs are in nanoseconds per step as measured on one
machine; only their ratios matter.
"""

from typing import Any

import numpy as np

from hegemon.engines.batch.batch import MOST_COINS, Batch, activity
from hegemon.engines.batch.epoch import plan
from hegemon.engines.batch.skipping import EVENT, PER_STATE
from hegemon.engines.population.agents import LARGEST_POPULATION, Agents
from hegemon.engines.population.switching import Switching
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import LARGEST_ARRAY, Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop

CLEARLY = 0.8  # another engine must be this much cheaper to be worth a change
OVER_PLAN = 2.0  # what an interaction costs in whole runs of `batch`, over what its plan says of one epoch
FEW_STATES = 256  # up to this many the probability of a change is computed exactly
REVIEW = 16  # steps per agent between two reviews, at first; reviews become rarer with time
BRIEF = 1 << 22  # the least number of steps that `agents` makes: fewer are not worth a change of engine
SMALL = 1 << 16  # agents: up to here a run begins with `agents`


def cost_of_agents(n: int) -> float:
    """The cost of a step of engine `agents`: the more memory it uses, the slower that is."""
    return 9.0 * max(1.0, n / 1e6) ** 0.4


class AdaptiveComplete(Switching):
    as_multiset = True

    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
    ):
        self.protocol, self.stop = protocol, stop
        self._given = topology, stop, rng
        self._used: list[str] = []
        small = protocol.n <= SMALL
        self._use(Agents if small else self._best(*configuration.multiset), configuration, 0)

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return not stop.closed

    def _possible(self) -> bool:
        """Whether `agents` can hold the population."""
        n = self.protocol.n
        return n <= LARGEST_POPULATION and n * self.protocol.space.dtype.itemsize <= LARGEST_ARRAY

    def _best(self, codes: np.ndarray, counts: np.ndarray) -> type[Agents] | type[Batch]:
        """The engine for a population of these states."""
        n = self.protocol.n
        if self.stop.whole:  # it reads the state of every single agent
            return Agents
        if not self._possible():
            return Batch
        if self.protocol.coins.size > MOST_COINS:
            return Agents
        affordable = CLEARLY * cost_of_agents(n)
        cost = OVER_PLAN * plan.py_func(len(codes), n)[1]
        if cost > affordable and len(codes) <= FEW_STATES:
            cost = activity(self.protocol, self.stop, codes, counts) * (EVENT + PER_STATE * len(codes))
        return Batch if cost < affordable else Agents

    def _use(self, kind: type[Agents] | type[Batch], configuration: Configuration, step: int) -> None:
        """Use a new engine. One used before may hold an epoch that it has drawn ahead from the shared coins."""
        topology, stop, rng = self._given
        self._now = kind(self.protocol, topology, configuration, stop, rng)
        if step:
            self._now.load(configuration, step)
        if isinstance(self._now, Batch) and self._possible():
            self._now.affordable = cost_of_agents(self.protocol.n) / CLEARLY / OVER_PLAN
        self._postpone()
        self._note_use()

    def _turn_to(self, kind: str) -> None:
        if type(self._now).__name__ != kind:
            self._use(Agents if kind == Agents.__name__ else Batch, self.configuration(), self.step)

    def _postpone(self) -> None:
        self._review = self.step + max(BRIEF, REVIEW * self.protocol.n, self.step // 2)

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        self._now.load(configuration, step)

    def advance(self, limit: int) -> bool:
        """Go towards `limit`; may return early."""
        if isinstance(self._now, Batch):
            met = self._now.advance(limit)
            if self._now.gave_up:
                self._use(Agents, self.configuration(), self.step)
            return met
        if self._now.is_silent:
            return self._now.advance(limit)
        if self.step >= self._review:
            if self._best(*self._now.occupancy()) is Batch:
                self._use(Batch, self.configuration(), self.step)
                return False
            self._postpone()
        return self._now.advance(min(limit, self._review))

    def advance_counting(self, limit: int, every: int, rows: int) -> tuple[bool, np.ndarray, np.ndarray] | None:
        if not isinstance(self._now, Agents) or self.step >= self._review:
            return None
        return self._now.advance_counting(min(limit, self._review), every, rows)


class AdaptiveSmall(AdaptiveComplete):
    """The same for few agents, starting as `agents` does: most runs end before another engine is considered."""

    as_multiset = False

    @classmethod
    def begins_with_codes(cls, protocol: Any) -> bool:
        return protocol.n <= SMALL and Agents.begins_with_codes(protocol)
