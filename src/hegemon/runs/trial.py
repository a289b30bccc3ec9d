"""One of many trials: its number, and how it is made. What all trials of a record share is their course."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from hegemon.models.configuration import Configuration
from hegemon.runs.capabilities import Capabilities
from hegemon.runs.record import MOST_ROWS, MadeRecord
from hegemon.runs.run import Run

if TYPE_CHECKING:
    from hegemon.runs.trajectory import Trajectory


class Trial(NamedTuple):
    """The fields that a TrialRecord has besides its run."""

    trial: int = 0
    keep: bool = True
    most_rows: int = MOST_ROWS
    progress: Callable[[int], object] | None = None


BLOCK_ENGINE = "agents"  # a test checks that a block moves agents as this engine does


class Block(NamedTuple):
    """Trials with consecutive numbers that made their first steps in one call of a kernel, as columns."""

    unit: str
    steps: np.ndarray
    reached: np.ndarray
    over: np.ndarray  # whether a trial needs no more steps
    leaders: Sequence[int | None]
    final: Callable[[int], Configuration]  # the last configuration of a row
    go_on: Callable[[int, Trial], Run]  # continues a row that is not over


class Course(ABC):
    """The part `course` of a model: it takes a record, prepares what does not depend on the trial, and makes trials."""

    supports: ClassVar[Capabilities]

    @abstractmethod
    def __init__(self, record: MadeRecord):
        """Of a record whose options it supports."""

    @property
    def at_once(self) -> int:
        """The largest number of trials that are made together."""
        return 1

    @abstractmethod
    def begin(self, trial: Trial) -> "Trajectory":
        """A trial before its first step, to be followed on its way."""

    @abstractmethod
    def __call__(self, trial: Trial) -> Run:
        """Make a trial."""

    def many(self, trials: Sequence[Trial]) -> list[Run | Callable[[], Run]]:
        """Trials with consecutive numbers: for each its result or, if it is long, a function that continues it."""
        return [self(trial) for trial in trials]

    def block(self, numbers: range) -> Block | None:
        """These trials as columns, without an object per trial; None if they are made one by one."""
        return None
