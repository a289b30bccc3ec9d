"""A summary of the trials of a case so far, in four numbers, shown while a study runs."""

import math
from dataclasses import dataclass
from typing import Any

from hegemon.analysis.statistics import interval_of_moments
from hegemon.experiments.precision import TIMES
from hegemon.experiments.store.record_files import column


@dataclass
class Moments:
    """How many trials met their stop, the sum of their times and of the squares of these; how many were censored."""

    count: int = 0
    total: int = 0
    squares: int = 0
    cut_off: int = 0

    def add(self, other: "Moments") -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares
        self.cut_off += other.cut_off

    def interval(self) -> tuple[float, float, float] | None:
        """The mean and its interval; None while it is unknown."""
        if self.count < 2 or self.cut_off:
            return None
        scatter = (self.squares * self.count - self.total**2) / (self.count * (self.count - 1))  # integers: exact
        mean = self.total / self.count
        return mean, *interval_of_moments(self.count, mean, math.sqrt(scatter))


def moments_of(record: dict[str, Any]) -> Moments:
    """The moments of one record of trials."""
    name = next((name for name in TIMES if name in record["columns"]), None)
    if name is None:
        return Moments()
    times, reached = (column(record, one, 0, record["count"]) for one in (name, "reached"))
    known = [time for time, met in zip(times, reached, strict=True) if met]
    return Moments(len(known), sum(known), sum(time * time for time in known), len(times) - len(known))
