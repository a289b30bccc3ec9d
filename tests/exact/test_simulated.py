"""Simulated means against the exact ones, for every engine that takes the case, within a few standard errors."""

import math

import numpy as np
import pytest

import hegemon as hg
from hegemon import parts

ENGINES = parts.BUILT_IN["population engines"]
QUICK = [
    (hg.Pairwise(n=4), "all-leaders", "safe"),
    (hg.Timer(n=3, s=4), "no-leader", "safe"),
    (hg.Timer(n=3, s=2), "safe", "broken"),
]
ALL = [
    *QUICK,
    (hg.Pairwise(n=4), "all-leaders", "count(leader == 1) == 2"),
    (hg.Epidemic(n=5), "one-source", "safe"),
    (hg.Countdown(n=3, top=4), "one-full", "safe"),
    (hg.Threshold(n=4, k=3), "inputs", "safe"),
    (hg.QuickElimination(n=3), "all-leaders", "safe"),
    (hg.Timer(n=3, s=4), "random", "safe"),
    (hg.TimeOptimal(n=3, r_max=4, b_max=4), "random", "safe"),
    (hg.TimeOptimal(n=3, r_max=4, b_max=4), "safe", "broken"),
    (hg.TimeOptimal(n=3, r_max=4, b_max=4), "barely-safe", "broken"),
    (hg.TimeOptimal(n=4, r_max=2, b_max=2), "random", "safe"),
    (hg.TimeOptimal(n=4, r_max=2, b_max=2), "safe", "broken"),
    (hg.Ring(n=2, N=3), "random", "safe"),
    (hg.Ring(n=3, N=3), "all-leaders", "safe"),
]


def exact_mean(protocol, start, until) -> float:
    if until == "broken":
        return hg.verify(protocol, start="all", property="holding").holding.from_starts[start]
    times = hg.verify(protocol, start="all" if start == "random" else start, property=f"time:{until}").hitting
    return times.mean


def compare(engine, protocol, start, until, trials, errors):
    try:
        runs = hg.run_trials(
            protocol, trials, seed=8, start=start, until=until, engine=engine, max_steps=10**6, workers=1
        ).runs
    except hg.InvalidInput:
        return  # this engine does not take the case, and says so
    steps = np.array([run.steps for run in runs], float)
    assert all(run.reached for run in runs)
    error = steps.std(ddof=1) / math.sqrt(trials)
    assert abs(steps.mean() - exact_mean(protocol, start, until)) <= errors * error


@pytest.mark.parametrize(("protocol", "start", "until"), QUICK, ids=lambda value: str(getattr(value, "id", value)))
@pytest.mark.parametrize("engine", ENGINES)
def test_means(engine, protocol, start, until):
    compare(engine, protocol, start, until, 400, 3)


@pytest.mark.full
@pytest.mark.parametrize(("protocol", "start", "until"), ALL, ids=lambda value: str(getattr(value, "id", value)))
@pytest.mark.parametrize("engine", ENGINES)
def test_all_means(engine, protocol, start, until):
    compare(engine, protocol, start, until, 4000, 4)  # one right answer of 16,000 falls outside, and these are 48


def test_every_engine_took_some_case():
    taken = dict.fromkeys(ENGINES, 0)
    for engine in ENGINES:
        for protocol, start, until in (QUICK[0], (hg.Ring(n=3, N=3), "all-leaders", "safe")):
            try:
                own = (lambda step, agents, below: (step % 2, 1 - step % 2)) if engine == "stepwise" else None
                hg.simulate(protocol, start=start, until=until, engine=engine, scheduler=own, max_steps=1000)
                taken[engine] += 1
            except hg.InvalidInput:
                pass
    assert min(taken.values()) > 0
