"""How many steps a watched run makes between two readings of the clock."""

import math
import time

from hegemon.web.world import World

LONGEST = 1.0  # seconds: no chunk is longer
PARTS = {
    "bands": 100
}  # the first chunk is this part of a unit of parallel time; slow epochs of counts return early by themselves


class Chunks:
    def __init__(self, world: World):
        self._world = world
        n = world.protocol.n
        self._size = max(1024, n // PARTS.get(world.kind, 1000))
        self._least = math.inf

    def advance(self, goal: int, brief: float) -> None:
        """Make the steps that take about `brief` seconds; more where every call costs the engine the same."""
        begin, before = self._world.step, time.monotonic()
        self._world.advance(min(goal, begin + self._size))
        if self._world.step - begin < self._size:  # the goal was reached, or the engine's time slice is over
            return
        spent = time.monotonic() - before
        self._least = min(self._least, spent)
        fair = max(brief, min(LONGEST, 3 * self._least))
        if spent > 4 * fair:
            self._size = max(1, self._size // 2)
        elif spent < fair:
            self._size *= 2
