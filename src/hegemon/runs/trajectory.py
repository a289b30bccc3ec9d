"""One run, moved from milestone to milestone. Whatever follows a run uses it; outside engines nothing else advances it.

Between milestones an engine draws the steps. Milestones are faults, prescribed steps, events that are part of the
process, rows of the history, and the stop.
"""

import bisect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hegemon.engines.engine import Engine
from hegemon.engines.prospects import SILENT, STUCK, Prospects
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop
from hegemon.runs.entrance import Entrance
from hegemon.runs.faults import damage_of
from hegemon.runs.history import History
from hegemon.runs.plan import RunPlan
from hegemon.runs.rates import EventProcess
from hegemon.runs.run import Fault
from hegemon.runs.schedules import Prescribed, carry_out
from hegemon.runs.slices import Slices

if TYPE_CHECKING:
    import numpy as np

    from hegemon.runs.checkpoint import Checkpoint


FIRST_REVIEW = 1 << 20  # steps before the first check whether the stop can still be met; the interval doubles each time
FAULT, PRESCRIBED, EVENT = "fault", "prescribed", "event"


def keep_in(checkpoint: "Checkpoint", trajectory: "Trajectory") -> None:
    """Go on from the snapshot of the checkpoint, if it has one, and keep later ones there."""
    trajectory.rest = lambda: checkpoint.offer(trajectory.freeze)
    if checkpoint.state:
        trajectory.thaw(checkpoint.state)


class GivenUp(Exception):
    """The caller cancels the run."""


class Happening(NamedTuple):
    """What was no drawn step: who acted in a prescribed step, and the codes of those whom it concerned, before and
    after; -1 for an agent that is absent."""

    kind: str
    acting: Sequence[int] = ()
    before: Sequence[int] = ()
    after: Sequence[int] = ()
    prescribed: Prescribed | None = None


class Observer:
    """Looks at a run just before and just after the steps of every call of the engine, and those that are not drawn."""

    def begin(self) -> None:
        """Some steps follow."""

    def end(self) -> None:
        """They were made."""

    def measures(self) -> dict[str, Any]:
        """What it adds to the measures of a run."""
        return {}


class Trajectory:
    """`chance` draws the victims of faults, and the events. `progress(step)` interrupts the run if it returns true;
    `rest()` is called between calls of the engine, `notice(happening)` after everything that is no drawn step."""

    observer: Observer | None = None
    rest: Callable[[], None] | None = None
    notice: Callable[[Happening], None] | None = None

    def __init__(
        self, plan: RunPlan, engine: Engine, chance: "np.random.Generator | None" = None,
        history: History | None = None, progress: Callable[[int], object] | None = None,
    ):  # fmt: skip
        self.plan, self.engine, self.chance = plan, engine, chance
        self.history, self.progress = history, progress
        self.prescribed, self.faults, self.applied = plan.prescribed, [*plan.faults], 0
        self.events = EventProcess(plan.rates, plan.protocol, chance) if plan.rates and chance else None
        self.is_met = self.interrupted = False
        self.ended = ""  # the reason why the stop can never be met, or nothing can change any more
        engine.heartbeat = self._beat
        self._entrance = Entrance(plan.protocol, plan.stop, engine, self._pass) if plan.is_looked_at else None
        self._prospects = self._prospects_of(plan.stop)
        self._review = 0
        self._slices: Slices | None = None
        self._record()

    def _prospects_of(self, stop: Stop) -> Prospects | None:
        if not self.plan.protocol.model.has_interactions:
            return None
        return Prospects(cast(PopulationProtocol, self.plan.protocol), self.plan.topology, stop, self._beat)

    @property
    def step(self) -> int:
        return int(self.engine.step)

    @property
    def last_fault(self) -> int | None:
        """The step of the last fault so far."""
        return self.faults[self.applied - 1].step if self.applied else None

    @property
    def is_seeking(self) -> bool:
        """Whether the next step that meets the stop ends the run: not before the last fault, since recovery is
        measured; only the loss of a leader counts from the beginning."""
        return self.plan.is_ended and (bool(self.plan.stop.watch) or self.applied == len(self.faults))

    def run(self, goal: int | None = None, deadline: float = math.inf) -> bool:
        """Go on to the first step that meets the stop, to `goal` or to the limit, for as long as the deadline allows;
        returns whether the stop is met.

        Without a limit, a run that can never meet its stop ends, and `ended` says why.
        """
        limit = self.plan.limit
        goal = limit if goal is None else goal if limit is None else min(goal, limit)
        self.is_met, self.ended = False, ""
        try:
            while not self._is_over(goal):
                happening = self._act()
                if happening is None:
                    self._draw(goal, deadline)
                elif self.notice:
                    self.notice(happening)
                if time.monotonic() >= deadline:
                    break
        except GivenUp:
            self.interrupted = True
        return self.is_met

    def seek(self, stop: Stop, goal: int | None = None, deadline: float = math.inf) -> bool:
        """Go on, as `run` does, to the first step that meets another stop, for which the engine counts the same agents;
        the plan's own stop is not looked for meanwhile."""
        plan, prospects = self.plan, self._prospects
        self.plan, self.engine.stop = replace(plan, stop=stop), stop
        self._prospects = self._prospects_of(stop)
        try:
            return self.run(goal, deadline)
        finally:
            self.plan, self.engine.stop, self._prospects = plan, plan.stop, prospects

    def _is_over(self, goal: int | None) -> bool:
        if self.is_met or self.interrupted or self.ended:
            return True
        if self.is_seeking and self._is_inside():
            self.is_met = True
            return True
        return goal is not None and self.engine.step >= goal and self._due_fault() is None

    # -- milestones -------------------------------------------------------------------------------------

    @property
    def is_fault_due(self) -> bool:
        return self._due_fault() is not None

    @property
    def has_milestone_now(self) -> bool:
        """Whether the next step is no drawn step."""
        return self.milestone == self.engine.step

    def _due_fault(self) -> Fault | None:
        is_due = self.applied < len(self.faults) and self.faults[self.applied].step <= self.engine.step
        return self.faults[self.applied] if is_due else None

    @property
    def milestone(self) -> int | None:
        """The step at which the next thing happens that is no drawn step; None if nothing is known to come."""
        steps = [fault.step for fault in self.faults[self.applied : self.applied + 1]]
        steps += [self.events.step - 1] if self.events else []
        if self.prescribed:
            steps += [step for step in self.prescribed if step >= self.engine.step]
        return min(steps, default=None)

    def _act(self) -> Happening | None:
        """Make what is due now, if it is no drawn step."""
        step, fault = self.engine.step, self._due_fault()
        if fault:
            return self._apply(fault)
        if step in self.prescribed:
            return self._follow(self.prescribed[step])
        if self.events and step == self.events.step - 1:
            return self._meet_event(self.events)
        return None

    def _apply(self, fault: Fault) -> Happening:
        plan = self.plan
        output = (lambda state: plan.protocol.holds(plan.protocol.output, state)) if plan.stop.watch else None
        assert self.chance is not None
        damage = damage_of(fault, self.engine, self.chance, output)
        self.engine.load(damage.configuration)
        self.applied += 1
        self.is_met = damage.is_seen and plan.is_ended
        self._note()
        return Happening(FAULT)

    def _follow(self, prescribed: Prescribed) -> Happening:
        if self.observer:
            self.observer.begin()
        acting, before, after = carry_out(prescribed, self.plan.protocol, self.plan.topology, self.engine)
        happening = Happening(PRESCRIBED, acting, before.tolist(), after.tolist(), prescribed)
        self._end_step(happening)
        return happening

    def _meet_event(self, events: EventProcess) -> Happening:
        if self.observer:
            self.observer.begin()
        before, after = events.make_due(self.engine)
        happening = Happening(EVENT, (), (before,), (after,))
        self._end_step(happening)
        return happening

    def _end_step(self, happening: Happening) -> None:
        """After a step that was not drawn."""
        if self.observer:
            self.observer.end()
        self.is_met = bool(self.plan.stop.watch) and self.plan.is_ended and self.changes_output(happening)
        self._note()

    def changes_output(self, happening: Happening) -> bool:
        """Whether it changes an agent's output, or the number of agents that have one."""
        protocol = self.plan.protocol

        def leads(code: int) -> bool:
            return code >= 0 and bool(protocol.holds(protocol.output, protocol.space.namespace(code)))

        return any(leads(old) != leads(new) for old, new in zip(happening.before, happening.after, strict=True))

    # -- drawn steps ------------------------------------------------------------------------------------

    def _draw(self, goal: int | None, deadline: float) -> None:
        """Draw steps up to the next milestone, or to the first that meets the stop."""
        engine, history, milestone = self.engine, self.history, self.milestone
        goal = milestone if goal is None else goal if milestone is None else min(goal, milestone)
        engine.horizon = goal
        if self._entrance:
            self._entrance.forget()
        self._review = self._next_review(self.engine.step)
        is_seeking, is_first = self.is_seeking, True
        while goal is None or engine.step < goal:
            if self._is_hopeless(goal) or not is_first and time.monotonic() >= deadline:
                return
            if self.rest:
                self.rest()
            record = history.next_step(engine.step) if history else None
            review = None if engine.is_silent else self._review
            if not self._collect(goal, review, is_seeking):
                target = min(step for step in (goal, record, review) if step is not None)
                self._advance(target, is_seeking, deadline)
                if self.is_met or engine.step in (goal, record):
                    self._record()
            if self.is_met:
                return
            self._beat()
            is_first = False

    def _advance(self, target: int, is_seeking: bool, deadline: float) -> None:
        """Go towards the target; with a deadline, in slices."""
        if deadline < math.inf:
            self._slices = self._slices or Slices(self.plan.protocol.n, self.engine)
            self._slices.advance(target, deadline, lambda goal: self._go(goal, is_seeking))
        elif is_seeking:
            self._go(target, is_seeking)
        else:
            self._pass(target)

    def _go(self, target: int, is_seeking: bool) -> None:
        """One call of the engine, or of what looks for the step of entry."""
        if is_seeking and self._entrance:
            self.is_met = self._entrance.reach(target)
            return
        if self.observer:
            self.observer.begin()
        is_met = self.engine.advance(target)
        if self.observer:
            self.observer.end()
        self.is_met = is_met and is_seeking

    def _pass(self, goal: int) -> None:
        while self.engine.step < goal:
            self._go(goal, is_seeking=False)
            self._beat()

    def _collect(self, goal: int | None, review: int | None, is_seeking: bool) -> bool:
        """Run while the engine collects rows of the history in batches; False if rows are made one by one."""
        history, engine = self.history, self.engine
        if history is None or self._entrance or self.observer or (regular := history.regular) is None:
            return False
        target = min((step for step in (goal, review) if step is not None), default=engine.step)
        counted = engine.advance_counting(target, *regular)
        if counted is None:
            return False
        is_met, steps, census = counted
        history.record_counts(steps, census)
        if is_met and (is_seeking or engine.step in (goal, history.next_step(engine.step - 1))):
            self._record()
        self.is_met = is_met and is_seeking
        return True

    def _next_review(self, step: int) -> int:
        """The first of the fixed steps of review from this one on: they do not depend on where a run pauses."""
        review = max(FIRST_REVIEW, 16 * self.plan.protocol.n)
        while review < step:
            review *= 2
        return review

    def _is_hopeless(self, goal: int | None) -> bool:
        """Whether to end the run: it has no limit, and the stop can never be met."""
        engine, prospects = self.engine, self._prospects
        if engine.step >= self._review:
            self._review = self._next_review(engine.step + 1)
            if prospects is None or engine.is_silent:
                pass  # engines of rounds detect this themselves
            elif prospects.is_silent(engine):
                engine.note_silence()
            elif goal is None and prospects.is_stuck(engine):
                self.ended = STUCK
        if goal is not None:
            return False
        self.ended = self.ended or engine.hopeless or (SILENT if engine.is_silent else "")
        return bool(self.ended)

    def _is_inside(self) -> bool:
        return self._entrance.is_inside() if self._entrance else bool(self.engine.counts_hold())

    def _beat(self) -> None:
        if self.progress and self.progress(self.engine.step):
            raise GivenUp

    def _note(self) -> None:
        """Record the present after what was no drawn step; later replays begin here."""
        if self._entrance:
            self._entrance.forget()
        self._record()

    def _record(self) -> None:
        if self.history:
            self.history.record(self.engine.step, self.engine.configuration())

    # -- past and future --------------------------------------------------------------------------------

    @property
    def happened(self) -> list[Fault]:
        """The faults so far."""
        return self.faults[: self.applied]

    def add(self, *faults: Fault) -> None:
        """Add faults to those that are to come, by step."""
        for fault in faults:
            bisect.insort(self.faults, fault, lo=self.applied, key=lambda known: known.step)

    def _place(self) -> dict[str, Any]:
        """The place in the plan, and the coins of faults and events."""
        return {
            "faults": self.applied,
            "rng": self.chance.bit_generator.state if self.chance else None,
            "events": self.events.place if self.events else None,
        }

    def _return(self, place: dict[str, Any]) -> None:
        self.applied = place["faults"]
        if self.chance:
            self.chance.bit_generator.state = place["rng"]
        if self.events:
            self.events.place = tuple(place["events"])
        self.is_met, self.ended = False, ""

    def snapshot(self) -> tuple[dict[str, Any], Any]:
        """All that is needed to return here: the place in the plan, and the engine."""
        return self._place(), self.engine.snapshot()

    def restore(self, snapshot: tuple[dict[str, Any], Any]) -> None:
        """Go back to where the snapshot was taken; what follows is repeated, with the faults that are now to come."""
        place, engine = snapshot
        self._return(place)
        self.engine.restore(engine)

    def freeze(self) -> dict[str, Any]:
        """As `snapshot`, for another process."""
        return self._place() | {"engine": self.engine.freeze()}

    def thaw(self, frozen: dict[str, Any]) -> None:
        self._return(frozen)
        self.engine.thaw(frozen["engine"])
