"""Engine `objects`: agents that are Python objects, one interaction after the other, in plain Python."""

import copy
from collections.abc import Callable
from typing import Any

from hegemon.compute.portraits import classes_of, portray, revive
from hegemon.compute.randomness import KERNEL, python_generator
from hegemon.engines.pacing import Deadline
from hegemon.graphs.topology import Topology
from hegemon.models.objects import ObjectProtocol
from hegemon.process.schedulers.uniform import UNIFORM


class Objects:
    """The population of an ObjectProtocol, with its own coins; a copy of every agent is a snapshot."""

    name = "objects"
    hopeless = ""
    is_silent = False
    horizon: int | None = None
    heartbeat: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self, protocol: ObjectProtocol, topology: Topology, agents: list[Any], seed: int, trial: int,
        met: Callable[[list[Any]], bool] | None = None,
    ):  # fmt: skip
        self.protocol, self.topology = protocol, topology
        self.agents, self.step, self.met = agents, 0, met
        self.rng = python_generator(seed, trial, KERNEL)

    def counts_hold(self) -> bool:
        """Whether the agents meet the stop."""
        return self.met is not None and self.met(self.agents)

    def advance(self, limit: int) -> bool:
        """Go towards a step, or exactly to the first that meets the stop; whether it is met. May return early."""
        protocol, agents, deadline = self.protocol, self.agents, Deadline()
        while self.step < limit and not deadline.is_over:
            i, j = UNIFORM.meet(self.topology, self.rng.randrange)
            coins = protocol.coins.draw(self.rng)
            protocol.interact(agents[i], agents[j], protocol.p, coins)
            self._last = i, j, coins
            self.step += 1
            if self.counts_hold():
                return True
        return False

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
