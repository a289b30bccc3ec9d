"""`hegemon run … --trace K`: the first K interactions of trial 0 that change anything, in words; -K: the last.

Where nodes send messages, every message and every decision is printed.

The trial is made once more, agent by agent and from the same seed, so what is printed is what was measured.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.runs.capabilities import supporting
from hegemon.runs.record import RUN_OPTIONS, RunRecord

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.runs.telling import Changes
    from hegemon.runs.trajectory import Trajectory

MOST = 10_000  # interactions that are printed
FAR = 10**6  # steps that are looked at one by one
TRACED = supporting(
    "--trace",
    "graph start until seed max_steps engine scheduler loss one_sided fast_forward observe at every "
    "wake identifiers delay order duplicate crashes",
    instead="drop one of them; hegemon watch shows a run with its faults and events",
)


def traceable(record: RunRecord) -> Any:
    """The record with an engine that can be followed; what cannot be traced is refused before the run."""
    from hegemon.engines.choice import engine_named, unhonoured
    from hegemon.process.schedulers.reading import scheduler_for
    from hegemon.runs.setting import topology_for

    model = record.protocol.model
    engine = "daemon" if model.has_rounds and record.protocol.time_unit == "steps" else model.follower
    if model.wakes and record.delay is not None:
        engine = "asynchronous"
    if model.has_interactions:
        law = scheduler_for(record.scheduler, record.protocol, topology_for(record.protocol, record.graph, record.seed))
        engine = "stepwise" if unhonoured(engine_named(engine, record.protocol), law) else engine
    TRACED.require(record.given, lambda name: RUN_OPTIONS[name].flag)
    if record.engine not in ("auto", engine):
        every = "every message" if record.protocol.model.wakes else "agents one by one"
        raise InvalidInput(f"--trace follows {every}, and engine {record.engine} does not; use --engine {engine}")
    return replace(record, engine=engine)


def trace(record: RunRecord, end: int, wanted: int) -> list[str]:
    """Lines about trial 0, which ended at the step `end`: its first changes, or its last if `wanted` is negative."""
    from hegemon.runs.record import MadeRecord
    from hegemon.runs.simulate import course_of
    from hegemon.runs.telling import Changes
    from hegemon.runs.trial import Trial

    record = replace(record, observe=False, at=None, every=None)
    trajectory = course_of(MadeRecord(**vars(record))).begin(Trial())
    trajectory.plan = replace(trajectory.plan, is_ended=False)  # it ended where the run did
    changes = Changes(trajectory)
    if record.protocol.model.wakes:
        trajectory.run(end)
        return changes.lines[:wanted] if wanted >= 0 else changes.lines[wanted:]
    if wanted >= 0:
        return first_changes(trajectory, changes, end, wanted)
    begin, window = trajectory.snapshot(), -wanted
    while True:
        trajectory.restore(begin)
        trajectory.run(max(0, end - window))
        lines = first_changes(trajectory, changes, end, window)
        if len(lines) >= -wanted or window >= min(end, FAR):
            return lines[wanted:]
        window *= 4


def first_changes(trajectory: "Trajectory", changes: "Changes", end: int, wanted: int) -> list[str]:
    """One line per step that changes a state, from here to the step `end`."""
    changes.lines.clear()
    last = min(end, trajectory.step + FAR)
    while len(changes.lines) < wanted and trajectory.step < last:
        trajectory.run(trajectory.step + 1)
    return changes.lines[:wanted]
