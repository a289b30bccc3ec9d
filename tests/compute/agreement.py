"""Does a sample agree with a law? The p-values behind every test of exactness, and exact reference laws."""

import math
from decimal import Decimal, getcontext

import numpy as np
from scipy import stats

SIGNIFICANCE = 1e-4  # with fixed seeds a right sampler passes for good; a biased one falls far below

getcontext().prec = 60
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def chi_square(observed, expected) -> float:
    """The p-value of counts against expected counts, cells pooled until each expects at least 8."""
    pooled, seen, hoped = [], 0.0, 0.0
    for o, e in zip(observed, expected, strict=True):
        seen, hoped = seen + o, hoped + e
        if hoped >= 8:
            pooled.append((seen, hoped))
            seen = hoped = 0.0
    pooled[-1] = pooled[-1][0] + seen, pooled[-1][1] + hoped
    pooled = np.array(pooled)
    if len(pooled) < 2:
        return 1.0 if np.allclose(pooled[:, 0], pooled[:, 1]) else 0.0
    statistic = ((pooled[:, 0] - pooled[:, 1]) ** 2 / pooled[:, 1]).sum()
    return stats.chi2.sf(statistic, len(pooled) - 1)


def fits_law(sample, values, probabilities) -> float:
    """The p-value of whole numbers against the probabilities of `values`, which are consecutive.

    What lies outside makes one more cell, so mass in impossible places is caught.
    """
    sample = np.asarray(sample)
    inside = (sample >= values[0]) & (sample <= values[-1])
    observed = np.bincount(sample[inside] - values[0], minlength=len(values))
    outside = max(0.0, 1.0 - math.fsum(probabilities))
    if outside < 1e-9 and not inside.all():
        return 0.0
    observed = [*observed, (~inside).sum()]
    return chi_square(observed, len(sample) * np.array([*probabilities, outside]))


def same_law(first, second) -> float:
    """The p-value of two samples of whole numbers or tuples coming from one law."""
    keys = sorted({*first, *second})
    index = {key: k for k, key in enumerate(keys)}
    table = np.zeros((2, len(keys)))
    for row, sample in enumerate((first, second)):
        np.add.at(table[row], [index[key] for key in sample], 1)
    order = np.argsort(-table.sum(axis=0))
    table = table[:, order]
    frequent = table.sum(axis=0) >= 16
    rest = table[:, ~frequent].sum(axis=1, keepdims=True)
    table = np.hstack([table[:, frequent], rest]) if rest.sum() else table[:, frequent]
    return 1.0 if table.shape[1] < 2 else stats.chi2_contingency(table).pvalue


def log_factorial(x: int) -> Decimal:
    """ln x! to some forty digits."""
    if x < 200:
        return Decimal(math.factorial(x)).ln()
    y = Decimal(x)
    series = [(12, 1), (-360, 3), (1260, 5), (-1680, 7), (1188, 9)]
    rest = sum(Decimal(1) / (c * y**power) for c, power in series) - Decimal(691) / (360360 * y**11)
    return y * y.ln() - y + (2 * _PI * y).ln() / 2 + rest


def log_choose(total: int, chosen: int) -> Decimal:
    return log_factorial(total) - log_factorial(chosen) - log_factorial(total - chosen)


def log_hypergeometric(good: int, bad: int, draws: int, count: int) -> float:
    """ln of the exact probability."""
    ways = log_choose(good, count) + log_choose(bad, draws - count)
    return float(ways - log_choose(good + bad, draws))


def fits_smooth_law(sample, log_probability, mean: float, deviation: float, cells: int = 80) -> float:
    """As `fits_law` for laws far too wide to sum: cells from -4 to 4 deviations, by Simpson's rule."""
    first = int(mean - 4 * deviation)
    width = max(2, int(8 * deviation / cells) // 2 * 2)
    expected, observed = [], []
    sample = np.asarray(sample)
    for k in range(cells):
        low = first + k * width  # the cell holds low .. low + width - 1; continuity asks for half a step less
        ends = [math.exp(log_probability(x)) for x in (low, low + width // 2, low + width)]
        mass = width * (ends[0] + 4 * ends[1] + ends[2]) / 6 + (ends[0] - ends[2]) / 2
        expected.append(mass * len(sample))
        observed.append(((sample >= low) & (sample < low + width)).sum())
    expected.append(len(sample) - sum(expected))
    observed.append(len(sample) - sum(observed))
    return chi_square(observed, expected)
