"""A trajectory in random slices, which goes back and is repeated, is the trajectory without pauses."""

import math
import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.process.stopping import parse_stop
from hegemon.runs.rates import EventProcess
from hegemon.runs.record import MadeRecord
from hegemon.runs.simulate import course_of
from hegemon.runs.stories import Interaction, Trace
from hegemon.runs.telling import Changes
from hegemon.runs.trajectory import FIRST_REVIEW, Trajectory
from hegemon.runs.trial import Trial

FAULTS = (hg.Fault(0, 1), hg.Fault(37, 2), hg.Fault(37, 1), hg.Fault(90, 3))
ONE, NONE = {"leader": 1}, {"leader": 0}
RUNS = {
    "agents and faults": (hg.Timer(n=7, s=12), {"engine": "agents", "start": "random", "faults": FAULTS}),
    "counts and events": (
        hg.Timer(n=9, s=20),
        {"engine": "batch", "rates": ("corrupt=1/20", "leave=1/40", "join=1/9")},
    ),
    "two engines": (hg.Ring(n=8), {"start": "random", "faults": FAULTS}),
    "events of a ring": (hg.Ring(n=8), {"start": "random", "engine": "events"}),
    "a scheduler with a memory": (hg.Pairwise(n=8), {"scheduler": "permutation", "rates": ("corrupt=1/9,leader=1",)}),
    "a prescribed beginning": (hg.Pairwise(n=3), {"start": "{story}"}),
    "jumps over rounds": (hg.Trains(n=6), {"graph": "ring:6", "start": "random", "faults": FAULTS}),
    "a daemon": (hg.Trains(n=5), {"graph": "ring:5", "start": "random", "scheduler": "central:uniform"}),
    "Python objects": (hg.SublinearRanking(n=4), {}),
    "messages": (hg.FloodMax(n=8), {"graph": "ring:8", "engine": "nodes"}),
}
END = 130


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    file = tmp_path_factory.mktemp("story") / "story.json"
    steps = Interaction(2, 0, (ONE, ONE), (ONE, NONE)), Interaction(1, 2, (ONE, ONE), (ONE, NONE))
    Trace("pairwise", [ONE] * 3, steps).save(file)
    return str(file)


def begun(name, story, seed) -> Trajectory:
    protocol, options = RUNS[name]
    options = {key: value.format(story=story) if key == "start" else value for key, value in options.items()}
    record = MadeRecord(protocol, seed=seed, **options)
    if protocol.model.has_starts:
        record = replace(record, until=f"{record.protocol.time_unit}:{END}")
    return course_of(record).begin(Trial())


def seen(trajectory):
    engine, events = trajectory.engine, trajectory.events
    if hasattr(engine, "agents"):
        where = [vars(agent) for agent in engine.agents]
    elif hasattr(engine, "nodes"):
        where = [sorted(vars(engine.nodes.nodes[v]).items()) for v in sorted(engine.nodes.nodes)], engine.nodes.messages
    else:
        where = [part.tolist() for part in engine.configuration().multiset]
        where += [] if engine.as_multiset else [engine.configuration().agents.tolist()]
    return trajectory.step, trajectory.applied, events and events.place, str(where)


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("to"), st.integers(0, END)),
        st.tuples(st.just("slice"), st.integers(0, END)),
        st.tuples(st.just("keep"), st.just(0)),
        st.tuples(st.just("back"), st.integers(0, 9)),
    ),
    max_size=8,
)


def wandered(name, story, seed, moves):
    """The end of a trajectory that pauses, keeps snapshots and goes back to them."""
    trajectory = begun(name, story, seed)
    kept = [trajectory.snapshot()]
    for move, number in moves:
        if move == "to":
            trajectory.run(max(number, trajectory.step))
        elif move == "slice":
            trajectory.run(max(number, trajectory.step), time.monotonic())
        elif move == "keep":
            kept.append(trajectory.snapshot())
        else:
            trajectory.restore(kept[number % len(kept)])
    trajectory.run(END)
    return seen(trajectory)


@pytest.mark.parametrize("name", RUNS)
@given(moves=MOVES, seed=st.integers(0, 9))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_slices_and_ways_back_change_nothing(name, story, moves, seed):
    whole = begun(name, story, seed)
    whole.run(END)
    assert wandered(name, story, seed, moves) == seen(whole)


BACK = [("to", 60), ("keep", 0), ("to", 100), ("back", 1)]
TWINS = {
    "counts and events": (EventProcess, "place", property(lambda self: (0, 0), lambda self, place: None)),
    "agents and faults": (Trajectory, "_place", lambda self: {"faults": self.applied, "rng": {}, "events": None}),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_snapshot_without_a_part_is_noticed(name, story, monkeypatch):
    owner, part, broken = TWINS[name]
    wholes = []
    for seed in range(4):
        whole = begun(name, story, seed)
        whole.run(END)
        wholes.append(seen(whole))
    assert [wandered(name, story, seed, BACK) for seed in range(4)] == wholes
    if part == "_place":
        monkeypatch.setattr(Trajectory, "_return", lambda self, place: setattr(self, "applied", place["faults"]))
    else:
        monkeypatch.setattr(owner, part, broken)
    assert [wandered(name, story, seed, BACK) for seed in range(4)] != wholes


@pytest.mark.parametrize("seed", range(4))
def test_a_pause_at_a_review_changes_nothing(seed):
    """A silent population uses no coins after a review; one that paused there went on to use them once."""
    burst, end = hg.Fault(FIRST_REVIEW + 500, 4, {"leader": 1}), f"steps:{FIRST_REVIEW + 503}"
    record = MadeRecord(hg.Pairwise(n=4), engine="agents", seed=seed, faults=(burst,), until=end)
    whole, paused = (course_of(record).begin(Trial()) for _ in range(2))
    paused.run(FIRST_REVIEW)
    whole.run()
    paused.run()
    assert seen(whole) == seen(paused)


def test_another_stop_is_sought_and_then_forgotten():
    protocol = hg.Pairwise(n=6)
    trajectory = course_of(MadeRecord(protocol, seed=3, engine="agents", max_steps=300)).begin(Trial())
    stop, own = parse_stop("count(leader == 1) == 4", protocol), trajectory.plan.stop
    assert trajectory.seek(stop) and trajectory.plan.stop is own is trajectory.engine.stop
    assert int(trajectory.engine.configuration().agents["leader"].sum()) == 4
    assert trajectory.run() and trajectory.step == hg.simulate(protocol, seed=3, engine="agents", max_steps=300).steps


def test_changes_are_told_while_nothing_else_changes():
    record = MadeRecord(hg.Pairwise(n=6), seed=3, engine="agents")
    trajectory = course_of(record).begin(Trial())
    changes = Changes(trajectory)
    while not trajectory.run(trajectory.step + 1):
        pass
    assert len(changes.lines) == 5 and trajectory.step == hg.simulate(**vars(record)).steps
    assert changes.lines[-1].startswith(f"step {trajectory.step}: ") and math.isfinite(trajectory.step)
