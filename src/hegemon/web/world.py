"""What a session can watch, whatever the model: a trajectory, and how its moments look."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.runs.capabilities import Capabilities
from hegemon.runs.plan import RunPlan
from hegemon.runs.rates import Rate
from hegemon.runs.run import Fault
from hegemon.runs.schedules import Prescribed
from hegemon.runs.trajectory import Happening, Observer, Trajectory
from hegemon.web.explaining import Listing

SEARCH_SECONDS = 2.0  # processor time of the search for the exact first step inside a set
MOST_WRITTEN = 400  # agents: with more of them nothing is written on agents
NUMBER, LABEL = "number", "label"  # what may be written on agents besides the parts of a state
LONGEST_TEXT = 24  # characters
ELSEWHERE = "leave it out, or use hegemon run"  # where a watched run does not support an option


class Patience:
    """Whether a search has taken too long. Its clock starts at the first `is_over`, when everything is compiled."""

    _end: float | None = None

    def is_over(self, step: int = 0) -> bool:
        now = time.thread_time()
        self._end = self._end or now + SEARCH_SECONDS
        return now > self._end


class Told(Observer):
    """Describes the drawn steps of a world; `last` is the latest description."""

    def __init__(self, world: "World", focus: int | None = None):
        self._world, self._focus, self.last = world, focus, dict[str, Any]()

    def begin(self) -> None:
        self._before = self._world.before_step(self._focus)

    def end(self) -> None:
        self.last = self._world.told_step(self._before, self._focus)


class World(ABC):
    supports: ClassVar[Capabilities]  # the options of a watched run
    can_disturb = False
    undisturbed = ""  # the reason, if `can_disturb` is False
    keeps_its_past = True  # False: restoring a snapshot leads back to the beginning
    is_rounds = False  # whether a step is a round of all agents
    has_output = True
    unread: frozenset[str] = frozenset()  # sets that are undefined here, since agents come and go
    torus: tuple[int, int] | None = None  # columns and rows, if agents walk on a torus and are drawn at their places
    kind: str  # graph, raster or bands: how it is drawn
    reason: str  # why this engine was chosen
    protocol: Protocol
    topology: Topology
    engine: Any
    plan: RunPlan
    trajectory: Trajectory  # see `begin`
    look: Any  # has `channels`: what the bytes of a picture mean
    listing: Listing

    def begin(
        self, prescribed: Mapping[int, Prescribed] | None = None, faults: Sequence[Fault] = (),
        rates: tuple[Rate, ...] = (), chance: np.random.Generator | None = None,
    ) -> Trajectory:  # fmt: skip
        """The trajectory that is watched; nothing is asked of a world before it has one."""
        self.plan = replace(self.plan, prescribed=prescribed or {}, faults=tuple(faults), rates=rates)
        self.trajectory = Trajectory(self.plan, self._moved, chance)
        return self.trajectory

    @property
    def _moved(self) -> Any:
        """What the trajectory moves."""
        return self.engine

    @property
    def step(self) -> int:
        """The number of steps or rounds made."""
        return self.trajectory.step

    @property
    def is_silent(self) -> bool:
        """Whether nothing will ever change again."""
        return bool(self._moved.is_silent)

    def prepare(self) -> None:  # noqa: B027 (some worlds compile nothing)
        """Compile what the first step needs; nothing else changes."""

    @abstractmethod
    def seek_change(self, deadline: float) -> bool:
        """Advance to the next change of an agent's output, or to the deadline; returns whether there is one."""

    def snapshot(self) -> tuple[Any, ...]:
        return self._moved.snapshot()

    @abstractmethod
    def entry(self, outside: tuple[Any, ...], name: str, limit: int) -> int | None:
        """The exact first step inside a set after the snapshot `outside`, which is outside; None: not found in time."""

    @abstractmethod
    def before_step(self, focus: int | None) -> Any:
        """What `told_step` needs of the moment before."""

    @abstractmethod
    def told_step(self, before: Any, focus: int | None) -> dict[str, Any]:
        """A description of the drawn step that was made last."""

    def told_happening(self, happening: Happening) -> dict[str, Any]:
        """A description of what was no drawn step."""
        return {}

    @abstractmethod
    def picture(self) -> np.ndarray:
        """One byte per agent."""

    def places(self) -> np.ndarray:
        """A column and a row of the torus for every agent."""
        raise InvalidInput(f"the agents of {self.protocol.id} stay where they are")

    def bands(self) -> list[tuple[int, int]]:
        """How many agents have which byte."""
        seen, counts = np.unique(self.picture(), return_counts=True)
        return list(zip(seen.tolist(), counts.tolist(), strict=True))

    @abstractmethod
    def readings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The observables, and of every set whether the configuration is inside (None: not looked at)."""

    def leaders(self) -> np.ndarray:
        """The agents whose output is 1, where they have a field `leader` that can be set."""
        return np.empty(0, np.int64)

    @abstractmethod
    def state(self, agent: int) -> dict[str, Any]:
        """One agent in readable form."""

    def writable(self) -> list[str]:
        """What can be written on every agent: its number, the author's label, a part of its state."""
        if self.kind != "graph" or self.protocol.n > MOST_WRITTEN:
            return []
        label = [LABEL] if callable(getattr(self.protocol, "label", None)) else []
        return [*label, NUMBER, *(name for name in self.parts() if name not in (NUMBER, LABEL))]

    def parts(self) -> list[str]:
        """The parts of a state by name."""
        return list(self.fields())

    def written(self, name: str) -> list[str]:
        """The text written on every agent."""
        agents = range(len(self.picture()))
        if name == NUMBER:
            return [str(v) for v in agents]
        texts = self.labels() if name == LABEL else [self.state(v).get(name) for v in agents]
        return ["" if text is None else str(text)[:LONGEST_TEXT] for text in texts]

    def labels(self) -> list[str | None]:
        """What the author's `label` returns for every agent."""
        return []

    def neighbours(self, agent: int) -> list[int]:
        return [] if self.topology.is_complete else self.topology.neighbours(agent)[:64].tolist()

    def fields(self) -> dict[str, Any]:
        """The values that each field may take, for setting it by hand."""
        return {}

    def messages(self) -> list[Any]:
        """The messages in transit."""
        return []
