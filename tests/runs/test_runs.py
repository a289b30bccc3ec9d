"""What the papers promise, seen in runs: exact means, one leader from every start, closed sets, recovery."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.process.membership import Membership
from hegemon.process.stopping import parse_stop
from hegemon.runs.history import History


def mean_and_error(protocol, trials, **options):
    steps = np.array([run.steps for run in hg.run_trials(protocol, trials, **options).runs])
    return steps.mean(), steps.std(ddof=1) / np.sqrt(trials)


@pytest.mark.parametrize("n", [2, 7, 60])
def test_pairwise_takes_n_minus_one_squared(n):
    mean, error = mean_and_error(hg.Pairwise(n=n), 2000, seed=1)
    assert abs(mean - (n - 1) ** 2) < 3.5 * max(error, 1e-9)


@pytest.mark.parametrize("n", [2, 9, 80])
def test_epidemic_takes_n_minus_one_times_harmonic(n):
    mean, error = mean_and_error(hg.Epidemic(n=n), 2000, seed=1)
    assert abs(mean - (n - 1) * sum(1 / k for k in range(1, n))) < 3.5 * max(error, 1e-9)


@pytest.mark.parametrize("n", [3, 10, 100, 1000])
def test_time_optimal_elects_from_every_start(n):
    protocol = hg.TimeOptimal(n=n)
    for start in protocol.starts:
        for run in hg.run_trials(protocol, 3, seed=n, start=start, max_steps=4000 * n * protocol.m).runs:
            assert run.reached and run.leaders == 1, (start, run.trial)


@pytest.mark.full
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_time_optimal_elects_from_every_start_at_scale(n):
    test_time_optimal_elects_from_every_start(n)


@pytest.mark.parametrize("factor", [1, 3])
@pytest.mark.parametrize("n", [2, 3, 5, 9, 30, pytest.param(100, marks=pytest.mark.full)])
def test_ring_elects_and_its_closed_sets_stay_closed(n, factor):
    protocol = hg.Ring(n=n, N=factor * n)
    sets = {name: Membership(protocol, parse_stop(name, protocol)) for name in ("C_PB", "C_NI", "safe")}
    run = hg.simulate(protocol, seed=n)
    assert run.reached and run.leaders == 1
    inside = dict.fromkeys(sets, False)
    for steps in np.linspace(0, 1.2 * run.steps, 15).astype(int):
        agents = hg.simulate(protocol, seed=n, until=f"steps:{steps}").configuration.agents
        for name, membership in sets.items():
            now = membership.holds(agents)
            assert now or not inside[name], (name, steps)
            inside[name] = now
    assert all(inside.values())


@pytest.mark.full
@pytest.mark.parametrize("factor", [1, 3])
def test_ring_elects_at_every_size(factor):
    for n in range(2, 101):
        for run in hg.run_trials(hg.Ring(n=n, N=factor * n), 5, seed=n).runs:
            assert run.reached and run.leaders == 1


@pytest.mark.parametrize("start", ["all-leaders", "no-leader"])
def test_ring_elects_from_named_starts(start):
    for n in (2, 7, 20):
        assert hg.simulate(hg.Ring(n=n), start=start, seed=4).leaders == 1


@pytest.mark.parametrize("n", [10, 100])
def test_timer_elects_with_the_published_constant(n):
    protocol = hg.Timer(n=n)
    assert protocol.s == 96 * n
    for start in ("random", "all-leaders", "no-leader"):
        runs = hg.run_trials(protocol, 3, seed=5, start=start, max_steps=2000 * n * n).runs
        assert all(run.reached and run.leaders == 1 for run in runs)


@pytest.mark.parametrize("marked", [0, 1, 8, 9, 10, 11, 12, 30])
def test_threshold_answers_right_around_k(marked):
    protocol = hg.Threshold(n=30, marked=marked)
    for run in hg.run_trials(protocol, 20, seed=marked).runs:
        later = hg.simulate(protocol, seed=marked, trial=run.trial, until=f"steps:{run.steps + 20_000}")
        answers = {agent["x"] == 10 for agent in later.configuration.mappings()}
        assert answers == {marked >= 10}


def test_quick_elimination_ends_with_a_unique_maximum_often_enough():
    """Lemma 5 promises at least 1/16."""
    runs = hg.run_trials(hg.QuickElimination(n=64), 400, seed=2, keep_all=True).runs
    unique = 0
    for run in runs:
        levels = [agent["level"] for agent in run.configuration.mappings() if agent["leader"]]
        unique += levels.count(max(levels)) == 1
    assert unique / len(runs) > 0.3


def test_faults_are_recovered_from():
    protocol = hg.TimeOptimal(n=60)
    fault = hg.Fault(step=500, agents=30)
    for run in hg.run_trials(protocol, 5, seed=3, start="safe", faults=(fault,)).runs:
        assert run.reached and run.leaders == 1
        assert run.steps == 500 + run.measures["recovery_steps"] and run.measures["recovery_steps"] > 0


def test_a_fault_changes_just_its_victims():
    protocol = hg.Timer(n=20, s=50)
    for agents in (1, 7, 20):
        fault = hg.Fault(step=0, agents=agents, values={"timer": 3})
        run = hg.simulate(protocol, start="safe", until="steps:0", faults=(fault,), seed=agents)
        timers = [agent["timer"] for agent in run.configuration.mappings()]
        assert timers.count(3) == agents and timers.count(50) == 20 - agents
        assert run.leaders == 1


def test_random_faults_write_states_in_range():
    protocol = hg.TimeOptimal(n=500)
    run = hg.simulate(protocol, start="safe", until="steps:0", faults=(hg.Fault(0, 400),), seed=1)
    phases = [agent["phase"] for agent in run.configuration.mappings()]
    assert 100 < phases.count("EL") < 300  # about half of all states are in the election phase


@pytest.mark.parametrize(
    ("fault", "part"),
    [
        (hg.Fault(0, 21), r"1\.\.20"),
        (hg.Fault(0, 1, {"boss": 1}), "no field 'boss'"),
        (hg.Fault(0, 1, {"timer": 99}), "timer = 99"),
    ],
)
def test_bad_faults_are_named(fault, part):
    with pytest.raises(hg.InvalidInput, match=part):
        hg.simulate(hg.Timer(n=20, s=50), start="safe", faults=(fault,))


def test_history_at_chosen_steps():
    run = hg.simulate(hg.Pairwise(n=30), until="steps:1000", observe=True, at=[0, 10, 999], seed=1)
    assert run.history["step"].tolist() == [0, 10, 999]
    assert run.history["leaders"].iloc[0] == 30
    assert run.history["leaders"].is_monotonic_decreasing


def test_history_of_an_unknown_length_keeps_its_size():
    for until in ("steps:100", "steps:100000"):
        run = hg.simulate(hg.Pairwise(n=30), until=until, observe=True, seed=1)
        steps = run.history["step"]
        assert len(steps) <= 202
        assert steps.iloc[0] == 0 and steps.iloc[-1] == run.steps
        assert len(set(np.diff(steps)[:-1])) == 1


def test_a_large_population_is_looked_at_a_few_times_per_unit_of_time():
    """Recording may cost as much as the run, not ten times that: few samples, whatever the length of the run."""
    looked = []

    class Watcher:
        units: dict = {}

        def measure(self, configuration):
            looked.append(configuration)
            return {"leaders": 1}

    history, step, n = History(Watcher(), 10**6), 0, 10**6
    while step < 40 * n:
        history.record(step, None)
        step = history.next_step(step)
    assert 100 <= len(looked) <= 4 * 40 and 100 <= len(history.watched().frame) <= 201


def test_max_steps_cuts_a_run_off():
    run = hg.simulate(hg.Pairwise(n=30), start="no-leader", max_steps=5000)
    assert (run.steps, run.reached, run.leaders) == (5000, False, 0)


def test_broken_needs_one_leader():
    with pytest.raises(hg.InvalidInput, match="exactly one leader"):
        hg.simulate(hg.Timer(n=5), start="all-leaders", until="broken")
    with pytest.raises(hg.InvalidInput, match="elects a leader"):
        hg.simulate(hg.Epidemic(n=5), until="broken")


def test_an_explicit_start():
    leader, follower = {"leader": 1}, {"leader": 0}
    run = hg.simulate(hg.Pairwise(n=3), start=[leader, leader, follower], until="steps:0")
    assert run.leaders == 2
    with pytest.raises(hg.InvalidInput, match="2 states but n = 3"):
        hg.simulate(hg.Pairwise(n=3), start=[leader, leader])
