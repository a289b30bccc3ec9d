"""How many steps a trajectory makes between two readings of the clock, where it must be back by a deadline."""

import math
import time
from collections.abc import Callable

from hegemon.engines.engine import Engine

LONGEST = 1.0  # seconds: no slice is longer
FIRST = 1000  # the first slice is this part of a unit of parallel time
FIRST_OF_COUNTS = 100  # for engines of counts: slow epochs return early by themselves


class Slices:
    def __init__(self, n: int, engine: Engine):
        self._engine = engine
        self._size = max(1024, n // (FIRST_OF_COUNTS if getattr(engine, "as_multiset", False) else FIRST))
        self._least = math.inf

    def advance(self, goal: int, deadline: float, move: Callable[[int], None]) -> None:
        """Make the steps of a slice: of a fifth of the time to the deadline, and of at most a tenth of a second; of
        more where every call costs the engine the same."""
        begin, before = self._engine.step, time.monotonic()
        move(min(goal, begin + self._size))
        if self._engine.step - begin < self._size:  # the goal was reached, or the engine's time slice is over
            return
        spent = time.monotonic() - before
        self._least = min(self._least, spent)
        fair = max(min(0.1, max(0.001, (deadline - before) / 5)), min(LONGEST, 3 * self._least))
        if spent > 4 * fair:
            self._size = max(1, self._size // 2)
        elif spent < fair:
            self._size *= 2
