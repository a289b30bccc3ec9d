"""Scaling laws: where measured means lie between a claimed law and a rival."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Law:
    """A growth law such as `Law("n log n", lambda n: n * np.log2(n))`."""

    name: str
    of: Callable


LOG = Law("log n", np.log2)
LOG_SQUARED = Law("log² n", lambda n: np.log2(n) ** 2)
LINEAR = Law("n", lambda n: n)
N_LOG = Law("n log n", lambda n: n * np.log2(n))
N_LOG_SQUARED = Law("n log² n", lambda n: n * np.log2(n) ** 2)
SQUARE = Law("n²", lambda n: n**2)
CUBE = Law("n³", lambda n: n**3)


@dataclass(frozen=True)
class Place:
    """`share` is 0 if the means follow the claimed law, 1 if the rival, 1/2 if halfway between them."""

    share: float
    low: float
    high: float
    constant: float  # mean of value / claimed law over the sizes (geometric)
    spread: float  # largest over smallest value / claimed law
    rival_spread: float


def slope(x, samples, confidence: float) -> tuple[float, float, float]:
    """Least-squares slope of log(mean) on x, with an interval from the scatter of the trials.

    The slope is a fixed linear combination of the log means; each log mean has the relative standard error
    of its mean, and Welch's degrees of freedom go with the sum. Lack of fit is not part of the interval:
    the slope is what the means do over these sizes, not what they do beyond.
    """
    x = np.asarray(x, float)
    means = np.array([np.mean(values) for values in samples])
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    estimate = float(weights @ np.log(means))
    errors = np.array([_relative_error(values) for values in samples])
    parts = (weights * errors) ** 2
    variance = float(parts.sum())
    if variance == 0:
        return estimate, estimate, estimate
    sizes = np.array([max(len(values) - 1, 1) for values in samples])
    freedom = variance**2 / float((parts**2 / sizes).sum())
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(variance)
    return estimate, estimate - half, estimate + half


def between(sizes, samples, law: Law, rival: Law, confidence: float) -> Place:
    """Fit mean = c * law^(1-s) * rival^s over the sizes and locate s."""
    sizes = np.asarray(sizes, float)
    claimed, other = law.of(sizes), rival.of(sizes)
    scaled = [np.asarray(values, float) / claimed[k] for k, values in enumerate(samples)]
    share, low, high = slope(np.log(other / claimed), scaled, confidence)
    ratios = np.array([values.mean() for values in scaled])
    rivals = ratios * claimed / other
    return Place(
        share,
        low,
        high,
        constant=float(np.exp(np.log(ratios).mean())),
        spread=float(ratios.max() / ratios.min()),
        rival_spread=float(rivals.max() / rivals.min()),
    )


def exponent(sizes, samples, confidence: float) -> tuple[float, float, float]:
    """The power of the size that the means follow over this range, with its interval."""
    return slope(np.log(np.asarray(sizes, float)), samples, confidence)


def _relative_error(values) -> float:
    values = np.asarray(values, float)
    if len(values) < 2:
        return 0.0
    return float(values.std(ddof=1) / math.sqrt(len(values)) / values.mean())
