"""A run does not depend on where it is stopped and looked at, before a stop that nobody waits for or after it, nor
after somebody reached in; snapshots, and engines that go on elsewhere, repeat it."""

import random

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.batch import skipping
from hegemon.engines.batch.batch import Batch
from hegemon.engines.population import adaptive_complete, codes, draws
from hegemon.engines.population.adaptive import Adaptive
from hegemon.engines.population.agents import Agents
from hegemon.engines.population.events import Events
from hegemon.engines.rounds.rounds import Rounds
from hegemon.models import Bit, Configuration, PopulationProtocol, Range
from hegemon.process.stopping import parse_stop
from hegemon.runs.setting import topology_for
from tests.engines.random_protocols import ABSENT, Drawn
from tests.engines.rounds.test_fast_forward import Lamps
from tests.engines.test_interventions import Copy


class Counted(PopulationProtocol):
    """One agent counts whom it meets, so that there are few states at a time, and many in all."""

    class State:
        counts: Bit
        x: Range(0, 60)

    def interact(a, b, p):
        if a.counts == 1:
            a.x = (a.x + 1) % 61


CASES = {
    "agents": (Agents, Copy(n=40), "complete", "count(x == 1) == 13", 400),
    "records": (Agents, Drawn(n=12, key=3), "complete", ABSENT, 120),
    "events": (Events, Drawn(n=12, key=3, rate=10), "ring", ABSENT, 300),
    "sparse": (Adaptive, Drawn(n=12, key=3, rate=40), "ring", ABSENT, 600),
    "batch": (Batch, Copy(n=40), "complete", "count(x == 1) == 13", 3000),
    "batch with many states": (Batch, Counted(n=30), "complete", "count(x == 3) >= 1", 4000),
    "auto": (adaptive_complete.AdaptiveSmall, Copy(n=40), "complete", "count(x == 1) == 13", 1000),
    "rounds": (Rounds, Lamps(n=4), "ring", "count(lit == 0) >= 2", 150),
}


class Course:
    """A run to `last`, reached into at a third of the way, as (configurations at the end and a little later)."""

    def __init__(self, case: str, seed: int):
        self.kind, self.protocol, graph, until, self.last = CASES[case]
        protocol = self.protocol
        self.topology, self.stop = topology_for(protocol, f"{graph}:{protocol.n}"), parse_stop(until, protocol)
        drawn = np.random.default_rng(seed)
        codes = drawn.integers(protocol.space.size, size=(2, protocol.n))
        if isinstance(protocol, Counted):
            codes[:] = 0
            codes[:, 0] = protocol.space.code(protocol.space.parse({"counts": 1, "x": 5}))
        if isinstance(protocol, Lamps):
            lamps = [protocol.space.code(protocol.space.parse({"heads": 0, "phase": 0, "lit": lit})) for lit in (0, 1)]
            codes = np.array([[*lamps, lamps[1], lamps[1]]] * 2)  # long waits: jumps end at the horizon
        self.start, self.damage = (
            Configuration(protocol.space, agents=protocol.space.decode_array(row)) for row in codes
        )
        self.seed = seed
        self.engine = self.make()

    def make(self):
        return self.kind(self.protocol, self.topology, self.start, self.stop, stream(self.seed, 0, KERNEL))

    def to(self, step: int) -> None:
        while self.engine.step < step:
            self.engine.advance(step)

    def seen(self) -> list[int]:
        codes = self.protocol.space.encode_array(self.engine.configuration().agents)
        return sorted(codes.tolist()) if self.engine.as_multiset else codes.tolist()

    def run(self, split=None) -> list:
        """At once, or by `split(course, goal)`."""
        shown = []
        for goal in (self.last // 3, self.last, self.last + 7):
            self.engine.horizon = goal
            (split or Course.to)(self, goal)
            shown.append(self.seen())
            if len(shown) == 1:
                self.engine.load(self.damage)
        return shown


def slices(course: Course, goal: int) -> None:
    """With observations at some steps."""
    dice = random.Random(goal)
    while course.engine.step < goal:
        course.to(min(goal, course.engine.step + dice.choice((1, 1, 2, 5, 33, 60))))
        if dice.random() < 0.5:
            course.seen()
            course.engine.counts_hold()


def returns(course: Course, goal: int) -> None:
    """With ways that are gone twice."""
    dice = random.Random(goal)
    while course.engine.step < goal:
        kept = course.engine.snapshot()
        course.to(min(goal, course.engine.step + dice.choice((1, 9, 50))))
        course.engine.restore(kept)
        course.to(min(goal, course.engine.step + dice.choice((1, 7, 40))))


def moves(course: Course, goal: int) -> None:
    """From engine to engine, as checkpoints do."""
    for step in np.linspace(course.engine.step, goal, 6).astype(int).tolist():
        course.to(step)
        frozen = course.engine.freeze()
        course.engine = course.make()
        course.engine.thaw(frozen)
        course.engine.horizon = goal


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    monkeypatch.setattr(adaptive_complete, "BRIEF", 50)
    monkeypatch.setattr(adaptive_complete, "REVIEW", 1)
    monkeypatch.setattr(adaptive_complete, "cost_of_agents", lambda n: 1e9)
    monkeypatch.setattr(skipping, "LARGEST_SIDE", 4)


@pytest.mark.parametrize("split", [slices, returns, moves])
@pytest.mark.parametrize("case", CASES)
def test_a_run_does_not_depend_on_where_it_is_stopped(case, split, monkeypatch):
    if case == "records":
        monkeypatch.setattr(codes, "LARGEST_TABLE", 0)
    for seed in range(3):
        assert Course(case, seed).run(split) == Course(case, seed).run(), seed


class Wasteful(Agents):
    """Drops the pairs that were drawn together with the one that met a stop."""

    def advance(self, limit):
        goal = min(limit, self.step + draws.BLOCK)
        met = super().advance(goal)
        if met and self.step < goal:
            there = self.snapshot()
            while self.step < goal:
                super().advance(goal)
            used = self.rng.copy()
            self.restore(there)
            self.rng[:] = used
        return met


def test_coins_that_are_dropped_at_a_stop_are_caught(monkeypatch):
    monkeypatch.setitem(CASES, "agents", (Wasteful, *CASES["agents"][1:]))
    assert any(Course("agents", seed).run(slices) != Course("agents", seed).run() for seed in range(3))


@pytest.mark.parametrize("engine", ["agents", "batch"])
def test_recording_does_not_change_what_follows_a_fault(engine):
    options = {"seed": 7, "faults": (hg.Fault(2000, 10),), "engine": engine}
    plain = hg.simulate(hg.Pairwise(n=20), **options)
    for every in (1, 7):
        assert hg.simulate(hg.Pairwise(n=20), observe=True, every=every, **options).steps == plain.steps
