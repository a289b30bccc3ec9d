"""On sparse graphs: `agents` while many arcs are active, `events` while few are, whichever costs less.

When to change is decided by the run alone (its steps and its active arcs), never by how often it is observed,
so that recording or interrupting a run does not change it.
"""

import numpy as np

from hegemon.engines.population.agents import Agents
from hegemon.engines.population.events import Events
from hegemon.engines.population.switching import Switching
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop

SPARSE = 1 / 12  # an event costs about as much as 1 / SPARSE steps of `agents`
DENSE = 1 / 4
REVIEW = 8  # steps per arc between two counts of the active arcs, at first; the counts become rarer with time


class Adaptive(Switching):
    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
    ):
        self.stop, self._arcs = stop, topology.arcs
        self._events = Events(protocol, topology, configuration, stop, rng, dense=int(DENSE * topology.arcs))
        self._agents = Agents(protocol, topology, configuration, stop, rng)
        self._now = self._events
        self._used = []
        self._settle(configuration, 0)

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return not stop.closed

    def _settle(self, configuration: Configuration, step: int) -> None:
        """Use `events` if few arcs are active in this configuration, `agents` until the next review if not."""
        self._events.load(configuration, step)
        if self._events.active_share < SPARSE:
            self._now = self._events
        else:
            self._agents.load(configuration, step)
            self._now = self._agents
            self._review = step + max(REVIEW * self._arcs, step // 4)
        self._note_use()

    def _turn_to(self, kind: str) -> None:
        self._now = self._agents if kind == Agents.__name__ else self._events

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        self._settle(configuration, self.step if step is None else step)

    def advance(self, limit: int) -> bool:
        """Go towards `limit`; may return early."""
        if self._now.is_silent:
            return self._now.advance(limit)
        if self._now is self._agents:
            met = self._agents.advance(min(limit, self._review))
            if not met and self._agents.step == self._review:
                self._settle(self._agents.configuration(), self.step)
            return met
        met = self._events.advance(limit)
        if not met and self._events.active_share > DENSE:
            self._settle(self._events.configuration(), self.step)
        return met
