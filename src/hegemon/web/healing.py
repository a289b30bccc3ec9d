"""After a disturbance: when the safe set was entered again, exact to the step where the engine can find it."""

from typing import Any

from hegemon.errors import InvalidInput
from hegemon.web.world import World


class Healing:
    """`applied` is always the number of faults so far: each fault restarts the measurement."""

    def __init__(self, world: World):
        self._world = world
        self._entries: dict[int, tuple[int, bool]] = {}  # faults so far -> step of entry, whether exact
        self.begin(0)

    def begin(self, applied: int) -> None:
        """A fault has just happened."""
        self._since = self._world.step
        self._outside: tuple[tuple[Any, ...], int] | None = (self._world.snapshot(), applied)

    def recall(self, since: int) -> None:
        """Called after a jump back: the last fault was at the step `since`."""
        self._since, self._outside = since, None

    def follow(self) -> None:
        """A prescribed step was made: a replay with drawn steps would not repeat it, so no exact entry is sought."""
        self._outside = None

    def forget(self, applied: int) -> None:
        """Drop the entries that belong to an abandoned future."""
        self._entries = {faults: found for faults, found in self._entries.items() if faults <= applied}

    def watch(self, is_safe: bool | None, applied: int) -> str:
        """Take the present value of the safe lamp; returns a sentence if the set turns out not to be closed."""
        note = ""
        if is_safe is None or applied in self._entries:
            return note
        if not is_safe:
            self._outside = self._world.snapshot(), applied
            return note
        entry = None
        if self._outside and self._outside[1] == applied:
            try:
                entry = self._world.entry(self._outside[0], "safe", self._world.step)
            except InvalidInput as error:  # the set is declared closed and is not
                note = str(error)
        self._entries[applied] = (self._world.step if entry is None else entry), entry is not None
        return note

    def record(self, applied: int) -> dict[str, int]:
        """The step of the last fault and, once healed, the step of entry and the number of steps between."""
        told = {"since": self._since, "disturbed": applied > 0}
        entry, exact = self._entries.get(applied, (None, False))
        if entry is not None and entry <= self._world.step:
            told |= {"step": entry, "exact": exact, "steps": entry - self._since}
        return told
