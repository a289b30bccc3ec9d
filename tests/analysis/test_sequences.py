"""Intervals under repeated inspection: these cover, where fixed intervals do not."""

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hegemon.analysis import sequences
from hegemon.analysis.statistics import clopper_pearson, mean_interval, rank_of, sample_quantile
from hegemon.errors import InvalidInput

POINTS = sequences.look_points(4000)
LAWS = {
    "exponential": (lambda rng: rng.exponential(size=4000), 1.0, math.log(2)),
    "geometric": (lambda rng: rng.geometric(0.2, size=4000).astype(float), 5.0, 4.0),
    "lognormal": (lambda rng: rng.lognormal(0, 1, size=4000), math.exp(0.5), 1.0),
    "gamma": (lambda rng: rng.gamma(9, size=4000), 9.0, 8.668951),
}


def stopped(found, narrow):
    """The first inspection with a narrow enough interval, or the last one."""
    return next((look for look in found if look.relative <= narrow), found[-1])


def share_covered(sequence, draw, truth, narrow, trials=300):
    rng = np.random.default_rng(7)
    looks = (stopped(sequence(draw(rng)), narrow) for _ in range(trials))
    return np.mean([look.low <= truth <= look.high for look in looks])


def often(share, trials=300):
    """Not significantly below 95 %."""
    return clopper_pearson(round(share * trials), trials, 0.999)[1] >= 0.95 and share >= 0.95


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("narrow", [0.5, 0.1])
def test_a_mean_looked_at_until_it_is_narrow_is_covered(law, narrow):
    draw, truth, _ = LAWS[law]
    assert often(share_covered(lambda values: sequences.mean(values, POINTS), draw, truth, narrow))


@pytest.mark.parametrize("law", LAWS)
def test_a_quantile_looked_at_until_it_is_narrow_is_covered(law):
    draw, _, truth = LAWS[law]
    assert often(share_covered(lambda values: sequences.quantile(values, 0.5, POINTS), draw, truth, 0.2))


@pytest.mark.parametrize("p", [0.02, 0.5, 0.97])
def test_a_proportion_looked_at_until_it_is_narrow_is_covered(p):
    draw = lambda rng: rng.random(4000) < p  # noqa: E731
    trials = 150  # of an interval that takes ten times as long as the others
    assert often(share_covered(lambda values: sequences.proportion(values, POINTS), draw, p, 0.1, trials), trials)


def always_covered(sequence, draw, truth, trials=300):
    rng = np.random.default_rng(9)
    return np.mean([all(look.low <= truth <= look.high for look in sequence(draw(rng))) for _ in range(trials)])


def fixed(interval):
    """The wrong method: the interval for a fixed number of trials, at every inspection."""

    def sequence(values):
        return [sequences.SequentialInterval(t, float(np.mean(values[:t])), *interval(values[:t])) for t in POINTS]

    return sequence


def test_every_look_at_once_is_covered_and_the_fixed_interval_fails_at_it():
    draw, truth, median = LAWS["exponential"]
    coin = lambda rng: rng.random(4000) < 0.3  # noqa: E731
    assert often(always_covered(lambda values: sequences.mean(values, POINTS), draw, truth))
    assert often(always_covered(lambda values: sequences.quantile(values, 0.5, POINTS), draw, median))
    assert often(always_covered(lambda values: sequences.proportion(values, POINTS), coin, 0.3))
    assert always_covered(fixed(mean_interval), draw, truth) < 0.85
    assert always_covered(fixed(lambda v: clopper_pearson(int(v.sum()), len(v))), coin, 0.3) < 0.90


def test_stopping_at_the_first_narrow_look_breaks_the_fixed_interval():
    """A researcher who stops as soon as the claimed value is outside: the fixed interval lets him nearly always."""
    draw, truth, _ = LAWS["exponential"]
    rng, caught, fair = np.random.default_rng(3), 0, 0
    for _ in range(200):
        values = draw(rng)
        caught += any(not look.low <= truth <= look.high for look in fixed(mean_interval)(values))
        fair += any(not look.low <= truth <= look.high for look in sequences.mean(values, POINTS))
    assert caught > 3 * 0.05 * 200 and fair <= 0.05 * 200


def test_the_looks_are_fixed_numbers():
    assert list(islice(sequences.looks(10, 2), 5)) == [10, 20, 40, 80, 160]
    assert list(islice(sequences.looks(2, 1.01), 4)) == [2, 3, 4, 5]
    assert sequences.look_points(100, 32, 1.5) == [32, 48, 72] and sequences.look_points(5) == []
    for wrong in ((1, 2), (10, 1)):
        with pytest.raises(InvalidInput):
            next(sequences.looks(*wrong))


def test_later_trials_do_not_change_an_earlier_look():
    values = np.random.default_rng(5).exponential(size=500)
    for sequence in (sequences.mean, lambda v, p: sequences.quantile(v, 0.9, p)):
        whole = sequence(values, sequences.look_points(500))
        assert whole[:3] == sequence(values[:100], sequences.look_points(500)[:3])


@given(st.integers(1, 300), st.integers(0, 300))
def test_the_interval_of_a_proportion_is_wider_than_the_exact_one(trials, successes):
    successes = min(successes, trials)
    low, high = sequences.proportion_interval(successes, trials)
    fixed_low, fixed_high = clopper_pearson(successes, trials)
    assert 0 <= low <= fixed_low + 1e-9 and fixed_high - 1e-9 <= high <= 1
    assert low <= successes / trials <= high


def test_proportions_at_the_ends_and_of_many_trials():
    assert sequences.proportion_interval(0, 0) == (0.0, 1.0)
    assert sequences.proportion_interval(0, 100)[0] == 0 and sequences.proportion_interval(100, 100)[1] == 1
    low, high = sequences.proportion_interval(10**9 - 1, 10**9)
    assert 0.99999 < low < 1 - 1e-9 < high <= 1


def test_quantiles_of_censored_trials_and_of_ties():
    values = np.concatenate([np.arange(60.0), np.full(40, math.inf)])
    look = sequences.quantile(values, 0.3, [100])[0]
    assert look.low < 29 <= look.estimate < look.high < math.inf
    assert sequences.quantile(values, 0.6, [100])[0].high == math.inf
    assert sequences.quantile(np.full(200, 7.0), 0.5, [200])[0] == sequences.SequentialInterval(200, 7.0, 7.0, 7.0)
    with pytest.raises(InvalidInput, match="quantile instead"):
        sequences.mean(values, [100])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.9, 0.29]))
def test_a_sample_quantile_is_the_least_value_with_its_share(values, level):
    """By definition, in whole numbers: 0.29 of 100 is 29, not 28.999999999999996."""
    hundredths = round(level * 100)
    least = min(x for x in values if 100 * sum(y <= x for y in values) >= hundredths * len(values))
    assert sample_quantile(values, level) == least
    assert rank_of(100, 0.29) == 29


def test_the_p_value_of_a_mean_is_the_inverse_of_its_interval():
    values = np.random.default_rng(6).exponential(size=48)
    look = sequences.mean(values, [32, 48])[-1]
    for end in (look.low, look.high):
        assert sequences.mean_p_value(values, end, 32) == pytest.approx(0.05)
    assert sequences.mean_p_value(values, look.estimate, 32) == 1 and sequences.mean_p_value(values, 0, 32) == 0
    assert sequences.mean_p_value(np.full(20, 3.0), 3, 16) == 1 and sequences.mean_p_value(np.full(20, 3.0), 4, 16) == 0


@pytest.mark.parametrize("points", [[5], [48, 32], [32, 5000]])
def test_wrong_looks_are_refused(points):
    with pytest.raises(InvalidInput):
        sequences.mean(np.ones(100), points)
