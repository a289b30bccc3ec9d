"""TableRule tables: what two states may become when they meet, and which tables give the same process.

A table has one *rule* per ordered pair of states (initiator, responder); with a coin, one per pair and face; if it
is symmetric, one per unordered pair. A rule has as many *choices* as there are outcomes.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

Pair = tuple[int, int]


@dataclass(frozen=True)
class TableRule:
    """What is decided at once: what a pair becomes, and if `both_ways` the same pair met the other way round."""

    pair: Pair
    face: int
    choices: tuple[Pair, ...]
    both_ways: bool


@dataclass(frozen=True)
class RuleSpace:
    """All rule tables of a given number of states."""

    states: int
    symmetric: bool = False
    coin: bool = False

    @cached_property
    def rules(self) -> tuple[TableRule, ...]:
        outcomes = tuple((x, y) for x in range(self.states) for y in range(self.states))
        found = []
        for a, b in itertools.product(range(self.states), repeat=2):
            for face in range(self.faces):
                if not self.symmetric:
                    found.append(TableRule((a, b), face, outcomes, False))
                elif a == b:
                    found.append(TableRule((a, a), face, tuple((x, x) for x in range(self.states)), False))
                elif a < b:
                    found.append(TableRule((a, b), face, outcomes, True))
        return tuple(found)

    @property
    def faces(self) -> int:
        return 2 if self.coin else 1

    @cached_property
    def index(self) -> dict[tuple[int, int, int], tuple[int, bool]]:
        """For initiator, responder and face: which rule it is, and whether that tells it the other way round."""
        found = {}
        for number, rule in enumerate(self.rules):
            (a, b), face = rule.pair, rule.face
            found[a, b, face] = number, False
            if rule.both_ways:
                found[b, a, face] = number, True
        return found

    @cached_property
    def size(self) -> int:
        """How many tables there are."""
        return math.prod(len(rule.choices) for rule in self.rules)

    def free(self, decided: int) -> int:
        """How many tables have given choices for the rules of a set (bits)."""
        return math.prod(len(rule.choices) for k, rule in enumerate(self.rules) if not decided >> k & 1)

    def outcome(self, table: Sequence[int], a: int, b: int, face: int = 0) -> Pair | None:
        """What (a, b) becomes; None if that is not decided."""
        rule, turned = self.index[a, b, face]
        if table[rule] < 0:
            return None
        x, y = self.rules[rule].choices[table[rule]]
        return (y, x) if turned else (x, y)

    def mentioned(self, table: Sequence[int]) -> set[int]:
        """The states that a decided rule speaks of."""
        found: set[int] = set()
        for rule, choice in zip(self.rules, table, strict=True):
            if choice >= 0:
                found |= {*rule.pair, *rule.choices[choice]}
        return found

    def fixed_by(self, renaming: Sequence[int]) -> int:
        """How many tables a renaming of the states leaves as they are."""
        seen: set[tuple[int, int, int]] = set()
        count = 1
        for a, b, face in self.index:
            if (a, b, face) in seen:
                continue
            x, y, length = a, b, 0
            while (x, y, face) not in seen:
                seen |= {(x, y, face)} | ({(y, x, face)} if self.symmetric else set())
                x, y, length = renaming[x], renaming[y], length + 1
            turned = (x, y) != (a, b)  # a symmetric rule met again from its other end
            count *= sum(
                self._after(renaming, choice, length) == (choice[::-1] if turned else choice)
                for choice in self.rules[self.index[a, b, face][0]].choices
            )
        return count

    @staticmethod
    def _after(renaming: Sequence[int], choice: Pair, times: int) -> Pair:
        for _ in range(times):
            choice = renaming[choice[0]], renaming[choice[1]]
        return choice


def renamings(colours: Sequence) -> Iterator[tuple[int, ...]]:
    """All renamings of the states under which every state keeps its colour."""
    for order in itertools.permutations(range(len(colours))):
        if all(colours[order[k]] == colours[k] for k in range(len(colours))):
            yield order


def classes(space: RuleSpace, colours: Sequence) -> int:
    """How many tables there are up to renaming of the states (Burnside's lemma)."""
    group = list(renamings(colours))
    return sum(space.fixed_by(one) for one in group) // len(group)
