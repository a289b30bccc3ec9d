"""Observables: numbers that are computed from configurations along a run."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Observable:
    """`reduce` ("count", "mean", "minimum" or "maximum") of `value(a, p)` over all agents.

    In the rounds model the value may also read the neighbours, as `value(me, neighbours, p)`; and for
    "overall" it is a number computed at once from everything, `value(nodes, offsets, targets, p)`.
    """

    reduce: str
    value: Callable[..., Any]
    doc: str = ""

    def mapped(self, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> "Observable":
        """The same observable with its author's function changed."""
        return dataclasses.replace(self, value=change(self.value))

    @property
    def unit(self) -> str:
        """What the number counts, for the axis of a picture: agents, what its sentence begins with, or a value."""
        if self.reduce == "count":
            return "agents"
        first = self.doc.split(" ")[0]
        return first if self.reduce == "overall" and first.endswith("s") and first.islower() else "value"

    @property
    def reads_one(self) -> bool:
        """Whether its value depends on one agent alone, not on neighbours or on all agents."""
        return self.reduce != "overall" and self.value.__code__.co_argcount == 2

    def values_of(self, which: Iterable[int], states: Sequence[Any], graph: tuple[Any, ...], p: Any) -> list[Any]:
        """The values of these agents in plain Python; `graph` has the rows of the neighbours, where they are read."""
        if self.reads_one:
            return [self.value(states[v], p) for v in which]
        offsets, targets = graph
        return [self.value(states[v], [states[u] for u in targets[offsets[v] : offsets[v + 1]]], p) for v in which]

    def measure(self, values: np.ndarray, counts: np.ndarray | None) -> float:
        """From the value of every agent, or of every occupied state together with its number of agents."""
        if self.reduce == "minimum":
            return values.min()
        if self.reduce == "maximum":
            return values.max()
        if counts is None:
            return int(np.count_nonzero(values)) if self.reduce == "count" else values.mean()
        if self.reduce == "count":
            return int(counts[values != 0].sum())
        return float(np.average(values, weights=counts))


def count(condition: Callable[..., Any], doc: str = "") -> Observable:
    return Observable("count", condition, doc)


def mean(value: Callable[..., Any], doc: str = "") -> Observable:
    return Observable("mean", value, doc)


def minimum(value: Callable[..., Any], doc: str = "") -> Observable:
    return Observable("minimum", value, doc)


def maximum(value: Callable[..., Any], doc: str = "") -> Observable:
    return Observable("maximum", value, doc)


def overall(value: Callable[..., Any], doc: str = "") -> Observable:
    """A number of the whole configuration on its graph: `value(nodes, offsets, targets, p)`."""
    return Observable("overall", value, doc)
