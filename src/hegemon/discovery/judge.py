"""Whether a rule table, even a partly decided one, satisfies a specification.

A configuration is *settled* if it is correct and no agent's output can change any more. A table is correct
if a settled configuration can be reached from every configuration that can be reached from a start: on a finite chain
that is to reach one with probability 1. A partial table already fails if decided rules reach a configuration from which
no possibly settled configuration can be reached, even if every undecided rule may do anything each time it is used.
Where a daemon chooses who moves, decided rules must have no cycle outside either. Sets of configurations are the bits
of whole numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hegemon.discovery.arenas import Arena

FAILS, OPEN, HOLDS = "fails", "open", "holds"


@dataclass(frozen=True)
class Requirement:
    """One question: from these starts, a correct configuration is reached and kept."""

    arena: Arena
    starts: tuple[int, ...]
    correct: tuple[bool, ...]
    label: str = ""
    daemon: bool = False  # whether any sequence of moves may happen (a daemon), whatever its probability

    @cached_property
    def moves(self) -> list[list[tuple[int, tuple[int, ...], int]]]:
        """For each configuration and move: the rule, the bit of what each choice leads to, and all of them."""
        moves = []
        for here in self.arena.moves:
            bits = [(move.rule, tuple(1 << there for there in move.after)) for move in here]
            moves.append([(rule, after, _union(after)) for rule, after in bits])
        return moves


@dataclass(frozen=True)
class Verdict:
    status: str
    case: int = -1  # the requirement that fails
    start: int = -1
    witness: int = -1  # a configuration from which nothing settled can be reached
    uses: int = 0  # the rules that the failure depends on, as bits
    rule: int = -1  # the rule that must be decided next


def judge(table: Sequence[int], keeps: Sequence[Sequence[bool]], cases: Sequence[Requirement]) -> Verdict:
    """`table` has a choice for each rule or -1; `keeps[rule][choice]` says whether no agent's output changes."""
    needed = -1
    for number, case in enumerate(cases):  # all: a larger n may fail by rules that are undecided for a smaller one
        outlook = Outlook(table, keeps, case)
        order, parents, undecided = outlook.reached()
        hopeless = [here for here in order if not outlook.hopeful >> here & 1]
        if hopeless:
            return outlook.failure(number, hopeless, parents)
        if case.daemon and (place := outlook.cycle(order)) >= 0:
            decided = sum(1 << rule for rule, choice in enumerate(table) if choice >= 0)
            return Verdict(FAILS, number, place, place, decided)
        if needed < 0:
            needed = undecided
    return Verdict(HOLDS) if needed < 0 else Verdict(OPEN, rule=needed)


class Outlook:
    """What a partly decided table can do in one case."""

    def __init__(self, table: Sequence[int], keeps: Sequence[Sequence[bool]], case: Requirement):
        self.table, self.case = table, case
        self.after: list[int] = []  # possible successors if undecided rules may do anything
        self.settled = 0  # configurations that may be settled, by the decided rules
        for here, moves in enumerate(case.moves):
            following, quiet = 0, case.correct[here]
            for rule, bits, anything in moves:
                choice = table[rule]
                if choice < 0:
                    following |= anything
                else:
                    following |= bits[choice]
                    quiet = quiet and keeps[rule][choice]
            self.after.append(following)
            if quiet:
                self.settled |= 1 << here
        self._shrink_settled()
        self.hopeful = self._leading_to(self.settled)

    def _shrink_settled(self) -> None:
        changed = True
        while changed:
            changed = False
            for here in members(self.settled):
                if self._surely_after(here) & ~self.settled:
                    self.settled &= ~(1 << here)
                    changed = True

    def _surely_after(self, here: int) -> int:
        after = 0
        for rule, bits, _ in self.case.moves[here]:
            if self.table[rule] >= 0:
                after |= bits[self.table[rule]]
        return after

    def _leading_to(self, goal: int) -> int:
        outside = [here for here in range(len(self.after)) if not goal >> here & 1]
        changed = bool(goal)
        while changed:
            changed = False
            for here in outside:
                if not goal >> here & 1 and self.after[here] & goal:
                    goal |= 1 << here
                    changed = True
        return goal

    def reached(self) -> tuple[list[int], dict[int, tuple[int, int]], int]:
        """What decided rules reach, in order; the source and rule of each; the first undecided rule, or -1."""
        order = list(self.case.starts)
        parents = dict.fromkeys(order, (-1, -1))
        undecided, table, arena = -1, self.table, self.case.arena.moves
        for here in order:  # grows as new ones are found
            for move in arena[here]:
                choice = table[move.rule]
                if choice < 0:
                    undecided = move.rule if undecided < 0 else undecided
                    continue
                there = move.after[choice]
                if there not in parents:
                    parents[there] = here, move.rule
                    order.append(there)
        return order, parents, undecided

    def cycle(self, order: list[int]) -> int:
        """A reached configuration on a cycle of decided moves outside what may be settled; -1 if there is none."""
        following = {here: self.moves(here) for here in order if not self.settled >> here & 1}
        while ends := [here for here, after in following.items() if not any(there in following for there in after)]:
            for here in ends:
                del following[here]
        return min(following, default=-1)

    def moves(self, here: int) -> list[int]:
        """The successors by decided rules that change something."""
        moves, table = self.case.arena.moves[here], self.table
        return [move.after[table[move.rule]] for move in moves if table[move.rule] not in (-1, move.idle)]

    def failure(self, number: int, hopeless: list[int], parents: dict[int, tuple[int, int]]) -> Verdict:
        """Among all failures, one that depends on the fewest rules."""
        best: Verdict | None = None
        for witness in hopeless:
            uses, here = 0, witness
            while parents[here][0] >= 0:
                here, rule = parents[here]
                uses |= 1 << rule
            seen = waiting = 1 << witness
            while waiting:
                place = waiting.bit_length() - 1
                waiting &= ~(1 << place)
                for rule, _, _ in self.case.moves[place]:
                    if self.table[rule] >= 0:
                        uses |= 1 << rule
                new = self.after[place] & ~seen
                seen |= new
                waiting |= new
            if best is None or uses.bit_count() < best.uses.bit_count():
                best = Verdict(FAILS, number, here, witness, uses)
        assert best is not None
        return best


def members(bits: int) -> list[int]:
    return [k for k in range(bits.bit_length()) if bits >> k & 1]


def _union(bits: Sequence[int]) -> int:
    union = 0
    for bit in bits:
        union |= bit
    return union
