"""A population protocol as a table of rules: what two states become, each outcome with its probability.

Settled configurations are described for every n on complete graphs: the counts from which some output can still change
are closed upwards (more agents can do all that fewer can), so they have finitely many minimal elements, which are found
backwards from the rules that change an output.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

Pair = tuple[int, int]
Counts = tuple[int, ...]
MOST_LEAST_COUNTS = 200  # a settled configuration must cover none of these; with more of them it is not described


@dataclass(frozen=True)
class RuleTable:
    """States by name; `rules` has the outcomes of every ordered pair that may change, in a fixed order.

    The probabilities of a pair add up to at most 1; with the rest nothing changes. `leaders` are the states whose
    output is 1; `start` has the shares of agents that begin in each state, empty for an arbitrary start.
    """

    states: tuple[str, ...]
    rules: dict[Pair, tuple[tuple[Fraction, Pair], ...]]
    leaders: frozenset[int] = frozenset()
    start: dict[int, int] = field(default_factory=dict)

    @property
    def denominator(self) -> int:
        """All probabilities are whole multiples of 1 / denominator."""
        return lcm(*(chance.denominator for outcomes in self.rules.values() for chance, _ in outcomes))

    def changes(self) -> list[tuple[Pair, Fraction, Pair]]:
        """Every outcome that differs from the states before."""
        return [
            (pair, chance, after)
            for pair in self.rules
            for chance, after in self.rules[pair]
            if chance and after != pair
        ]

    def outputs(self, pair: Pair) -> tuple[bool, ...]:
        return tuple(state in self.leaders for state in pair)

    def lines(self) -> list[str]:
        """The rules in their usual notation."""
        shown = []
        for (a, b), chance, (x, y) in self.changes():
            likely = "" if chance == 1 else f" with probability {chance}"
            shown.append(f"{self.states[a]}, {self.states[b]} -> {self.states[x]}, {self.states[y]}{likely}")
        return shown

    def unsettled(self, silent: bool = False) -> list[Counts] | None:
        """The least counts from which an output (if silent, a state) can still change, on complete graphs.

        None if there are too many to list.
        """
        changes = [(pair, after) for pair, _, after in self.changes()]
        waiting = [self._unit(*pair) for pair, after in changes if silent or self.outputs(pair) != self.outputs(after)]
        least: list[Counts] = []
        while waiting:
            counts = waiting.pop()
            if any(_covers(counts, other) for other in least):
                continue
            least = [other for other in least if not _covers(other, counts)] + [counts]
            if len(least) > MOST_LEAST_COUNTS:
                return None
            for pair, after in changes:  # the least counts that this rule takes to at least `counts`
                needed = (max(0, c - gained) for c, gained in zip(counts, self._unit(*after), strict=True))
                waiting.append(tuple(map(int.__add__, needed, self._unit(*pair))))
        return sorted(least)

    def _unit(self, *members: int) -> Counts:
        return tuple(members.count(k) for k in range(len(self.states)))


def _covers(counts: Counts, other: Counts) -> bool:
    return all(map(int.__ge__, counts, other))
