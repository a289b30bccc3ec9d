"""One of many trials: its number, and how it is made. What all trials of a record share is their course."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hegemon.models.configuration import Configuration
from hegemon.runs.record import MOST_ROWS
from hegemon.runs.run import Run


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


# The part `course` of a model takes a record, prepares what does not depend on the trial, and returns such a function.
# It may also have `many`, which makes several trials at once (of a long one it returns a function that goes on with
# it), `at_once`, how many it makes at most, and `block`, which makes them as columns, without an object per trial.
Course = Callable[[Trial], Run]


def made_together(course: Course, trials: Sequence[Trial]) -> list[Run | Callable[[], Run]]:
    """These trials, together if the course can: for each its result, or a function that continues a long one."""
    return course.many(trials) if hasattr(course, "many") else [course(trial) for trial in trials]


def at_once(course: Course) -> int:
    return getattr(course, "at_once", 1)


def block_of(course: Course, numbers: range) -> Block | None:
    """These trials as columns, if the course can do that; else None."""
    return course.block(numbers) if hasattr(course, "block") else None
