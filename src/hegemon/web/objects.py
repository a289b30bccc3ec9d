"""The world of agents that are Python objects: plain Python, one interaction at a time."""

import copy
import random
import time
from typing import Any

import numpy as np

from hegemon.compute.randomness import START, generator
from hegemon.engines.choice import choose_watched
from hegemon.graphs.topology import Topology
from hegemon.models.objects import ObjectProtocol
from hegemon.runs.capabilities import supporting
from hegemon.runs.setting import Start
from hegemon.web.explaining import listing, traced
from hegemon.web.look import MOST_CLASSES, Channel
from hegemon.web.messages import shortened
from hegemon.web.world import ELSEWHERE, Patience, World


class ObjectWorld(World):
    supports = supporting("a watched run of Python objects", "graph start seed engine", instead=ELSEWHERE)
    protocol: ObjectProtocol
    undisturbed = "agents that are Python objects are not disturbed: no list of their states says what damage could be"

    def __init__(self, protocol: ObjectProtocol, topology: Topology, start: Start, seed: int, engine: str = "auto"):
        chosen, self.reason = choose_watched(engine, protocol, topology, protocol.n)
        agents = protocol.agents_of(str(start or protocol.default_start), generator(seed, 0, START))
        protocol.check_interact(random.Random(0), agents)
        self.protocol, self.topology = protocol, topology
        self.engine, self.kind = chosen(protocol, topology, agents, seed, 0), "graph"
        self.look = ObjectLook(protocol, agents)
        self.listing = listing(protocol.interact)

    @property
    def step(self) -> int:
        return self.engine.step

    def advance(self, limit: int) -> None:
        self.engine.advance(limit)

    def _outputs(self) -> list[int]:
        return [int(bool(self.protocol.output(a, self.protocol.p))) for a in self.engine.agents]

    def advance_to_change(self, limit: int, deadline: float) -> bool:
        before = self._outputs()
        while self.step < limit and time.monotonic() < deadline:
            self.engine.advance(self.step + 1)
            if self._outputs() != before:
                return True
        return False

    def entry(self, outside: tuple[Any, ...], name: str, limit: int) -> int | None:
        """Found as in a run: by testing the set after every step."""
        now, chosen, patience = self.snapshot(), self.protocol.sets[name], Patience()
        self.restore(outside)
        is_inside = False
        while not (is_inside := self.protocol.holds(chosen, self.engine.agents)) and self.step < limit:
            if patience.is_over():
                break
            self.engine.advance(self.step + 1)
        found = self.step if is_inside else None
        self.restore(now)
        return found

    def told_step(self, focus: int | None) -> dict[str, Any]:
        """Make one interaction; the executed source lines come from running it again on copies of the agents."""
        engine, protocol = self.engine, self.protocol
        kept = [copy.copy(agent) for agent in engine.agents]
        engine.advance(engine.step + 1)
        i, j, coins = engine.last_meeting()
        before = _shown(kept[i]), _shown(kept[j])
        _, lines = traced(protocol.interact, kept[i], kept[j], protocol.p, coins)
        after = _shown(engine.agents[i]), _shown(engine.agents[j])
        text = "; ".join(
            f"{role} {agent}: " + (", ".join(f"{k} {x.get(k)}→{y[k]}" for k in y if x.get(k) != y[k]) or "unchanged")
            for role, agent, x, y in zip(("initiator", "responder"), (i, j), before, after, strict=True)
        )
        return {"pair": (i, j), "text": text, "lines": lines, "changed": before != after}

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
        return _shown(self.engine.agents[agent])


def _shown(agent: Any) -> dict[str, Any]:
    return {name: shortened(value) for name, value in vars(agent).items()}


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
            found = getattr(agent, name, None)
            value = value * len(labels) + (labels.index(found) if found in labels else 0)
        return value
