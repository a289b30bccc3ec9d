"""The public function `discover`: search all protocols of a size, count them, rank those found."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from hegemon import display
from hegemon.discovery.keeping import KeptSearch
from hegemon.discovery.rules import classes, renamed, renamings
from hegemon.discovery.search import Node, Problem, TableSearch, failing, holding
from hegemon.discovery.specifications import QUESTION, SearchQuestion, parse_sizes
from hegemon.discovery.times import exact_times
from hegemon.errors import InvalidInput
from hegemon.runs import kinds

MOST_STATES = 4
EVERY = 0.2  # seconds between two reports of progress


@dataclass(frozen=True)
class Found:
    """A protocol that satisfies the specification. Rules that can never be used are undecided (-1)."""

    problem: Problem
    table: tuple[int, ...]
    tables: int  # the number of tables that give this process
    times: dict[
        int, tuple[Fraction, Fraction]
    ]  # for each n: expected steps (a daemon: most moves), worst start and mean

    @property
    def rank(self) -> tuple[Any, ...]:
        largest_first = [time for n in sorted(self.times, reverse=True) for time in self.times[n]]
        return (*largest_first, self.problem.outputs, self.table)

    @property
    def names(self) -> list[str]:
        return self.problem.goal.state_names(self.problem.outputs)

    @property
    def rules(self) -> list[str]:
        """The rules that change something: `L L -> L F`."""
        from hegemon.discovery.writing import rule_lines

        return rule_lines(self)

    def record(self) -> dict[str, Any]:
        steps = {str(n): {"worst": str(worst), "mean": str(mean)} for n, (worst, mean) in self.times.items()}
        return {"rules": self.rules, "tables": self.tables, "expected_steps": steps}


def summary(question: SearchQuestion, solutions: tuple[Found, ...], about: dict[str, Any]) -> str:
    """The results of a search in a few lines."""
    about = about | {"processes": len(solutions)}
    if solutions:
        largest = max(question.n)
        time = "most moves" if question.daemon else "expected steps"
        about[time] = f"{float(max(solutions[0].times[largest])):.6g} for the fastest, at n = {largest}"
    sizes = ", ".join(map(str, question.n))
    return display.plain(f"{question.specification}, {question.states} states, n = {sizes}", about)


@dataclass(frozen=True)
class Discovery:
    """What a search has covered and found. The numbers add up: every table fails in one branch, or satisfies."""

    question: SearchQuestion
    trees: tuple[Node, ...]
    found: tuple[Found, ...]  # different processes, the fastest first
    judged: int
    seconds: float

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.question.problems

    @cached_property
    def tables(self) -> int:
        """All protocols: rule tables times the choices of leader states (and of the start), up to renaming."""
        return sum(problem.space.size for problem in self.problems)

    @cached_property
    def up_to_renaming(self) -> int:
        return sum(classes(problem.space, problem.colours) for problem in self.problems)

    @cached_property
    def satisfying(self) -> int:
        return sum(solution.tables for solution in self.found)

    @cached_property
    def pruned(self) -> dict[int, tuple[int, int]]:
        """For each n: how many branches were pruned by a failure there, and how many tables they cover."""
        total: dict[int, tuple[int, int]] = dict.fromkeys(self.question.n, (0, 0))
        for problem, tree in zip(self.problems, self.trees, strict=True):
            for case, (branches, tables) in failing(problem, tree).items():
                n = problem.cases[case].arena.n
                total[n] = total[n][0] + branches, total[n][1] + tables
        return total

    def check_counts(self) -> None:
        """Check that every table is counted once."""
        covered = sum(tables for _, tables in self.pruned.values()) + self.satisfying
        assert covered == self.tables, f"{covered:,} tables were counted, and there are {self.tables:,}"

    @property
    def distribution(self) -> list[tuple[Fraction, int, int]]:
        """At the largest n, for each expected time from the worst start: how many processes and tables have it."""
        largest = max(self.question.n)
        processes: Counter[Fraction] = Counter(solution.times[largest][0] for solution in self.found)
        tables: Counter[Fraction] = Counter()
        for solution in self.found:
            tables[solution.times[largest][0]] += solution.tables
        return [(time, processes[time], tables[time]) for time in sorted(processes)]

    def __str__(self) -> str:
        return summary(self.question, self.found, {"protocols": self.tables, "right ones": self.satisfying})

    def record(self, best: int = 10) -> dict[str, Any]:
        return {
            **self.question.record(),
            "command": self.question.command,
            "exhaustive": True,
            "tables": self.tables,
            "up_to_renaming": self.up_to_renaming,
            "judged": self.judged,
            "pruned": {str(n): {"branches": b, "tables": t} for n, (b, t) in self.pruned.items()},
            "satisfying": self.satisfying,
            "processes": len(self.found),
            "distribution": [
                {"steps": str(time), "processes": count, "tables": tables} for time, count, tables in self.distribution
            ],
            "best": [solution.record() for solution in self.found[:best]],
            "seconds": self.seconds,
        }

    def _repr_html_(self) -> str:
        content = self.record()
        rows = [
            {"rules": ", ".join(row["rules"]), "tables": row["tables"]}
            | {f"steps at n = {n}": steps["worst"] for n, steps in row["expected_steps"].items()}
            for row in content["best"]
        ]
        heads = {key: content[key] for key in ("tables", "satisfying", "processes", "judged")}
        return display.facts(heads) + display.table(rows)


@kinds.door(**QUESTION, certificate=kinds.FLAG)
@display.with_progress
def discover(
    specification: str = "leader-election",
    *,
    states: int,
    n: Sequence[int] | int | str = "2..5",
    graph: str = "complete",
    self_stabilizing: bool = False,
    silent: bool = False,
    symmetric: bool = False,
    coin: bool = False,
    daemon: str | None = None,
    start: str | None = None,
    correct: str | None = None,
    checkpoint: str | Path | None = None,
    certificate: bool = False,
    progress: display.Show | None = None,
) -> Discovery:
    """All protocols of `states` states that satisfy the specification for every n asked, the fastest first.

    `leader-election`: from a uniform start (with `self_stabilizing`, from every configuration) exactly one leader is
    reached with probability 1, and the same agent stays the only leader forever; with `silent`, no state changes any
    more either. `majority`, `threshold:K` and `predicate:A % 2 == 1`: agents with input A start in state 0, those with
    input B in state 1, and in the end all outputs say whether the predicate holds. `own`: from every configuration that
    satisfies the condition `start`, a configuration that satisfies `correct` is reached and never left.

    The graph is complete, directed-ring, ring, path or connected (all connected graphs of n nodes). `n` is a list or a
    range; "odd 3..9" and "prime 3..11" choose from it. `symmetric` tables do not tell initiator and responder apart;
    with `coin`, every interaction has one fair coin. With daemon="central", nodes of a ring read their neighbours (of a
    directed ring the left one), and whatever node a daemon lets move next, the goal is reached. `checkpoint` is a file
    that an interrupted search goes on from. With `certificate`, the whole tree of decisions is kept.
    """
    begin = time.monotonic()
    question = SearchQuestion(
        specification, states, parse_sizes(n), graph, self_stabilizing, silent, symmetric, coin, daemon, start, correct
    )
    if states > MOST_STATES:
        raise InvalidInput(
            f"states = {states} is out of range for a search of all tables; choose 2 to {MOST_STATES}, or search guided"
        )
    if certificate and daemon:
        raise InvalidInput("the checker of certificates does not know daemons; drop the certificate or the daemon")
    problems = question.problems
    kept = KeptSearch(checkpoint, question.record() | {"certificate": certificate})
    trees, judged = [], 0
    try:
        for number, problem in enumerate(problems):
            tick = _ticker(kept, progress, number, len(problems))
            search = TableSearch(problem, kept.branches(number), tick, whole=certificate)
            trees.append(search.explore())
            judged += search.judged
    finally:
        kept.save()
    solutions = rank(problems, trees, progress)
    discovery = Discovery(question, tuple(trees), solutions, judged, time.monotonic() - begin)
    discovery.check_counts()
    return discovery


def _ticker(
    kept: KeptSearch, progress: display.Show | None, number: int, problems: int
) -> Callable[[TableSearch], None]:
    last = [time.monotonic()]

    def tick(search: TableSearch) -> None:
        now = time.monotonic()
        if now - last[0] >= EVERY:
            last[0] = now
            kept.save_now_and_then()
            if progress is not None:
                stage = f"searching, leader states {number + 1} of {problems}, tables covered"
                progress(stage, search.done, search.problem.space.size)

    return tick


def rank(problems: Sequence[Problem], trees: Sequence[Node], progress: display.Show | None = None) -> tuple[Found, ...]:
    """The different processes among the tables that hold, with their exact times, the fastest first."""
    solutions = []
    for problem, tree in zip(problems, trees, strict=True):
        keeps = TableSearch(problem).keeps
        tables: dict[tuple[Any, ...], list[Any]] = {}
        for table, count in holding(problem, tree):
            tables.setdefault(process(problem, table), [table, 0])[1] += count
        for number, (table, count) in enumerate(tables.values()):
            if progress is not None and number % 50 == 0:
                progress("computing exact times", number, len(tables))
            solutions.append(Found(problem, table, count, exact_times(table, keeps, problem.cases)))
    return tuple(sorted(solutions, key=lambda solution: solution.rank))


def process(problem: Problem, table: Sequence[int]) -> tuple[Any, ...]:
    """A key, equal for tables that differ only in the names of states, or, on complete graphs, in who becomes what.

    Who becomes what matters for rules of correct configurations: there only one of the two may leave the outputs alone.
    """
    space, anonymous, settling = problem.space, problem.anonymous, problem.settling
    forms = []
    for name in renamings(problem.colours):
        form: dict[tuple[int, ...], list[Any]] = {}
        for key, (rule, _) in space.index.items():
            outcome = space.outcome(table, *key)
            reads = renamed(name, key[:-1])
            behaviour: tuple[Any, ...] = ()
            if outcome is not None:
                after = renamed(name, outcome)
                settles = rule in settling and problem.keeps(rule, table[rule])
                behaviour = *(sorted(after) if anonymous else after), settles
            form.setdefault(tuple(sorted(reads)) if anonymous else reads, []).append(behaviour)
        forms.append(tuple((reads, tuple(sorted(behaviour))) for reads, behaviour in sorted(form.items())))
    return min(forms)
