"""Engine `objects`: agents that are Python objects, one interaction after the other, in plain Python."""

import copy

from hegemon.compute.randomness import KERNEL, coins


class Objects:
    """The population of an ObjectProtocol, with its own coins; a copy of every agent is a snapshot."""

    name = "objects"

    def __init__(self, protocol, topology, agents: list, seed: int, trial: int):
        self.protocol, self.topology = protocol, topology
        self.agents, self.step = agents, 0
        self.rng = coins(seed, trial, KERNEL)

    def advance(self, limit: int) -> None:
        """Run to a step."""
        protocol, agents, rng = self.protocol, self.agents, self.rng
        for _ in range(limit - self.step):
            i, j = self._pair(rng)
            protocol.interact(agents[i], agents[j], protocol.p, protocol.draw_coins(rng))
        self.step = limit

    def _pair(self, rng) -> tuple[int, int]:
        if self.topology.is_complete:
            i, j = rng.randrange(self.protocol.n), rng.randrange(self.protocol.n - 1)
            return i, j + (j >= i)
        arc = rng.randrange(self.topology.arcs)
        return int(self.topology.sources[arc]), int(self.topology.targets[arc])

    def snapshot(self) -> tuple:
        return self.step, [copy.copy(a) for a in self.agents], self.rng.getstate()

    def restore(self, snapshot: tuple) -> None:
        self.step, agents, state = snapshot
        self.agents = [copy.copy(a) for a in agents]
        self.rng.setstate(state)
