"""An engine that changes between others: `_now` is in use, `_used` names all used, `_review` is the next check."""

from abc import abstractmethod

import numpy as np

from hegemon.engines.engine import Engine, Snapshot
from hegemon.models.configuration import Configuration


class Switching(Engine):
    _review = 0
    _now: Engine
    _used: list[str]

    @property
    def step(self) -> int:
        return self._now.step

    @property
    def is_silent(self) -> bool:
        return self._now.is_silent

    def occupancy(self) -> tuple[np.ndarray, np.ndarray]:
        return self._now.occupancy()

    def recent_occupancy(self, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        return self._now.recent_occupancy(most)

    def last_meeting(self) -> tuple[int, int, int] | None:
        return self._now.last_meeting()

    def note_silence(self) -> None:
        self._now.note_silence()

    def _note_use(self) -> None:
        if self._now.name not in self._used:
            self._used.append(self._now.name)
            self.name = " and ".join(self._used)

    def counts_hold(self) -> bool:
        return self._now.counts_hold()

    def configuration(self) -> Configuration:
        return self._now.configuration()

    def view(self) -> Configuration:
        return self._now.view()

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        kind = type(self._now).__name__
        inner = self._now.snapshot(into[4] if into and into[1] == kind else None)
        return self.step, kind, self._review, list(self._used), inner

    def restore(self, snapshot: Snapshot) -> None:
        _, kind, review, used, inner = snapshot
        self._turn_to(kind)
        self._now.restore(inner)
        self._review, self._used, self.name = review, list(used), " and ".join(used)

    @abstractmethod
    def _turn_to(self, kind: str) -> None:
        """Use the engine of that class, in any state: the caller restores it."""
