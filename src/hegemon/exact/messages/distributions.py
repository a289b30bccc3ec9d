"""States of all nodes together, their distributions, and totals over all runs."""

import math
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from hegemon.exact.messages.nodes import Numbers, Post


class Passage(NamedTuple):
    """A message in flight: its arrival, its link, the node and port where it arrives, and its content, frozen."""

    arrival: int
    source: int
    port: int
    target: int
    back: int
    message: Any


class State(NamedTuple):
    """All nodes by the numbers of their local states; within a round, what each has received and not yet seen; and,
    where messages take time, those on their way by the round of their arrival, then in the order of sending."""

    nodes: tuple[int, ...]
    inboxes: tuple[Post | None, ...]
    drawn: Numbers
    flying: tuple[Passage, ...] = ()


class Distribution:
    """The probabilities of states: whole numbers over one denominator."""

    def __init__(self, weights: dict[State, int], over: int):
        self.weights, self.over = weights, over

    @property
    def total(self) -> Fraction:
        return Fraction(sum(self.weights.values()), self.over)

    def joined(self, other: "Distribution") -> "Distribution":
        over = math.lcm(self.over, other.over)
        weights = {state: weight * (over // self.over) for state, weight in self.weights.items()}
        for state, weight in other.weights.items():
            weights[state] = weights.get(state, 0) + weight * (over // other.over)
        return Distribution(weights, over)

    def reduced(self) -> "Distribution":
        common = math.gcd(self.over, *self.weights.values())
        return Distribution({state: weight // common for state, weight in self.weights.items()}, self.over // common)


@dataclass
class Tally:
    """Totals over all runs."""

    ends: dict[tuple[int, int], Fraction] = field(default_factory=lambda: defaultdict(Fraction))  # (leaders, round)
    causes: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    measures: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    messages: Fraction = Fraction(0)
    bits: Fraction = Fraction(0)
    largest: int = 0
    states: int = 0  # at the end of all rounds together
    running: Fraction = Fraction(0)  # the probability of runs that were not followed to their end
    ordered: bool = True
