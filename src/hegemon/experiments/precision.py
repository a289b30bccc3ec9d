"""The required precision, and the estimate so far, by confidence sequences, which may be inspected repeatedly.

Censored trials count: as infinite in a quantile, as failures in a share. With them a mean is unknown, which is
reported.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput

MOST = 100_000  # trials of a case by default
TIMES = ("steps", "rounds")
FORM = re.compile(r"\s*([0-9.]+)\s*%\s*(?:of\s+(mean|median|share|quantile\s+[0-9.]+)(?:\s+(\w+))?\s*)?")
HELP = "write 2%, 2% of median, 2% of quantile 0.9, 2% of share or 2% of mean messages"
METHODS = {
    "mean": "asymptotic confidence sequence: independent trials, finite variance, close to normal at the first look",
    "quantile": "exact confidence sequence of the order statistics: no assumption but independent trials",
    "share": "exact confidence sequence of a proportion: no assumption but independent trials",
}


@dataclass(frozen=True)
class Precision:
    """Half the interval's width, as a share of the estimate, and what is estimated."""

    relative: float
    what: str = "mean"
    level: float = 0.5
    measure: str | None = None  # None: the time

    @property
    def method(self) -> str:
        return METHODS[self.what]

    @property
    def label(self) -> str:
        return f"q{100 * self.level:g}" if self.what == "quantile" else self.what

    def look(self, values: np.ndarray, reached: np.ndarray, trials: int) -> Any:
        """The estimate from the first `trials` trials; None if a censored trial leaves the mean unknown."""
        from hegemon.analysis import sequences  # imports SciPy, which takes long to load

        points = sorted({min(sequences.FIRST, trials), trials})
        values, reached = values[:trials], reached[:trials]
        if self.what == "share":
            return sequences.proportion(reached, points)[-1]
        if self.measure is None and self.what == "quantile":
            values = np.where(reached, values, math.inf)
        elif self.measure is None and not reached.all():
            return None
        if self.what == "quantile":
            return sequences.quantile(values, self.level, points)[-1]
        return sequences.mean(values, points)[-1] if points[0] >= sequences.FEWEST else None


def percent(given: float | str) -> str:
    """`2%` for 0.02; a string as it is."""
    return given if isinstance(given, str) else f"{100 * given:.12g}%"


def share(given: float | str) -> float:
    """A half-width as a share of the estimate: 0.1, or `10%`."""
    text = str(given).strip()
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 10:
        raise InvalidInput(f"relative = {text[:40]} is out of range; give 0.1% to 1000%, such as 10% or 0.1")
    return value


def parse_precision(text: str) -> Precision:
    found = FORM.fullmatch(text)
    percent = float(found[1]) if found and found[1].count(".") <= 1 and found[1] != "." else 0.0
    if not found or not 0 < percent < 100:
        raise InvalidInput(f"relative = {text!r} is not understood; {HELP}")
    what, level = found[2] or "mean", 0.5
    if what.startswith("quantile"):
        level = float(what.split()[1])
        if not 0 < level < 1:
            raise InvalidInput(f"relative = {text!r}: the quantile must lie between 0 and 1; {HELP}")
    kind = what if what in ("mean", "share") else "quantile"
    return Precision(percent / 100, kind, level, found[3] if found[3] not in TIMES else None)
