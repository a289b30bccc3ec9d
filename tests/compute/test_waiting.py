import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hegemon.compute.border import ingredient
from hegemon.compute.randomness import next_double, next_word, stream
from hegemon.compute.waiting import (
    FOREVER,
    cost_of_run,
    fresh_run,
    listed_costs,
    listed_run,
    null_rate,
    null_run,
)
from tests.compute.agreement import SIGNIFICANCE, fits_law, log_factorial
from tests.compute.pairs import next_pair

SAMPLES = 60_000


@ingredient()
def draw_runs(state, n, used, limit, sample):
    for k in range(len(sample)):
        sample[k] = fresh_run(state, n, used, limit)


@ingredient()
def draw_listed_runs(state, n, used, limit, costs, sample):
    for k in range(len(sample)):
        sample[k] = listed_run(state, n, used, limit, costs)


@ingredient()
def draw_waits(state, chance, sample):
    for k in range(len(sample)):
        sample[k] = null_run(next_word(state), chance, null_rate(chance))


def drawn(sampler, *arguments, seed=1):
    sample = np.empty(SAMPLES, np.int64)
    sampler(stream(seed), *arguments, sample)
    return sample


def run_law(n, used=0):
    """The exact probability of every length, in rational numbers."""
    survival, chance = [Fraction(1)], Fraction(1)
    fresh = n - used
    while fresh >= 2 and chance > Fraction(1, 10**18):
        chance *= Fraction(fresh * (fresh - 1), n * (n - 1))
        fresh -= 2
        survival.append(chance)
    survival.append(Fraction(0))
    return np.arange(len(survival) - 1), [float(a - b) for a, b in zip(survival, survival[1:], strict=False)]


def exact_cost(n, used, length):
    pairs = Decimal(length) * (Decimal(n).ln() + Decimal(n - 1).ln())
    return float(log_factorial(n - used - 2 * length) - log_factorial(n - used) + pairs)


@pytest.mark.parametrize(
    "n, used", [(2, 0), (3, 0), (4, 0), (5, 1), (7, 7), (8, 7), (10, 0), (10, 6), (100, 0), (100, 50), (3000, 0),
                (3000, 40), (3000, 2500), (100_000, 0), (10**6, 20_000)],
)  # fmt: skip
def test_fresh_run_has_the_exact_law(n, used):
    assert fits_law(drawn(draw_runs, n, used, FOREVER), *run_law(n, used)) > SIGNIFICANCE


def through_its_own_law(sample, n, used):
    """The chance of a run at least this long, made continuous: uniform if the sample has the law.

    `cost_of_run` may serve as the law, since it is compared with forty digits below.
    """
    high = np.array([math.exp(-cost_of_run(n, used, length)) for length in sample])
    low = np.array([math.exp(-cost_of_run(n, used, length + 1)) for length in sample])
    return low + (high - low) * np.random.default_rng(0).random(len(sample))


@pytest.mark.parametrize(
    "n, used",
    [(10**8, 0), (10**12, 0), (2**50, 0), (2**60, 0), (10**8, 60_000), (2**50, 2**27), (2**50, 2**35), (2**60, 2**31)],
)
def test_fresh_run_at_huge_populations(n, used):
    uniform = through_its_own_law(drawn(draw_runs, n, used, FOREVER), n, used)
    assert stats.kstest(uniform, "uniform").pvalue > SIGNIFICANCE


def test_the_test_catches_runs_that_are_two_percent_too_long():
    sample = drawn(draw_runs, 2**50, 0, FOREVER) // 50 * 51
    assert stats.kstest(through_its_own_law(sample, 2**50, 0), "uniform").pvalue < SIGNIFICANCE


@ingredient()
def walk_runs(state, n, sample):
    """What the run length is by definition: interactions until an agent is met again."""
    met = np.full(n, -1)
    for k in range(len(sample)):
        length = 0
        while True:
            i, j = next_pair(state, n)
            if met[i] == k or met[j] == k:
                break
            met[i] = met[j] = k
            length += 1
        sample[k] = length


def test_the_law_is_that_of_meeting_agents():
    assert fits_law(drawn(walk_runs, 50), *run_law(50)) > SIGNIFICANCE


@ingredient()
def draw_runs_with_loops(state, n, sample):
    """Deliberately biased: an agent may meet itself, as if pairs were two independent choices."""
    met = np.full(n, -1)
    for k in range(len(sample)):
        length = 0
        while True:
            i, j = int(next_double(state) * n), int(next_double(state) * n)
            if met[i] == k or met[j] == k:
                break
            met[i] = met[j] = k
            length += 1
        sample[k] = length


def test_the_test_catches_agents_that_meet_themselves():
    assert fits_law(drawn(draw_runs_with_loops, 50), *run_law(50)) < 1e-7


def test_fresh_run_is_cut_at_the_limit():
    full = drawn(draw_runs, 1000, 0, FOREVER)
    assert (drawn(draw_runs, 1000, 0, 15) == np.minimum(full, 15)).all()


@given(st.integers(1, 60), st.integers(0, 2**32), st.data())
@settings(max_examples=300, deadline=None)
def test_listed_costs_give_the_same_runs(bits, seed, data):
    n = data.draw(st.integers(2, 2**bits + 2))
    costs = listed_costs(n)
    used = data.draw(st.integers(0, len(costs) - 1))
    limit = data.draw(st.integers(0, (len(costs) - 1 - used) // 2))
    plain, listed = np.empty(200, np.int64), np.empty(200, np.int64)
    draw_runs(stream(seed), n, used, limit, plain)
    draw_listed_runs(stream(seed), n, used, limit, costs, listed)
    assert (plain == listed).all()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 17, 50])
def test_listed_runs_have_the_exact_law_and_the_test_catches_one_agent_too_many(n):
    costs = listed_costs(n)
    assert len(costs) == n + 1
    limit = n // 2
    assert fits_law(drawn(draw_listed_runs, n, 0, limit, costs), *run_law(n)) > SIGNIFICANCE
    if n > 4:  # below, one agent more or less decides nothing that is left open
        shifted = np.append(costs[1:], costs[-1]) - costs[1]
        assert fits_law(drawn(draw_listed_runs, n, 0, limit, shifted), *run_law(n)) < 1e-7


@given(st.integers(1, 60), st.data())
@settings(max_examples=300, deadline=None)
def test_listed_costs_are_right_to_ten_digits(bits, data):
    n = data.draw(st.integers(2, 2**bits + 2))
    costs = listed_costs(n)
    used = data.draw(st.integers(0, len(costs) - 1))
    length = data.draw(st.integers(0, (len(costs) - 1 - used) // 2))
    assert costs[used + 2 * length] - costs[used] == pytest.approx(exact_cost(n, used, length), rel=1e-10, abs=1e-10)


@given(st.integers(1, 60), st.data())
@settings(max_examples=300, deadline=None)
def test_the_cost_of_a_run_is_right_to_ten_digits(bits, data):
    n = data.draw(st.integers(2, 2**bits + 2))
    scale = min(n, 40 * math.isqrt(n))
    used = data.draw(st.integers(0, scale))
    length = data.draw(st.integers(0, min(n - used, scale) // 2))
    assert cost_of_run(n, used, length) == pytest.approx(exact_cost(n, used, length), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("n", [65, 80, 130, 300, 1000])
def test_the_cost_of_a_short_run_among_few_agents_is_as_right(n):
    """Where the series take over, few agents are left to Stirling's formula."""
    for used in range(n // 16):
        for length in range((n // 16 - used) // 2 + 1):
            assert cost_of_run(n, used, length) == pytest.approx(exact_cost(n, used, length), abs=1e-12)


@pytest.mark.parametrize("chance", [0.999, 0.5, 0.1, 1e-3])
def test_null_run_is_geometric(chance):
    values = np.arange(int(60 / chance) + 1)
    assert fits_law(drawn(draw_waits, chance), values, stats.geom.pmf(values + 1, chance)) > SIGNIFICANCE


@pytest.mark.parametrize("chance", [1e-6, 1e-12, 1e-18])
def test_null_run_at_tiny_chances(chance):
    sample = drawn(draw_waits, chance)
    assert stats.kstest(sample * chance, "expon").pvalue > SIGNIFICANCE
    grain = 1 if chance > 1e-15 else 2048  # a double has 53 bits
    assert (sample // grain % 2 == 1).mean() == pytest.approx(0.5, abs=0.01)


def test_the_test_catches_a_wait_that_is_three_percent_too_long():
    sample = drawn(draw_waits, 1e-12) * 1.03
    assert stats.kstest(sample * 1e-12, "expon").pvalue < SIGNIFICANCE


def test_null_run_at_the_ends():
    assert (drawn(draw_waits, 1.0) == 0).all()
    assert (drawn(draw_waits, 0.0) == FOREVER).all()
    sample = drawn(draw_waits, 1e-19)  # mean 1e19: more than half of the waits exceed 64 bits
    assert (sample == FOREVER).mean() == pytest.approx(math.exp(-0.9223), abs=0.01)
    assert (sample >= 0).all()
