"""Events in engine `batch` beyond a handful of agents: against engine `agents`, and against closed forms."""

import numpy as np
import pytest
from scipy import stats

import hegemon as hg

RATES = ["corrupt=1/50,leader=0", "leave=1/100", "join=1/100,leader=1"]


def leaders(engine: str, rates: list[str], trials: int = 80) -> list[int]:
    asked = {"rates": rates, "until": "steps:1500", "engine": engine, "workers": 1, "seed": len(engine)}
    return [run.leaders for run in hg.run_trials(hg.Pairwise(n=300), trials, **asked).runs]


def test_batch_and_agents_have_one_law():
    found = leaders("batch", RATES)
    assert stats.ks_2samp(found, leaders("agents", RATES)).pvalue > 1e-4
    twin = ["corrupt=1/50,leader=1", *RATES[1:]]  # faults that always make leaders
    assert stats.ks_2samp(found, leaders("agents", twin)).pvalue < 1e-4


@pytest.mark.parametrize("engine", ["agents", "batch"])
def test_the_number_of_crashes_has_its_exact_moments(engine):
    """An agent is spared by T steps with probability (1 - r/n)^T, and two of them with (1 - 2r/n)^T."""
    n, rate, steps, trials = 200, 1 / 4, 800, 30
    asked = {"rates": ["crash=1/4"], "until": f"steps:{steps}", "engine": engine, "workers": 1}
    crashed = [run.measures["crashed"] for run in hg.run_trials(hg.Pairwise(n=n), trials, **asked).runs]
    one, two = (1 - rate / n) ** steps, (1 - 2 * rate / n) ** steps
    mean, variance = n * (1 - one), n * one + n * (n - 1) * two - (n * one) ** 2
    assert abs(np.mean(crashed) - mean) < 4 * (variance / trials) ** 0.5
    assert stats.chi2.cdf((trials - 1) * np.var(crashed, ddof=1) / variance, trials - 1) > 1e-4
    assert stats.chi2.sf((trials - 1) * np.var(crashed, ddof=1) / variance, trials - 1) > 1e-4
    assert abs(np.mean(crashed) - rate * steps) > 4 * (variance / trials) ** 0.5  # nobody crashes twice


@pytest.mark.full
@pytest.mark.parametrize("n", [10**6, 10**9])
def test_crashes_among_very_many_agents_are_binomial(n):
    """One unit of parallel time with 300 events on average: hardly any agent is hit twice."""
    trials, rate = 40, 300 / n
    asked = {"rates": [f"crash=300/{n}"], "until": f"steps:{n}", "engine": "batch", "workers": 1}
    crashed = [run.measures["crashed"] for run in hg.run_trials(hg.Pairwise(n=n), trials, **asked).runs]
    variance = n * rate * (1 - rate)
    assert abs(np.mean(crashed) - n * rate) < 4 * (variance / trials) ** 0.5
    spread = (trials - 1) * np.var(crashed, ddof=1) / variance
    assert min(stats.chi2.cdf(spread, trials - 1), stats.chi2.sf(spread, trials - 1)) > 1e-4
    assert abs(np.mean(crashed) - 2 * n * rate) > 4 * (variance / trials) ** 0.5  # twice the rate would be noticed
