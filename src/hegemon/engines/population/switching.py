"""An engine that changes between others: `_now` is in use, `_used` names all that were, `_review` is the next look."""

from hegemon.engines.engine import Engine


class Changing(Engine):
    _review = 0

    @property
    def name(self) -> str:
        return " and ".join(self._used)

    @property
    def step(self) -> int:
        return self._now.step

    @property
    def is_silent(self) -> bool:
        return self._now.is_silent

    def _note_use(self) -> None:
        if self._now.name not in self._used:
            self._used.append(self._now.name)

    def counts_hold(self) -> bool:
        return self._now.counts_hold()

    def configuration(self):
        return self._now.configuration()

    def snapshot(self):
        return self.step, self._now, self._review, self._now.snapshot()

    def restore(self, snapshot) -> None:
        _, self._now, self._review, inner = snapshot
        self._now.restore(inner)
