"""Trials that are made together are the runs that are made one by one, to the last detail; erring twins are caught."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.compute.randomness import FEW, KERNEL, START, generator, generators, stream, streams
from hegemon.experiments.executors.gathering import Gathering
from hegemon.models import Bit, PopulationProtocol, exactly
from hegemon.models.configuration import Configuration, Group
from hegemon.runs import course, setting
from hegemon.runs.record import MadeRecord
from hegemon.runs.simulate import course_of
from hegemon.runs.trial import Trial
from hegemon.runs.trials import _Team
from tests.engines.random_protocols import Drawn


class Knockout(PopulationProtocol):
    """Coins decide who yields; starts that draw, that spawn, that count, and that do nothing of it."""

    class State:
        leader: Bit = 1

    class Coins:
        heads: Bit

    def interact(a, b, p, coins):
        if a.leader == 1 and b.leader == 1:
            if coins.heads == 1:
                a.leader = 0
            else:
                b.leader = 0

    def start_drawn(self, rng):
        number = int(rng.integers(1, self.n + 1))
        return [Group(number, {"leader": 1}), Group(self.n - number, {"leader": 0})]

    def start_spawned(self, rng):
        return self.start_drawn(rng.spawn(1)[0])

    def start_single(self, rng):
        return [Group(1, {"leader": 1}), Group(self.n - 1, {"leader": 0})]

    safe = exactly(1, lambda a, p: a.leader == 1)


def told(run: hg.Run) -> dict:
    """Everything that a run says."""
    states = run.configuration.space.encode_array(run.configuration.agents).tolist()
    rows = {name: column.tolist() for name, column in run.watched.columns.items()} if run.watched else None
    return vars(run) | {"configuration": states, "watched": rows}


def both_ways(protocol, trials: int = 40, **options) -> tuple[list, list]:
    together = hg.run_trials(protocol, trials, workers=1, keep_all=True, **options).runs
    alone = [hg.simulate(protocol, trial=trial, **options) for trial in range(trials)]
    return [told(run) for run in together], [told(run) for run in alone]


CASES = {
    "fixed": (lambda n: Knockout(n=n), {}),
    "drawn": (lambda n: Knockout(n=n), {"start": "drawn"}),
    "spawned": (lambda n: Knockout(n=n), {"start": "spawned"}),
    "inside": (lambda n: Knockout(n=n), {"start": "single"}),
    "no leader is elected": (lambda n: hg.Epidemic(n=n), {}),
    "on a graph": (lambda n: hg.Epidemic(n=n), {"graph": "ring", "engine": "agents"}),
    "broken": (lambda n: hg.Timer(n=n, s=6), {"start": "safe", "until": "broken"}),
    "steps": (lambda n: hg.Timer(n=n, s=6), {"until": "steps:70"}),
    "limit": (lambda n: hg.Pairwise(n=n), {"max_steps": 50}),
    "states": (lambda n: hg.Pairwise(n=n), {"start": "given"}),
    "condition": (lambda n: hg.Timer(n=n, s=6), {"until": "count(leader == 1) <= 2 and count(leader == 1) >= 1"}),
    "fault": (lambda n: hg.Timer(n=n, s=6), {"faults": (hg.Fault(20, 2),), "max_steps": 5000}),
    "observed": (lambda n: hg.Pairwise(n=n), {"observe": True, "every": 10}),
    "lossy": (lambda n: hg.Pairwise(n=n), {"loss": "1/3"}),
    "weighted": (lambda n: hg.Pairwise(n=n), {"scheduler": "weighted:zipf=1"}),
    "remembered": (lambda n: hg.Pairwise(n=n), {"scheduler": "permutation"}),
    "events": (lambda n: hg.Timer(n=n, s=6), {"rates": ("corrupt=1/20",), "max_steps": 300}),
    "availability": (lambda n: hg.Timer(n=n, s=6), {"availability": True, "until": "steps:300"}),
}


def options_of(options: dict, n: int) -> dict:
    if options.get("start") == "given":
        options = options | {"start": [{"leader": int(k % 2 == 0)} for k in range(n)]}
    return options | ({"graph": f"ring:{n}"} if "graph" in options else {})


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first_steps", [7, 64, 1 << 16])
def test_trials_made_together_are_the_same_runs(case, first_steps, monkeypatch):
    make, options = CASES[case]
    monkeypatch.setattr(course, "FIRST_STEPS", first_steps)
    together, alone = both_ways(make(9), seed=3, **options_of(options, 9))
    assert together == alone


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(0, 2**70), st.sampled_from([5, 100, 1 << 16]))
def test_random_protocols_make_the_same_runs(key, n, seed, first_steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "FIRST_STEPS", first_steps)
        for until in ("steps:60", "count(leader == 1) == 1"):
            together, alone = both_ways(Drawn(n=n, key=key), 8, seed=seed, until=until, start="random", max_steps=300)
            assert together == alone


def test_several_workers_make_the_same_runs(monkeypatch):
    monkeypatch.setattr(course, "FIRST_STEPS", 50)  # many are long: whoever is free goes on with them
    one, four = (hg.run_trials(Knockout(n=9), 300, seed=2, workers=size).runs for size in (1, 4))
    assert [run.record() for run in one] == [run.record() for run in four] and len(one) == 300


def test_what_is_wrong_is_said_in_the_same_words():
    class Leaves(PopulationProtocol):
        class State:
            leader: Bit = 1

        def interact(a, b, p):
            if p.n == 9 and a.leader == 1 and b.leader == 1:
                b.leader = 0

        safe = exactly(1, lambda a, p: a.leader == 1)

    with pytest.raises(hg.InvalidInput, match="exactly one leader, and this one has 9"):
        hg.run_trials(Leaves(n=9), 20, until="broken", workers=1)


def test_together_is_faster_only_where_it_is_used():
    """The short trials of this file are made together, and what cannot be is made one by one."""
    for case in ("fixed", "drawn", "broken", "steps", "states", "on a graph", "lossy", "weighted"):
        make, options = CASES[case]
        assert course_of(MadeRecord(make(9), **options_of(options, 9))).at_once > 1, case
    for case in ("fault", "observed", "remembered", "events", "availability"):
        make, options = CASES[case]
        assert course_of(MadeRecord(make(9), **options)).at_once == 1, case
    assert course_of(MadeRecord(hg.Ring(n=8))).at_once == 1  # its set is no count


def old_coins(self, trial, configuration, key, step):
    """A twin: goes on with coins that have decided something already."""
    return true_go_on(self, trial, configuration, stream(self.record.seed, trial.trial, KERNEL), step)


def lost_steps(self, trial, configuration, key, step):
    return true_go_on(self, trial, configuration, key, 0)


true_go_on = course.StateCourse._go_on
TWINS = {
    "old coins": (course.StateCourse, "_go_on", old_coins),
    "lost steps": (course.StateCourse, "_go_on", lost_steps),
    "another purpose": (course, "streams", lambda seed, trials, purpose: streams(seed, trials, START)),
    "one start for all": (setting, "_drew", lambda rng, before: False),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_twin_that_errs_is_caught(twin, monkeypatch):
    monkeypatch.setattr(course, "FIRST_STEPS", 20)
    monkeypatch.setattr(*TWINS[twin])
    if twin == "one start for all":
        monkeypatch.setattr(setting, "_same", lambda first, second: True)
    together, alone = both_ways(Knockout(n=9), seed=3, start="drawn")
    assert together != alone


def test_a_start_that_counts_is_not_taken_for_fixed():
    """It draws nothing, and is another one each time: an author's mistake must not be made a constant."""

    class Counting(Knockout):
        made = 0

        def start_counted(self, rng):
            type(self).made += 1
            return [Group(self.made, {"leader": 1}), Group(self.n - self.made, {"leader": 0})]

    starts = setting.Starts(Counting(n=50), "counted", 0)
    assert [int(start.agents["leader"].sum()) for start in starts.of(range(5))] == [1, 2, 3, 4, 5]
    assert starts.fixed is None


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**63 + 7, 2**128 + 3, 2**200])
@pytest.mark.parametrize("first", [0, 77, 2**32 - FEW, 2**32 - FEW // 2])
def test_many_streams_are_those_of_numpy(seed, first):
    trials = range(first, first + FEW)
    assert np.array_equal(streams(seed, trials, 2), [stream(seed, trial, 2) for trial in trials])
    for trial, rng in zip(trials, generators(seed, trials, START), strict=True):
        other = generator(seed, trial, START)
        assert rng.integers(2**60, size=3).tolist() == other.integers(2**60, size=3).tolist()
        assert rng.spawn(1)[0].integers(2**60) == other.spawn(1)[0].integers(2**60)
        assert rng.bit_generator.seed_seq.spawn_key == (trial, START)


def test_long_trials_are_spread_over_the_team():
    """Pieces begin with one trial and shrink towards the end, so that no worker holds what others could do."""
    taken: list[int] = []

    class Fast:
        at_once = 1000

        def many(self, trials):
            taken.append(len(trials))
            return [SimpleRun(trial.trial) for trial in trials]

        def __call__(self, trial):
            raise AssertionError

    class SimpleRun(hg.Run):
        def __init__(self, trial):
            super().__init__("x", 2, "steps", 1, True, 1, "x", "", 0, trial)

    team = _Team(Fast(), lambda k, progress: Trial(k), range(10_000), 1, SimpleNamespace(is_set=lambda: False))
    while team.is_busy(0.1):
        pass
    assert sorted(team.finished) == list(range(10_000)) and team.steps == 10_000
    assert taken[0] == 1 and max(taken) > 100 and taken[-1] == 1


def test_a_configuration_given_as_start_is_not_written_to():
    protocol = hg.Pairwise(n=9)
    start = Configuration(protocol.space, agents=protocol.space.decode_array(np.ones(9, int)))
    hg.run_trials(protocol, 20, start=start, workers=1)
    assert start.agents["leader"].sum() == 9


def test_more_trials_than_memory_holds_are_refused():
    """It once returned no runs, and said that somebody had interrupted them."""
    for trials in (2**63, 10**9 + 1, 0):
        with pytest.raises(hg.InvalidInput, match="out of range"):
            hg.run_trials(hg.Pairwise(n=5), trials)
    with pytest.raises(hg.InvalidInput, match="out of range"):
        hg.lower_bound(trials=2**63)


@pytest.mark.parametrize("place", ["_next", "_take", "_progress"])
@pytest.mark.parametrize("error", [OverflowError("too large"), SystemExit(3)])
def test_whatever_ends_a_thread_is_no_interrupt(monkeypatch, place, error):
    def fails(self, *arguments):
        raise error

    monkeypatch.setattr(_Team, place, fails)
    with pytest.raises(type(error)):
        hg.run_trials(hg.Pairwise(n=5), 20)


def test_an_interrupt_that_a_trial_raises_is_an_error_of_its_author(monkeypatch):
    def fails(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_Team, "_take", fails)
    with pytest.raises(hg.InvalidInput, match="raises KeyboardInterrupt"):
        hg.run_trials(hg.Pairwise(n=5), 20)


def test_nobody_waits_for_a_thread_that_has_ended():
    class Broken(Gathering):
        def _look(self):
            raise OverflowError("too large")

    executor = Broken(0.01)
    with pytest.raises(OverflowError):
        executor.submit(print).result(timeout=10)
    executor._thread.join(10)
    with pytest.raises(OverflowError):
        executor.submit(print)
