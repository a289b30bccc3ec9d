"""Named sets of configurations: safe sets, and the sets in lemmas.

A set is a conjunction of *counts* (how many agents satisfy a condition lies between two bounds) and of
*whole* predicates on the array of all agents. Counts are kept up to date step by step by every engine; a
whole predicate is evaluated now and then, which finds the exact first step only if the set is closed.
A condition is a plain function `(a, p) -> bool` on one agent's state and the parameters.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hegemon.models.expressions import evaluate

LARGEST = 2**62  # a larger count is never reached


@dataclass(frozen=True)
class Count:
    """Between `low` and `high` agents satisfy the condition; bounds may be expressions over the parameters."""

    condition: Callable[..., Any]
    low: int | str
    high: int | str

    def bounds(self, values: Mapping[str, Any]) -> tuple[int, int]:
        low, high = evaluate(self.low, values), evaluate(self.high, values)
        return max(0, min(LARGEST, math.ceil(low))), max(-1, min(LARGEST, math.floor(high)))


@dataclass(frozen=True)
class ConfigurationSet:
    """`counts` and `whole` must all hold. `closed` is the author's claim that no step leaves the set.

    `reason`, where given, takes the arguments of a whole predicate and says in a sentence what keeps the
    configuration outside.
    """

    counts: tuple[Count, ...] = ()
    whole: tuple[Callable[..., Any], ...] = ()
    closed: bool = False
    doc: str = ""
    reason: Callable[..., Any] | None = None

    def __and__(self, other: "ConfigurationSet") -> "ConfigurationSet":
        return ConfigurationSet(
            self.counts + other.counts,
            self.whole + other.whole,
            self.closed and other.closed,
            self.doc or other.doc,
            self.reason or other.reason,
        )

    def described(self, doc: str, closed: bool | None = None) -> "ConfigurationSet":
        """The same set with a sentence that says what it is."""
        return dataclasses.replace(self, closed=self.closed if closed is None else closed, doc=doc)

    def mapped(self, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> "ConfigurationSet":
        """The same set with every function of its author changed."""
        counts = tuple(dataclasses.replace(count, condition=change(count.condition)) for count in self.counts)
        return dataclasses.replace(self, counts=counts, whole=tuple(map(change, self.whole)))

    def contains(self, agents: Any, p: Any, values: Mapping[str, Any], *graph: Any) -> bool:
        """Whether a configuration, as a sequence of states, is in the set: plain Python, for small n.

        `graph` is `offsets, targets` in the models whose predicates read the graph, nothing in the others.
        """
        for count in self.counts:
            low, high = count.bounds(values)
            if not low <= sum(bool(count.condition(a, p)) for a in agents) <= high:
                return False
        return all(predicate(agents, *graph, p) for predicate in self.whole)


def everywhere(condition: Callable[..., Any]) -> ConfigurationSet:
    """Every agent satisfies the condition."""
    return ConfigurationSet((Count(condition, "n", "n"),))


def nowhere(condition: Callable[..., Any]) -> ConfigurationSet:
    return ConfigurationSet((Count(condition, 0, 0),))


def exactly(number: int | str, condition: Callable[..., Any]) -> ConfigurationSet:
    return ConfigurationSet((Count(condition, number, number),))


def at_least(number: int | str, condition: Callable[..., Any]) -> ConfigurationSet:
    return ConfigurationSet((Count(condition, number, "n"),))


def at_most(number: int | str, condition: Callable[..., Any]) -> ConfigurationSet:
    return ConfigurationSet((Count(condition, 0, number),))


def whole(predicate: Callable[..., Any], reason: Callable[..., Any] | None = None) -> ConfigurationSet:
    """The predicate `(agents, p) -> bool` holds for the array of all agents, in the order of the topology.

    Where the model reads the graph, the predicate is `(nodes, offsets, targets, p) -> bool`.
    """
    return ConfigurationSet(whole=(predicate,), reason=reason)
