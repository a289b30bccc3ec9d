"""One run of a protocol whose states are Python objects, from a start to a Run."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from hegemon.compute.randomness import START, generator
from hegemon.engines.choice import choose_watched
from hegemon.engines.engine import Engine
from hegemon.errors import InvalidInput, choose, meant, shown
from hegemon.models.expressions import whole_number
from hegemon.models.objects import ObjectProtocol
from hegemon.models.sets import ConfigurationSet
from hegemon.models.written import joined_names
from hegemon.process.stopping import never
from hegemon.runs.capabilities import supporting
from hegemon.runs.plan import RunPlan
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for
from hegemon.runs.trajectory import Trajectory, keep_in
from hegemon.runs.trial import Course, Trial

_tried: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # protocols, and the starts from which they were tried


class ObjectCourse(Course):
    """Each trial runs until the stop is met or `max_steps` steps are made. The set is evaluated after every step."""

    supports = supporting("a run whose states are Python objects", "graph start until seed max_steps engine checkpoint")

    def __init__(self, record: MadeRecord):
        self.record, self.protocol = record, cast(ObjectProtocol, record.protocol)
        self.topology = topology_for(self.protocol, record.graph, record.seed)
        self.chosen, self.reason = choose_watched(record.engine, self.protocol, self.topology, self.protocol.n)
        self.met, stop_limit = _stop(record.until, self.protocol)
        limit = min((limit for limit in (stop_limit, record.max_steps) if limit is not None), default=None)
        stop = replace(never(str(record.until)), limit=stop_limit)  # the engine evaluates `met` after every step
        self.plan = RunPlan(self.protocol, self.topology, self.chosen, stop, limit=limit)
        self.start = str(record.start or self.protocol.default_start)

    def begin(self, trial: Trial) -> Trajectory:
        protocol, seed = self.protocol, self.record.seed
        agents = protocol.agents_of(self.start, generator(seed, trial.trial, START))
        tried = _tried.setdefault(protocol, set())
        if self.start not in tried:  # once for all trials: it takes longer than a short run
            protocol.check_interact(random.Random(0), agents)
            tried.add(self.start)
        engine = self.chosen(protocol, self.topology, agents, seed, trial.trial, self.met)
        return Trajectory(self.plan, cast(Engine, engine), progress=trial.progress)

    def __call__(self, trial: Trial) -> Run:
        protocol, seed, trajectory = self.protocol, self.record.seed, self.begin(trial)
        if self.record.checkpoint:
            keep_in(self.record.checkpoint, trajectory)
        trajectory.run()
        engine: Any = trajectory.engine
        return Run(
            protocol=protocol.id,
            n=protocol.n,
            unit=protocol.time_unit,
            steps=engine.step,
            reached=trajectory.is_met or engine.step == self.plan.stop.limit,
            leaders=protocol.count_leaders(engine.agents),
            engine=engine.name,
            reason=self.reason,
            seed=seed,
            trial=trial.trial,
            interrupted=trajectory.interrupted,
        )


def _stop(until: Any, protocol: ObjectProtocol) -> tuple[Callable[..., Any], int | None]:
    """Whether agents meet the stop, and the step that meets it in any case."""
    if isinstance(until, ConfigurationSet):
        return lambda agents: protocol.holds(until, agents), None
    text = str(until).strip()
    if text.startswith("steps:"):
        return lambda agents: False, whole_number(text.removeprefix("steps:"), "until steps")
    try:
        chosen = joined_names(text, protocol.id, protocol.sets)
    except InvalidInput:
        raise InvalidInput(
            f"until {shown(text)} is not known to {protocol.id}; {choose(['steps:K', *protocol.sets])}"
            f"{', or sets joined by `and`, `or`, `not`' if protocol.sets else ''}: its states are Python objects, "
            f"which a text cannot count{meant(text, protocol.sets)}"
        ) from None
    return lambda agents: protocol.holds(chosen, agents), None
