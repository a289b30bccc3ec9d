"""The course of a run: faults and limits, lost leaders, false claims, runs that can no longer end, bounded memory."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.engines.pacing import Pace
from hegemon.engines.population.agents import Agents
from hegemon.engines.prospects import SILENT, STUCK, Prospects
from hegemon.models import Bit, Parameter, PopulationProtocol, Range, exactly, whole
from hegemon.process.stopping import parse_stop
from hegemon.runs.plan import RunPlan
from hegemon.runs.setting import topology_for
from hegemon.runs.trajectory import Trajectory

ENGINES = ["agents", "batch", "auto"]


def is_odd(agents, p):
    total = 0
    for a in agents:
        total += a.x
    return total % 7 < 3


class Blinking(PopulationProtocol):
    """Something changes for ever, but never who leads."""

    top = Parameter(1, low=1)

    class State:
        leader: Bit = 0
        x: Range(0, "top") = 0

    def interact(a, b, p):
        a.x = a.x + 1 if a.x < p.top else 0

    said_closed = whole(is_odd).described("a false claim", closed=True)
    led = exactly(1, lambda a, p: a.leader == 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_beyond_the_limit_does_not_happen(engine):
    fault = hg.Fault(5000, 3)
    assert hg.simulate(hg.Timer(n=8, s=12), until="steps:100", faults=(fault,), engine=engine).steps == 100
    run = hg.simulate(hg.Pairwise(n=8), start="no-leader", max_steps=200, faults=(fault,), engine=engine)
    assert (run.steps, run.reached) == (200, False) and "recovery_steps" not in run.measures


def test_the_smaller_limit_counts():
    run = hg.simulate(hg.Pairwise(n=8), until="steps:100", max_steps=30)
    assert (run.steps, run.reached) == (30, False)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("agents", "value", "steps"), [(8, 1, 10), (8, 0, 10)])
def test_a_leader_lost_by_the_fault_itself_is_seen(engine, agents, value, steps):
    fault = hg.Fault(10, agents, {"leader": value})
    options = {"start": "safe", "until": "broken", "engine": engine, "faults": (fault,)}
    assert hg.simulate(hg.Timer(n=8, s=96 * 8), seed=2, **options).steps == steps


def test_a_fault_that_changes_no_output_is_not_seen():
    fault = hg.Fault(10, 8, {"timer": 700})
    run = hg.simulate(hg.Timer(n=8, s=96 * 8), start="safe", until="broken", faults=(fault,), max_steps=200)
    assert (run.steps, run.reached) == (200, False)


def test_random_faults_are_seen_alike_by_agents_and_batch():
    """A random state for each of two agents: how often an output changes, as an array and as a multiset."""
    protocol = hg.Timer(n=3, s=6)
    seen = []
    for engine in ("agents", "batch"):
        options = {"start": "safe", "until": "broken", "max_steps": 0, "faults": (hg.Fault(0, 2),), "engine": engine}
        seen.append(sum(run.reached for run in hg.run_trials(protocol, 1000, seed=4, **options).runs))
    # unchanged: both were followers and stay (1/3 * 1/4), or the leader and a follower keep theirs (2/3 * 1/4)
    assert all(abs(number / 1000 - 3 / 4) < 0.05 for number in seen)


def test_a_set_that_claims_to_be_closed_and_is_not_is_caught():
    with pytest.raises(hg.InvalidInput, match="said_closed of blinking is declared closed, but"):
        for seed in range(5):
            hg.simulate(Blinking(n=40, top=6), until="said_closed", seed=seed, start=[{"leader": 0, "x": 2}] * 40)


@pytest.mark.parametrize("engine", [*ENGINES, "events"])
def test_a_silent_run_ends_and_says_so(engine):
    run = hg.simulate(hg.Pairwise(n=20), until="count(leader == 1) < 1", engine=engine)
    assert (run.reached, run.ended) == (False, SILENT)
    assert run.record()["ended"] == SILENT
    run = hg.simulate(hg.Pairwise(n=20), until="count(leader == 1) < 1", engine=engine, max_steps=10**12)
    assert (run.reached, run.steps) == (False, 10**12)  # where nothing changes, steps cost nothing


def test_a_run_that_can_never_meet_its_stop_ends_and_says_so():
    run = hg.simulate(Blinking(n=10), until="led", engine="agents")
    assert (run.reached, run.ended) == (False, STUCK)


@pytest.mark.parametrize(
    ("leaders", "until", "silent", "stuck"),
    [
        (2, "count(leader == 1) == 1", False, False),  # what is still possible is never denied
        (3, "count(leader == 1) == 2", False, False),
        (1, "count(leader == 1) == 0", True, True),
        (2, "count(leader == 1) >= 3", False, True),
        (2, "count(leader == 0) >= 5", False, False),  # out of reach, but not proved to be
    ],
)
def test_prospects(leaders, until, silent, stuck):
    protocol = hg.Pairwise(n=5)
    topology, stop = topology_for(protocol), parse_stop(until, protocol)
    agents = np.zeros(5, protocol.space.dtype)
    agents["leader"][:leaders] = 1
    begin = hg.models.Configuration(protocol.space, agents=agents)
    engine = Agents(protocol, topology, begin, stop, np.arange(4, dtype=np.uint64))
    prospects = Prospects(protocol, topology, stop, lambda: None)
    assert prospects.is_silent(engine) == silent
    assert prospects.is_stuck(engine) == stuck


def test_prospects_cost_no_more_than_the_steps_so_far():
    """All pairs of the values of a timer take longer in plain Python than a million compiled steps."""
    protocol = hg.Timer(n=40, s=50)
    topology, stop = topology_for(protocol), parse_stop("count(leader == 1) == 41", protocol)
    begin = hg.models.Configuration(protocol.space, agents=protocol.space.decode_array(np.arange(10, 50)))
    engine = Agents(protocol, topology, begin, stop, np.arange(4, dtype=np.uint64))
    for _ in range(2):  # the second run is not ahead of the first, although all pairs are known by then
        prospects = Prospects(protocol, topology, stop, lambda: None)
        for step, most in ((1 << 20, 604), (1 << 21, 709), (1 << 30, 1 << 20)):
            engine.load(begin, step)
            settled = prospects.is_stuck(engine)
            assert settled == (step == 1 << 30) and len(prospects._asked) <= most


def test_what_does_not_fit_is_refused_before_it_is_allocated():
    with pytest.raises(hg.InvalidInput, match="GB as an array, which is too much for engine agents"):
        hg.simulate(hg.Pairwise(n=10**10), engine="agents")
    with pytest.raises(hg.InvalidInput, match="GB in engine events"):
        hg.simulate(hg.Pairwise(n=10**6), engine="events")


def test_only_the_first_configuration_is_kept_unless_asked_for():
    runs = hg.run_trials(hg.Pairwise(n=8), 3, seed=1).runs
    assert [run.configuration is None for run in runs] == [False, True, True]
    assert all(run.configuration for run in hg.run_trials(hg.Pairwise(n=8), 3, seed=1, keep_all=True).runs)


def test_a_history_of_every_step_is_bounded():
    options = {"until": "steps:1000", "observe": True, "every": 1, "seed": 1}
    assert len(hg.simulate(hg.Pairwise(n=30), **options).history) == 1001
    rows = hg.simulate(hg.Pairwise(n=30), most_rows=300, **options).history
    assert 125 <= len(rows) <= 301 and rows["step"].iloc[-1] == 1000 and set(rows["step"] % 4) == {0}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interrupted_run_stops_where_it_is(engine):
    run = hg.simulate(hg.Timer(n=100), start="safe", until="broken", engine=engine, progress=lambda step: True)
    assert run.interrupted and not run.reached


def test_options_are_refused_in_one_sentence():
    with pytest.raises(hg.InvalidInput, match="simulate has no option 'speed'; its options are graph, start"):
        hg.simulate(hg.Pairwise(n=5), speed=3)
    with pytest.raises(hg.InvalidInput, match="run_trials has no option 'speed'"):
        hg.run_trials(hg.Pairwise(n=5), 2, speed=3)
    with pytest.raises(hg.InvalidInput, match="wake means nothing to pairwise"):
        hg.simulate(hg.Pairwise(n=5), wake="random")
    with pytest.raises(hg.InvalidInput, match="make an instance of it"):
        hg.simulate(hg.Pairwise)


@pytest.mark.parametrize("engine", [*ENGINES, "events"])
def test_the_clock_changes_nothing(engine, monkeypatch):
    """However much work fits in a slice of time: also where a stop is met that nobody waits for yet."""
    options = {"engine": engine, "seed": 5, "faults": (hg.Fault(9000, 9, {"leader": 1}),)}
    expected = hg.simulate(hg.Pairwise(n=20), **options)
    amounts = iter(range(1, 10**6, 37))
    whatever = property(lambda self: next(amounts), lambda self, value: None)
    monkeypatch.setattr(Pace, "amount", whatever, raising=False)
    assert hg.simulate(hg.Pairwise(n=20), **options).record() == expected.record()


def test_a_run_without_hope_ends_at_the_same_step_after_an_interruption():
    protocol = hg.Pairwise(n=5)
    topology, stop = topology_for(protocol), parse_stop("count(leader == 1) >= 3", protocol)
    begin = hg.models.Configuration(protocol.space, agents=np.zeros(5, protocol.space.dtype))
    ends = []
    for interruption in (None, 600_000):
        plan = RunPlan(protocol, topology, Agents, stop)
        trajectory = Trajectory(plan, plan.engine(begin, np.arange(4, dtype=np.uint64)))
        if interruption:
            trajectory.run(interruption)
            resumed = Trajectory(plan, plan.engine(begin, np.arange(4, dtype=np.uint64)))
            resumed.thaw(trajectory.freeze())
            trajectory = resumed
        assert not trajectory.run() and trajectory.ended
        ends.append(trajectory.step)
    assert ends == [1 << 20] * 2
