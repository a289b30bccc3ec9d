"""Rounds made class by class are those of the plain engine: every number, coin and private field."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.engines.rounds import lockstep, lockstep_kernels, rounds
from hegemon.engines.rounds.lockstep_kernels import DEPARTS
from hegemon.models import Bit, Coin, Group, Range, RoundsProtocol, at_least, whole
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import topology_for
from hegemon.web.worlds import AgentWorld, outputs_change
from tests.engines.rounds.test_fast_forward import Lamps
from tests.models.rounds_protocols import IndependentSet, Levels


@pytest.fixture
def march(monkeypatch):
    """`march(protocol, ...)`: the run class by class wherever possible, and how many rounds were made so."""
    used = []

    class Watched(lockstep.Lockstep):
        def __init__(self, engine):
            super().__init__(engine)
            used.append(self)

    def run(protocol, everywhere=True, **options):
        with monkeypatch.context() as patch:
            patch.setattr(rounds, "Lockstep", Watched)
            patch.setattr(lockstep, "FEWEST_NODES", 0 if everywhere else 10**9)
            patch.setattr(lockstep, "FIRST_WAIT", 0)
            patch.setattr(lockstep, "SHORTEST_WAIT", 1)
            patch.setattr(lockstep, "MOST_TRIED", 100)
            used.clear()
            result = hg.simulate(protocol, **options)
            return result, sum(one.rounds_made for one in used)

    return run


def alike(first, second) -> bool:
    return (
        (first.steps, first.reached, first.ended, first.measures)
        == (second.steps, second.reached, second.ended, second.measures)
        and np.array_equal(first.configuration.agents, second.configuration.agents)
        and (first.history is None or first.history.equals(second.history))
    )


class Blinkers(RoundsProtocol):
    """A node far from a lit one waits in step with all others, tosses a biased coin in every round, and counts heads in
    private; with enough of them it lights its lamp."""

    private = ("heads",)

    class Coins:
        heads: Coin("1/3")

    class State:
        phase: Range(0, 3)
        lit: Bit
        heads: Range(0, 5)

    def update(me, neighbours, coins, p):
        for other in neighbours:
            if other.lit == 1 and me.phase == 0:
                me.lit = 1
        if me.lit == 0:
            me.heads = me.heads + 1 if coins.heads == 1 and me.heads < 5 else 0
            if me.heads == 5 and me.phase == 3:
                me.lit = 1
        me.phase = (me.phase + 1) % 4

    def start_dark(self, rng, topology):
        """No lamp is lit."""
        return [Group(self.n, {"phase": 0, "lit": 0, "heads": 0})]

    default_start = "dark"
    all_lit = at_least("n", lambda a, p: a.lit == 1)


CASES = [
    (hg.Trains(40), {"graph": "regular:40,4", "start": "random"}),
    (hg.Trains(40), {"graph": "regular:40,4", "start": "no-leader"}),
    (hg.Trains(16), {"graph": "complete:16", "start": "all-leaders"}),
    (hg.Trains(12), {"graph": "star:12", "start": "random"}),
    (hg.Trains(20), {"graph": "grid:4x5", "start": "corrupted"}),
    (Lamps(30), {"graph": "ring:30", "until": "half"}),
    (Blinkers(30), {"graph": "ring:30", "until": "all_lit"}),
    (Levels(30), {"graph": "grid:5x6"}),
    (IndependentSet(40), {"graph": "regular:40,4"}),
    (hg.BFW(30), {"graph": "regular:30,4"}),
]
IDS = [f"{protocol.id} {options['graph']} {options.get('start', '')}" for protocol, options in CASES]


SOME = [pytest.param(*case, marks=[pytest.mark.full] * isinstance(case[0], Blinkers)) for case in CASES]


@pytest.mark.parametrize("fast_forward", [True, False])
@pytest.mark.parametrize(("protocol", "options"), SOME, ids=IDS)
def test_the_same_numbers_with_and_without(march, protocol, options, fast_forward):
    made = 0
    for seed in range(3):
        given = {**options, "seed": seed, "fast_forward": fast_forward, "max_steps": 3000}
        quick, rounds_made = march(protocol, **given)
        plain, none = march(protocol, everywhere=False, **given)
        assert alike(quick, plain) and none == 0
        made += rounds_made
    assert made > 0 or fast_forward or isinstance(protocol, (Levels, IndependentSet))


@pytest.mark.parametrize(
    ("until", "start", "marches"),
    [
        ("rounds:200", "all-leaders", True),
        ("rounds:200", "no-leader", True),
        ("count(rand == 1) == 5", "all-leaders", False),
        ("broken", "safe", False),
    ],
)
def test_what_is_recorded_and_what_ends_a_run_is_the_same(march, until, start, marches):
    """Histories show private fields too; a stop that reads them, or a change of output, is looked for node by node."""
    given = {"graph": "regular:24,3", "start": start, "until": until, "max_steps": 400, "seed": 3}
    given |= {"observe": True, "every": 1, "fast_forward": False}
    quick, made = march(hg.Trains(24), **given)
    assert alike(quick, march(hg.Trains(24), everywhere=False, **given)[0])
    assert (made > 0) == marches


def all_lit_or_heads(nodes, offsets, targets, p):
    for v in range(len(nodes)):
        if nodes[v].lit == 0 and nodes[v].heads == 0:
            return False
    return True


def test_a_predicate_on_all_nodes_sees_private_fields(march):
    given = {"graph": "ring:9", "until": whole(all_lit_or_heads), "fast_forward": False, "max_steps": 5000}
    for seed in range(5):
        quick, made = march(Lamps(9), seed=seed, **given)
        assert quick.reached and made > 0
        assert alike(quick, march(Lamps(9), everywhere=False, seed=seed, **given)[0])


def test_faults_and_threads(march, monkeypatch):
    given = {"graph": "regular:60,5", "seed": 3, "max_steps": 2000, "faults": (hg.Fault(100, 5), hg.Fault(300, 9))}
    plain, _ = march(hg.Trains(60), everywhere=False, start="safe", **given)
    monkeypatch.setattr("hegemon.engines.rounds.threads.LARGE", 0)
    for threads in (1, 3):
        quick, made = march(hg.Trains(60), start="safe", threads=threads, **given)
        assert made > 0 and alike(quick, plain)


class Clock(RoundsProtocol):
    """All nodes count in step; an update would fail in a private state that no node ever has."""

    private = ("odd",)

    class State:
        time: Range(0, 10**6)
        odd: Bit

    def update(me, neighbours, coins, p):
        if me.odd == 1 and me.time == 50:
            me.time = 1 // (me.time - 50)
        elif me.odd == 1 and me.time == 25:
            me.time = -9
        me.time = me.time + 1 if me.time < 10**6 else 0

    def start_zero(self, rng, topology):
        """All at 0."""
        return [Group(self.n, {"time": 0, "odd": 0})]

    default_start = "zero"


def test_an_update_that_only_a_trial_fails_does_not_end_the_run(march):
    given = {"graph": "ring:20", "until": "rounds:90", "fast_forward": False}
    quick, made = march(Clock(20), **given)
    assert alike(quick, march(Clock(20), everywhere=False, **given)[0])
    assert 30 < made < 50  # all up to the division by zero, but for the round in which a state is out of range


def test_where_everything_is_new_plain_rounds_go_on(march, monkeypatch):
    """One node gains nothing from classes: two updates are tried for every round, and the time never comes again."""
    given = {"graph": "complete:1", "until": "rounds:24", "fast_forward": False}
    for advance, few in ((100, False), (8, True)):
        monkeypatch.setattr(lockstep, "ADVANCE", advance)
        quick, made = march(Clock(1), **given)
        assert (made < 20) == few and quick.steps == 24


def blind_to_departures(of, before, after, table, values, time, coins):
    for v in range(len(of)):
        then = table[of[v], before[v] * values]
        after[v] = before[v] if then == DEPARTS else then
    return True


def blind_to_neighbours(of, offsets, targets, slots, owners, sets):
    number = 0
    for v in range(len(of)):
        if slots[of[v]] < 0:
            slots[of[v]] = number
            owners[number], sets[number] = of[v], np.uint64(1) << np.uint64(of[targets[offsets[v]]])
            number += 1
    return number


@pytest.mark.parametrize(
    ("name", "broken"), [("draw", blind_to_departures), ("sort_out", blind_to_neighbours)], ids=["coins", "neighbours"]
)
def test_a_broken_twin_is_noticed(march, monkeypatch, name, broken):
    """Nodes that ignore their own coins, or take one of a class to stand for all."""
    protocol, given = Blinkers(30), {"graph": "ring:30", "until": "rounds:300", "fast_forward": False}
    plain = [march(protocol, everywhere=False, seed=seed, **given)[0] for seed in range(3)]
    monkeypatch.setattr(lockstep_kernels, name, broken)
    assert not all(alike(march(protocol, seed=seed, **given)[0], plain[seed]) for seed in range(3))


class Signal(RoundsProtocol):
    """All nodes count in step."""

    class State:
        time: Range(0, 10**6)

    def update(me, neighbours, coins, p):
        me.time = me.time + 1 if me.time < 10**6 else 0

    def output(a, p):
        return a.time % 100 >= 70

    outputs = ("dark", "lit")

    def start_zero(self, rng, topology):
        """All at 0."""
        return [Group(self.n, {"time": 0})]

    default_start = "zero"
    failing = at_least("n", lambda a, p: 10**9 // (a.time - 180) == 77)


def test_a_condition_that_fails_leaves_no_half_of_a_round(march):
    for everywhere in (True, False):
        with pytest.raises(hg.InvalidInput, match="division by zero .*'time': 179"):
            march(Signal(8), everywhere, graph="ring:8", until="failing", max_steps=300, fast_forward=False)


def test_a_change_of_output_is_found_after_rounds_in_lockstep(monkeypatch):
    """The page gives the engine a stop that waits for a change, and takes it back."""
    for name, value in {"FEWEST_NODES": 0, "FIRST_WAIT": 0, "SHORTEST_WAIT": 1, "MOST_TRIED": 100}.items():
        monkeypatch.setattr(lockstep, name, value)
    protocol = Signal(8)
    world = AgentWorld(protocol, topology_for(protocol, "ring:8"), RunRecord(protocol, seed=1))
    trajectory, found = world.begin(), []
    for begin in (60, 75, 150):
        trajectory.run(begin)
        assert world.engine._lockstep.rounds_made > 0
        found.append((trajectory.seek(outputs_change(protocol), begin + 22), world.step))
    assert found == [(True, 70), (False, 97), (True, 170)]
