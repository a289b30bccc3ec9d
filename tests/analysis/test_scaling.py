"""Scaling laws: known laws are found, and the intervals cover."""

import numpy as np
import pytest

from hegemon.analysis.scaling import CUBE, LOG, LOG_SQUARED, N_LOG, N_LOG_SQUARED, SQUARE, between, exponent
from hegemon.analysis.statistics import clopper_pearson

SIZES = (100, 1000, 10_000, 100_000)


def noisy(law, rng, trials=200):
    return [law.of(float(n)) * rng.exponential(size=trials) for n in SIZES]


@pytest.mark.parametrize(("law", "rival"), [(N_LOG, N_LOG_SQUARED), (SQUARE, CUBE), (LOG, LOG_SQUARED)])
def test_the_place_between_two_laws(law, rival):
    rng = np.random.default_rng(1)
    near = between(SIZES, noisy(law, rng), law, rival)
    far = between(SIZES, noisy(rival, rng), law, rival)
    (low, high), (far_low, far_high) = near.slope.interval(0.999), far.slope.interval(0.999)
    assert low < 0 < high < 0.5 < far_low < 1 < far_high
    assert near.slope.p_at_least(0.5) < 0.001 < 0.999 < far.slope.p_at_least(0.5)
    assert far.slope.p_at_most(0.5) < 0.001 and near.slope.p_at_most(0.5) == pytest.approx(
        1 - near.slope.p_at_least(0.5)
    )
    assert near.spread < near.rival_spread and far.rival_spread < far.spread


def test_intervals_of_exponents_cover_as_promised():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        samples = [n**1.5 * rng.gamma(4, size=30) for n in (10.0, 30.0, 100.0)]
        low, high = exponent((10, 30, 100), samples).interval(0.9)
        covered += low <= 1.5 <= high
    assert 0.85 <= covered / 400 <= 0.95


@pytest.mark.parametrize("p", [0.001, 0.3, 0.9])
def test_clopper_pearson_never_covers_less_than_promised(p):
    rng = np.random.default_rng(3)
    hits = rng.binomial(50, p, size=4000)
    covered = np.mean([low <= p <= high for low, high in (clopper_pearson(int(k), 50, 0.9) for k in hits)])
    assert covered >= 0.89


def test_clopper_pearson_at_the_ends():
    assert clopper_pearson(0, 10)[0] == 0 and clopper_pearson(10, 10)[1] == 1
    assert clopper_pearson(10, 10, 0.95)[0] == pytest.approx(0.025 ** (1 / 10))
