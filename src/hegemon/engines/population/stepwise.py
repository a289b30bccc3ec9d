"""Engine `stepwise`: engine `agents`, one step at a time, for a scheduler that reads the states in plain Python."""

from typing import cast

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import next_below
from hegemon.engines.pacing import Deadline
from hegemon.engines.population.agents import Agents
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.process.schedulers.cyclic import Cyclic
from hegemon.process.schedulers.own import OwnScheduler
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.process.stopping import Stop


class Stepwise(Agents):
    """At every step the scheduler gets the step and the agents, and the pair that it returns is the only arc."""

    name = "stepwise"
    honours = ("one_pair",)

    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
        scheduler: Scheduler = UNIFORM,
    ):
        if scheduler.blind:
            raise InvalidInput(
                f"engine stepwise asks a function at every step, and {scheduler} is none; use engine agents"
            )
        self._own, self.topology = cast(OwnScheduler, scheduler), topology
        self._draw = specialize(draw_below, protocol.record_types)
        super().__init__(protocol, topology, configuration, stop, rng, scheduler=_OnePair())

    def advance(self, limit: int) -> bool:
        deadline = Deadline()
        while self.step < limit and not deadline.is_over:
            i, j = self._own.choose(self.step, self.configuration().agents, self._below, self.topology)
            self._arcs[:] = ((1, 0), (i, j))
            if super().advance(self.step + 1):
                return True
        return False

    def _below(self, bound: int) -> int:
        return int(self._draw(self.rng, bound))


def draw_below(rng, bound):  # type: ignore[no-untyped-def]
    return next_below(rng, bound)


class _OnePair(Cyclic):
    """The pair that the engine writes into its rows before every step."""

    def _rows(self, topology: Topology) -> np.ndarray:
        return np.zeros((1, 2), np.int64)
