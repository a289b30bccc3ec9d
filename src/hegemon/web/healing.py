"""After a disturbance: when the safe set was entered again, to the very step where the engine allows to find it."""

from typing import Any

from hegemon.errors import InvalidInput
from hegemon.web.world import World


class Healing:
    """`applied` is always how many faults have happened: each of them begins anew."""

    def __init__(self, world: World):
        self._world = world
        self._entries: dict[int, tuple[int, bool]] = {}  # after that many faults: when the safe set was entered
        self.begin(0)

    def begin(self, applied: int) -> None:
        """A fault has just happened."""
        self._since = self._world.step
        self._outside: tuple[tuple[Any, ...], int] | None = (self._world.snapshot(), applied)

    def recall(self, since: int) -> None:
        """After a jump back: the last fault was at the step `since`."""
        self._since, self._outside = since, None

    def follow(self) -> None:
        """A prescribed step was made: a replay of drawn steps would not find it again."""
        self._outside = None

    def forget(self, applied: int) -> None:
        """What was found out about a future that is gone."""
        self._entries = {faults: found for faults, found in self._entries.items() if faults <= applied}

    def watch(self, is_safe: bool | None, applied: int) -> str:
        """Look at the lamp of the safe set; returns a sentence if the set turns out not to be what it claims."""
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
            except InvalidInput as error:  # a set that claims to be closed and is not
                note = str(error)
        self._entries[applied] = (self._world.step if entry is None else entry), entry is not None
        return note

    def record(self, applied: int) -> dict[str, int]:
        """Since when, and if it is over by now, the step and the steps that it took."""
        told = {"since": self._since, "disturbed": applied > 0}
        entry, exact = self._entries.get(applied, (None, False))
        if entry is not None and entry <= self._world.step:
            told |= {"step": entry, "exact": exact, "steps": entry - self._since}
        return told
