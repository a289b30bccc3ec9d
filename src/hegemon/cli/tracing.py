"""`hegemon run … --trace K`: the first K interactions of trial 0 that change anything, in words; -K: the last.

Where nodes send messages, every message and every decision is printed.

The run is made once more, agent by agent and from the same seed, so what is printed is what was measured.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from hegemon.errors import InvalidInput
from hegemon.runs.capabilities import supporting
from hegemon.runs.record import RUN_OPTIONS, RunRecord

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.graphs.topology import Topology
    from hegemon.models.messages import MessageProtocol
    from hegemon.web.world import World

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
    model = record.protocol.model
    engine = "daemon" if model.has_rounds and record.protocol.time_unit == "steps" else model.follower
    if model.wakes and record.delay is not None:
        engine = "asynchronous"
    TRACED.require(record.given, lambda name: RUN_OPTIONS[name].flag)
    if record.engine not in ("auto", engine):
        every = "every message" if record.protocol.model.wakes else "agents one by one"
        raise InvalidInput(f"--trace follows {every}, and engine {record.engine} does not; use --engine {engine}")
    return replace(record, engine=engine)


def trace(record: RunRecord, topology: "Topology", end: int, wanted: int) -> list[str]:
    """Lines about trial 0, which ended at the step `end`: its first changes, or its last if `wanted` is negative."""
    from hegemon.runs.schedules import prescribed_steps

    if record.protocol.model.wakes:
        return trace_messages(record, topology, end, wanted)
    protocol, model = record.process(), record.protocol.model
    more = {"scheduler": record.scheduler} if model.scheduler else {}
    world = model.home("world")(protocol, topology, record.start, record.seed, record.engine, **more)
    begin, story = world.snapshot(), prescribed_steps(record.start, protocol, topology)
    if wanted >= 0:
        return list(first_changes(world, story, end, wanted))
    window, found = -wanted, []
    while True:
        world.restore(begin)
        to_step(world, story, max(0, end - window))
        found = list(first_changes(world, story, end, window))
        if len(found) >= -wanted or window >= min(end, FAR):
            return found[wanted:]
        window *= 4


def trace_messages(record: RunRecord, topology: "Topology", end: int, wanted: int) -> list[str]:
    """Lines about trial 0, which ended in the round `end`: its first messages and decisions, or its last."""
    lines = told_messages(record, topology, end)
    return list(islice(lines, wanted)) if wanted >= 0 else list(deque(lines, -wanted))


def told_messages(record: RunRecord, topology: "Topology", end: int) -> Iterator[str]:
    from hegemon.engines.choice import follow_messages
    from hegemon.engines.messages.surroundings import surroundings_of

    protocol = cast("MessageProtocol", record.protocol).adapt(topology)
    around = surroundings_of(record, protocol)
    engine = follow_messages(record.engine, protocol, topology, around)[0](protocol, topology, around, record.seed, 0)
    known: dict[int, Any] = {}  # what the nodes have decided
    while (ahead := engine.next_round) is not None and ahead <= end and engine.play_next():
        for v, w, message in engine.last_messages:
            said = ", ".join(f"{name} {value}" for name, value in message._asdict().items() if name != "bits")
            yield f"round {engine.round:,}: node {v} tells node {w}: {said or 'nothing'} ({message.bits} bits)"
        for v, node in sorted(engine.nodes.items()):
            if node.status != known.get(v):
                known[v] = node.status
                yield f"round {engine.round:,}: node {v} is {node.status}"


def first_changes(world: "World", story: list[Any], end: int, wanted: int) -> Iterator[str]:
    """One line per step that changes a state, from here to the step `end`; the first ones are those of the story."""
    rounds = getattr(world, "is_rounds", False)
    last = min(end, world.step + FAR)
    while wanted and world.step < last:
        if world.step < len(story):
            told = world.follow(story[world.step])
            text = told["text"] if told["changed"] else ""
        elif rounds:
            text = told_round(world)
        else:
            told = world.told_step(None)
            text = told["text"] if told.get("changed") else ""
        if text:
            wanted -= 1
            yield f"{world.protocol.time_unit[:-1]} {world.step:,}: {text}"


def told_round(world: "World") -> str:
    """All nodes move at once: those that changed."""
    import numpy as np

    from hegemon.runs.stories import Round

    before = world.engine.configuration().agents.copy()
    to_step(world, [], world.step + 1)
    after = world.engine.configuration().agents
    mapping = world.protocol.space.mapping
    changed = np.flatnonzero(before != after)
    return Round(tuple((int(v), mapping(before[v]), mapping(after[v])) for v in changed)).sentence()


def to_step(world: "World", story: list[Any], goal: int) -> None:
    while world.step < min(goal, len(story)):
        world.follow(story[world.step])
    while world.step < goal:
        world.advance(goal)
