"""Named sets of configurations: safe sets, and the sets in lemmas.

A set is made of *counts* (how many agents satisfy a condition lies between two bounds) and of *whole* predicates on
the array of all agents, joined by `&`, `|` and `~`. It is kept as rows: a configuration is inside if all that one row
says holds. Counts are kept up to date step by step by every engine; a whole predicate is evaluated after every step
that changes what it reads, or now and then if the set is closed. A condition is a plain function `(a, p) -> bool` on
one agent's state and the parameters.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.models.expressions import evaluate

LARGEST = 2**62  # a larger count is never reached
MOST_ROWS = 64  # of one set: joining and negating multiply them

Bounds = dict[Callable[..., Any], tuple[int, int]]  # of counts, by their conditions


@dataclass(frozen=True)
class Count:
    """Between `low` and `high` agents satisfy the condition; bounds may be expressions over the parameters.

    With `within` false, fewer or more do.
    """

    condition: Callable[..., Any]
    low: int | str
    high: int | str
    within: bool = True

    def bounds(self, values: Mapping[str, Any]) -> tuple[int, int]:
        low, high = evaluate(self.low, values), evaluate(self.high, values)
        return max(0, min(LARGEST, math.ceil(low))), max(-1, min(LARGEST, math.floor(high)))

    def ranges(self, values: Mapping[str, Any]) -> list[tuple[int, int]]:
        """The numbers of agents that are allowed, as ranges: one, or the two beside it."""
        low, high = self.bounds(values)
        if self.within:
            return [(low, high)]
        if low > high:  # the bounds allow no number, so every number is outside
            return [(0, LARGEST)]
        return [side for side in ((0, low - 1), (high + 1, LARGEST)) if side[0] <= side[1]] or [(0, -1)]

    def allows(self, number: Any, values: Mapping[str, Any]) -> Any:
        """Whether that many agents may satisfy the condition; also for an array of numbers."""
        low, high = self.bounds(values)
        return ((low <= number) & (number <= high)) == self.within


@dataclass(frozen=True)
class Alternative:
    """All of the counts and `whole` predicates hold, and none of the predicates in `unless`."""

    counts: tuple[Count, ...] = ()
    whole: tuple[Callable[..., Any], ...] = ()
    unless: tuple[Callable[..., Any], ...] = ()

    def __and__(self, other: "Alternative") -> "Alternative":
        return Alternative(self.counts + other.counts, self.whole + other.whole, self.unless + other.unless)

    def opposite(self) -> "tuple[Alternative, ...]":
        """The rows of which one holds where this one does not."""
        counts = (Alternative((dataclasses.replace(count, within=not count.within),)) for count in self.counts)
        return (
            *counts,
            *(Alternative(unless=(predicate,)) for predicate in self.whole),
            *(Alternative(whole=(predicate,)) for predicate in self.unless),
        )

    def bounds(self, values: Mapping[str, Any]) -> list[Bounds]:
        """The counts as bounds, in several alternatives where a count has two ranges."""
        ranges = [[(count.condition, one) for one in count.ranges(values)] for count in self.counts]
        if math.prod(map(len, ranges)) > MOST_ROWS:
            raise TooManyRows
        found = []
        for chosen in itertools.product(*ranges):
            joined: Bounds = {}
            for condition, (low, high) in chosen:
                least, most = joined.get(condition, (0, LARGEST))
                joined[condition] = max(least, low), min(most, high)
            found.append(joined)
        return found


class TooManyRows(InvalidInput):
    def __init__(self) -> None:
        super().__init__(
            f"sets joined by `&`, `|` and `~` become more than {MOST_ROWS} alternatives; write a predicate on all "
            "agents instead: whole(lambda agents, p: …)"
        )


@dataclass(frozen=True)
class ConfigurationSet:
    """One of the rows holds. `closed` is the author's claim that no step leaves the set.

    `reason`, where given, takes the arguments of a whole predicate and says in a sentence what keeps the
    configuration outside.
    """

    rows: tuple[Alternative, ...] = (Alternative(),)
    closed: bool = False
    doc: str = ""
    reason: Callable[..., Any] | None = None

    @property
    def counts(self) -> tuple[Count, ...]:
        """The counts of all rows."""
        return tuple(dict.fromkeys(count for row in self.rows for count in row.counts))

    @property
    def whole(self) -> tuple[Callable[..., Any], ...]:
        """The predicates of all rows, also those that must not hold."""
        return tuple(dict.fromkeys(one for row in self.rows for one in (*row.whole, *row.unless)))

    def __and__(self, other: "ConfigurationSet") -> "ConfigurationSet":
        """In both sets, which is closed if both are."""
        _require_set(other, "&")
        return ConfigurationSet(
            _few(first & second for first in self.rows for second in other.rows),
            self.closed and other.closed,
            self.doc or other.doc,
            self.reason or other.reason,
        )

    def __or__(self, other: "ConfigurationSet") -> "ConfigurationSet":
        """In one set or the other, which is closed if both are."""
        _require_set(other, "|")
        return ConfigurationSet(_few((*self.rows, *other.rows)), self.closed and other.closed)

    def __invert__(self) -> "ConfigurationSet":
        """All other configurations."""
        rows: tuple[Alternative, ...] = (Alternative(),)
        for row in self.rows:
            rows = _few(first & second for first in rows for second in row.opposite())
        return ConfigurationSet(rows)

    def __bool__(self) -> bool:
        raise InvalidInput("sets are joined by `&`, `|` and `~`: `and`, `or` and `not` would drop one of them")

    def described(self, doc: str, closed: bool | None = None) -> "ConfigurationSet":
        """The same set with a sentence that says what it is."""
        return dataclasses.replace(self, closed=self.closed if closed is None else closed, doc=doc)

    def mapped(self, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> "ConfigurationSet":
        """The same set with every function of its author changed."""
        rows = tuple(
            Alternative(
                tuple(dataclasses.replace(count, condition=change(count.condition)) for count in row.counts),
                tuple(map(change, row.whole)),
                tuple(map(change, row.unless)),
            )
            for row in self.rows
        )
        return dataclasses.replace(self, rows=rows)

    def bounds(self, values: Mapping[str, Any]) -> list[Bounds]:
        """The counts of all rows as bounds: one of these alternatives holds in the set."""
        found = [bounds for row in self.rows for bounds in row.bounds(values)]
        possible = [bounds for bounds in found if all(low <= high for low, high in bounds.values())]
        if len(possible) > MOST_ROWS:
            raise TooManyRows
        return possible or found[:1]

    def contains(self, agents: Any, p: Any, values: Mapping[str, Any], *graph: Any) -> bool:
        """Whether a configuration, as a sequence of states, is in the set: plain Python, for small n.

        `graph` is `offsets, targets` in the models whose predicates read the graph, nothing in the others.
        """
        return any(
            all(count.allows(sum(bool(count.condition(a, p)) for a in agents), values) for count in row.counts)
            and all(predicate(agents, *graph, p) for predicate in row.whole)
            and not any(predicate(agents, *graph, p) for predicate in row.unless)
            for row in self.rows
        )


@dataclass(frozen=True)
class WrittenSet:
    """A set that a class declares as a text: each instance reads it, with its parameters (`models/written`)."""

    text: str
    counts: tuple[Count, ...] = ()
    whole: tuple[Callable[..., Any], ...] = ()
    closed: bool = False

    @property
    def doc(self) -> str:
        return self.text

    def mapped(self, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> "WrittenSet":
        return self


def _few(rows: Iterable[Alternative]) -> tuple[Alternative, ...]:
    found = tuple(dict.fromkeys(rows))
    if len(found) > MOST_ROWS:
        raise TooManyRows
    return found


def _require_set(other: object, sign: str) -> None:
    if not isinstance(other, ConfigurationSet):
        raise InvalidInput(
            f"a set is joined by `{sign}` with a set, not with {other!r:.60}; a text names the sets that it joins: "
            'safe = "one or all(opinion == 2)"'
        )


def _counted(condition: Callable[..., Any], low: int | str, high: int | str) -> ConfigurationSet:
    return ConfigurationSet((Alternative((Count(condition, low, high),)),))


def everywhere(condition: Callable[..., Any]) -> ConfigurationSet:
    """Every agent satisfies the condition."""
    return _counted(condition, "n", "n")


def nowhere(condition: Callable[..., Any]) -> ConfigurationSet:
    return _counted(condition, 0, 0)


def exactly(number: int | str, condition: Callable[..., Any]) -> ConfigurationSet:
    return _counted(condition, number, number)


def at_least(number: int | str, condition: Callable[..., Any]) -> ConfigurationSet:
    return _counted(condition, number, "n")


def at_most(number: int | str, condition: Callable[..., Any]) -> ConfigurationSet:
    return _counted(condition, 0, number)


def whole(predicate: Callable[..., Any], reason: Callable[..., Any] | None = None) -> ConfigurationSet:
    """The predicate `(agents, p) -> bool` holds for the array of all agents, in the order of the topology.

    Where the model reads the graph, the predicate is `(nodes, offsets, targets, p) -> bool`.
    """
    return ConfigurationSet((Alternative(whole=(predicate,)),), reason=reason)
