"""Tables that compare systems: every row measured, measured with a marked stand-in, or cited with the reason."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hegemon.analysis.scaling import Law, exponent
from hegemon.claims.checks import always, brief, follows
from hegemon.claims.drawing import means
from hegemon.claims.laboratory import Laboratory, Sample, all_ended, counted
from hegemon.claims.registry import Check, Series, Table
from hegemon.protocols.cited import CITED

COLUMNS = (
    "system", "grade", "knows", "claimed convergence", "measured", "grows like", "claimed holding", "measured holding",
    "states",
)  # fmt: skip
ENDLESS = "∞"
CLOSED = "∞ (its safe set is closed)"


@dataclass(frozen=True)
class Row:
    """One system: `make(n)` is its protocol at one size; `law` and `rival` are what its times are compared with.

    `name` is the authors', or the catalogue's own where the rules are of this project.
    """

    name: str
    knows: str
    claimed: str
    holding: str
    make: Callable[[int], Any]
    start: str
    law: Law
    rival: Law
    until: str = "safe"
    held: str = CLOSED  # what was found out about holding
    states: str = ""  # instead of a number, where states are Python objects
    stands_for: str = ""  # the number of the row in the paper, if it is measured with a stand-in


@dataclass(frozen=True)
class Measured:
    """A row with its samples, one for each size."""

    row: Row
    sizes: tuple[int, ...]
    samples: list[Sample]

    @property
    def title(self) -> str:
        """A stand-in is shown under its own name, never under the authors'."""
        if self.grade != "stand-in":
            return self.row.name
        return f"{self.row.name}, stand-in" + (f" for row {self.row.stands_for}" if self.row.stands_for else "")

    @property
    def grade(self) -> str:
        return self.row.make(self.sizes[0]).grade

    def series(self) -> Series:
        return means(self.title, self.sizes, self.samples)

    def check(self, what: str) -> Check:
        return follows(f"{self.title}: {what}", self.sizes, self.samples, self.row.law, self.row.rival)

    @property
    def growth(self) -> str:
        ended = all_ended(self.samples) and len(self.sizes) > 1
        power = exponent(self.sizes, [one.values for one in self.samples]).estimate if ended else math.nan
        return f"n^{power:.2f}"

    def line(self) -> list[str]:
        row, n = self.row, self.sizes[-1]
        mean = f"{brief(self.samples[-1].mean)} at n = {n:,}"
        states = row.states or f"{row.make(n).states:,}"
        return [self.title, self.grade, row.knows, row.claimed, mean, self.growth, row.holding, row.held, states]


def measure(
    lab: Laboratory, row: Row, sizes: Sequence[int], trials: int, scale: Callable[[int], float],
    limit: Callable[[int], int],
) -> Measured:  # fmt: skip
    """Times of a row at these sizes, in units of `scale(n)`."""
    samples = []
    for n in sizes:
        options: dict[str, Any] = {"start": row.start, "until": row.until, "max_steps": limit(n)}
        samples.append(lab.times(row.make(n), trials, **options).scaled(scale(n)))
    return Measured(row, tuple(sizes), samples)


def cited_line(id: str, holding: str) -> list[str]:
    """A row that is not run, with the reason."""
    row = CITED[id]
    claimed, reason = row.time.rstrip(","), f"not run: {row.reason}"
    return [row.authors, "cited", row.knows, claimed, reason, "–", holding, "–", row.states]


def table(title: str, lines: list[list[str]]) -> Table:
    return Table(title, list(COLUMNS), lines)


def every_run_ends(rows: list[Measured], what: str) -> Check:
    return always(what, *counted(sample for one in rows for sample in one.samples))
