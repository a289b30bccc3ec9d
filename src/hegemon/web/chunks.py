"""How many steps a watched run makes between two looks at the clock."""

import math
import time

from hegemon.web.world import World

LONGEST = 1.0  # seconds of a chunk at most
PARTS = {
    "bands": 100
}  # of a unit of parallel time, first: counts come back by themselves between two epochs, if that takes long


class Chunks:
    def __init__(self, world: World):
        self._world = world
        n = world.protocol.n
        self._size = max(1024, n // PARTS.get(world.kind, 1000))
        self._least = math.inf

    def advance(self, goal: int, brief: float) -> None:
        """As many steps as take about `brief` seconds; more, where every call costs the engine as much."""
        begin, before = self._world.step, time.monotonic()
        self._world.advance(min(goal, begin + self._size))
        if self._world.step - begin < self._size:  # the goal, or the engine has had its slice of time
            return
        spent = time.monotonic() - before
        self._least = min(self._least, spent)
        fair = max(brief, min(LONGEST, 3 * self._least))
        if spent > 4 * fair:
            self._size = max(1, self._size // 2)
        elif spent < fair:
            self._size *= 2
