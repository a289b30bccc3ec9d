import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hegemon.compute.border import ingredient
from hegemon.compute.randomness import next_double, stream
from hegemon.compute.sampling import (
    _log_table,
    binomial,
    deviance,
    hypergeometric,
    multinomial,
    take,
    whole_and_fraction,
)
from tests.compute.agreement import SIGNIFICANCE, fits_law, fits_smooth_law, log_choose, log_hypergeometric

SAMPLES = 60_000


@ingredient()
def draw_hypergeometric(state, good, bad, draws, sample):
    for k in range(len(sample)):
        sample[k] = hypergeometric(state, good, bad, draws)


@ingredient()
def draw_binomial(state, trials, p, sample):
    for k in range(len(sample)):
        sample[k] = binomial(state, trials, p)


@ingredient()
def draw_with_replacement(state, good, bad, draws, sample):
    """The deliberately biased sampler: an agent may be drawn twice."""
    for k in range(len(sample)):
        sample[k] = 0
        for _ in range(draws):
            sample[k] += next_double(state) * (good + bad) < good


def drawn(sampler, *arguments, size=SAMPLES, seed=1):
    sample = np.empty(size, np.int64)
    sampler(stream(seed), *arguments, sample)
    return sample


def hypergeometric_law(good, bad, draws):
    mean, deviation = draws * good / (good + bad), math.sqrt(draws * good * bad) / (good + bad)
    low, high = math.floor(mean - 8 * deviation) - 8, math.ceil(mean + 8 * deviation) + 8
    values = np.arange(max(0, draws - bad, low), min(good, draws, high) + 1)
    return values, stats.hypergeom.pmf(values, good + bad, good, draws)


# Every path and every mirror: one by one, by inversion, by rejection; few or many good, few or many draws.
TABLES = [
    (1, 1, 1), (3, 5, 4), (10, 90, 10), (90, 10, 10), (10, 90, 90), (90, 10, 90), (20, 30, 20), (9, 4000, 3000),
    (100, 1000, 50), (60, 60, 60), (500, 500, 100), (400, 600, 700), (3000, 40, 2000), (1000, 1000, 1000),
    (5000, 70_000, 800), (123_456, 654_321, 4321), (10**9, 3 * 10**9, 200), (10**9, 10**12, 10**5),
]  # fmt: skip


@pytest.mark.parametrize("good, bad, draws", TABLES)
def test_hypergeometric_has_the_exact_law(good, bad, draws):
    values, probabilities = hypergeometric_law(good, bad, draws)
    probabilities = probabilities / probabilities.sum()  # scipy itself is off by 1e-7 at large arguments
    assert fits_law(drawn(draw_hypergeometric, good, bad, draws), values, probabilities) > SIGNIFICANCE


def test_the_test_catches_drawing_with_replacement():
    assert fits_law(drawn(draw_with_replacement, 60, 60, 60), *hypergeometric_law(60, 60, 60)) < 1e-20
    assert fits_law(drawn(draw_with_replacement, 400, 600, 100), *hypergeometric_law(400, 600, 100)) < 1e-8


HUGE = [
    (2**49, 2**50, 2**26), (2**26, 2**50, 2**49), (2**50, 2**49, 2**50), (2**58, 2**58, 2**57),
    (3**36, 2**57, 7**20), (10**12, 2**59, 10**9),
]  # fmt: skip


@pytest.mark.parametrize("good, bad, draws", HUGE)
def test_hypergeometric_at_huge_arguments(good, bad, draws):
    mean, total = draws * good / (good + bad), good + bad
    deviation = math.sqrt(draws * (good / total) * (bad / total) * ((total - draws) / (total - 1)))
    sample = drawn(draw_hypergeometric, good, bad, draws)
    p = fits_smooth_law(sample, lambda x: log_hypergeometric(good, bad, draws, x), mean, deviation)
    assert p > SIGNIFICANCE
    centred = (sample - round(mean)).astype(float) / deviation
    assert abs(centred.mean()) < 4 / math.sqrt(SAMPLES)
    assert abs(centred.var() - 1) < 4 * math.sqrt(2 / SAMPLES)


def test_the_test_catches_a_shift_of_a_fortieth_of_the_deviation():
    good, bad, draws = HUGE[0]
    mean, deviation = draws / 3, math.sqrt(draws * 2) / 3
    sample = drawn(draw_hypergeometric, good, bad, draws) + int(deviation / 40)
    p = fits_smooth_law(sample, lambda x: log_hypergeometric(good, bad, draws, x), mean, deviation)
    assert p < SIGNIFICANCE


counts = st.integers(0, 60).flatmap(lambda bits: st.integers(0, 2**bits))


@given(counts, counts, st.data())
@settings(max_examples=400, deadline=None)
def test_hypergeometric_stays_in_range(good, bad, data):
    draws = data.draw(st.integers(0, good + bad))
    for value in drawn(draw_hypergeometric, good, bad, draws, size=5):
        assert max(0, draws - bad) <= value <= min(good, draws)


@given(st.integers(2, 60), st.data())
@settings(max_examples=300, deadline=None)
def test_the_acceptance_ratio_is_right_to_ten_digits(bits, data):
    total = data.draw(st.integers(16, 2**bits + 16))
    good = data.draw(st.integers(1, total // 2))
    draws = data.draw(st.integers(1, good))
    bad = total - good
    mean = draws * good / total
    variance = mean * bad * (total - draws) / total**2
    shift = data.draw(st.integers(-6, 6))
    count = min(max(0, round(mean + shift * math.sqrt(variance))), draws)
    whole, fraction = whole_and_fraction(draws, good, total)
    value = _log_table(good, bad, draws, mean, float(count - int(whole)) - fraction)
    value -= math.log(2 * math.pi * variance) / 2
    assert value == pytest.approx(log_hypergeometric(good, bad, draws, count), abs=1e-10, rel=1e-10)


@given(st.integers(1, 2**60), st.data())
@settings(max_examples=300, deadline=None)
def test_whole_and_fraction_is_exact(total, data):
    x, y = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    whole, fraction = whole_and_fraction(x, y, total)
    assert abs(fraction) < 4
    assert abs((x * y - int(whole) * total) / total - fraction) < 1e-15 * max(1, abs(fraction))


@pytest.mark.parametrize("x, mean", [(0, 3.7), (1, 3.7), (5, 3.7), (17, 20.25), (10**6, 1000123.5), (2**40, 2.0**40)])
def test_deviance_is_the_distance_from_the_tangent(x, mean):
    tangent = mean * math.log(mean) - mean + math.log(2 * math.pi * mean) / 2 + (x - mean) * math.log(mean)
    assert deviance(mean, x - mean) == pytest.approx(math.lgamma(x + 1) - tangent, abs=1e-14 * max(10, abs(tangent)))


@pytest.mark.parametrize(
    "trials, p", [(1, 0.5), (10, 0.3), (10, 0.9), (1000, 0.5), (1000, 0.003), (10**6, 0.2), (10**9, 3e-8), (50, 1.0)]
)
def test_binomial_has_the_exact_law(trials, p):
    sample = drawn(draw_binomial, trials, p)
    mean, deviation = trials * p, math.sqrt(trials * p * (1 - p)) + 1
    values = np.arange(max(0, int(mean - 9 * deviation)), min(trials, int(mean + 9 * deviation)) + 1)
    assert fits_law(sample, values, stats.binom.pmf(values, trials, p)) > SIGNIFICANCE


@pytest.mark.parametrize("trials, numerator, denominator", [(2**50, 1, 2**20), (2**60, 1, 2), (2**58, 3, 8)])
def test_binomial_at_huge_arguments(trials, numerator, denominator):
    p = numerator / denominator  # exact in binary
    hit, miss = math.log(p), math.log1p(-p)
    mean, deviation = trials * p, math.sqrt(trials * p * (1 - p))

    def log_probability(x):
        # Against the mode, so that the large terms cancel in exact arithmetic.
        mode = trials * numerator // denominator
        normal = -math.log(2 * math.pi * trials * p * (1 - p)) / 2
        return float(log_choose(trials, x) - log_choose(trials, mode)) + (x - mode) * (hit - miss) + normal

    assert fits_smooth_law(drawn(draw_binomial, trials, p), log_probability, mean, deviation) > SIGNIFICANCE


@ingredient()
def take_many(state, counts, draws, sample):
    rest = np.empty(len(counts), np.int64)
    for k in range(len(sample)):
        for i in range(len(counts)):  # to assign the whole array would compile for as long as all the rest
            rest[i] = counts[i]
        take(state, rest, len(rest), counts.sum(), draws, sample[k])
        if (rest + sample[k] != counts).any():
            return False
    return True


def test_take_draws_without_replacement():
    counts = np.array([40, 0, 3, 200, 57])
    sample = np.empty((SAMPLES, 5), np.int64)
    assert take_many(stream(5), counts, 70, sample)
    assert (sample.sum(axis=1) == 70).all()
    for i in range(5):
        assert fits_law(sample[:, i], *hypergeometric_law(counts[i], 300 - counts[i], 70)) > SIGNIFICANCE
    merged = sample[:, 0] + sample[:, 4]
    assert fits_law(merged, *hypergeometric_law(97, 203, 70)) > SIGNIFICANCE


@ingredient()
def throw_many(state, trials, weights, sample):
    for k in range(len(sample)):
        multinomial(state, trials, weights, sample[k])


def test_multinomial_has_binomial_margins_and_their_correlation():
    weights = np.array([3.0, 0.0, 1.0, 4.0])
    sample = np.empty((SAMPLES, 4), np.int64)
    throw_many(stream(6), 40, weights, sample)
    assert (sample.sum(axis=1) == 40).all()
    assert (sample[:, 1] == 0).all()
    for cells, p in (([0], 3 / 8), ([2], 1 / 8), ([3], 1 / 2), ([0, 2], 1 / 2), ([2, 3], 5 / 8)):
        values = np.arange(41)
        assert fits_law(sample[:, cells].sum(axis=1), values, stats.binom.pmf(values, 40, p)) > SIGNIFICANCE
