"""How many trials a case gets: a fixed number, or until its interval is narrow enough.

Inspections are at fixed numbers of trials, in the order of trials: which inspection decides does not depend on the
speed of workers, and trials beyond it do not enter the table.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.analysis import sequences
from hegemon.errors import InvalidInput
from hegemon.experiments.precision import TIMES, Precision, parse_precision
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.record_files import column
from hegemon.experiments.store.table import Unreadable, rows_of


class Fixed:
    """The same number of trials for every case."""

    def __init__(self, trials: int):
        self.trials = trials

    def goal(self, key: str, folder: Folder) -> int:
        """How many trials of the case are wanted, according to the present store."""
        return self.trials

    final = goal  # the trials of the case in the table

    def interval(self, key: str, folder: Folder) -> tuple[float, float, float] | None:
        """The present estimate of the case and its 95 % interval; None while there are too few trials."""
        return folder.moments[key].interval()


@dataclass
class _Case:
    values: np.ndarray
    reached: np.ndarray
    goal: int = sequences.FIRST
    decided: bool = False
    look: sequences.SequentialInterval | None = None


class UntilPrecise:
    """Trials until every case is known precisely enough, at most `most` of each."""

    def __init__(self, precision: Precision, most: int):
        self.precision, self.most = precision, most
        self._cases: dict[str, _Case] = {}

    def goal(self, key: str, folder: Folder) -> int:
        case = self._cases.setdefault(key, _Case(np.empty(0), np.empty(0, bool), min(sequences.FIRST, self.most)))
        while not case.decided and folder.done[key].prefix >= case.goal:
            try:
                self._read(case, key, folder)
            except Unreadable:
                break  # a file of another machine that is not visible here yet
            case.look = self.precision.look(case.values, case.reached, case.goal)
            if self.is_precise(key) or case.goal == self.most or (case.look is None and case.goal >= sequences.FEWEST):
                case.decided = True
            else:
                case.goal = next(k for k in sequences.looks() if k > case.goal)
                case.goal = min(case.goal, self.most)
        return case.goal

    final = goal

    def look(self, key: str) -> sequences.SequentialInterval | None:
        return self._cases[key].look if key in self._cases else None

    def interval(self, key: str, folder: Folder) -> tuple[float, float, float] | None:
        """The estimate and interval at the last inspection; between inspections the sequence must not be read."""
        look = self.look(key)
        return None if look is None else (look.estimate, look.low, look.high)

    def is_precise(self, key: str) -> bool:
        look = self.look(key)
        return look is not None and look.relative <= self.precision.relative

    def _read(self, case: _Case, key: str, folder: Folder) -> None:
        """Read the values between the last inspection and this one."""
        values, reached = [case.values], [case.reached]
        for _, begin, end, record in rows_of(folder, key, case.goal, start=len(case.values)):
            name = self.precision.measure or next(name for name in TIMES if name in record["columns"])
            if name not in record["columns"]:
                raise InvalidInput(f"relative is about {name!r}; measured are {', '.join(record['columns'])}")
            numbers = column(record, name, begin, end)
            if not all(isinstance(value, int | float) for value in numbers):
                raise InvalidInput(f"relative is about {name}, which is not a number in every trial")
            values.append(np.array(numbers, float))
            reached.append(np.array(column(record, "reached", begin, end), bool))
        case.values, case.reached = np.concatenate(values), np.concatenate(reached)


def goals_of(relative: str | None, trials: int) -> Any:
    """The goals of a study."""
    return Fixed(trials) if relative is None else UntilPrecise(parse_precision(relative), trials)
