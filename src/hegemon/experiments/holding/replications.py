"""From independent replications to an interval: Stein's two stages on the logarithmic scale, or sound bounds.

Each replication estimates the losses per step without bias. The first eight show how much they scatter, and so
how many are needed; the interval keeps the scatter of the first stage and its degrees of freedom, so that looking at
the data before going on costs no coverage (Stein 1945). The holding time is 1 over the mean rate: the interval is
inverted, nothing is averaged after inversion.

A replication multiplies the shares that pass from cell to cell, so its logarithm is nearly normal, and its law has a
long tail of which a few replications see too little. Hence the scatter is also computed as that of a log-normal law,
with what is uncertain about it (Olsson 2005). The replications alone do not decide whether they scatter little enough
to be trusted, since their heaviest may be missing by chance: those that tried the plan before them must agree.

Where replications scatter too much for Student's law, one fact remains: an unbiased estimate that is never negative
exceeds 40 times its mean with probability at most 1/40 (Markov). If the ensembles had settled, that mean is at most the
rate of losses, also where ways to a loss are hidden, so 40 over the estimate is an upper bound of the holding time. If
they had not, the rate is temporary and bounds nothing: a mode that lasts long may hold the leader.
The lower bound is that of plain runs, which also check every interval: one that they contradict is no estimate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hegemon.experiments.holding.plain import Plain

FIRST = 8  # replications of the first stage
TRUSTED = 0.5  # the largest relative scatter for which Student's interval is used
GOOD = 0.35  # the scatter to aim for
MOST_TOGETHER = 16  # most replications that are averaged into one, if single ones scatter too much
MOST_REPLICATIONS = 4096
MARKOV = 40  # 1 over the risk on one side


@dataclass(frozen=True)
class Answer:
    """Expected steps, as natural logarithms: they may be beyond floating point."""

    kind: str  # "estimate", "at most" or "bound"
    log_steps: float | None
    log_low: float
    log_high: float | None
    scatter: float  # relative scatter of one replication or of one group
    reasons: tuple[str, ...] = ()  # the reasons why it is no estimate


class Doubt(NamedTuple):
    """A reason to doubt that ensembles had settled; if it is serious, not even an upper end is known."""

    reason: str
    serious: bool


def relative(rates: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """The logarithm of the mean of exp(rates), and their standard deviation over that mean."""
    values = np.asarray(rates, float)
    top = values.max()
    if top == -math.inf:
        return -math.inf, math.inf
    scaled = np.exp(values - top)
    mean = scaled.mean()
    return float(top + math.log(mean)), float(scaled.std(ddof=1) / mean)


def student(confidence: float, freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(confidence, freedom))


def together(rates: Sequence[float], tried: float) -> tuple[np.ndarray, int]:
    """The replications, or, if single ones scatter too much, the means of FIRST groups; and the number that each value
    stands for."""
    values = np.asarray(rates, float)
    size = len(values) // FIRST
    scatter = max(relative(values)[1], relative(values[:FIRST])[1], tried)
    if size < 2 or (scatter <= TRUSTED and values.min() > -math.inf):
        return values, 1
    return np.array([relative(group)[0] for group in values[: size * FIRST].reshape(FIRST, size)]), size


def width(values: np.ndarray, number: int) -> float:
    """Half of the 95 % interval of the logarithm of the mean of that many, from the scatter of the first stage."""
    first = values[:FIRST]
    variance = float(first.var(ddof=1))
    scatter = max(relative(first)[1] ** 2, math.expm1(min(variance, 50.0)))
    return student(0.975, FIRST - 1) * math.sqrt(scatter / number + variance**2 / (2 * (number - 1)))


def enough(rates: Sequence[float], precision: float, tried: float = 0.0) -> int:
    """How many replications in all bring the interval to within a factor of 1 + precision; `tried` is the scatter of
    those that tried the plan."""
    first = np.asarray(rates[:FIRST], float)
    scatter = max(relative(first)[1], tried)
    if scatter > TRUSTED or first.min() == -math.inf:
        size = min(MOST_TOGETHER, (scatter / GOOD) ** 2)
        return max(len(rates), FIRST * math.ceil(size))
    number = FIRST
    while width(first, number) > math.log1p(precision) and number < MOST_REPLICATIONS:
        number += 1 + number // 100
    return number


def answer(
    rates: Sequence[float], plain: Plain, tried: float = 0.0, doubts: Sequence[Doubt] = (), hidden: bool = False
) -> Answer:
    """From the logarithms of independent rates, the scatter of those that tried the plan, doubts whether ensembles had
    settled, and whether ways to a loss may be hidden from all of them."""
    values, size = together(rates, tried)
    mean, scatter = relative(values)
    _, first = relative(values[:FIRST])
    if mean == -math.inf:
        return Answer("bound", None, plain.log_low, None, scatter, ("no replication lost its leader",))
    reasons = [doubt.reason for doubt in doubts]
    agree = max(scatter, first, tried / math.sqrt(size)) <= TRUSTED and values.min() > -math.inf
    half = width(values, len(values)) if agree else math.inf
    if half > math.log(MARKOV):  # also if only their logarithms scatter
        half = math.log(MARKOV)
        reasons.append("replications scatter too much")
    if hidden:
        reasons.append("scouts found different ways to a loss, so others may be hidden")
    low, high = -mean - half, -mean + half
    if plain.contradicts(low, high):
        reasons.append(
            f"plain runs contradict it: {plain.losses:,} losses in {plain.steps:,} steps, where it predicts "
            f"{math.exp(math.log(plain.steps) + mean):,.3g}"
        )
    elif not reasons:
        return Answer("estimate", -mean, low, high, scatter, ())
    elif not any(doubt.serious for doubt in doubts):
        return Answer("at most", -mean, plain.log_low, high, scatter, tuple(reasons))
    return Answer("bound", -mean, plain.log_low, None, scatter, tuple(reasons))
