"""How much work to do between two readings of the clock: an interrupt takes effect at once, whatever the size."""

import time

SLICE = 0.1  # seconds of compiled work between two readings


class Pace:
    """Adapts an amount of work to the time it took; what a run computes never depends on it."""

    def __init__(self, first: int):
        self.amount = first
        self._begin = 0.0

    def start(self) -> None:
        self._begin = time.perf_counter()

    def done(self, work: int) -> None:
        """Adapt the amount: this work was done since `start`."""
        seconds = time.perf_counter() - self._begin
        if seconds > SLICE:
            self.amount = max(1, int(work * SLICE / seconds))
        elif 2 * work > self.amount and seconds < SLICE / 4:
            self.amount *= 2


class Deadline:
    """Whether a loop in Python has used its slice of time."""

    def __init__(self) -> None:
        self._end = time.perf_counter() + SLICE

    @property
    def is_over(self) -> bool:
        return time.perf_counter() > self._end
