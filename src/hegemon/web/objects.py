"""The world of agents that are Python objects: plain Python, one interaction at a time."""

import copy
import random
from functools import partial
from typing import Any

import numpy as np

from hegemon.compute.randomness import START, generator
from hegemon.engines.choice import choose_watched
from hegemon.graphs.topology import Topology
from hegemon.models.objects import ObjectProtocol
from hegemon.process.stopping import never
from hegemon.runs.capabilities import supporting
from hegemon.runs.plan import RunPlan
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import Start
from hegemon.runs.stories import Interaction
from hegemon.runs.telling import shown_object
from hegemon.runs.trajectory import Trajectory
from hegemon.web.explaining import listing, traced
from hegemon.web.look import MOST_CLASSES, Channel
from hegemon.web.world import ELSEWHERE, Patience, World


class ObjectWorld(World):
    supports = supporting("a watched run of Python objects", "graph start seed engine", instead=ELSEWHERE)
    protocol: ObjectProtocol
    undisturbed = "agents that are Python objects are not disturbed: no list of their states says what damage could be"

    def __init__(self, protocol: ObjectProtocol, topology: Topology, record: RunRecord, start: Start = None):
        chosen, self.reason = choose_watched(record.engine, protocol, topology, protocol.n)
        agents = protocol.agents_of(str(start or protocol.default_start), generator(record.seed, 0, START))
        protocol.check_interact(random.Random(0), agents)
        self.protocol, self.topology = protocol, topology
        self._new = partial(chosen, protocol, topology, seed=record.seed, trial=0)
        self.engine, self.kind = self._new(agents), "graph"
        self.plan = RunPlan(protocol, topology, chosen, never("never"))
        self.look = ObjectLook(protocol, agents)
        self.listing = listing(protocol.interact)

    def _outputs(self) -> list[int]:
        return [int(bool(self.protocol.output(a, self.protocol.p))) for a in self.engine.agents]

    def seek_change(self, deadline: float) -> bool:
        before = self._outputs()
        self.engine.met = lambda agents: self._outputs() != before
        try:
            return self.trajectory.run(deadline=deadline)
        finally:
            self.engine.met = None

    def entry(self, outside: tuple[Any, ...], name: str, limit: int) -> int | None:
        """Found as in a run: by testing the set after every step."""
        chosen = self.protocol.sets[name]
        engine = self._new([], met=lambda agents: self.protocol.holds(chosen, agents))
        engine.restore(outside)
        trajectory = Trajectory(self.plan, engine, progress=Patience().is_over)
        return trajectory.step if trajectory.run(limit) else None

    def before_step(self, focus: int | None) -> list[Any]:
        return [copy.copy(agent) for agent in self.engine.agents]

    def told_step(self, before: list[Any], focus: int | None) -> dict[str, Any]:
        """The executed source lines come from running the interaction again on copies of the agents."""
        engine, protocol = self.engine, self.protocol
        i, j, coins = engine.last_meeting()
        states = shown_object(before[i]), shown_object(before[j])
        _, lines = traced(protocol.interact, before[i], before[j], protocol.p, coins)
        meeting = Interaction(i, j, states, (shown_object(engine.agents[i]), shown_object(engine.agents[j])))
        changed = meeting.before != meeting.after
        return {"pair": (i, j), "text": meeting.sentence(), "lines": lines, "changed": changed}

    def picture(self) -> np.ndarray:
        return np.array([self.look.byte(a) for a in self.engine.agents], np.uint8)

    def readings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        agents, protocol = self.engine.agents, self.protocol
        values = {"leaders": protocol.count_leaders(agents)}
        for name, labels in self.look.classes.items():
            values |= {f"{name} {label}": sum(getattr(a, name, None) == label for a in agents) for label in labels}
        return values, {name: protocol.holds(chosen, agents) for name, chosen in protocol.sets.items()}

    def parts(self) -> list[str]:
        return list(vars(self.engine.agents[0]))

    def labels(self) -> list[str | None]:
        return [self.protocol.label(a, self.protocol.p) for a in self.engine.agents]  # type: ignore[attr-defined]

    def state(self, agent: int) -> dict[str, Any]:
        return shown_object(self.engine.agents[agent])


class ObjectLook:
    """A byte: whether the agent leads, and the text among its attributes that names its class, if it has one."""

    def __init__(self, protocol: ObjectProtocol, agents: list[Any]):
        self.protocol = protocol
        self.channels = [Channel("leader", "leader", protocol.outputs or ("follower", "leader"))]
        self.classes: dict[str, list[str]] = {}
        for name, value in vars(agents[0]).items():
            if isinstance(value, str) and len({getattr(a, name) for a in agents}) < MOST_CLASSES:
                names = {c for c in protocol.interact.__globals__.values() if isinstance(c, str) and c.isidentifier()}
                labels = sorted({getattr(a, name) for a in agents} | {c for c in names if not c.startswith("_")})
                if len(labels) <= MOST_CLASSES:
                    self.classes = {name: labels}
                    self.channels.append(Channel("class", name, tuple(labels)))
                break

    def byte(self, agent: Any) -> int:
        value = int(bool(self.protocol.output(agent, self.protocol.p)))
        for name, labels in self.classes.items():
            label = getattr(agent, name, None)
            value = value * len(labels) + (labels.index(label) if label in labels else 0)
        return value
