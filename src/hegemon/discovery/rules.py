"""Rule tables: the possible outcomes for agents, and which tables give the same process.

Where two agents meet, a table has one *rule* per ordered pair of states (initiator, responder); with a coin, one per
pair and face; if it is symmetric, one per unordered pair. Where a node reads neighbours, it has one rule per own state
and states read; if it is symmetric, the order of the neighbours is ignored. A rule has one *choice* per
outcome.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

States = tuple[int, ...]


@dataclass(frozen=True)
class TableRule:
    """One decision: the outcome for the first of the states `reads`; with `both_ways`, also in the reverse order."""

    reads: States
    face: int
    choices: tuple[States, ...]
    both_ways: bool

    @property
    def before(self) -> States:
        """The states that a choice replaces."""
        return self.reads[: len(self.choices[0])]

    @property
    def key(self) -> States:
        return (*self.reads, self.face)


@dataclass(frozen=True)
class RuleSpace:
    """All rule tables of a given number of states. `neighbours` is how many a node reads; 0 where two agents meet."""

    states: int
    symmetric: bool = False
    coin: bool = False
    neighbours: int = 0

    @cached_property
    def rules(self) -> tuple[TableRule, ...]:
        every = range(self.states)
        outcomes = tuple(itertools.product(every, repeat=1 if self.neighbours else 2))
        rules = []
        for reads in itertools.product(every, repeat=self.neighbours + 1 if self.neighbours else 2):
            mirrored = self._mirrored(reads)
            if mirrored < reads:
                continue
            equal = tuple((x, x) for x in every)
            choices = equal if self.symmetric and mirrored == reads and not self.neighbours else outcomes
            rules += [TableRule(reads, face, choices, mirrored != reads) for face in range(self.faces)]
        return tuple(rules)

    def _mirrored(self, reads: States) -> States:
        """The same situation seen from the other side; the situation itself if the sides differ."""
        if not self.symmetric or self.neighbours == 1:
            return reads
        return (reads[0], *reads[:0:-1]) if self.neighbours else reads[::-1]

    @property
    def faces(self) -> int:
        return 2 if self.coin else 1

    @cached_property
    def index(self) -> dict[States, tuple[int, bool]]:
        """For states read and a face: the rule, and whether its outcome is reversed."""
        places = {}
        for number, rule in enumerate(self.rules):
            places[rule.key] = number, False
            if rule.both_ways:
                places[(*self._mirrored(rule.reads), rule.face)] = number, not self.neighbours
        return places

    @cached_property
    def size(self) -> int:
        """How many tables there are."""
        return math.prod(len(rule.choices) for rule in self.rules)

    def free(self, decided: int) -> int:
        """The number of tables that have given choices for the rules of a set (bits)."""
        return math.prod(len(rule.choices) for k, rule in enumerate(self.rules) if not decided >> k & 1)

    def outcome(self, table: Sequence[int], *key: int) -> States | None:
        """The outcome for the states of a key; None if it is undecided. The face may be left out."""
        rule, turned = self.index[key if key in self.index else (*key, 0)]
        if table[rule] < 0:
            return None
        after = self.rules[rule].choices[table[rule]]
        return after[::-1] if turned else after

    def mentioned(self, table: Sequence[int]) -> set[int]:
        """The states that a decided rule mentions."""
        states: set[int] = set()
        for rule, choice in zip(self.rules, table, strict=True):
            if choice >= 0:
                states |= {*rule.reads, *rule.choices[choice]}
        return states

    def fixed_by(self, renaming: Sequence[int]) -> int:
        """How many tables a renaming of the states leaves as they are."""
        seen: set[States] = set()
        count = 1
        for key in self.index:
            if key in seen:
                continue
            place, length = key, 0
            while place not in seen:
                seen |= {place, (*self._mirrored(place[:-1]), place[-1])}
                place, length = (*renamed(renaming, place[:-1]), place[-1]), length + 1
            turned = not self.neighbours and place != key  # a symmetric rule met again from its other end
            times = _power(renaming, length)
            count *= sum(
                renamed(times, choice) == (choice[::-1] if turned else choice)
                for choice in self.rules[self.index[key][0]].choices
            )
        return count


def renamed(renaming: Sequence[int], states: States) -> States:
    return tuple(renaming[x] for x in states)


def _power(renaming: Sequence[int], times: int) -> States:
    power = tuple(range(len(renaming)))
    for _ in range(times):
        power = renamed(renaming, power)
    return power


def renamings(colours: Sequence[Any]) -> Iterator[tuple[int, ...]]:
    """All renamings of the states under which every state keeps its colour."""
    for order in itertools.permutations(range(len(colours))):
        if all(colours[order[k]] == colours[k] for k in range(len(colours))):
            yield order


def classes(space: RuleSpace, colours: Sequence[Any]) -> int:
    """How many tables there are up to renaming of the states (Burnside's lemma)."""
    group = list(renamings(colours))
    return sum(space.fixed_by(renaming) for renaming in group) // len(group)
