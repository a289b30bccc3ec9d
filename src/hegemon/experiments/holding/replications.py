"""From independent replications to an interval: Stein's two stages on the logarithmic scale, or sound bounds.

Each replication estimates the losses per step without bias. The first eight tell how much they scatter and thereby
how many are needed; the interval keeps the scatter of the first stage and its degrees of freedom, so that looking at
the data before going on costs no coverage (Stein 1945). The holding time is 1 over the mean rate: the interval is
inverted, nothing is averaged after inversion.

A replication multiplies the shares that pass from cell to cell, so its logarithm is nearly normal, and its law has a
long tail of which a few replications see too little. Hence the scatter is also computed as that of a log-normal law,
with what is uncertain about it (Olsson 2005). And whether they scatter little enough to be trusted is not left to the
replications alone, whose heaviest may be missing by luck: those that tried the plan before them must say so too.

Where replications scatter too much for Student's law, one fact remains: an unbiased estimate that is never negative
exceeds 40 times its mean with probability at most 1/40 (Markov), which gives an upper bound of the holding time. The
lower bound is then that of plain steps. That interval is wide, and means what it says. Where they scatter little but
ways to the loss may be hidden from all of them, the upper end of their interval is that bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FIRST = 8  # replications of the first stage
TRUSTED = 0.5  # the largest relative scatter for which Student's interval is used
GOOD = 0.35  # the largest that is wished for
MOST_TOGETHER = 16  # replications whose mean is taken for one, where single ones scatter too much
MOST_DOUBT = 0.5  # a larger difference (of logarithms) is never put down to chance
MOST_REPLICATIONS = 4096
MARKOV = 40  # 1 over the risk on one side


@dataclass(frozen=True)
class Answer:
    """Expected steps, as natural logarithms: they may be beyond floating point."""

    kind: str  # "estimate", "at most" or "bound"
    log_steps: float | None
    log_low: float
    log_high: float | None
    scatter: float  # relative, of one replication or of one group


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


def settled(rates: Sequence[float], early: Sequence[float], precision: float, doubt: float = 3) -> bool:
    """Whether the losses before counting began came at the same rate, as far as the scatter lets one see.

    An ensemble that approaches its steady state like exp(-t/u), and is off by a fifth on average in the second quarter
    of its time, is off by 2.5 % in its second half; so a difference of half the precision, or of a fifth, does no harm.
    Nor is one seen that is within `doubt` standard errors.
    """
    mean, _ = relative(rates)
    before, _ = relative(early)
    if -math.inf in (mean, before):
        return False
    differences = np.exp(np.asarray(rates) - mean) - np.exp(np.asarray(early) - before)
    noise = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return abs(mean - before) <= max(min(0.2, math.log1p(precision) / 2), min(doubt * noise, MOST_DOUBT))


def together(rates: Sequence[float], tried: float) -> tuple[np.ndarray, int]:
    """The replications; or the means of as many groups as the first stage has, where single ones scatter too much. And
    how many each stands for."""
    values = np.asarray(rates, float)
    size = len(values) // FIRST
    scatter = max(relative(values)[1], relative(values[:FIRST])[1], tried)
    if size < 2 or (scatter <= TRUSTED and values.min() > -math.inf):
        return values, 1
    return np.array([relative(group)[0] for group in values[: size * FIRST].reshape(FIRST, size)]), size


def width(values: np.ndarray, number: int) -> float:
    """Half of the 95 % interval of the logarithm of the mean of so many, from the scatter of the first stage."""
    first = values[:FIRST]
    variance = float(first.var(ddof=1))
    scatter = max(relative(first)[1] ** 2, math.expm1(variance))
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


def plain_bound(steps: int, losses: int) -> float:
    """The logarithm of what the holding time exceeds with 97.5 % confidence, after so many losses in plain steps."""
    from scipy.stats import chi2

    return math.log(steps) - math.log(float(chi2.ppf(0.975, 2 * losses + 2)) / 2)


def answer(
    rates: Sequence[float],
    plain_steps: int,
    plain_losses: int,
    tried: float = 0.0,
    steady: bool = True,
    vouched: bool = True,
) -> Answer:
    """From the logarithms of independent rates; `steady`: the ensembles had settled, and `vouched`: no way to a loss is
    hidden from them all. Were one, they would be too low, and the upper end would hold."""
    values, size = together(rates, tried)
    mean, scatter = relative(values)
    _, first = relative(values[:FIRST])
    agree = max(scatter, first, tried / math.sqrt(size)) <= TRUSTED and values.min() > -math.inf
    half = width(values, len(values)) if agree and steady else math.log(MARKOV)
    if agree and steady and vouched:
        return Answer("estimate", -mean, -mean - half, -mean + half, scatter)
    low = plain_bound(plain_steps, plain_losses)
    if mean == -math.inf:
        return Answer("bound", None, low, None, scatter)
    return Answer("at most", -mean, low, half - mean, scatter)
