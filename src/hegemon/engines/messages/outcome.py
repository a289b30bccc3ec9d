"""What an engine for message passing answers."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Outcome:
    """`finished`: nothing was left to happen; otherwise the run was cut off after `rounds` rounds."""

    rounds: int
    finished: bool
    leaders: int
    measures: dict = field(default_factory=dict)
    interrupted: bool = False
