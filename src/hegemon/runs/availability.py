"""Availability: the share of all steps in which there is exactly one leader, and the gaps between them."""

from dataclasses import replace
from typing import Any

import numpy as np

from hegemon.engines.population.agents import Agents
from hegemon.engines.stopping import Stop
from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.runs.driver import Driver, GivenUp
from hegemon.runs.rates import EventProcess


class Availability:
    """Follows a run from its first step with exactly one leader to a limit.

    Counted from there: `held` steps with one leader, and `gaps`, stretches of steps without.
    """

    def __init__(self, driver: Driver, events: EventProcess):
        if not isinstance(driver.engine, Agents):
            raise InvalidInput(
                f"availability is measured at every step, and engine {driver.engine.name} does not show it"
            )
        self.driver, self.engine, self.events = driver, driver.engine, events
        self._sought = self.engine.stop
        self._watched = replace(self._sought, low=np.array([1]), high=np.array([0]), watch=1)
        self.begin: int | None = None
        self.held = self.longest = self.gap = 0
        self.gaps = 0

    def follow(self, limit: int) -> None:
        """Run to the step `limit`; interruptions of the driver pass through."""
        try:
            self._follow(limit)
        except GivenUp:
            self.driver.interrupted = True
        finally:
            self.engine.stop = self._sought

    def _follow(self, limit: int) -> None:
        engine, driver = self.engine, self.driver
        while engine.step < limit:
            goal = min(limit, self.events.step - 1)
            history = driver.history
            while engine.step < goal:
                record = history.next_step(engine.step) if history else None
                is_held, before = self._is_held, engine.step
                engine.stop = self._watched if is_held else self._sought
                engine.advance(goal if record is None else min(goal, record))
                self._count(is_held, engine.step - before)
                if engine.step == record:
                    driver._record()
                driver._beat()
            if engine.step < limit:
                is_held = self._is_held
                self.events.strike(engine)
                self._count(is_held, 1)
                driver._record()

    @property
    def _is_held(self) -> bool:
        return self._sought.holds(self.engine.held)

    def _count(self, was_held: bool, steps: int) -> None:
        """Count that many steps, of which all but the last left the number of leaders unchanged."""
        if not steps:
            return
        is_held = self._is_held
        if self.begin is None:
            self.begin = self.engine.step if is_held else None
            return
        self.held += (steps - 1) * was_held + is_held
        if is_held:
            self.longest, self.gap = max(self.longest, self.gap + (steps - 1) * (not was_held)), 0
        else:
            self.gaps += was_held
            self.gap += 1 if was_held else steps
            self.longest = max(self.longest, self.gap)

    def measures(self) -> dict[str, Any]:
        """The results; all are None if there never was exactly one leader."""
        if self.begin is None:
            return {"availability": None, "gaps": None, "mean_gap": None, "longest_gap": None}
        total = self.engine.step - self.begin
        lost = total - self.held
        return {
            "availability": self.held / total if total else None,
            "gaps": self.gaps,
            "mean_gap": lost / self.gaps if self.gaps else None,
            "longest_gap": self.longest,
        }


def one_leader(protocol: Protocol) -> Stop:
    """The stop that is met while exactly one agent is a leader."""
    if not protocol.elects_leader:
        raise InvalidInput(f"availability is about exactly one leader, and {protocol.id} elects none; leave it out")
    one = np.array([1], np.int64)
    return Stop("exactly one leader", (protocol.output,), one, one.copy())
