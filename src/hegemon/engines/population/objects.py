"""Engine `objects`: agents that are Python objects, one interaction after the other, in plain Python."""

import copy
from typing import Any

from hegemon.compute.portraits import classes_of, portray, revive
from hegemon.compute.randomness import KERNEL, python_generator
from hegemon.engines.schedulers.uniform import UNIFORM
from hegemon.graphs.topology import Topology
from hegemon.models.objects import ObjectProtocol


class Objects:
    """The population of an ObjectProtocol, with its own coins; a copy of every agent is a snapshot."""

    name = "objects"

    def __init__(self, protocol: ObjectProtocol, topology: Topology, agents: list[Any], seed: int, trial: int):
        self.protocol, self.topology = protocol, topology
        self.agents, self.step = agents, 0
        self.rng = python_generator(seed, trial, KERNEL)

    def advance(self, limit: int) -> None:
        """Run to a step."""
        protocol, agents = self.protocol, self.agents
        for _ in range(limit - self.step):
            i, j = UNIFORM.meet(self.topology, self.rng.randrange)
            coins = protocol.coins.draw(self.rng)
            protocol.interact(agents[i], agents[j], protocol.p, coins)
            self._last = i, j, coins
        self.step = limit

    def last_meeting(self) -> tuple[int, int, Any]:
        """Who met in the last step, initiator and responder, and their coins."""
        return self._last

    def freeze(self) -> tuple[Any, ...]:
        """All that is needed to go on in another process, as plain values."""
        return self.step, portray([self.agents, self.rng.getstate()], classes_of(self.protocol.interact))

    def thaw(self, frozen: tuple[Any, ...]) -> None:
        self.step, text = frozen
        self.agents, state = revive(text, classes_of(self.protocol.interact))
        self.rng.setstate(state)

    def snapshot(self) -> tuple[Any, ...]:
        return self.step, [copy.copy(a) for a in self.agents], self.rng.getstate()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        self.step, agents, state = snapshot
        self.agents = [copy.copy(a) for a in agents]
        self.rng.setstate(state)
