"""One of many trials: its number, and how it is made. What all trials of a record share is their course."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hegemon.runs.record import MOST_ROWS
from hegemon.runs.run import Run


class Trial(NamedTuple):
    """The fields that a TrialRecord has besides its run."""

    trial: int = 0
    keep: bool = True
    most_rows: int = MOST_ROWS
    progress: Callable[[int], object] | None = None


# The part `course` of a model takes a record, prepares what does not depend on the trial, and returns such a function.
# It may also have `many`, which makes several trials at once (of a long one it returns a function that goes on with
# it), and `at_once`, how many it makes at most.
Course = Callable[[Trial], Run]


def made_together(course: Course, trials: Sequence[Trial]) -> list[Run | Callable[[], Run]]:
    """These trials, at once where the course can do that: what came out, or what goes on with a long one."""
    return course.many(trials) if hasattr(course, "many") else [course(trial) for trial in trials]


def at_once(course: Course) -> int:
    return getattr(course, "at_once", 1)
