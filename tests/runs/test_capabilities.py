"""Every option on every path: an effect is seen, or the path refuses it. The same for measures: nothing is ignored."""

import contextlib
import io
import json
from dataclasses import dataclass, replace

import pytest

import hegemon as hg
from hegemon.cli import tracing
from hegemon.exact import verification
from hegemon.exact.exports import exporting
from hegemon.experiments import worker
from hegemon.models.model import MODELS
from hegemon.runs import course, kinds, measures
from hegemon.runs.capabilities import KNOWN
from hegemon.runs.checkpoint import Checkpoint
from hegemon.runs.option import option
from hegemon.runs.record import RUN_OPTIONS, MadeRecord, RunRecord
from hegemon.runs.simulate import course_of
from hegemon.runs.trial import Trial
from hegemon.web.film import shoot
from hegemon.web.live import content
from hegemon.web.live.page import LivePage
from hegemon.web.objects import ObjectWorld
from hegemon.web.session import Session
from hegemon.web.worlds import AgentWorld
from tests.web.live.in_node import RUNS, in_node

BASES = {
    "population": lambda: RunRecord(hg.Timer(n=5, s=6), start="random", max_steps=300, seed=3),
    "a set": lambda: RunRecord(hg.Pairwise(n=6), max_steps=300, seed=3),
    "rounds": lambda: RunRecord(hg.Trains(n=6), graph="ring:6", start="random", max_steps=60, seed=11),
    "a daemon": lambda: RunRecord(
        hg.CATALOGUE["huang"](n=5), start="random", max_steps=40, seed=11, scheduler="distributed:1/2"
    ),
    "messages": lambda: RunRecord(hg.Walks(n=9), graph="torus:3x3", seed=3),
    "a wake-up": lambda: RunRecord(hg.Referees(n=16, variant="wakeup"), seed=3),
    "late messages": lambda: RunRecord(hg.FloodMax(n=8), graph="regular:8,4", seed=3, delay="uniform:1..5"),
    "objects": lambda: RunRecord(hg.SublinearRanking(n=4), max_steps=400, seed=3),
}
# For every option a value that must change something, where it means anything: a new option needs one too.
VALUES = {
    "graph": ["star:{n}", "regular:{n},4"],
    "start": ["initial", "safe", "random", "correct"],
    "until": ["steps:7", "rounds:7", "leaderless"],
    "seed": [4],
    "max_steps": [2, 1],
    "engine": ["batch", "rounds", "daemon", "compiled", "objects", "agents", "nodes"],
    "scheduler": ["permutation", "central:most-enabled", "central:uniform"],
    "faults": [(hg.Fault(1, 2),)],
    "disturbances": ["{folder}/disturbances.json"],
    "rates": [("corrupt=1/3",)],
    "availability": [True],
    "loss": ["1/2"],
    "one_sided": ["1/2"],
    "fast_forward": [False],
    "wake": ["one-by-one"],
    "identifiers": ["increasing", "decreasing"],
    "delay": ["uniform:2..9"],
    "order": ["any"],
    "duplicate": ["1/2"],
    "crashes": [("round=1,nodes=3",)],
    "observe": [True],
    "every": [3],
    "at": [(1, 5)],
}


def seen_of(run):
    """Everything that a caller sees of a run."""
    history = None if run.watched is None else {name: list(column) for name, column in run.watched.columns.items()}
    agents = None if run.configuration is None else run.configuration.agents.tolist()
    return run.record(), run.engine, run.reason, history, agents


def run_alone(record):
    return seen_of(hg.simulate(**vars(record)))


def run_many(record):
    """Six trials together; they must be those that are made alone."""
    made = course_of(MadeRecord(**vars(record))).many([Trial(number) for number in range(6)])
    runs = [run if isinstance(run, hg.Run) else run() for run in made]
    alone = [hg.simulate(trial=number, **vars(record)) for number in range(6)]
    return "not as alone" if list(map(seen_of, runs)) != list(map(seen_of, alone)) else list(map(seen_of, runs))


def run_as_a_worker(record):
    """The rows that a study keeps; it records no history."""
    if unstudied := [name for name in record.given if not RUN_OPTIONS[name].is_axis and name != "seed"]:
        raise hg.InvalidInput(f"{unstudied[0]} is no axis")
    prepared = worker.prepared_for(MadeRecord(**vars(record)))
    prepared.amount = 6
    return [part.columns for part in worker._parts(prepared, range(6), float("inf"))]


class Eager(Checkpoint):
    """Takes a snapshot whenever one is offered."""

    _due = property(lambda self: 0.0, lambda self, value: None)


def run_kept(record, folder):
    """Given up after some steps, and gone on with from its checkpoint."""
    keeper = Eager(folder / "kept.npz", {})
    first = course_of(MadeRecord(**vars(record) | {"checkpoint": keeper}))
    first(Trial())
    state = keeper.state
    rest = course_of(MadeRecord(**vars(record) | {"checkpoint": Checkpoint(folder / "kept.npz", {}, state)}))
    run = seen_of(rest(Trial()))
    return "not as without a checkpoint" if run != run_alone(record) else run


def run_watched(record):
    """What a page shows on the way; its greeting has the engine and the reason."""
    session = Session(**vars(record))
    world, seen = session.world, [(session.world.engine.name, session.world.reason)]
    for step in range(0, 60, 4):
        session.advance(step)
        readings = session.readings()
        seen.append(
            (session.step, readings["values"], readings.get("events"), world.picture().tolist(), session.faults)
        )
    return seen


def run_filmed(record):
    session = Session(**vars(record))
    film = shoot(session, until=f"{record.protocol.time_unit}:20")
    return [(head["step"], head["values"]) for head in film["heads"]], film["pictures"], film["greeting"]["engine"]


def run_traced(record):
    record = tracing.traceable(record)
    end = hg.simulate(**vars(record)).steps
    lines = tracing.trace(record, end, 50)
    return lines, end, run_alone(record)


def run_live(record):
    """What a page without Python shows on the way."""
    return in_node(RUNS, LivePage(record).laboratory, [str(record.seed)], list(range(0, 60, 4)), 2)


PATHS = {
    "alone": lambda record, folder: run_alone(record),
    "many": lambda record, folder: run_many(record),
    "a worker": lambda record, folder: run_as_a_worker(record),
    "kept": run_kept,
    "watched": lambda record, folder: run_watched(record),
    "filmed": lambda record, folder: run_filmed(record),
    "traced": lambda record, folder: run_traced(record),
    "live": lambda record, folder: run_live(record),
}


ORDINARY = {"alone", "many", "a worker", "kept", "watched"}, {"population", "a set", "rounds", "messages"}
LENGTHS = dict.fromkeys(("watched", "live", "filmed"), {"until": "safe", "max_steps": None})
# By base or path: options that are supported there and change nothing, or are refused for another reason. A daemon's
# engine is the only one and has no rounds to jump over, and this ring is one graph and has one named start; traces and
# pages of messages have one engine; Walks has neither identifiers nor nodes that wake up; and what concerns messages
# that take time is refused without a delay.
IDLE = {
    "traced": {"engine"},
    "live": {"engine"},
    "a daemon": {"engine", "fast_forward", "graph", "start"},
    "messages": {"wake", "identifiers", "order", "duplicate", "engine"},
    "a wake-up": {"identifiers", "order", "duplicate", "graph", "engine"},
    "late messages": {"wake", "identifiers", "engine"},
    "objects": {"engine"},
}


def declared(path, record) -> set[str]:
    """The options that the path says it supports, for a protocol of this model."""
    model = record.protocol.model
    names = {
        "a worker": lambda: {name for name in supports_of("course") if name not in RUN_OPTIONS or axis(name)},
        "kept": lambda: supports_of("course") & (course.KEPT.options if model.has_configurations else {*VALUES}),
        "watched": lambda: supports_of("world"),
        "filmed": lambda: supports_of("world"),
        "traced": lambda: tracing.TRACED.options,
        "live": lambda: content.SUPPORTS.options,
    }.get(path, lambda: supports_of("course"))

    def supports_of(part):
        return model.home(part).supports.options

    return {name for name in names() if name in RUN_OPTIONS and model.knows(RUN_OPTIONS[name].needs)}


def axis(name) -> bool:
    return RUN_OPTIONS[name].is_axis or name == "seed"


def outcome(path, record, folder):
    """What the path shows of a run, or its refusal."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return PATHS[path](record, folder)
        except hg.InvalidInput as error:
            return str(error)


def verdict(path, base, name, folder) -> str:
    """Whether some value of the option has an `effect`; if none: whether all are `refused`, or some is `ignored`."""
    record = replace(BASES[base](), **LENGTHS.get(path, {}))
    (folder / "disturbances.json").write_text(json.dumps({"disturbances": [{"step": 1, "agents": 2}]}))
    usual = outcome(path, record, folder)
    assert not isinstance(usual, str), usual
    outcomes = []
    for value in VALUES[name]:
        if isinstance(value, str):
            value = value.format(n=record.protocol.n, folder=folder)
        if getattr(record, name) != value:
            outcomes.append(outcome(path, replace(record, **{name: value}), folder))
    if any(found != usual and not isinstance(found, str) for found in outcomes):
        return "effect"
    return "refused" if all(isinstance(found, str) for found in outcomes) else "ignored"


def wrong(path, base, folder, names=tuple(VALUES)) -> dict[str, str]:
    """The options that the path declares and that have no effect, and those that it does not declare and takes."""
    supported, idle = declared(path, BASES[base]()), IDLE.get(path, set()) | IDLE.get(base, set())
    found = {name: verdict(path, base, name, folder) for name in names if name not in supported & idle}
    return {name: seen for name, seen in found.items() if seen != ("effect" if name in supported else "refused")}


def cases():
    found = []
    for base in BASES:
        for path in PATHS if base in ("population", "a set") else [*PATHS][:-1]:
            usual = path in ORDINARY[0] and base in ORDINARY[1]
            found.append(pytest.param(path, base, marks=[] if usual else pytest.mark.full))
    return found


def test_every_option_has_a_value_that_changes_something():
    assert VALUES.keys() == RUN_OPTIONS.keys()


def test_every_path_is_covered():
    """A path that declares what it supports, and that no generated test tries, is noticed here."""
    ours = {supports.path for supports in (course.BLOCK, course.LASTING, course.KEPT, tracing.TRACED, content.SUPPORTS)}
    homes = {model.home(part).supports.path for part in ("course", "world") for model in MODELS.values()}
    questions = (verification.OF_CHANCE, verification.OF_INPUTS, verification.OF_SCHEDULES, verification.OF_MESSAGES)
    elsewhere = {supports.path for supports in (*questions, *exporting.SUPPORTS.values())}  # in tests/exact
    made_by_tests = {"a run of the toy model"}
    assert KNOWN.keys() - made_by_tests == ours | homes | elsewhere


@pytest.mark.parametrize(("path", "base"), cases())
def test_every_option_has_an_effect_or_is_refused(path, base, tmp_path):
    assert wrong(path, base, tmp_path) == {}


# -- what a newcomer does --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Longer(MadeRecord):
    """A record with an option that nothing knows yet."""

    min_steps: int = option(0, "go on up to this step", takes=kinds.STEPS)


def test_an_option_that_nobody_names_is_refused_everywhere(monkeypatch):
    """One field in the record: no path takes it before it names it."""
    for base in BASES:
        values = vars(BASES[base]())
        with pytest.raises(hg.InvalidInput, match="does not support min_steps"):
            course_of(Longer(**values, min_steps=50))
        kind = values["protocol"].model.home("world")
        with pytest.raises(hg.InvalidInput, match="a watched run.* does not support min_steps"):
            kind.supports.require(Longer(values["protocol"], min_steps=50).given)
    with pytest.raises(hg.InvalidInput, match="--trace does not support min_steps"):
        tracing.TRACED.require(["min_steps"])


def test_an_option_that_the_general_path_names_is_honoured_in_every_trial(monkeypatch):
    """A second line, where the course uses it: short trials are then made one by one."""
    general = course.StateCourse
    more = replace(general.supports, options=general.supports.options | {"min_steps"})
    monkeypatch.setattr(general, "supports", more)
    plain, longer = (course_of(Longer(hg.Pairwise(n=6), min_steps=steps)) for steps in (0, 50))
    assert plain.at_once > 1 and longer.at_once == 1


PARITY = measures.Measure(lambda course: True, lambda end: end.trajectory.step % 2)


def test_a_new_measure_is_in_every_trial_and_every_row(monkeypatch):
    monkeypatch.setitem(
        measures.MEASURES, "parity", measures.Measure(lambda course: True, lambda end: end.trajectory.step % 2)
    )
    runs = hg.run_trials(hg.Pairwise(n=6), 40, seed=1, workers=1).runs
    assert [run.measures["parity"] for run in runs] == [run.steps % 2 for run in runs]
    [*parts] = worker._parts(
        worker.Prepared(course_of(MadeRecord(hg.Pairwise(n=6))), amount=6), range(40), float("inf")
    )
    assert all(part.columns["parity"] == [steps % 2 for steps in part.columns["steps"]] for part in parts)


def test_a_block_that_claims_a_measure_it_lacks_is_caught(monkeypatch):
    monkeypatch.setitem(
        measures.MEASURES, "parity", measures.Measure(lambda course: True, lambda end: end.trajectory.step % 2)
    )
    monkeypatch.setattr(course, "BLOCK", replace(course.BLOCK, measures=frozenset({"parity"})))
    runs = hg.run_trials(hg.Pairwise(n=6), 40, seed=1, workers=1).runs
    assert not all("parity" in run.measures for run in runs)


TWINS = {
    "a block that records nothing": ("many", "a set", "observe", course, "BLOCK"),
    "a page that ignores max_steps": ("watched", "population", "max_steps", AgentWorld, "supports"),
    "a page that ignores until": ("watched", "objects", "until", ObjectWorld, "supports"),
    "a live page that ignores rates": ("live", "population", "rates", content, "SUPPORTS"),
    "a checkpoint that forgets records": ("kept", "a daemon", "observe", course, "KEPT"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_path_that_names_what_it_ignores_is_caught(twin, tmp_path, monkeypatch):
    path, base, name, owner, place = TWINS[twin]
    assert wrong(path, base, tmp_path, [name]) == {}
    supports = getattr(owner, place)
    monkeypatch.setattr(owner, place, replace(supports, options=supports.options | {name}))
    assert name in wrong(path, base, tmp_path, [name])


@pytest.mark.parametrize("scheduler", ["distributed:1/2", "locally-central:uniform", "central:most-enabled"])
@pytest.mark.parametrize("faults", [(), (hg.Fault(5, 2), hg.Fault(20, 1))])
def test_a_checkpoint_under_a_daemon_goes_on_as_an_uninterrupted_run(scheduler, faults, tmp_path):
    for protocol, graph in ((hg.Trains(n=5), "star:5"), (hg.Beauquier(n=5), None)):
        for seed in range(3):
            given = {"graph": graph, "start": "random", "max_steps": 60, "seed": seed, "scheduler": scheduler}
            record = RunRecord(protocol, **given, faults=faults)
            assert run_kept(record, tmp_path) != "not as without a checkpoint"
