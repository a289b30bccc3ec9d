"""The hat of transformed rejection must cover every law it is used for, and its squeeze must stay below."""

import math

import numpy as np
import pytest
from scipy import stats

from hegemon.compute import sampling


def heights(width):
    b = 1.15 + 2.53 * width
    return 0.0248 * b - 0.0873, b, 1.125 + 1.4 / (b - 3.4), 0.925 - 3.6 / (b - 2)


def margins(values, log_probability, mean, width):
    """By how much the hat is above the law everywhere, and the law above the squeeze inside it (both >= 0)."""
    a, b, top, certain = heights(width)

    def where(distance):  # the |u| that is mapped to this distance from the centre
        half = 2 * a + 0.5 * b + distance
        return (half - np.sqrt(half * half - 2 * b * distance)) / (2 * b)

    def slope(u):
        return a / (0.5 - u) ** 2 + b

    left, right = values - mean - 0.5, values + 0.5 - mean
    far = where(np.maximum(abs(left), abs(right)))
    near = where(np.where((left <= 0) & (right >= 0), 0.0, np.minimum(abs(left), abs(right))))
    law = np.exp(log_probability(values))
    inner = near <= sampling._SQUEEZE
    return (top - law * slope(far)).min(), (law[inner] * slope(near[inner]) - top * certain).min()


def around(mean, width, low, high):
    return np.arange(max(low, math.floor(mean - 11 * width)), min(high, math.ceil(mean + 11 * width)) + 1.0)


def tables():
    rng = np.random.default_rng(3)
    for total in (60, 100, 150, 300, 1000, 10**4, 10**6, 10**9):
        for _ in range(600):
            good, draws = (int(min(total // 2, math.exp(x))) for x in rng.uniform(1, math.log(total / 2), 2))
            yield max(good, draws), total - max(good, draws), min(good, draws)
    for good in range(16, 60, 2):
        for draws in range(16, good + 1, 2):
            for bad in range(good, 90, 3):
                yield good, bad, draws


def test_the_hat_covers_hypergeometric_laws():
    tried = 0
    for good, bad, draws in tables():
        total = good + bad
        mean = draws * good / total
        variance = mean * bad * (total - draws) / total**2
        if not sampling._NARROWEST <= variance < 10**8:
            continue
        tried += 1
        values = around(mean, math.sqrt(variance), 0, draws)
        covered, certain = margins(
            values, lambda k, t=total, g=good, d=draws: stats.hypergeom.logpmf(k, t, g, d), mean, math.sqrt(variance)
        )
        assert covered >= 0 and certain >= 0, (good, bad, draws)
    assert tried > 1500


@pytest.mark.parametrize("p", [0.5, 0.4, 0.25, 0.1, 0.01, 1e-3])
def test_the_hat_covers_binomial_laws(p):
    for variance in np.exp(np.linspace(math.log(sampling._NARROWEST), math.log(10**7), 120)):
        trials = math.ceil(variance / (p * (1 - p)))
        mean, width = trials * p, math.sqrt(trials * p * (1 - p))
        covered, certain = margins(
            around(mean, width, 0, trials), lambda k, t=trials: stats.binom.logpmf(k, t, p), mean, width
        )
        assert covered >= 0 and certain >= 0, trials


def test_the_hat_covers_the_poisson_limit():
    for mean in np.exp(np.linspace(math.log(sampling._NARROWEST), math.log(10**7), 120)):
        values = around(mean, math.sqrt(mean), 0, math.inf)
        covered, certain = margins(values, lambda k, mu=mean: stats.poisson.logpmf(k, mu), mean, math.sqrt(mean))
        assert covered >= 0 and certain >= 0, mean


def test_the_hat_covers_the_normal_limit():
    values = np.arange(-60000.0, 60001.0)
    covered, certain = margins(values, lambda k: stats.norm.logpdf(k, scale=5000), 0.0, 5000.0)
    assert covered >= 0 and certain >= 0


def test_a_lower_hat_would_be_noticed(monkeypatch):
    monkeypatch.setattr(
        f"{__name__}.heights", lambda width, real=heights: (*real(width)[:2], real(width)[2] - 0.02, real(width)[3])
    )
    values = np.arange(-60000.0, 60001.0)
    assert margins(values, lambda k: stats.norm.logpdf(k, scale=5000), 0.0, 5000.0)[0] < 0
