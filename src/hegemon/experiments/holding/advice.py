"""Which protocol and parameters hold a leader long enough: the cheapest of those whose holding time is known.

Nothing is extrapolated. The table `measured.json` has one row per protocol, size and parameters, made by
`python -m benchmarks.holding`: holding from the start `safe` (exact, the 95 % interval of `hegemon holding`, or a lower
bound that is proved) and convergence. A row says for which numbers of agents it is known. A proved bound for N agents
grows as agents become fewer, so it serves all networks of 2 to N agents. A row that was computed or measured is known
at its own N alone: fewer agents with the same parameters may hold much shorter.
"""

import math
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hegemon import doors
from hegemon.display import plain
from hegemon.errors import InvalidInput
from hegemon.kept import read_kept
from hegemon.models.expressions import whole_number
from hegemon.runs import kinds

TABLE = Path(__file__).with_name("measured.json")
LONGEST = 1e300
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 365.25 * 86400}  # in seconds
PER_UNIT = 2  # mean interactions of an agent per unit of parallel time


@dataclass(frozen=True)
class Known:
    """One row of the table; times are parallel times, holding as logarithms to base 10."""

    protocol: str
    n: int
    parameters: dict[str, Any]
    states: int
    kind: str  # "exact", "estimate" or "proved"
    holding: float | None  # None where only a lower bound is proved
    low: float  # with 97.5 % confidence, or proved
    high: float | None
    convergence: float  # mean from the slower of the starts `random` and `no-leader`
    trials: int

    @property
    def fewest(self) -> int:
        """The least number of agents for which the row is known; the largest is n."""
        return 2 if self.kind == "proved" else self.n

    @property
    def held(self) -> str:
        return f"at least 10^{self.low:.2f}" if self.holding is None else f"10^{self.holding:.2f}"

    @property
    def basis(self) -> str:
        if self.kind == "exact":
            known = f"holding computed exactly at n = {self.n}"
        elif self.kind == "proved":
            known = f"a proof for all n up to {self.n} (docs/holding.md)"
        else:
            known = f"holding measured at n = {self.n} (95 % interval 10^{self.low:.2f} … 10^{self.high:.2f})"
        only = "" if self.fewest < self.n else "; how long fewer agents hold is not known"
        return f"{known}, convergence from {self.trials} runs at n = {self.n}{only}"


@dataclass(frozen=True)
class Advice:
    """The protocol to run, and what is known of it; in seconds if a rate was given."""

    known: Known
    wish: float  # parallel time
    interactions_per_second: float | None
    others: tuple[Known, ...]  # rows that also meet the wish, at a higher cost

    def seconds(self, parallel_time: float) -> float | None:
        if self.interactions_per_second is None:
            return None
        return parallel_time * PER_UNIT / self.interactions_per_second

    @property
    def command(self) -> str:
        given = " ".join(f"--set {name}={value}" for name, value in self.known.parameters.items())
        rate = self.interactions_per_second
        pace = "" if rate is None else f" --rate {rate / 2:g}"  # one of the two agents begins each interaction
        chosen = f"hegemon agent {self.known.protocol} --n {self.known.n} {given}{pace}"
        return f"{chosen} --peers FILE --key FILE --listen HOST:PORT"

    def __str__(self) -> str:
        known, given = self.known, self.known.parameters
        chosen = f"{known.protocol}, n = {known.n}" + "".join(f", {name} = {value}" for name, value in given.items())
        about = {
            "holds": f"{known.held} units of parallel time",
            "convergence": f"{known.convergence:,.4g} units",
            "states": known.states,
            "known from": known.basis,
            "command": self.command,
        }
        return plain(chosen, about)

    def record(self) -> dict[str, Any]:
        known = self.known
        held = known.low if known.holding is None else known.holding
        return {
            "protocol": known.protocol,
            "known_for": {"fewest": known.fewest, "most": known.n},
            "parameters": known.parameters,
            "states": known.states,
            "wish_parallel_time": self.wish,
            "log10_holding": {"value": known.holding, "low": known.low, "high": known.high},
            "holding_seconds": self.seconds(10**held) if held < 300 else None,
            "convergence": known.convergence,
            "convergence_seconds": self.seconds(known.convergence),
            "basis": known.basis,
            "others": [asdict(one) for one in self.others],
            "command": self.command,
        }


@cache
def table() -> tuple[Known, ...]:
    return tuple(Known(**row) for row in read_kept(TABLE, "measured"))


@kinds.door(
    hold=doors.number | doors.text,
    n=doors.whole() | doors.none,
    n_at_most=doors.whole() | doors.none,
    interactions_per_second=doors.number | doors.none,
    risk=doors.number | doors.none,
)
def advise(
    hold: float | str, *, n: int | None = None, n_at_most: int | None = None,
    interactions_per_second: float | None = None, risk: float | None = None,
) -> Advice:  # fmt: skip
    """Of all that hold long enough, the protocol and parameters with the fastest convergence, then the fewest states.

    hold       parallel time, such as 1e12; or, with `interactions_per_second` (of each agent), a time by the clock such
               as "10y", "30d", "12h" or "90s".
    n_at_most  most agents that the network ever has: only what is known for every number from 2 to this one is
               recommended.
    n          agents that the network always has: what is known at that number alone is recommended as well.
    risk       without it the mean holding time meets the wish; with it, the leader is lost earlier with at most this
               probability, losses being memoryless.
    """
    rows = table()
    largest = max(row.n for row in rows)
    if (n is None) == (n_at_most is None):
        raise InvalidInput("give --n-at-most (most agents that the network ever has) or --n (agents it always has)")
    most = whole_number(n if n_at_most is None else n_at_most, "n" if n_at_most is None else "n_at_most", 2, largest)
    fewest = 2 if n is None else most
    if interactions_per_second is not None and not 0 < interactions_per_second < math.inf:
        raise InvalidInput(
            f"interactions_per_second = {interactions_per_second!r} is out of range; give a rate above 0"
        )
    if risk is not None and not 0 < risk < 1:
        raise InvalidInput(f"risk = {risk!r} is out of range; give a probability between 0 and 1")
    wish = parallel_time(hold, interactions_per_second)
    needed = math.log10(wish) - (0 if risk is None else math.log10(-math.log1p(-risk)))
    fitting = [row for row in rows if row.fewest <= fewest and most <= row.n]
    good = sorted((row for row in fitting if row.low >= needed), key=lambda row: (row.convergence, row.states))
    if not good:
        best = max(fitting, key=lambda row: row.low)
        raise InvalidInput(
            f"nothing that is known for {'at most' if n is None else 'exactly'} {most} agents holds for "
            f"10^{needed:.1f} parallel time; the longest known is {best.protocol} at n = {best.n}: at least "
            f"10^{best.low:.1f}. Wish for less, or measure larger parameters with `hegemon holding`"
        )
    return Advice(good[0], wish, interactions_per_second, tuple(good[1:]))


def parallel_time(hold: float | str, interactions_per_second: float | None) -> float:
    """What `hold` says, in units of parallel time."""
    given = str(hold).strip()
    unit = UNITS.get(given[-1:])
    try:
        value = float(given if unit is None else given[:-1])
    except ValueError:
        value = 0.0
    if not 0 < value <= LONGEST:
        raise InvalidInput(
            f"hold = {given[:40]!r} is out of range; give parallel time such as 1e12, or 10y, 30d, 12h, 90s"
        )
    if unit is None:
        return value
    if interactions_per_second is None:
        raise InvalidInput(
            f"hold = {given[:40]!r} is a time by the clock; give --interactions-per-second too, or a number"
        )
    return value * unit * interactions_per_second / PER_UNIT
