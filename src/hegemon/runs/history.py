"""What was recorded along a run: rows at given steps, at regular ones, or evenly spread over a run of any length."""

import bisect
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.configuration import Configuration
from hegemon.models.words import EXACT
from hegemon.runs.record import MOST_ROWS

POINTS = 100  # rows of an evenly spread history: between this many and twice as many
LARGE = 100_000  # agents: their steps are so fast that dense recording would cost more than the steps

if TYPE_CHECKING:
    import pandas

    from hegemon.process.membership import Watcher


@dataclass(frozen=True)
class Watched:
    """The rows of a history, column by column, and what each column counts."""

    columns: dict[str, np.ndarray]
    units: dict[str, str] = field(default_factory=dict)

    @cached_property
    def frame(self) -> "pandas.DataFrame":
        import pandas  # imported here: it takes a quarter of a second to load

        table = pandas.DataFrame(self.columns)
        table.attrs["units"] = self.units
        return table


class History:
    """Rows at the steps `at`, or every K steps, or evenly spread when neither is given.

    Evenly spread, the spacing doubles whenever there are twice as many rows as wanted, so that any run ends with
    between POINTS and 2 POINTS rows. With `every`, the spacing stays unless there are more than `most` rows: then
    it doubles too, so that memory is bounded; the column `step` always holds a row's step.
    """

    def __init__(
        self,
        watcher: "Watcher",
        n: int,
        at: Iterable[int] | None = None,
        every: int | None = None,
        most: int = MOST_ROWS,
    ):
        self._watcher, self._n = watcher, n
        self._at = sorted(set(at)) if at else None
        if self._at and len(self._at) > most:
            raise InvalidInput(f"{len(self._at)} steps are too many to record at; give at most {most}")
        self._most = 2 * POINTS if every is None else most
        self._every = every or max(1, n // (16 if n < LARGE else 3))
        self._columns: dict[str, array[int] | list[Any]] = {}  # a list if numbers fit into neither

    def next_step(self, step: int) -> int | None:
        """The first step after `step` that is to be recorded."""
        if self._at is not None:
            place = bisect.bisect_right(self._at, step)
            return self._at[place] if place < len(self._at) else None
        return (step // self._every + 1) * self._every

    @property
    def regular(self) -> tuple[int, int] | None:
        """For rows as numbers of agents in each state (see `record_counts`): the spacing of the rows, and the number of
        rows after which it doubles."""
        if self._at is not None or not self._columns or self._watcher.of_states is None:
            return None
        return self._every, self._most + 1 - len(self._columns["step"])

    def record_counts(self, steps: np.ndarray, census: np.ndarray) -> None:
        """Rows at these steps, all after the last one, from the numbers of agents in each state."""
        rows = {"step": steps.tolist(), "parallel_time": (steps / self._n).tolist()}
        for name, values in (rows | self._watcher.measure_counts(census)).items():
            self._columns[name].extend(values)
        self._thin()

    def record(self, step: int, configuration: Configuration) -> None:
        if self._at is not None and self.next_step(step - 1) != step:
            return
        row = {"step": step, "parallel_time": step / self._n, **self._watcher.measure(configuration)}
        if not self._columns:
            self._columns = {name: array("d" if isinstance(value, float) else "q") for name, value in row.items()}
        again = len(self._columns["step"]) and self._columns["step"][-1] == step
        for name, value in row.items():
            column = self._columns[name]
            if again:  # a fault changed the configuration at this step
                column.pop()
            if isinstance(column, array) and not _fits(value, column.typecode):
                column = self._columns[name] = column.tolist()
            column.append(value)
        self._thin()

    def _thin(self) -> None:
        """Double the spacing if there are too many rows."""
        if self._at is None and len(self._columns["step"]) > self._most:
            self._every *= 2
            kept = [k for k, at in enumerate(self._columns["step"]) if at % self._every == 0]
            for name, column in self._columns.items():
                values = [column[k] for k in kept]
                self._columns[name] = array(column.typecode, values) if isinstance(column, array) else values

    def watched(self) -> Watched:
        """The rows recorded so far."""
        columns = {
            name: np.array(column, None if isinstance(column, array) else object)
            for name, column in self._columns.items()
        }
        return Watched(columns, self._watcher.units)


def _fits(value: float, kind: str) -> bool:
    """Whether a column of doubles or of words of 64 bits holds this number exactly."""
    if kind == "d":
        return isinstance(value, float) or abs(value) <= EXACT
    return not isinstance(value, float) and -(2**63) <= value < 2**63
