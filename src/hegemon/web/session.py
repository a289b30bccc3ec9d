"""One watched run: its time line, the disturbances on it, and everything that a frame shows.

The past is kept as snapshots and repeated exactly from the nearest one. A disturbance at a
past moment begins a new future there. All disturbances are faults, which `hegemon run --disturbances FILE` repeats.
"""

import bisect
import math
import time
from collections.abc import Generator, Mapping
from typing import Any

from hegemon.compute.randomness import FAULT, generator
from hegemon.errors import InvalidInput, choose
from hegemon.models.halting import halting
from hegemon.models.protocol import Protocol
from hegemon.models.start_files import opened
from hegemon.runs.disturbances import record
from hegemon.runs.faults import agents_left
from hegemon.runs.rates import churns, marks_of, read_rates, steps_until
from hegemon.runs.record import RunRecord
from hegemon.runs.run import Fault
from hegemon.runs.schedules import Prescribed, prescribed_steps
from hegemon.runs.setting import Start, topology_for
from hegemon.runs.trajectory import FAULT as STRUCK
from hegemon.runs.trajectory import PRESCRIBED, Happening
from hegemon.web.healing import Healing
from hegemon.web.layout import require_watchable
from hegemon.web.watched_events import UNDISTURBED, about_n, given_faults, require_watched
from hegemon.web.world import Told, World

MOST_SNAPSHOTS = 64
MOST_BYTES = 400_000_000  # of snapshots
POINTS = 400  # of the curves
BETWEEN = 0.25  # seconds of work between two snapshots
LARGEST_MURDER = 10_000  # leaders that one disturbance may name
PATIENCE = 5.0  # seconds that the search for a change may take
FAR = 1 << 62  # the largest step
LONGEST_JUMP = 30.0  # seconds that any other jump may take
SLICE = 0.02  # seconds of a jump between two yields
Jump = Generator[None, None, bool]  # work in slices; it may be abandoned after any slice


class Session:
    """A watched run: `Session(protocol, seed=1)`. The options are those of its record."""

    def __init__(self, protocol: Protocol, **options: Any):
        self.record = RunRecord(protocol, **options)
        self.record.require_known()
        kind: type[World] = protocol.model.home("world")
        kind.supports.require(self.record.given)
        protocol = halting(self.record.protocol, marks_of(read_rates(self.record.rates)))
        self.protocol, self.seed, self._engine = protocol, self.record.seed, self.record.engine
        require_watchable(protocol, self.record.graph, self._engine)
        self.topology = topology_for(protocol, self.record.graph, self.seed)
        self.focus: int | None = None
        self.writing = ""  # what the page writes on every agent
        self.rate, self.rate_agents = 0.0, 1
        self.branch = 0  # how often a new future has begun
        self.start_over(self.record.start)

    def start_over(self, start: Start = None, shown: str | None = None) -> None:
        """A new run from a named start, a file given on the command line, or a list of states."""
        model, named = self.protocol.model, start
        if model.has_configurations:
            start = opened(start, self.protocol.starts)
        schedule = prescribed_steps(start, self.protocol, self.topology)
        if schedule and self._engine not in ("auto", "agents", "rounds", "daemon"):
            raise InvalidInput(f"{start} prescribes interactions, which only engine agents follows")
        world: World = model.home("world")(self.protocol, self.topology, self.record, start)
        if schedule and world.kind == "bands":
            raise InvalidInput(f"{start} prescribes interactions of agents, and beyond a million only counts are kept")
        self.world, self.schedule = world, schedule
        self.story_start: tuple[int, list[int], int] | None = None  # before the choices: step, codes, faults
        self.branch += 1
        self.start = shown or (named if isinstance(named, str) else None) or self.protocol.default_start
        self.given = given_faults(self.record, world, schedule)
        self.rates = require_watched(self.record, world)
        chance = generator(self.seed, 0, FAULT)
        self.trajectory = world.begin(dict(enumerate(schedule)), self.given, self.rates, chance)
        self.trajectory.notice = self._notice
        self._chance = generator(self.seed, 1, FAULT)  # of faults that come by hand at a rate
        self._snapshots: list[tuple[int, int, Any]] = []
        self._worked = 0.0
        self.rows: list[tuple[int, dict[str, Any]]] = []
        self._spacing = 0
        self.last: dict[str, Any] = {}
        self.note = ""
        self._healing = Healing(world)
        self._keep()
        self.trajectory.run(0)  # the faults before the first step

    # -- time -------------------------------------------------------------------------------------------

    @property
    def step(self) -> int:
        return self.trajectory.step

    @property
    def faults(self) -> list[Fault]:
        """The faults that have happened and those that are known to come, also by hand, by step."""
        return self.trajectory.faults

    @property
    def chosen(self) -> Mapping[int, Prescribed]:
        """The prescribed steps, by the number of steps before them."""
        return self.trajectory.prescribed

    @property
    def is_over(self) -> bool:
        """Whether nothing can change any more and no fault will come."""
        return self.world.is_silent and self.all_given and not (self.rate or self.rates)

    @property
    def all_given(self) -> bool:
        """Whether all known disturbances have happened."""
        return self.trajectory.applied == len(self.faults)

    @property
    def undisturbed(self) -> str:
        """Why nothing can be disturbed by hand; empty if it can."""
        return UNDISTURBED if self.rates else "" if self.world.can_disturb else self.world.undisturbed

    def advance(self, target: int, deadline: float | None = None, tell: bool = False) -> None:
        """Advance to the step `target`, with all disturbances on the way; stops earlier at the deadline."""
        begin = time.monotonic()
        limit = math.inf if deadline is None else deadline
        self.last = {}
        self._plan_fault()
        self.trajectory.run(target - tell, limit)
        if tell and self.step == target - 1:
            self._tell(limit)
        self._worked += time.monotonic() - begin
        if self._worked > BETWEEN:
            self._keep()

    def _tell(self, deadline: float) -> None:
        """Make one step, and describe it."""
        trajectory, told = self.trajectory, Told(self.world, self.focus)
        if not trajectory.has_milestone_now:
            trajectory.observer = told
        try:
            trajectory.run(self.step + 1, deadline)
        finally:
            trajectory.observer = None
        if told.last and not self._is_struck:
            self.last = told.last

    def _notice(self, happening: Happening) -> None:
        """What was no drawn step has just happened."""
        self.last = self.world.told_happening(happening)
        if happening.kind == PRESCRIBED:
            self._healing.follow()
        if happening.kind == STRUCK and not self.trajectory.is_fault_due:
            self._healing.begin(self.trajectory.applied)
            self._keep()
            self._plan_fault()

    @property
    def _is_struck(self) -> bool:
        """Whether the last thing that happened is a fault."""
        return self.trajectory.last_fault == self.step

    def go_to(self, target: int) -> bool:
        """Go to any step, past or future, for at most half a minute; returns whether it was reached."""
        return finished(self.jump(target))

    def go_to_change(self) -> bool:
        """Go to the next change of an agent's output, for at most a few seconds; returns whether one was found."""
        return finished(self.jump_to_change())

    def jump(self, target: int) -> Jump:
        """`go_to` in slices."""
        if not 0 <= target <= FAR:
            raise InvalidInput(f"there is no {self.moment(target)[:80]} to go to; the last one is {FAR:,}")
        if target < self.step:
            index = bisect.bisect_right(self._snapshots, target, key=lambda kept: kept[0]) - 1
            self.trajectory.restore(self._snapshots[index][2])
            self.last = {}
            self._healing.recall(self.trajectory.last_fault or 0)
            self.trajectory.run(self.step)  # the faults that are due there
        deadline = time.monotonic() + LONGEST_JUMP
        while self.step < target:
            if time.monotonic() > deadline:
                self.note = f"after {LONGEST_JUMP:g} seconds at {self.moment(self.step)}, on the way to {target:,}"
                return False
            self.advance(target, time.monotonic() + SLICE, tell=True)
            yield
        return self.step == target

    def jump_to_change(self) -> Jump:
        """`go_to_change` in slices."""
        if (end := self._after_chosen) > self.step:
            yield from self.jump(end)
        self._plan_fault()
        deadline, begin, met, faults = time.monotonic() + PATIENCE, self.step, False, self.disturbed
        while not met and self.disturbed == faults and time.monotonic() < deadline:
            before = time.monotonic()
            met = self.world.seek_change(before + 5 * SLICE)
            if self.trajectory.ended:
                break
            self._worked += time.monotonic() - before
            if self._worked > BETWEEN and not met:
                self._keep()
            yield
        self.last = {}
        self._keep()
        if met and self.step > begin:  # repeat the last step, to get its description
            step = self.step
            if (yield from self.jump(step - 1)):
                self.advance(step, tell=True)
        self.note = "" if met else f"no output changed up to {self.moment(self.step)}"
        return met

    @property
    def _after_chosen(self) -> int:
        return max(self.chosen) + 1 if self.chosen else 0

    @property
    def story_end(self) -> int:
        """The step after the uninterrupted series of chosen steps."""
        end = self.story_start[0] if self.story_start else 0
        while end in self.chosen:
            end += 1
        return end

    def choose(self, prescribed: Prescribed) -> None:
        """Make this step instead of a drawn one; a new future begins."""
        begin, codes = self.step, self.protocol.space.encode_array(self.world.engine.configuration().agents).tolist()
        trajectory, story = self.trajectory, self.story_start
        future = trajectory.prescribed, trajectory.faults
        goes_on = story is not None and story[0] <= begin <= self.story_end and story[2] == self.disturbed
        self._forget_future()
        trajectory.prescribed = {**trajectory.prescribed, begin: prescribed}
        try:
            self.advance(begin + 1)
        except InvalidInput:
            trajectory.prescribed, trajectory.faults = future
            raise
        self.story_start = story if goes_on else (begin, codes, self.disturbed)
        self.branch += 1

    def _forget_future(self) -> None:
        """Drop what was recorded for later steps: faults by hand, choices, snapshots and results."""
        self._forget_faults()
        self.trajectory.prescribed = {step: chosen for step, chosen in self.chosen.items() if step < self.step}
        if self.story_start is not None and self.story_start[0] >= self.step:
            self.story_start = None
        self._snapshots = [kept for kept in self._snapshots if kept[0] <= self.step and kept[1] <= self.disturbed]
        self._healing.forget(self.disturbed)
        self.rows = [row for row in self.rows if row[0] <= self.step]

    def forget_rows(self, step: int) -> None:
        """Drop the readings from this step on, so that the curves end where the run does."""
        self.rows = [row for row in self.rows if row[0] < step]
        self._spacing = 0

    def moment(self, step: int) -> str:
        return f"{self.protocol.time_unit[:-1]} {step:,}"

    def _keep(self) -> None:
        """Keep a snapshot of the present; if there are too many, drop every second one, but never the first."""
        self._worked = 0.0
        step, faults = self.step, self.disturbed
        if self._snapshots and not self.world.keeps_its_past:
            return
        self._snapshots = [kept for kept in self._snapshots if kept[:2] != (step, faults)]
        place = bisect.bisect_right(self._snapshots, (step, faults), key=lambda kept: kept[:2])
        snapshot = self.trajectory.snapshot()
        self._snapshots.insert(place, (step, faults, snapshot))
        size = sum(getattr(part, "nbytes", 64) for part in snapshot[1])
        if len(self._snapshots) > max(4, min(MOST_SNAPSHOTS, MOST_BYTES // size)):
            self._snapshots = self._snapshots[:1] + self._snapshots[2::2]

    # -- disturbances -----------------------------------------------------------------------------------

    def _forget_faults(self) -> None:
        """Drop the later faults that were made by hand; those of the command line stay."""
        given = [fault for fault in self.given if fault.step > self.step]
        self.trajectory.faults = self.trajectory.happened + given

    def _plan_fault(self) -> None:
        """With a rate of faults, plan the next one after a geometric number of steps."""
        if self.rate > 0 and all(fault in self.given for fault in self.faults[self.disturbed :]):
            per_step = self.rate if self.world.is_rounds else self.rate / self.protocol.n
            self.trajectory.add(Fault(self.step + steps_until(self._chance, per_step), self.rate_agents))

    def disturb(self, *faults: Fault) -> None:
        """Apply faults at the present step; what had been recorded for later steps is dropped."""
        self._require_disturbable()
        trajectory = self.trajectory
        future = trajectory.faults, trajectory.prescribed, self.story_start
        now = trajectory.snapshot()
        try:
            self._forget_future()
            trajectory.add(*faults)
            trajectory.run(self.step)
        except InvalidInput:
            trajectory.restore(now)
            trajectory.faults, trajectory.prescribed, self.story_start = future
            raise
        self.last, self.note = {}, ""
        self.branch += 1

    def _require_disturbable(self) -> None:
        if self.undisturbed:
            raise InvalidInput(self.undisturbed)

    def set_field(self, agent: int, field: str, value: Any) -> None:
        self.require_agent(agent)
        if field not in self.world.state(agent):
            raise InvalidInput(f"agent {agent} has no field {field!r} in its present state")
        self.disturb(Fault(self.step, (agent,), {field: value}))

    def corrupt(self, agents: int) -> None:
        self.disturb(Fault(self.step, agents))

    def kill_leader(self) -> None:
        """Every leader becomes a follower."""
        if "leader" not in self.world.fields():
            raise InvalidInput(
                f"{self.protocol.id} has no field `leader` to be taken from a leader; set a field instead"
            )
        if self.world.kind == "bands":
            space = self.protocol.space
            configuration = self.world.engine.configuration()
            codes, counts = configuration.multiset
            states = [space.mapping(record) for record in space.decode_array(codes)]
            faults = [
                Fault(self.step, int(k), {"leader": 0}, {name: _whole(v) for name, v in state.items()})
                for state, k in zip(states, counts, strict=True)
                if state["leader"] == 1
            ]
        else:
            leaders = self.world.leaders().tolist()
            if len(leaders) > LARGEST_MURDER:
                raise InvalidInput(f"there are {len(leaders):,} leaders, and at most {LARGEST_MURDER:,} can be named")
            faults = [Fault(self.step, tuple(leaders), {"leader": 0})] if leaders else []
        if not faults:
            raise InvalidInput("there is no leader to kill")
        self.disturb(*faults)

    def write(self, name: str) -> None:
        """Write this on every agent from now on: a name in `writable()` of the world, or "" for nothing."""
        known = self.world.writable()
        if name and name not in known:
            raise InvalidInput(f"nothing called {name[:60]!r} can be written on agents; {choose(known)}")
        self.writing = name

    def set_rate(self, rate: float, agents: int) -> None:
        """The mean number of faults per round (per n interactions) and the agents that each hits; 0: none."""
        self._require_disturbable()
        if not 0 <= rate <= 1000 or not 1 <= agents <= self.protocol.n:
            raise InvalidInput(f"a rate of {rate} faults of {agents} agents is out of range 0..1000 and 1..n")
        self.rate, self.rate_agents = float(rate), agents
        self._forget_faults()

    @property
    def is_as_given(self) -> bool:
        """Whether all disturbances up to now are those of the command line."""
        return tuple(self.trajectory.happened) == self.given[: self.disturbed]

    @property
    def agents(self) -> int:
        """How many agents the faults up to now have left."""
        return agents_left(self.trajectory.happened, self.protocol, None)

    @property
    def disturbed(self) -> int:
        """How many disturbances there were up to now."""
        return self.trajectory.applied

    def disturbances(self) -> list[dict[str, Any]]:
        """The disturbances up to now."""
        return [record(fault) for fault in self.trajectory.happened]

    def require_agent(self, agent: int) -> None:
        if not 0 <= agent < self.protocol.n:
            raise InvalidInput(f"there is no agent {agent}; they are numbered 0..{self.protocol.n - 1}")

    # -- what frames show -------------------------------------------------------------------------------

    def readings(self) -> dict[str, Any]:
        """The present values of the curves, the lamps and the healing."""
        if churns(self.given):
            self.world.unread = about_n(self.protocol) if self.agents < self.protocol.n else frozenset()
        values, lamps = self.world.readings()
        self._note_row(values)
        readings = {"readAt": self.step, "values": values, "lamps": lamps}
        if churns(self.given):
            readings["agents"] = self.agents
        if self.trajectory.events:  # faults never end, so a time of healing is undefined
            return readings | {"healing": {}, "events": self.trajectory.events.measures(self.world.engine)}
        self.note = self._healing.watch(lamps.get("safe"), self.disturbed) or self.note
        return readings | {"healing": self._healing.record(self.disturbed)}

    def _note_row(self, values: dict[str, Any]) -> None:
        steps = [row[0] for row in self.rows]
        place = bisect.bisect_left(steps, self.step)
        if place < len(self.rows) and self.rows[place][0] == self.step:
            self.rows[place] = (self.step, values)
        elif place < len(self.rows) or not self.rows or self.step - steps[-1] >= self._spacing:
            self.rows.insert(place, (self.step, values))
        if len(self.rows) > 2 * POINTS:
            self.rows = self.rows[:1] + self.rows[2::2]
            self._spacing = (self.rows[-1][0] - self.rows[0][0]) // POINTS


def finished(jump: Jump) -> bool:
    """Make a whole jump at once; returns its result."""
    while True:
        try:
            next(jump)
        except StopIteration as end:
            return end.value


def _whole(value: str | float) -> str | int:
    return value if isinstance(value, str) else int(value)
