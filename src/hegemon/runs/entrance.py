"""The exact first step inside a set that an engine does not count: the set is evaluated now and then.

If it is closed, a run that is inside now entered once and stayed, so bisection over replays from the last snapshot
finds the exact step. If it is not closed, it is evaluated after every step.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from hegemon.engines.engine import Engine, copied, is_equal
from hegemon.engines.pacing import Deadline
from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.process.membership import Membership
from hegemon.process.stopping import Stop

LOOKS = 8  # a closed set is evaluated each time a run has grown by one part in LOOKS
REPLAY = 2  # a new snapshot is taken after this many times the cost of one
PROBES = 8  # checks after the step of entry that a closed set is not left again


class Entrance:
    """`move(goal)` makes the engine's steps up to a goal."""

    def __init__(self, protocol: Protocol, stop: Stop, engine: Engine, move: Callable[[int], None]):
        self.protocol, self.stop, self.engine, self.move = protocol, stop, engine, move
        self.membership = Membership(protocol, stop)
        self._outside: tuple[Any, ...] | None = None  # a snapshot outside the set; only drawn steps followed it
        self._next_snapshot = 0.0  # the time of the snapshot

    def forget(self) -> None:
        """What came before is not repeated by drawn steps: later replays begin here."""
        self._outside = None

    def is_inside(self) -> bool:
        return self.membership.holds(self.engine.view().agents)

    def reach(self, goal: int) -> bool:
        """Go towards `goal`, or exactly to the first step inside the set; returns whether it is there."""
        engine = self.engine
        if not self.stop.closed:
            deadline = Deadline()
            while engine.step < goal and not deadline.is_over:
                self.move(engine.step + 1)
                if self.is_inside():
                    return True
            return False
        self._keep_outside()
        self.move(min(goal, engine.step + max(self.protocol.n, engine.step // LOOKS)))
        if self.is_inside():
            end = engine.step
            self.rewind(self._outside)
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

    def rewind(self, outside: Any) -> None:
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
            self.move(middle)
            agents = self.engine.view().agents
            if is_equal(agents, before):
                start = middle
                if middle - outside[0] > self.protocol.n:
                    outside = self.engine.snapshot()
            elif is_equal(agents, inside):
                end = middle
            elif self.is_inside():
                end, inside = middle, copied(agents)
            else:
                start, outside, before = middle, self.engine.snapshot(), copied(agents)
        self.engine.restore(outside)
        self.move(end)

    def _require_closed(self, end: int) -> None:
        """Check that the closed set is not left: run on from the entry, evaluate the set at some steps, and go back."""
        entry, here = self.engine.step, self.engine.snapshot()
        span = max(64, self.protocol.n, 2 * (end - entry))
        for probe in sorted(random.Random(entry).sample(range(1, span + 1), PROBES)):
            self.move(entry + probe)
            if not self.is_inside():
                raise InvalidInput(
                    f"the set {self.stop.name} of {self.protocol.id} is declared closed, but this run is inside it at "
                    f"step {entry} and outside at step {entry + probe}; declare it without closed=True, and every "
                    "step will be looked at"
                )
        self.engine.restore(here)
