"""How the compared systems grow: against their claims, and against the figures of an independent prototype."""

import math

import numpy as np
import pytest

import hegemon as hg
from hegemon.engines import choice
from hegemon.protocols import AG, BFW, BK, OddRing, OptimalSilent, SublinearRanking, WarTimer
from tests.compute.agreement import same_law


def mean_time(protocol, trials: int, **options) -> float:
    runs = hg.run_trials(protocol, trials, seed=1, **options).runs
    assert all(run.reached for run in runs)
    if options.get("until", "safe") == "safe":
        assert all(run.leaders == 1 for run in runs)
    return float(np.mean([run.parallel_time for run in runs]))


def log2_squared(n):
    return math.log2(n) ** 2


FIGURES = [  # protocol, start, unit, and what the prototype measured in this unit, by n
    (OptimalSilent, "unsettled", lambda n: n, {64: 16.6, 128: 15.0, 256: 14.1, 512: 13.6}),
    (OptimalSilent, "collision", lambda n: n, {64: 7.92, 128: 5.87, 256: 5.02, 512: 4.98}),
    (WarTimer, "all-shielded", log2_squared, {64: 13.0, 256: 12.0, 1024: 13.7}),
    (AG, None, log2_squared, {64: 0.21, 256: 0.20, 1024: 0.23, 4096: 0.23}),
    (BK, None, log2_squared, {64: 0.27, 256: 0.195, 1024: 0.188, 4096: 0.149}),
]


@pytest.mark.full
@pytest.mark.parametrize(("protocol", "start", "unit", "figures"), FIGURES, ids=lambda value: getattr(value, "id", ""))
def test_times_grow_as_the_prototype_measured(protocol, start, unit, figures):
    for n, expected in figures.items():
        assert mean_time(protocol(n=n), 40, start=start) / unit(n) == pytest.approx(expected, rel=0.25), n


@pytest.mark.full
def test_barriers_cost_the_cube():
    """Three annihilating walks predict n³/27 steps; what follows takes the square."""
    for n in (129, 257):
        steps = n * mean_time(OddRing(n=n), 40, start="three-barriers")
        assert steps == pytest.approx(n**3 / 27 + 0.6 * n * n, rel=0.3), n


@pytest.mark.full
def test_bfw_takes_logarithmic_time_on_complete_graphs():
    for n in (16, 64, 256):
        rounds = [run.steps for run in hg.run_trials(BFW(n=n), 60, graph=f"complete:{n}", seed=1).runs]
        assert np.mean(rounds) / math.log2(n) == pytest.approx(3.07, rel=0.2), n


@pytest.mark.full
@pytest.mark.parametrize(("depth", "root", "figures"), [(1, 1 / 2, {16: 0.38, 64: 0.44, 256: 0.40}), (0, 1, {16: 0.5})])
def test_a_doubled_name_is_found_by_memory(depth, root, figures):
    for n, expected in figures.items():
        time = mean_time(SublinearRanking(n=n, H=depth), 40, start="doubled-name", until="alarmed")
        assert time / n**root == pytest.approx(expected, rel=0.35), n


SMALL = [
    OptimalSilent(n=4, r_max=2, d_max=3, e_max=8), WarTimer(n=4, T=8, V=2, W=4), AG(n=6, m=8), BK(n=6, top=4, r=2),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("protocol", SMALL, ids=lambda protocol: protocol.id)
def test_engines_agree_on_the_compared_systems(protocol):
    samples = {
        engine: [run.steps for run in hg.run_trials(protocol, 1500, seed=seed, engine=engine, max_steps=10**6).runs]
        for seed, engine in enumerate(choice.ENGINES["population"])
        if engine != "stepwise"  # which follows functions of one's own alone
    }
    first, *others = samples.values()
    for other in others:
        assert same_law(first, other) > 1e-4
