"""Confidence sequences: intervals that stay valid under repeated inspection and any stopping rule.

An interval of `statistics` is valid for a number of trials fixed beforehand. If one inspects it repeatedly and
stops when it is narrow, it is wrong more often than stated. A confidence sequence covers the truth at all numbers
of trials at once, with the stated probability, so any rule may stop it. Three are offered:

`proportion` and `quantile` are exact, for any law. Their likelihood ratio against a mixture of all proportions
(uniform: Robbins, Annals of Mathematical Statistics 1970) is a martingale, which by Ville's inequality ever
exceeds 1/alpha with probability at most alpha. A quantile's order statistics follow from the proportion at its
level (Howard, Ramdas, Bernoulli 2022); ties only make it wider, and a censored trial may be given as
infinity.

`mean` is asymptotic: it assumes independent trials of one law with a finite variance, and enough of them at the
first inspection for their mean to be close to normal (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, Annals of
Statistics 2024). For values that are never negative it uses the logarithm of the mean, so it never goes
below zero. No method covers the mean of every unbounded law.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hegemon.analysis.statistics import sample_quantile
from hegemon.errors import InvalidInput

CONFIDENCE = 0.95
FIRST, FACTOR = 32, 1.5  # the first inspection of the data, and the factor between two
FEWEST = 16  # trials at the first inspection of a mean: with fewer, it is not close to normal

Interval = tuple[float, float]


@dataclass(frozen=True)
class SequentialInterval:
    """The estimate from `trials` trials, and an interval that is valid at this inspection and all others."""

    trials: int
    estimate: float
    low: float
    high: float

    @property
    def relative(self) -> float:
        """Half the interval's width as a share of the estimate."""
        if self.low == self.high:
            return 0.0
        half = (self.high - self.low) / 2
        return half / abs(self.estimate) if math.isfinite(half) and self.estimate else math.inf


def looks(first: int = FIRST, factor: float = FACTOR) -> Iterator[int]:
    """The fixed numbers of trials at which a sequence is inspected: `first`, and then larger by `factor` each time."""
    if first < 2 or factor <= 1:
        raise InvalidInput(
            f"looks from {first} by {factor} do not grow; give a first look of at least 2 and a factor above 1"
        )
    number = first
    while True:
        yield number
        number = max(number + 1, math.ceil(number * factor))


def look_points(trials: int, first: int = FIRST, factor: float = FACTOR) -> list[int]:
    """The inspections that this many trials reach."""
    points: list[int] = []
    for number in looks(first, factor):
        if number > trials:
            return points
        points.append(number)
    return points


def mean(values: np.ndarray, points: Sequence[int], confidence: float = CONFIDENCE) -> list[SequentialInterval]:
    """The mean at every inspection, of values in the order of the trials; tightest at the first inspection."""
    values = _values(values, points, "mean", FEWEST)
    intervals = []
    for trials in points:
        seen = values[:trials]
        centre = float(seen.mean())
        half = _width(trials, points[0], 1 - confidence) * float(seen.std(ddof=1))
        if half == 0:
            intervals.append(SequentialInterval(trials, centre, centre, centre))
        elif seen.min() >= 0:
            intervals.append(
                SequentialInterval(trials, centre, centre * math.exp(-half / centre), centre * math.exp(half / centre))
            )
        else:
            intervals.append(SequentialInterval(trials, centre, centre - half, centre + half))
    return intervals


def mean_p_value(values: np.ndarray, claimed: float, first: int) -> float:
    """A p-value of these values for the mean `claimed`, valid for any stopping rule from the inspection `first` on.

    One over the mixture's likelihood ratio: `claimed` is at an end of the interval of `mean` when this is alpha.
    """
    values = _values(values, [len(values)], "mean", FEWEST)
    centre, deviation = float(values.mean()), float(values.std(ddof=1))
    if deviation == 0:
        return 1.0 if math.isclose(centre, claimed, rel_tol=1e-12) else 0.0
    if values.min() >= 0:
        if claimed <= 0:
            return 0.0
        distance = math.log(centre / claimed) * centre / deviation
    else:
        distance = (centre - claimed) / deviation
    trials, rate = len(values), _rate(first, 1 - CONFIDENCE)
    growth = trials * rate
    exponent = (trials * distance) ** 2 * rate / (2 * (growth + 1)) - math.log(growth + 1) / 2
    return math.exp(-max(exponent, 0.0))


def proportion(
    successes: np.ndarray, points: Sequence[int], confidence: float = CONFIDENCE
) -> list[SequentialInterval]:
    """The share of successes (true or false, in the order of the trials) at every inspection."""
    values = _values(successes, points, "proportion")
    if not np.isin(values, (0, 1)).all():
        raise InvalidInput("a proportion is of successes and failures; give true or false, or 1 or 0, for every trial")
    intervals = []
    for trials in points:
        good = int(values[:trials].sum())
        intervals.append(SequentialInterval(trials, good / trials, *proportion_interval(good, trials, confidence)))
    return intervals


def proportion_interval(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """All p for which the mixture's likelihood ratio is below 1/alpha."""
    if trials < 1:
        return 0.0, 1.0
    low = _lowest(successes, trials, 1 - confidence)
    high = 1 - _lowest(trials - successes, trials, 1 - confidence)
    return low, high


def _lowest(successes: int, trials: int, alpha: float) -> float:
    if successes == 0:
        return 0.0
    excess = _excess(successes, trials, alpha)
    outside, inside = math.log(1e-300), math.log(successes / trials)
    while inside - outside > 1e-12:  # bisection in logarithms: SciPy's function takes half a second to load
        middle = (outside + inside) / 2
        if excess(math.exp(middle)) > 0:
            outside = middle
        else:
            inside = middle
    return math.exp(outside)


def quantile(
    values: np.ndarray, level: float, points: Sequence[int], confidence: float = CONFIDENCE
) -> list[SequentialInterval]:
    """The least x with P(value <= x) >= level, at every inspection. A censored trial counts as infinite."""
    if not 0 < level < 1:
        raise InvalidInput(f"the quantile {level} is out of range; give a number between 0 and 1, such as 0.5")
    values = _values(values, points, "quantile", infinite=True)
    intervals = []
    for trials in points:
        seen = np.sort(values[:trials])
        fewest, most = quantile_counts(trials, level, confidence)
        low = seen[fewest - 1] if fewest else -math.inf
        high = seen[most] if most < trials else math.inf
        intervals.append(SequentialInterval(trials, float(sample_quantile(seen, level)), float(low), float(high)))
    return intervals


@lru_cache(maxsize=4096)
def quantile_counts(trials: int, level: float, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """The bounds of the number of values up to the quantile, valid at all numbers of trials at once."""
    alpha = 1 - confidence

    def allowed(count: int) -> bool:
        return _excess(count, trials, alpha)(level) < 0

    centre = min(trials, max(0, round(trials * level)))
    return _last(allowed, centre, 0), _last(allowed, centre, trials)


def _last(allowed: Callable[[int], bool], inside: int, end: int) -> int:
    """The count nearest to `end` that is still allowed: the allowed ones are an interval around `inside`."""
    if allowed(end):
        return end
    outside = end
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if allowed(middle) else (inside, middle)
    return inside


def _excess(successes: int, trials: int, alpha: float) -> Callable[[float], float]:
    """log of (mixture of all proportions / this proportion) - log(1/alpha): below 0 for those still possible."""
    failures = trials - successes
    from scipy.special import betaln, xlog1py, xlogy  # imported here: it takes long to load

    constant = betaln(successes + 1, failures + 1) + math.log(alpha)
    return lambda p: float(constant - xlogy(successes, p) - xlog1py(failures, -p))


def _rate(first: int, alpha: float) -> float:
    """The mixture's variance that is tightest at the first inspection."""
    return (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / first


def _width(trials: int, first: int, alpha: float) -> float:
    """Half the interval's width in standard deviations (Waudby-Smith et al., Theorem 2.2)."""
    growth = trials * _rate(first, alpha)
    return math.sqrt(2 * (growth + 1) / (trials * growth) * math.log(math.sqrt(growth + 1) / alpha))


def _values(
    values: np.ndarray, points: Sequence[int], what: str, fewest: int = 1, infinite: bool = False
) -> np.ndarray:
    values = np.asarray(values, float)
    if any(b <= a for a, b in zip(points, points[1:], strict=False)) or (points and points[0] < fewest):
        raise InvalidInput(
            f"a {what} is inspected after growing numbers of trials, at least {fewest}, and not {list(points)}"
        )
    if points and points[-1] > len(values):
        raise InvalidInput(f"the last inspection is after {points[-1]} trials, and there are only {len(values)}")
    if np.isnan(values).any() or (not infinite and np.isinf(values).any()):
        raise InvalidInput(f"a {what} is of numbers; a censored trial has none: ask for a quantile instead")
    return values
