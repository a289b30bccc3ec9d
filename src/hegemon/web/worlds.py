"""The world of agents with fields: population protocols and rounds.

It uses engines by their contract; `Batch`, `Agents` and `Rounds` are named where they look ahead or replay differently.
`Look` determines what the agents look like.
"""

import contextlib
import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.batch.batch import Batch
from hegemon.engines.choice import choose_watched, scheduled
from hegemon.engines.population.agents import Agents
from hegemon.engines.rounds.rounds import Rounds
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.protocol import Protocol
from hegemon.process.membership import Membership
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.stopping import Stop, never, parse_stop
from hegemon.runs.capabilities import supporting
from hegemon.runs.plan import RunPlan
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import Start, initial_configuration
from hegemon.runs.stories import Interaction, Round
from hegemon.runs.trajectory import EVENT, FAULT, Happening, Trajectory
from hegemon.web.explaining import listing, traced
from hegemon.web.layout import LARGEST_DRAWN, LARGEST_RASTER
from hegemon.web.look import Look
from hegemon.web.readings import FEW, CompiledReadings, PlainReadings, plain
from hegemon.web.rehearsal import rehearsed
from hegemon.web.watched_events import told_event
from hegemon.web.world import ELSEWHERE, Patience, World


def outputs_change(protocol: Protocol) -> Stop:
    """Met when any agent's output changes, and by nothing else."""
    return Stop("change", (protocol.output,), np.array([1]), np.array([0]), watch=1)


class AgentWorld(World):
    """Population protocols and rounds: every agent has a state made of fields."""

    supports = supporting(
        "a watched run",
        "graph start seed engine scheduler faults disturbances rates",
        instead=ELSEWHERE,
    )
    can_disturb = True
    protocol: Any  # a PopulationProtocol or a RoundsProtocol

    def __init__(self, protocol: Protocol, topology: Topology, record: RunRecord, start: Start = None):
        protocol.require_sound()
        self.protocol, self.topology, self.space = protocol, topology, protocol.space
        self.is_rounds = protocol.model.has_rounds
        law = scheduler_for(record.scheduler, protocol, topology)
        self._forgets = self.is_rounds or law.memoryless  # configuration and coins determine what follows
        kind, self.reason = choose_watched(record.engine, protocol, topology, LARGEST_RASTER, law)
        self._options: dict[str, Any] = {"fast_forward": False} if kind is Rounds else scheduled(kind, law)
        self.kind = "bands" if kind.as_multiset else "graph" if protocol.n <= LARGEST_DRAWN else "raster"
        if self.kind == "graph" and not self.is_rounds:
            self._scheduler, self.torus = law, law.torus
        self.has_output = bool(protocol.outputs) and hasattr(protocol, "output")
        self._loud = outputs_change(protocol) if self.has_output else None
        quiet = never("never")
        if self._loud and kind is not Batch:
            quiet = replace(self._loud, watch=0)
        self._key = stream(record.seed, 0, KERNEL)
        configuration = initial_configuration(protocol, start, record.seed, 0, kind.as_multiset, topology)
        self.plan = RunPlan(protocol, topology, kind, quiet, self._options)
        self.engine = self.plan.engine(configuration, self._key)
        self.look = Look(protocol, None if kind.as_multiset else rehearsed(protocol, topology, configuration.agents))
        self.listing = listing(getattr(protocol, "update" if self.is_rounds else "interact"))
        readings = PlainReadings if protocol.n <= FEW else CompiledReadings
        self._readings: PlainReadings | CompiledReadings = readings(protocol, topology)

    # -- time -------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        trajectory = self.trajectory
        now, notice, trajectory.notice = trajectory.snapshot(), trajectory.notice, None
        with contextlib.suppress(InvalidInput):  # the author's code failed: the step itself reports it
            trajectory.run(self.step + 1)
        trajectory.restore(now)
        trajectory.notice = notice

    def seek_change(self, deadline: float) -> bool:
        if not self._loud:
            raise InvalidInput(f"{self.protocol.id} has no output, so no change of it can be looked for")
        trajectory = self.trajectory
        if not isinstance(self.engine, Batch):
            return trajectory.seek(self._loud, deadline=deadline)
        scout = Trajectory(
            replace(self.plan, stop=self._loud, prescribed=trajectory.prescribed, faults=tuple(trajectory.faults)),
            Batch(self.protocol, self.topology, self.engine.configuration(), self._loud, self._key.copy()),
            copy.deepcopy(trajectory.chance),
        )
        scout.restore(trajectory.snapshot())
        is_met = scout.run(deadline=deadline)
        trajectory.run(scout.step)
        return is_met

    def entry(self, outside: tuple[Any, ...], name: str, limit: int) -> int | None:
        if not isinstance(self.engine, Agents | Rounds) or not self._forgets:
            return None
        now = self.snapshot()
        self.engine.restore(outside)
        configuration = self.engine.configuration()
        stop, key = parse_stop(name, self.protocol), self._key.copy()
        self.engine.restore(now)
        plan = RunPlan(self.protocol, self.topology, type(self.engine), stop, self._options)
        trajectory = Trajectory(plan, plan.engine(configuration, key), progress=Patience().is_over)
        if self.is_rounds:
            trajectory.engine.restore(outside)
        else:
            trajectory.engine.load(configuration, outside[0])
        return trajectory.step if trajectory.run(limit) else None

    # -- one step in words ---------------------------------------------------------------------------------

    def before_step(self, focus: int | None) -> np.ndarray | None:
        codes = getattr(self.engine, "codes", None)
        if self.is_rounds or codes is None:
            return None if self.kind == "bands" else self.engine.configuration().agents
        return codes.copy()

    def told_step(self, before: Any, focus: int | None) -> dict[str, Any]:
        if self.is_rounds:
            return self._told_round(before, focus)
        meeting = self.engine.last_meeting()
        if meeting is None or before is None:
            return {}
        *pair, coin = meeting
        states = before[pair]
        return self.told(tuple(pair), self.space.encode_array(states) if states.dtype.names else states, coin)

    def told_happening(self, happening: Happening) -> dict[str, Any]:
        space, prescribed = self.space, happening.prescribed
        if happening.kind == EVENT:
            return told_event(space, happening.before[0], happening.after[0])
        if happening.kind == FAULT:
            return {}
        if isinstance(prescribed, tuple):
            return self.told(tuple(happening.acting), happening.before, prescribed[2])
        states = ([space.mapping_of(code) for code in codes] for codes in (happening.before, happening.after))
        changes = tuple(zip(happening.acting, *states, strict=True))
        return {"text": Round(changes).sentence() or "nothing changes", "lines": [], "changed": bool(changes)}

    def told(self, pair: tuple[int, ...], before: Iterable[int], coin: int) -> dict[str, Any]:
        """The interaction of two states, in words and as executed lines of `interact`."""
        protocol = self.protocol
        a, b = (self.space.namespace(code) for code in before)
        old = self.space.mapping(a), self.space.mapping(b)
        coins = (protocol.coins.value(coin),) if protocol.coin_fields else ()
        _, lines = traced(protocol.interact, a, b, protocol.p, *coins)
        new = self.space.mapping(a), self.space.mapping(b)
        text = Interaction(pair[0], pair[1], old, new, protocol.coins.mapping(coin)).sentence()
        return {"pair": pair, "text": text, "lines": lines, "changed": old != new}

    def _told_round(self, old: np.ndarray, focus: int | None) -> dict[str, Any]:
        """The round of one node: the one in focus, else one whose output changes, else one that changes."""
        protocol = self.protocol
        new = self.engine.configuration().agents
        changed = np.flatnonzero(old != new)
        acted = getattr(self.engine, "acted", None)
        if acted is not None and focus not in acted and len(acted):
            focus = next((int(v) for v in changed), int(acted[0]))
        if focus is None:
            leaders = [v for v in changed if "leader" in self.space.names and old[v]["leader"] != new[v]["leader"]]
            focus = int(leaders[0] if leaders else changed[0] if len(changed) else 0)
        near = self.topology.neighbours(focus)
        states = [self.space.namespace(code) for code in self.space.encode_array(old[[focus, *near]])]
        before = self.space.mapping(states[0])
        coins = protocol.coins_shown(self.engine.last_coins(focus))
        seen = protocol.as_seen(states[1:], protocol.ports_back(self.topology, focus))
        _, lines = traced(protocol.update, states[0], seen, coins, protocol.p)
        text = f"{len(changed):,} of {protocol.n:,} nodes changed; "
        text += Round(((focus, before, self.space.mapping(states[0])),)).sentence()
        return {"node": focus, "text": text, "lines": lines, "changed": bool(len(changed))}

    # -- what is seen -----------------------------------------------------------------------------------

    def picture(self) -> np.ndarray:
        codes = getattr(self.engine, "codes", None)
        return self.look.of_agents(self.engine.configuration().agents) if codes is None else self.look.of_codes(codes)

    def places(self) -> np.ndarray:
        return self._scheduler.places(self.engine.remembered, self.protocol.n)

    def bands(self) -> list[tuple[int, int]]:
        codes, counts = self.engine.configuration().multiset
        seen, places = np.unique(self.look.of_codes(codes), return_inverse=True)
        totals = np.zeros(len(seen), np.int64)
        np.add.at(totals, places, counts)
        return [(int(byte), int(total)) for byte, total in zip(seen, totals, strict=True)]

    def _counted(self) -> Configuration:
        """The configuration in the form that can be measured fastest."""
        if getattr(self.engine, "codes", None) is not None and self.protocol.n > LARGEST_DRAWN:
            codes, counts = self.engine.occupancy()
            return Configuration(self.space, codes=codes, counts=counts)
        return self.engine.configuration()

    def readings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        self._readings.unread = self.unread
        if isinstance(self._readings, PlainReadings):
            return self._readings.read(self.engine.configuration())
        whole = None if self.engine.as_multiset else lambda: self.engine.configuration().agents
        return self._readings.read(self._counted(), whole)

    def leaders(self) -> np.ndarray:
        agents = self.engine.configuration().agents
        marks = Membership(self.protocol, Stop("leaders", (self.protocol.output,))).marks(agents)
        return np.flatnonzero(marks)

    def state(self, agent: int) -> dict[str, Any]:
        if self.kind == "bands":
            raise InvalidInput("beyond a million agents only counts are kept, and no single agent can be looked at")
        agents = self.engine.configuration().agents
        if agent >= len(agents):
            raise InvalidInput(f"there is no agent {agent} now; there are {len(agents)}, numbered from 0")
        return {name: plain(v) for name, v in self.space.mapping(agents[agent]).items()}

    def labels(self) -> list[str | None]:
        codes = self.space.encode_array(self.engine.configuration().agents)
        return [self.protocol.label(self.space.namespace(code), self.protocol.p) for code in codes]

    def fields(self) -> dict[str, Any]:
        described = {}
        for name in self.space.names:
            low, high = self.space.bounds[name]
            described[name] = {"low": low, "high": high, "names": list(self.space.domains[name].names)}
        return described
