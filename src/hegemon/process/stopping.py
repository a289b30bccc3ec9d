"""When a run ends: inside a set, when the leader is lost, or after a number of steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, choose, meant
from hegemon.models.callers import checked_set
from hegemon.models.conditions import is_condition, parse_set
from hegemon.models.counting import predicate_of
from hegemon.models.expressions import whole_number
from hegemon.models.protocol import Protocol
from hegemon.models.sets import LARGEST, ConfigurationSet, TooManyRows

_NONE = np.empty((1, 0), np.int64)


@dataclass(frozen=True)
class Stop:
    """Counts of agents that satisfy `conditions` must lie in `low..high`, in one row of these at least; or, for
    `broken`, any agent's output, the first condition, changes (`watch` is then 1). `whole` predicates must hold
    besides."""

    name: str
    conditions: tuple[Any, ...] = ()
    low: np.ndarray = field(default_factory=lambda: _NONE)
    high: np.ndarray = field(default_factory=lambda: _NONE)
    watch: int = 0
    whole: tuple[Any, ...] = ()
    closed: bool = False
    limit: int | None = None  # for `steps:K`
    silent: bool = False  # no node is enabled: tested in a daemon's run
    reason: Callable[..., Any] | None = None  # says what keeps a configuration outside

    def __post_init__(self) -> None:
        for name in ("low", "high"):  # one row of bounds, where there is no `or`
            if getattr(self, name) is not _NONE:
                object.__setattr__(self, name, np.atleast_2d(getattr(self, name)))

    def holds(self, counts: np.ndarray | Sequence[int]) -> bool:
        """Whether the counted part is met."""
        return bool(self.conditions) and bool(self.hold(counts))

    def hold(self, counts: np.ndarray | Sequence[int]) -> np.ndarray:
        """The same for every row of counts."""
        counts = np.expand_dims(counts, -2)
        within = ((self.low <= counts) & (counts <= self.high)).all(axis=-1).any(axis=-1)
        return np.logical_and(len(self.conditions) > 0, within)


def never(name: str, limit: int | None = None) -> Stop:
    return Stop(name, limit=limit)


def parse_stop(until: str | ConfigurationSet, protocol: Protocol) -> Stop:
    """From `safe`, the name of another set, `broken`, `steps:K`, a text of conditions, or a set itself."""
    if isinstance(until, ConfigurationSet):
        return _from_set("given set", checked_set(until, protocol), protocol)
    text = str(until).strip()
    unit = protocol.time_unit
    if text.split(":")[0] in ("steps", "rounds"):
        given, _, number = text.partition(":")
        if given != unit:
            raise InvalidInput(f"until {text!r} is not understood: {protocol.id} counts {unit}; write {unit}:K")
        return never(text, whole_number(number, f"until {unit}"))
    if text == "silent" and text not in protocol.sets:
        if not protocol.model.has_rounds:
            raise InvalidInput(f"until silent is for protocols of rounds, and {protocol.id} is not; give a set")
        return replace(never("silent"), silent=True)
    if text == "broken":
        if not protocol.elects_leader:
            raise InvalidInput(f"until broken needs a protocol that elects a leader; {protocol.id} does not")
        impossible = np.array([1], np.int64), np.array([0], np.int64)
        return Stop("broken", (protocol.output,), *impossible, watch=1)
    if text in protocol.sets:
        return _from_set(text, protocol.sets[text], protocol)
    if is_condition(text):
        return _from_set(text, parse_set(text, protocol), protocol)
    more = ["broken"] * protocol.elects_leader + ["silent"] * protocol.model.has_rounds
    known = choose([*protocol.sets, *more, f"{unit}:K"])
    fields = [field.name for field in protocol.fields]  # none of states that are Python objects
    condition = f', or a condition such as "count({fields[0]} == 1) == 1"' if fields else ""
    raise InvalidInput(
        f"until {text!r} is not known to {protocol.id}; {known}{condition}{meant(text, (*protocol.sets, *more))}"
    )


def _from_set(name: str, chosen: ConfigurationSet, protocol: Protocol) -> Stop:
    """Bounds of counts and the same predicates in all rows; of any other set, one predicate that means all of it."""
    whole = chosen.rows[0].whole
    try:
        if any(row.whole != whole or row.unless for row in chosen.rows):
            raise TooManyRows
        rows = chosen.bounds(protocol.values)
    except TooManyRows:
        rows, whole = [{}], (predicate_of(chosen, protocol),)
    conditions = tuple(dict.fromkeys(condition for row in rows for condition in row))
    bounds = [[row.get(condition, (0, LARGEST)) for condition in conditions] for row in rows]
    low, high = np.array(bounds, np.int64).reshape(len(rows), len(conditions), 2).transpose(2, 0, 1).copy()
    return Stop(name, conditions, low, high, whole=whole, closed=chosen.closed, reason=chosen.reason)
