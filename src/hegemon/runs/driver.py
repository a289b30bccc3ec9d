"""Moves an engine from milestone to milestone: records, faults, the exact first step inside a set."""

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from hegemon.engines.engine import Engine, copied, is_equal
from hegemon.engines.membership import Membership
from hegemon.engines.pacing import Deadline
from hegemon.engines.prospects import SILENT, STUCK, Prospects
from hegemon.engines.stopping import Stop, never
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.runs.faults import strike
from hegemon.runs.history import History
from hegemon.runs.run import Fault
from hegemon.runs.schedules import carry_out

if TYPE_CHECKING:
    import numpy as np


FIRST_REVIEW = 1 << 20  # steps before the first check whether the stop can still be met; the interval doubles each time
LOOKS = 8  # a closed set is evaluated each time a run has grown by one part in LOOKS
REPLAY = 2  # a new snapshot is taken after this many times the cost of one
PROBES = 8  # checks after the step of entry that a closed set is not left again


class GivenUp(Exception):
    """The caller cancels the run."""


class Driver:
    def __init__(
        self, protocol: Protocol, topology: Topology, chosen: type[Engine], configuration: Configuration, stop: Stop,
        rng: "np.ndarray", history: History | None = None, progress: Callable[[int], object] | None = None,
        **options: Any,
    ):  # fmt: skip
        self.protocol, self.topology, self.stop = protocol, topology, stop
        self.history, self.progress = history, progress
        looks_now_and_then = stop.whole and not chosen.watches(stop)
        self.membership = Membership(protocol, stop) if looks_now_and_then else None
        counted = never(stop.name) if looks_now_and_then else stop
        self.engine = chosen(protocol, topology, configuration, counted, rng, **options)
        self.engine.heartbeat = self._beat
        self.interrupted = False
        self.rest: Callable[[], None] | None = None  # called between calls of the engine, outside the set
        self.ended = ""  # the reason why the stop can never be met
        self._prospects: Prospects | None = None
        if protocol.model.has_interactions:
            self._prospects = Prospects(cast(PopulationProtocol, protocol), topology, stop, self._beat)
        self._review = 0
        self._outside: tuple[Any, ...] | None = None  # a snapshot outside the set; only drawn steps followed it
        self._next_snapshot = 0.0  # the time of the snapshot
        self._record()

    def run(self, limit: int | None, until_met: bool) -> bool:
        """Run to the step `limit` (None: without end) or, with `until_met`, to the first step that meets the stop.

        Returns whether the stop is met. Without a limit, a run that can never meet its stop ends, and `ended` says why.
        """
        if self.interrupted:
            return False
        try:
            return self._run(limit, until_met)
        except GivenUp:
            self.interrupted = True
            return False

    def _run(self, limit: int | None, until_met: bool) -> bool:
        engine = self.engine
        engine.horizon = limit
        self._outside = None
        self._review = self._next_review()
        if until_met and self._inside():
            return True
        while limit is None or engine.step < limit:
            if self._is_over(limit):
                return False
            if self.rest:
                self.rest()
            record = self.history.next_step(engine.step) if self.history else None
            review = None if engine.is_silent else self._review
            goal = min(goal for goal in (limit, record, review) if goal is not None)
            met = self._collect(limit, review, until_met)
            if met is None:
                met = self._reach(goal) if until_met else self._pass(goal)
                if met or engine.step in (limit, record):
                    self._record()
            if met:
                return True
            self._beat()
        return False

    def _collect(self, limit: int | None, review: int | None, until_met: bool) -> bool | None:
        """Run while the engine collects rows of the history in batches; returns whether the stop is met, or None if
        rows are made one by one."""
        history, engine = self.history, self.engine
        regular = history.regular if history and self.membership is None else None
        if history is None or regular is None:
            return None
        goal = min((one for one in (limit, review) if one is not None), default=engine.step)
        found = engine.advance_counting(goal, *regular)
        if found is None:
            return None
        met, steps, census = found
        history.record_counts(steps, census)
        if met and (until_met or engine.step in (limit, history.next_step(engine.step - 1))):
            self._record()
        return met and until_met

    def _next_review(self) -> int:
        """The next of the fixed steps of review, which are the same for a run that continues from a checkpoint."""
        review = max(FIRST_REVIEW, 16 * self.protocol.n)
        while review <= self.engine.step:
            review *= 2
        return review

    def _is_over(self, limit: int | None) -> bool:
        """Whether to end the run: it has no limit, and the stop can never be met."""
        engine, prospects = self.engine, self._prospects
        if engine.step >= self._review:
            self._review = self._next_review()
            if prospects is None or engine.is_silent:
                pass  # engines of rounds detect this themselves
            elif prospects.is_silent(engine):
                engine.note_silence()
            elif limit is None and prospects.is_stuck(engine):
                self.ended = STUCK
        if limit is not None:
            return False
        self.ended = self.ended or engine.hopeless or (SILENT if engine.is_silent else "")
        return bool(self.ended)

    def follow(self, prescribed: list[Any], limit: int | None) -> bool:
        """Make prescribed interactions or rounds, up to the limit or the stop; returns whether the stop is met."""
        protocol = self.protocol
        for one in prescribed:
            if self._inside() or self.engine.step == limit:
                break
            _, before, after = carry_out(one, protocol, self.topology, self.engine)
            self._record()
            if self.stop.watch and any(
                protocol.holds(protocol.output, protocol.space.namespace(old))
                != protocol.holds(protocol.output, protocol.space.namespace(new))
                for old, new in zip(before, after, strict=True)
            ):
                return True
        return bool(prescribed) and self._inside()

    def corrupt(self, fault: Fault, rng: "np.random.Generator") -> bool:
        """Apply a fault now; returns whether it changes an output that is watched."""
        protocol = self.protocol
        output = (lambda state: protocol.holds(protocol.output, state)) if self.stop.watch else None
        damage = strike(fault, self.engine, rng, output)
        self.engine.load(damage.configuration)
        self._record()
        return damage.is_seen

    def _beat(self) -> None:
        if self.progress and self.progress(self.engine.step):
            raise GivenUp

    def _pass(self, goal: int) -> bool:
        while self.engine.step < goal:
            self.engine.advance(goal)
            self._beat()
        return False

    def _inside(self) -> bool:
        if self.membership is None:
            return self.engine.counts_hold()
        return self.membership.holds(self.engine.view().agents)

    def _reach(self, goal: int) -> bool:
        """Run towards `goal`, or exactly to the first step inside the set.

        A set with whole predicates is evaluated from time to time. If it is closed, a run that is inside now
        entered once and stayed, so bisection over replays from the last snapshot finds the exact step. If
        it is not closed, it is evaluated after every step.
        """
        engine = self.engine
        if self.membership is None:
            return engine.advance(goal)
        if not self.stop.closed:
            deadline = Deadline()
            while engine.step < goal and not deadline.is_over:
                self._pass(engine.step + 1)
                if self._inside():
                    return True
            return False
        self._keep_outside()
        self._pass(min(goal, engine.step + max(self.protocol.n, engine.step // LOOKS)))
        if self._inside():
            end = engine.step
            self._rewind_to_entry(self._outside)
            self._require_closed(end)
            return True
        return False

    def _keep_outside(self) -> None:
        """Keep a snapshot to replay from, unless a replay from the older one costs less than a new snapshot."""
        begin = time.perf_counter()
        if self._outside is None or begin > self._next_snapshot:
            self._outside = self.engine.snapshot(self._outside)
            now = time.perf_counter()
            self._next_snapshot = now + REPLAY * (now - begin)

    def _rewind_to_entry(self, outside: Any) -> None:
        """From a snapshot outside the closed set and the present inside it, go back to the step of entry.

        Late in a run most steps change nothing, and comparing all agents is cheaper than evaluating the set. A
        snapshot is then useful only if it saves the replay of more steps than there are agents.
        """
        start, end = outside[0], self.engine.step
        inside = copied(self.engine.view().agents)
        self.engine.restore(outside)
        before = copied(self.engine.view().agents)
        while end - start > 1:
            middle = (start + end) // 2
            self.engine.restore(outside)
            self._pass(middle)
            agents = self.engine.view().agents
            if is_equal(agents, before):
                start = middle
                if middle - outside[0] > self.protocol.n:
                    outside = self.engine.snapshot()
            elif is_equal(agents, inside):
                end = middle
            elif self._inside():
                end, inside = middle, copied(agents)
            else:
                start, outside, before = middle, self.engine.snapshot(), copied(agents)
        self.engine.restore(outside)
        self._pass(end)

    def _require_closed(self, end: int) -> None:
        """Check that the closed set is not left: run on from the entry, evaluate the set at some steps, and go back."""
        entry, here = self.engine.step, self.engine.snapshot()
        span = max(64, self.protocol.n, 2 * (end - entry))
        for probe in sorted(random.Random(entry).sample(range(1, span + 1), PROBES)):
            self._pass(entry + probe)
            if not self._inside():
                raise InvalidInput(
                    f"the set {self.stop.name} of {self.protocol.id} is declared closed, but this run is inside it at "
                    f"step {entry} and outside at step {entry + probe}; declare it without closed=True, and every "
                    "step will be looked at"
                )
        self.engine.restore(here)

    def note(self) -> None:
        """Record the present after an event that is not an interaction; later replays must begin here."""
        self._outside = None
        self._record()

    def _record(self) -> None:
        if self.history:
            self.history.record(self.engine.step, self.engine.configuration())
