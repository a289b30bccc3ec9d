"""Events in engine `batch` beyond a handful of agents: against engine `agents`, and against closed forms."""

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.randomness import FAULT, KERNEL, generator, stream
from hegemon.engines.batch.batch import Batch
from hegemon.engines.population.agents import Agents
from hegemon.graphs.families import complete
from hegemon.models import Bit, PopulationProtocol
from hegemon.models.configuration import Configuration
from hegemon.process.stopping import never
from hegemon.runs.rates import EventProcess, read_rates

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
    for factor in (1.2, 2):  # nor does this fit another rate
        assert n * (1 - (1 - factor * rate / n) ** steps) - np.mean(crashed) > 4 * (variance / trials) ** 0.5


class Still(PopulationProtocol):
    """Nothing ever happens to an agent but events."""

    class State:
        marked: Bit

    def interact(a, b, p):
        pass


N, STEPS, TRIALS = 2000, 1000, 5
KINDS = {"leave": "leave={}", "join": "join={}", "corrupt": "corrupt={},marked=1"}


def hit(engine_kind, kind: str, rate: float, besides: tuple[str, ...]) -> int:
    """How many agents an event has hit in all trials: those that left or joined, or have the mark."""
    protocol, total = Still(N), 0
    rates = read_rates([KINDS[kind].format(rate), *besides])
    for trial in range(TRIALS):
        begin = Configuration(protocol.space, codes=np.array([0]), counts=np.array([N]))
        key = stream(3, trial, KERNEL)
        engine = engine_kind(protocol, complete(N), begin, never("never"), key)
        first = N // 4 if kind == "join" else N
        engine.load(Configuration(protocol.space, codes=np.array([0]), counts=np.array([first])))
        events = EventProcess(rates, protocol, generator(3, trial, FAULT))
        while engine.step < STEPS:
            engine.advance(min(STEPS, events.step - 1))
            if engine.step == events.step - 1 < STEPS:
                events.make_due(engine)
        codes, counts = engine.configuration().multiset
        total += int(counts[codes == 1].sum()) if "marked" in str(rates[0]) else abs(int(counts.sum()) - first)
    return total


def deviation(found: int, kind: str, rate: float) -> float:
    """From the exact mean, in exact standard deviations.

    Who leaves or joins is binomial. An agent is spared by T steps with probability (1 - r/n)^T, two with (1 - 2r/n)^T.
    """
    mean, variance = STEPS * rate, STEPS * rate * (1 - rate)
    if kind == "corrupt":
        one, two = (1 - rate / N) ** STEPS, (1 - 2 * rate / N) ** STEPS
        mean, variance = N * (1 - one), N * one + N * (N - 1) * two - (N * one) ** 2
    return (found - TRIALS * mean) / (TRIALS * variance) ** 0.5


@pytest.mark.parametrize("engine", [Agents, Batch], ids=lambda engine: engine.name)
@pytest.mark.parametrize("kind", KINDS)
def test_events_are_as_many_as_their_rates_say(engine, kind):
    """A twin with 1.2 times the rate is caught; another kind of event besides changes nothing."""
    rate, besides = 0.2, () if kind == "corrupt" else ("corrupt=1/10,marked=0",)
    assert abs(deviation(hit(engine, kind, rate, besides), kind, rate)) < 4
    assert deviation(hit(engine, kind, 1.2 * rate, besides), kind, rate) > 4


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
