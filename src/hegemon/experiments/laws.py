"""Which law the means of a study follow as n grows, and whether it fits.

A law fits if the means divided by it neither grow nor shrink with n, within the error of the trials: they change like
n^e, and the 99.9 % interval of e contains 0, so that a law that holds is rejected once in a thousand times. The nearest
law is the one by which the means, divided, vary least.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.analysis.scaling import (
    CUBE,
    LINEAR,
    LOG,
    LOG_SQUARED,
    N_LOG,
    N_LOG_SQUARED,
    SQUARE,
    Law,
    between,
    exponent,
)
from hegemon.analysis.statistics import CONFIDENCE
from hegemon.errors import InvalidInput, shown
from hegemon.experiments.axes import split
from hegemon.models.expressions import parse, value_of
from hegemon.models.functions import names_in

CONSTANT = Law("1", lambda n: np.ones_like(n))
ROOT = Law("√n", np.sqrt)
SQUARE_LOG = Law("n² log n", lambda n: n**2 * np.log2(n))
LAWS = (CONSTANT, LOG, LOG_SQUARED, ROOT, LINEAR, N_LOG, N_LOG_SQUARED, SQUARE, SQUARE_LOG, CUBE)  # by growth
FEWEST_SIZES = 3
SURE = 0.999  # of the interval that rejects a law
ROUNDING = 1e-9  # trials that are all alike leave no interval
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Fit:
    """How one series grows with n: as a power of n, and the nearest law among the candidates."""

    series: dict[str, Any]
    exponent: tuple[float, float, float]
    law: str
    fits: bool
    left: tuple[float, float, float]  # divided by the law, the means change like this power of n
    constant: float
    spread: float  # largest over smallest value / law: 1 is a perfect fit
    sizes: tuple[int, int]
    candidates: int
    rivals: list[dict[str, Any]]  # the next slower and the next faster law

    def sentence(self, measure: str) -> str:
        """The fit in words, for a reader who has never seen one."""
        name = ", ".join(f"{key} = {value}" for key, value in self.series.items())
        number = NUMBERS[self.candidates] if self.candidates < len(NUMBERS) else str(self.candidates)
        whose = f"{measure} ≈ {self.constant:.4g} · {self.law}"
        if self.fits:
            verdict = f"{whose} fits"
        elif self.candidates == 1:
            verdict = f"the law {self.law} does not fit; the nearest curve is {whose}"
        else:
            verdict = f"none of the {number} laws fits; the nearest is {whose}"
        low, high = self.sizes
        return (
            f"{name + ': ' if name else ''}{verdict}. Divided by {self.law}, the means from n = {low:,} to {high:,} "
            f"differ by a factor of at most {self.spread:.3g} and change like n^{_within(self.left)} "
            f"(99.9 % interval; it contains 0 if a law fits). As a plain power of n they are n^{_within(self.exponent)}"
        )


def _within(value: Sequence[float]) -> str:
    estimate, low, high = value
    return f"{estimate:.3f} [{low:.3f}, {high:.3f}]"


def read_laws(given: str | Sequence[str] | None) -> tuple[Law, ...]:
    """Candidates such as "n**1.5, n*log(n)": expressions over n, by the grammar of parameters, never run as code."""
    if given is None:
        return LAWS
    words = split(given) if isinstance(given, str) else [str(word).strip() for word in given]
    if not words or len(set(words)) < len(words):
        raise InvalidInput(f"the laws {shown(given)} are none, or one twice; write laws such as n**1.5, n*log(n)")
    return tuple(read_curve(word) for word in words)


def read_curve(text: str) -> Law:
    """A function of n from an expression such as 14*n*log2(n)."""
    tree = parse(text)
    if unknown := names_in(tree) - {"n"}:
        raise InvalidInput(
            f"the law {shown(text)} uses {min(unknown)}; a law is an expression over n, such as n*log(n)"
        )

    def of(sizes: Any) -> Any:
        values = [_value(text, tree, size) for size in np.atleast_1d(sizes)]
        return np.array(values, float)

    return Law(re.sub(r"\s+", " ", text.strip()), of)


def _value(text: str, tree: Any, size: float) -> float:
    n = int(size) if float(size).is_integer() else float(size)
    try:
        value = float(value_of(tree, {"n": n}))
    except InvalidInput as error:
        raise InvalidInput(f"the law {shown(text)} is not understood: {error}") from None
    except (ArithmeticError, ValueError) as error:
        raise InvalidInput(f"the law {shown(text)} has no value at n = {n:g} ({error}); give another") from None
    if not value > 0:
        raise InvalidInput(f"the law {shown(text)} is {value:g} at n = {n:g}; it must be positive at every measured n")
    return value


def fit_law(series: dict[str, Any], samples: dict[int, np.ndarray], laws: Sequence[Law] = LAWS) -> Fit:
    """The nearest law to the means of these samples by their n."""
    sizes, values = list(samples), list(samples.values())
    points = np.array(sizes, float)
    means = np.array([sample.mean() for sample in values])
    ratios = {law.name: means / law.of(points) for law in laws}
    laws = sorted(laws, key=lambda law: law.of(points[[-1]])[0] / law.of(points[[0]])[0])

    def spread(law: Law) -> float:
        return float(ratios[law.name].max() / ratios[law.name].min())

    best = min(range(len(laws)), key=lambda k: spread(laws[k]))
    rivals = []
    for k in (best - 1, best + 1):
        if 0 <= k < len(laws):
            place = between(sizes, values, laws[best], laws[k])
            share = [place.share, *place.slope.interval(CONFIDENCE)]
            rivals.append({"rival": laws[k].name, "share": share, "spread": place.rival_spread})
    left = exponent(sizes, [sample / scale for sample, scale in zip(values, laws[best].of(points), strict=True)])
    low, high = left.interval(SURE)
    power = exponent(sizes, values)
    return Fit(
        series=series,
        exponent=(power.estimate, *power.interval(CONFIDENCE)),
        law=laws[best].name,
        fits=low - ROUNDING <= 0 <= high + ROUNDING,
        left=(left.estimate, low, high),
        constant=float(np.exp(np.log(ratios[laws[best].name]).mean())),
        spread=spread(laws[best]),
        sizes=(min(sizes), max(sizes)),
        candidates=len(laws),
        rivals=rivals,
    )
