"""Intervals against SciPy's, and their coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hegemon import Pairwise, Referees, run_trials
from hegemon.analysis.statistics import mean_interval, summarize, summarize_times, wilson


def students(values):
    return stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=50))
def test_values_of_both_signs_have_students_interval(values):
    low, high = mean_interval(values)
    if len(set(values)) == 1:
        assert low == high == values[0]
    elif min(values) < 0:
        assert (low, high) == pytest.approx(students(values))


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=50))
def test_the_interval_of_times_is_never_negative_and_holds_the_mean(values):
    low, high = mean_interval(values)
    assert 0 <= low <= np.mean(values) * (1 + 1e-12) and np.mean(values) <= high * (1 + 1e-12)


def test_the_interval_of_many_times_is_students():
    values = np.random.default_rng(4).gamma(9, size=100_000)
    assert mean_interval(values) == pytest.approx(students(values), rel=1e-4)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case):
    successes, trials = case
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


def coverage(interval, draw, truth, trials=2000):
    rng = np.random.default_rng(1)
    found = (interval(draw(rng)) for _ in range(trials))
    return np.mean([low <= truth <= high for low, high in found])


def test_intervals_cover_as_often_as_they_say():
    assert 0.93 < coverage(mean_interval, lambda rng: rng.normal(30, 2, 10), 30) < 0.97
    assert 0.93 < coverage(lambda k: wilson(k, 80), lambda rng: rng.binomial(80, 0.3), 0.3) < 0.97


def test_skewed_times_are_covered_better_than_by_students_interval():
    def skewed(rng):
        return rng.exponential(size=5)

    ours, symmetric = coverage(mean_interval, skewed, 1), coverage(students, skewed, 1)
    assert ours > 0.92 and symmetric < 0.90  # the same test tells the two apart


def test_summaries_of_little():
    assert summarize([])["mean"] is None
    assert summarize([4]) == {
        "mean": 4.0, "median": 4.0, "ci95": None, "standard_error": None, "minimum": 4.0, "maximum": 4.0,
    }  # fmt: skip
    assert summarize([4, 4])["ci95"] == [4.0, 4.0] and summarize([4, 4])["standard_error"] == 0
    assert summarize([0, 0, 100])["ci95"][0] >= 0 and math.isfinite(summarize([0, 0, 100])["ci95"][1])
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_censored_sample_has_no_mean_without_the_word():
    """Of exponential times with mean 100, stopped at 100: the mean of those that ended is far too small."""
    times = np.random.default_rng(5).exponential(100, 4_000)
    found = summarize_times(np.minimum(times, 100), times < 100)
    assert found["mean"] is found["ci95"] is found["standard_error"] is found["maximum"] is None
    assert found["censored"] == (times >= 100).sum() and found["mean_of_reached"] < 50
    assert found["mean_of_reached"] < found["mean_at_least"] < 70 and found["median"] == np.median(times)
    assert summarize_times(np.minimum(times, 30), times < 30)["median"] is None
    whole = summarize_times(times, times > -1)
    assert (whole["censored"], whole["mean_at_least"], whole["mean_of_reached"]) == (0, None, None)
    assert {name: whole[name] for name in summarize(times)} == summarize(times)
    nothing = summarize_times([7, 7], [False, False])
    assert (nothing["mean_at_least"], nothing["mean_of_reached"], nothing["median"]) == (7, None, None)


def test_runs_that_were_stopped_are_censored_everywhere():
    trials = run_trials(Pairwise(n=30), 40, seed=3, max_steps=600, workers=1)
    steps, reached = [run.steps for run in trials.runs], [run.reached for run in trials.runs]
    assert 5 < sum(reached) < 35
    summary = trials.summary
    assert {name: summary[name] for name in summarize_times(steps, reached)} == summarize_times(steps, reached)
    figure = trials.plot().figure
    labels = [text for axis in figure.axes for text in axis.get_legend_handles_labels()[1]]
    assert not any(text.startswith("mean") for text in labels)
    shown = trials._repr_html_()
    assert "mean at least" in shown and "mean of reached" in shown and ">mean<" not in shown
    elections = run_trials(Referees(n=40), 12, seed=1, max_steps=1, workers=1).summary
    assert elections["messages"]["mean"] is elections["messages_per_scale"] is None
    assert elections["messages"]["censored"] == elections["bits"]["censored"] == 12
