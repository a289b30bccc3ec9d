"""Scaling laws: where measured means lie between a claimed law and a rival."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Law:
    """A growth law such as `Law("n log n", lambda n: n * np.log2(n))`."""

    name: str
    of: Callable[..., Any]


LOG = Law("log n", np.log2)
LOG_SQUARED = Law("log² n", lambda n: np.log2(n) ** 2)
LINEAR = Law("n", lambda n: n)
N_LOG = Law("n log n", lambda n: n * np.log2(n))
N_LOG_SQUARED = Law("n log² n", lambda n: n * np.log2(n) ** 2)
SQUARE = Law("n²", lambda n: n**2)
CUBE = Law("n³", lambda n: n**3)


@dataclass(frozen=True)
class Slope:
    """A slope with its standard error, and Welch's degrees of freedom."""

    estimate: float
    error: float
    freedom: float

    def interval(self, confidence: float) -> tuple[float, float]:
        from scipy.special import stdtrit  # imported here: it takes long to load

        half = float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error if self.error else 0.0
        return self.estimate - half, self.estimate + half

    def p_at_most(self, value: float) -> float:
        """The probability of a slope this large or larger if the true one is at most `value`."""
        if not self.error:
            return 0.0 if self.estimate > value else 1.0
        return self._distribution(value - self.estimate)

    def p_at_least(self, value: float) -> float:
        """The probability of a slope this small or smaller if the true one is at least `value`."""
        if not self.error:
            return 0.0 if self.estimate < value else 1.0
        return self._distribution(self.estimate - value)

    def _distribution(self, distance: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self.freedom, distance / self.error))


@dataclass(frozen=True)
class Place:
    """`share` is 0 if the means follow the claimed law, 1 if the rival, 1/2 if halfway between them."""

    slope: Slope
    constant: float  # mean of value / claimed law over the sizes (geometric)
    spread: float  # largest over smallest value / claimed law
    rival_spread: float

    @property
    def share(self) -> float:
        return self.slope.estimate


def fit(x: Any, samples: Sequence[np.ndarray]) -> Slope:
    """Least-squares slope of log(mean) on x, with an error from the scatter of the trials.

    The slope is a fixed linear combination of the log means; each log mean has the relative standard error
    of its mean, and Welch's degrees of freedom go with the sum. Lack of fit is not part of the error: the
    slope describes the means over these sizes, not beyond them.
    """
    x = np.asarray(x, float)
    means = np.array([np.mean(values) for values in samples])
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    errors = np.array([_relative_error(values) for values in samples])
    parts = (weights * errors) ** 2
    variance = float(parts.sum())
    sizes = np.array([max(len(values) - 1, 1) for values in samples])
    freedom = variance**2 / float((parts**2 / sizes).sum()) if variance else math.inf
    return Slope(float(weights @ np.log(means)), math.sqrt(variance), freedom)


def between(sizes: Any, samples: Sequence[np.ndarray], law: Law, rival: Law) -> Place:
    """Fit mean = c * law^(1-s) * rival^s over the sizes and locate s."""
    sizes = np.asarray(sizes, float)
    claimed, rival_values = law.of(sizes), rival.of(sizes)
    scaled = [np.asarray(values, float) / claimed[k] for k, values in enumerate(samples)]
    ratios = np.array([values.mean() for values in scaled])
    rivals = ratios * claimed / rival_values
    return Place(
        fit(np.log(rival_values / claimed), scaled),
        constant=float(np.exp(np.log(ratios).mean())),
        spread=float(ratios.max() / ratios.min()),
        rival_spread=float(rivals.max() / rivals.min()),
    )


def exponent(sizes: Any, samples: Sequence[np.ndarray]) -> Slope:
    """The power of the size that the means follow over this range."""
    return fit(np.log(np.asarray(sizes, float)), samples)


def _relative_error(values: np.ndarray) -> float:
    values = np.asarray(values, float)
    if len(values) < 2:
        return 0.0
    return float(values.std(ddof=1) / math.sqrt(len(values)) / values.mean())
