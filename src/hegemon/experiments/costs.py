"""The cost of cases of a study that were not run yet, estimated from those that were.

Cases that differ only in n are a family. A family's cost is modelled as a + b n^p, a constant plus a power of n,
through its three largest known sizes. Families without any known size are assumed to cost what the others do.
"""

import math
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from hegemon.experiments.case import Case

STEEPEST = 3.0  # the largest p
STEEPER = 0.7  # p exceeds the slope between the two largest sizes by at most this, since small times are noisy


class Costs:
    """Seconds of a trial by case; `known` are those that were measured."""

    def __init__(self, known: Iterable[tuple[Case, float]]):
        self._points: dict[tuple[Any, ...], dict[int, float]] = {}
        every: dict[int, list[float]] = {}
        for case, seconds in known:
            self._points.setdefault(case.family, {})[case.protocol.n] = seconds
            every.setdefault(case.protocol.n, []).append(seconds)
        self._usual = {n: fmean(found) for n, found in every.items()}

    def of(self, case: Case) -> float | None:
        """Seconds; None where nothing is known."""
        points = self._points.get(case.family, self._usual)
        return law(points, case.protocol.n) if points else None


def law(points: dict[int, float], n: int) -> float:
    """The cost at n, by a law through the known costs."""
    if n in points:
        return points[n]
    sizes = sorted(points)[-3:]
    least, top = sizes[0], sizes[-1]
    growth = points[top] / max(points[least], 1e-9)
    if len(sizes) == 1:
        return points[top] * n / top
    if growth <= 1:
        return points[top]
    if len(sizes) == 2:
        return points[top] * (n / top) ** min(math.log(growth) / math.log(top / least), STEEPEST)
    first, second, third = (points[size] for size in sizes)
    seen = math.log(third / second) / math.log(top / sizes[1]) if third > second else 0.0
    power = _power(sizes, (third - second) / max(second - first, 1e-9))
    power = min(max(power, seen), seen + STEEPER, STEEPEST)
    slope = (third - first) / (top**power - least**power)
    return max(third + slope * (n**power - top**power), first)


def _power(sizes: list[int], steepness: float) -> float:
    """The p for which n^p grows that many times as much between the last two sizes as between the first two."""
    low, high = 1e-3, STEEPEST
    first, second, third = (size / sizes[-1] for size in sizes)
    for _ in range(40):
        middle = (low + high) / 2
        grows = (third**middle - second**middle) / (second**middle - first**middle)
        low, high = (middle, high) if grows < steepness else (low, middle)
    return low
