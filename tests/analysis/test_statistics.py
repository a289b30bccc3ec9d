"""Intervals against SciPy's, and their coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hegemon.analysis.statistics import mean_interval, summarize, wilson


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=50))
def test_mean_interval_is_students(values):
    low, high = mean_interval(values)
    if len(set(values)) == 1:
        assert low == high == values[0]
    else:
        expected = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert (low, high) == pytest.approx(expected)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case):
    successes, trials = case
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(1)
    means = [mean_interval(rng.normal(3, 2, 10)) for _ in range(2000)]
    assert 0.93 < np.mean([low < 3 < high for low, high in means]) < 0.97
    shares = [wilson(rng.binomial(80, 0.3), 80) for _ in range(2000)]
    assert 0.93 < np.mean([low < 0.3 < high for low, high in shares]) < 0.97


def test_summaries_of_little():
    assert summarize([])["mean"] is None
    assert summarize([4]) == {
        "mean": 4.0, "median": 4.0, "ci95": [4.0, 4.0], "standard_error": 0.0, "minimum": 4.0, "maximum": 4.0,
    }  # fmt: skip
    assert wilson(0, 0) == (0.0, 1.0)
