"""How many steps a watched run makes between two looks at the clock."""

import math
import time

from hegemon.web.world import World

LONGEST = 1.0  # seconds of a chunk at most


class Chunks:
    def __init__(self, world: World):
        self._world = world
        self._size, self._least = max(1024, world.protocol.n // 1000), math.inf

    def advance(self, goal: int, brief: float) -> None:
        """So many steps that they take about `brief` seconds; more, where every call costs the engine as much."""
        begin, before = self._world.step, time.monotonic()
        self._world.advance(min(goal, begin + self._size))
        spent = time.monotonic() - before
        self._least = min(self._least, spent)
        fair = max(brief, min(LONGEST, 3 * self._least))
        if spent > 4 * fair:
            self._size = max(1, self._size // 2)
        elif spent < fair and self._world.step - begin >= self._size:
            self._size *= 2
