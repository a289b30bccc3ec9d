"""What is measured at the end of a trial besides its steps and its leaders.

To add a measure, add an entry to MEASURES. A path that does not name it, such as a block of short trials, is not taken
where it applies.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hegemon.runs.rates import churns

if TYPE_CHECKING:
    from hegemon.models.configuration import Configuration
    from hegemon.runs.course import StateCourse
    from hegemon.runs.trajectory import Trajectory


class End(NamedTuple):
    """Where a trial ended."""

    course: "StateCourse"
    trajectory: "Trajectory"
    configuration: "Configuration"
    is_reached: bool


class Measure(NamedTuple):
    """`applies` is evaluated once per record; `value` at the end of every trial, None if there is nothing to report."""

    applies: Callable[["StateCourse"], bool]
    value: Callable[[End], Any]


def _heals(course: "StateCourse", unit: str) -> bool:
    return bool(course.faults) and not course.stop.watch and course.protocol.time_unit == unit


def _recovery(end: End) -> int | None:
    """The time from the last fault to the stop."""
    last = end.trajectory.last_fault
    return end.trajectory.step - last if last is not None and end.is_reached else None


def _outside(end: End) -> str | None:
    """The author's explanation why the configuration is outside the set, if there is one."""
    course, agents = end.course, end.configuration.agents.view(np.recarray)
    if end.is_reached or course.stop.reason is None:
        return None
    reason: str | None = course.stop.reason(agents, course.topology.offsets, course.topology.targets, course.protocol.p)
    return reason


MEASURES = {
    "agents": Measure(lambda course: churns(course.faults), lambda end: end.configuration.n),
    "recovery_steps": Measure(lambda course: _heals(course, "steps"), _recovery),
    "recovery_rounds": Measure(lambda course: _heals(course, "rounds"), _recovery),
    "outside": Measure(lambda course: course.stop.reason is not None and course.protocol.reads_graph, _outside),
}
