"""Availability: the share of all steps in which there is exactly one leader, and the gaps between them."""

from dataclasses import replace
from typing import Any

import numpy as np

from hegemon.engines.engine import Engine
from hegemon.engines.population.agents import Agents
from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.process.stopping import Stop
from hegemon.runs.trajectory import Observer


class Availability(Observer):
    """Observes a trajectory, whose engine stops wherever the number of leaders becomes one or another.

    Counted from the first step with exactly one leader: `held` steps with one leader, and `gaps`, stretches of steps
    without.
    """

    def __init__(self, engine: Engine):
        if not isinstance(engine, Agents):
            raise InvalidInput(f"availability is measured at every step, and engine {engine.name} does not show it")
        self.engine = engine
        self._sought = engine.stop
        self._watched = replace(self._sought, low=np.array([1]), high=np.array([0]), watch=1)
        self._first: int | None = None
        self.held = self.longest = self.gap = 0
        self.gaps = 0
        self.begin()

    def begin(self) -> None:
        self._was_held, self._before = self._is_held, self.engine.step
        self.engine.stop = self._watched if self._was_held else self._sought

    def end(self) -> None:
        """Count these steps, of which all but the last left the number of leaders unchanged."""
        self.engine.stop = self._sought
        steps = self.engine.step - self._before
        if not steps:
            return
        was_held, is_held = self._was_held, self._is_held
        if self._first is None:
            self._first = self.engine.step if is_held else None
            return
        self.held += (steps - 1) * was_held + is_held
        if is_held:
            self.longest, self.gap = max(self.longest, self.gap + (steps - 1) * (not was_held)), 0
        else:
            self.gaps += was_held
            self.gap += 1 if was_held else steps
            self.longest = max(self.longest, self.gap)

    @property
    def _is_held(self) -> bool:
        return self._sought.holds(self.engine.held)

    def measures(self) -> dict[str, Any]:
        """The results; all are None if there never was exactly one leader."""
        if self._first is None:
            return {"availability": None, "gaps": None, "mean_gap": None, "longest_gap": None}
        total = self.engine.step - self._first
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
