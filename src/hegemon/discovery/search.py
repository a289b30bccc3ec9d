"""The search: a tree of decisions, where only the decisions needed for a judgement are made.

A node is `("fails", case, start, witness, uses)`, `("holds",)`, `("rule", number, branches)` with branches
`(choices, node)`, or `("failed", tally)`: a subtree in which everything fails, and only its tally is kept (for
each case that fails: how many branches end there, and how many tables they cover).

The first choice of a branch stands for all its choices: the others give the same process, or the same after two states
that nothing has mentioned so far are exchanged. A failure that does not depend on a rule is a failure for every choice
of it: the rule's decision is then undone, and its other choices are skipped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hegemon.discovery.goals import NOTHING, OUTPUTS, SearchGoal
from hegemon.discovery.judge import FAILS, HOLDS, Requirement, judge
from hegemon.discovery.rules import RuleSpace, renamed, renamings

Node = tuple[Any, ...]  # a node of the tree: its kind, then the fields of that kind


@dataclass(frozen=True)
class Problem:
    """All tables of a space with these outputs, judged by these cases. A renaming must preserve `colours`."""

    space: RuleSpace
    outputs: tuple[int, ...]
    colours: tuple[Any, ...]
    cases: tuple[Requirement, ...]
    goal: SearchGoal

    def keeps(self, rule: int, choice: int) -> bool:
        """Whether this choice of a rule may be used in a settled configuration."""
        before, after = self.space.rules[rule].before, self.space.rules[rule].choices[choice]
        if self.goal.keeps == OUTPUTS:
            return renamed(self.outputs, before) == renamed(self.outputs, after)
        return self.goal.keeps == NOTHING or before == after

    @property
    def anonymous(self) -> bool:
        return self.cases[0].arena.anonymous

    @cached_property
    def settling(self) -> frozenset[int]:
        """The rules that can be used in a correct configuration."""
        return frozenset(
            move.rule
            for case in self.cases
            for moves, correct in zip(case.arena.moves, case.correct, strict=True)
            if correct
            for move in moves
        )

    def groups(self, rule: int, table: Sequence[int], exchange: bool = True) -> list[list[int]]:
        """The choices of a rule, those together that lead to the same process up to renaming."""
        chosen = self.space.rules[rule]
        free = set(range(self.space.states)) - self.space.mentioned(table) - set(chosen.reads)
        hidden = [(colour, k) if k not in free else (colour, -1) for k, colour in enumerate(self.colours)]
        swaps = list(renamings(hidden)) if exchange else [tuple(range(self.space.states))]
        groups: dict[tuple[Any, ...], list[int]] = {}
        for number, choice in enumerate(chosen.choices):
            images = [renamed(swap, choice) for swap in swaps]
            if self.anonymous:
                images = [tuple(sorted(image)) for image in images]
            groups.setdefault((min(images), self.keeps(rule, number)), []).append(number)
        return list(groups.values())


class TableSearch:
    """`explore()` gives the tree. `tick` is called after every judgement; what `kept` has is not searched again."""

    def __init__(
        self,
        problem: Problem,
        kept: dict[str, list[Any]] | None = None,
        tick: Callable[["TableSearch"], None] = lambda _: None,
        learn: bool = True,
        whole: bool = False,
    ):
        self.problem, self.kept, self.tick = problem, {} if kept is None else kept, tick
        self.learn, self.whole = learn, whole  # whether failures are learned from; whether the whole tree is kept
        rules = problem.space.rules
        self.keeps = [[problem.keeps(k, c) for c in range(len(rule.choices))] for k, rule in enumerate(rules)]
        self.judged = 0  # judgements, those of kept branches included
        self.done = 0  # about how many tables are covered so far

    def explore(self) -> Node:
        node, _ = self._explore([-1] * len(self.problem.space.rules), (), self.problem.space.size)
        return node

    def _explore(self, table: list[int], path: tuple[int, ...], tables: int) -> tuple[Node, int | None]:
        """The tree below, and the rules that its failure depends on: None if something there holds."""
        key, begin = ".".join(map(str, path)), self.judged
        if len(path) <= KEPT_DEPTH and key in self.kept:
            node, uses, judged = self.kept[key]
            self.judged += judged
            return node, uses
        self.judged += 1
        self.tick(self)
        verdict = judge(table, self.keeps, self.problem.cases)
        if verdict.status == FAILS:
            leaf = (FAILS, verdict.case, verdict.start, verdict.witness, verdict.uses)
            return leaf if self.whole else ("failed", {str(verdict.case): [1, tables]}), verdict.uses
        if verdict.status == HOLDS:
            return (HOLDS,), None
        rule, branches, union, failing, before = verdict.rule, [], 0, True, self.done
        choices = len(self.problem.space.rules[rule].choices)
        for group in self.problem.groups(rule, table):
            table[rule] = group[0]
            node, uses = self._explore(table, (*path, group[0]), tables // choices)
            table[rule] = -1
            if self.learn and uses is not None and not uses >> rule & 1:
                self.done = before + tables if len(path) <= KEPT_DEPTH else before
                return self._keep(key, path, node if self.whole else _scaled(node, choices), uses, begin)
            if len(path) == KEPT_DEPTH:
                self.done += tables // choices * len(group)
            branches.append((tuple(group), node))
            if uses is None:
                failing = False
            else:
                union |= uses
        whole = ("rule", rule, tuple(branches))
        if not failing:
            return self._keep(key, path, whole, None, begin)
        return self._keep(key, path, whole if self.whole else _tallied(branches), union & ~(1 << rule), begin)

    def _keep(
        self, key: str, path: tuple[int, ...], node: Node, uses: int | None, begin: int
    ) -> tuple[Node, int | None]:
        """Keep a finished branch, with the number of judgements that it took."""
        if len(path) <= KEPT_DEPTH:
            for below in [known for known in self.kept if known.startswith(f"{key}." if key else "") and known != key]:
                del self.kept[below]
            self.kept[key] = [node, uses, self.judged - begin]
        return node, uses


def _scaled(node: Node, times: int) -> Node:
    return "failed", {case: [count, tables * times] for case, (count, tables) in node[1].items()}


def _tallied(branches: Sequence[tuple[tuple[int, ...], Node]]) -> Node:
    tally: dict[str, list[int]] = {}
    for group, (_, below) in branches:
        for case, (count, tables) in below.items():
            known = tally.setdefault(case, [0, 0])
            known[0] += count
            known[1] += tables * len(group)
    return "failed", tally


KEPT_DEPTH = 2  # finished branches up to here are kept in the file of an interrupted search


def holding(problem: Problem, node: Node, table: list[int] | None = None, times: int = 1) -> Iterator[tuple[Any, ...]]:
    """Every leaf that holds: the table that leads to it, undecided where it does not matter, and how many it covers."""
    table = [-1] * len(problem.space.rules) if table is None else table
    if node[0] == HOLDS:
        yield tuple(table), times * problem.space.free(_decided(table))
    if node[0] == "rule":
        for group, below in node[2]:
            table[node[1]] = group[0]
            yield from holding(problem, below, table, times * len(group))
            table[node[1]] = -1


def failing(problem: Problem, node: Node, table: list[int] | None = None, times: int = 1) -> dict[int, list[int]]:
    """For each case that fails: how many branches were pruned by it, and how many tables these cover."""
    table = [-1] * len(problem.space.rules) if table is None else table
    pruned: dict[int, list[int]] = {}
    if node[0] == FAILS:
        pruned[node[1]] = [1, times * problem.space.free(_decided(table))]
    elif node[0] == "failed":
        pruned = {int(case): [count, tables * times] for case, (count, tables) in node[1].items()}
    elif node[0] == "rule":
        for group, below in node[2]:
            table[node[1]] = group[0]
            for case, (count, tables) in failing(problem, below, table, times * len(group)).items():
                known = pruned.setdefault(case, [0, 0])
                known[0] += count
                known[1] += tables
            table[node[1]] = -1
    return pruned


def _decided(table: Sequence[int]) -> int:
    return sum(1 << k for k, choice in enumerate(table) if choice >= 0)
