"""From independent replications to an interval: Stein's two stages on the logarithmic scale, or sound bounds.

Each replication estimates the losses per step without bias. The first sixteen tell how much they scatter and thereby
how many are needed; the interval keeps the scatter of the first stage and its degrees of freedom, so that looking at
the data before going on costs no coverage (Stein 1945). The holding time is 1 over the mean rate: the interval is
inverted, nothing is averaged after inversion.

Where replications scatter too much for Student's law, two facts remain. The rate into any level bounds the rate of
losses, so a level that all replications reach evenly gives a lower bound on the holding time. And an unbiased
estimate that is never negative exceeds 40 times its mean with probability at most 1/40 (Markov), which gives an upper
bound. That interval is wide, and means what it says.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FIRST = 16  # replications of the first stage
TRUSTED = 0.5  # the largest relative scatter of one replication for which Student's interval is used
MARKOV = 40  # 1 over the risk on one side


@dataclass(frozen=True)
class Answer:
    """Expected steps, as natural logarithms: they may be beyond floating point."""

    kind: str  # "estimate", "wide", "at most" or "bound"
    log_steps: float | None
    log_low: float
    log_high: float | None
    scatter: float  # relative, of one replication
    level: int  # how many levels the lower bound rests on


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


def enough(rates: Sequence[float], precision: float) -> int:
    """How many replications in all bring the interval to within a factor of 1 + precision."""
    _, scatter = relative(rates[:FIRST])
    if scatter > TRUSTED:
        return len(rates)
    wanted = student(0.975, FIRST - 1) * scatter / math.log1p(precision)
    return max(FIRST, math.ceil(wanted**2))


def at_most(found: Answer, plain_steps: int, plain_losses: int) -> Answer:
    """What an importance that nobody vouches for can say: the ways that it leads to are a part of all losses.

    So its upper end holds. The lower end comes from plain steps alone: so many losses, as of a Poisson process.
    """
    from scipy.stats import chi2

    low = math.log(plain_steps) - math.log(float(chi2.ppf(0.975, 2 * plain_losses + 2)) / 2)
    kind = "bound" if found.log_high is None else "at most"
    return dataclasses.replace(found, kind=kind, log_low=low, level=0)


def answer(all_rates: Sequence[Sequence[float]], complete: bool) -> Answer:
    """From the rates into every level of each replication; `complete` says whether the last level is the loss."""
    table = np.array(all_rates, float)  # one row for each replication
    count = len(table)
    mean, scatter = relative(table[:, -1])
    _, first = relative(table[:FIRST, -1])
    if complete and max(scatter, first) <= TRUSTED:
        width = student(0.975, FIRST - 1) * first / math.sqrt(count)
        return Answer("estimate", -mean, -mean - width, -mean + width, scatter, table.shape[1])
    level, low = 0, -math.inf
    for place in range(table.shape[1] - (1 if complete else 0)):
        rate, spread = relative(table[:, place])
        if spread > TRUSTED:
            break
        level, low = place + 1, -(rate + student(0.975, count - 1) * spread / math.sqrt(count))
    if not complete or mean == -math.inf:
        return Answer("bound", None, low, None, scatter, level)
    return Answer("wide", -mean, low, math.log(MARKOV) - mean, scatter, level)
