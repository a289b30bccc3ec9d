"""A guided search, for protocols that are too many to enumerate: walks of local changes that learn from failures.

A walk starts from a random table and changes one rule at a time, mostly one that the present failure depends on; it
keeps a change unless that makes more configurations hopeless. Of every failure it learns the rules that it depends on:
a table that agrees with them is wrong, and is not judged again. A walk is determined by the seed and its number, so the
result does not depend on the number of workers. The search covers only the tables that it has judged.
"""

import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon import display, doors
from hegemon.discovery.discover import Found, process, summary
from hegemon.discovery.judge import FAILS, Outlook, judge, members
from hegemon.discovery.search import Problem, TableSearch
from hegemon.discovery.specifications import QUESTION, SearchQuestion, parse_sizes
from hegemon.discovery.times import exact_times
from hegemon.errors import InvalidInput
from hegemon.experiments.executors.pool import open_pool
from hegemon.kept import read_kept, write_kept
from hegemon.runs import kinds
from hegemon.runs.option import seed_of

if TYPE_CHECKING:
    from hegemon.runs.option import Seed

KIND = "checkpoint of a guided search"
LENGTH = 400  # changes of a walk
WALKS = 100
MOST_LEARNED = 300  # failures that a walk remembers
IDLE = 0.5  # the probability that a rule of a first table changes nothing
ASTRAY = 0.1  # the probabilities of an arbitrary change, and of keeping a worse one
STALE = 60  # changes without progress after which a walk begins again
PATIENCE = 5.0  # seconds between two times of saving


@dataclass(frozen=True)
class GuidedDiscovery:
    """What the walks have found. It is no proof that nothing else exists."""

    question: SearchQuestion
    found: tuple[Found, ...]  # different processes, the fastest first
    seed: int
    walks: int
    judged: int  # tables that were judged, some perhaps in several walks
    skipped: int  # tables that were skipped by a learned failure
    seconds: float

    @property
    def tables(self) -> int:
        return sum(problem.space.size for problem in self.question.problems)

    def __str__(self) -> str:
        about = {"walks": self.walks, "judged": f"{self.judged:,} of {display.figure(self.tables)} protocols"}
        return summary(self.question, self.found, about | {"seed": str(self.seed)})

    def record(self, best: int = 10) -> dict[str, Any]:
        return {
            **self.question.record(),
            "command": self.question.command,
            "exhaustive": False,
            "tables": self.tables,
            "seed": self.seed,
            "walks": self.walks,
            "judged": self.judged,
            "skipped": self.skipped,
            "share": (self.judged + self.skipped) / self.tables,
            "processes": len(self.found),
            "best": [solution.record() for solution in self.found[:best]],
            "seconds": self.seconds,
        }


@kinds.door(states=QUESTION["states"], walks=kinds.TRIALS, options=doors.anything)
@display.with_progress
def discover_guided(
    specification: str = "leader-election",
    *,
    states: int,
    n: Sequence[int] | int | str = "2..5",
    seed: "Seed" = 0,
    walks: int = WALKS,
    checkpoint: str | Path | None = None,
    workers: int | None = 1,
    cluster: str | None = None,
    progress: display.Show | None = None,
    **options: Any,
) -> GuidedDiscovery:
    """Protocols of `states` states that satisfy the specification, found by `walks` walks of local changes.

    `options` are those of `discover` that say what is searched for. The same seed gives the same answer with any
    `workers` or `cluster`; `checkpoint` keeps finished walks. Nothing found does not mean that nothing exists.
    """
    begin = time.monotonic()
    for word in options.keys() - QUESTION.keys():
        raise InvalidInput(f"discover_guided has no option {word!r}; options of a search are {', '.join(QUESTION)}")
    question, seed = SearchQuestion(specification, states, parse_sizes(n), **options), seed_of(seed)
    search = question.record() | {"seed": seed, "length": LENGTH}
    done: dict[str, list[Any]] = {}
    if checkpoint is not None and Path(checkpoint).exists():
        content = read_kept(checkpoint, KIND)
        if content["question"] != search:
            raise InvalidInput(f"{checkpoint} belongs to another search; give another file, or the options of that one")
        done = content["walks"]
    problems = question.problems
    missing = [k for k in range(walks) if str(k) not in done]
    saved = time.monotonic()
    try:
        for k, answer in _walked(question, seed, missing, workers, cluster):
            done[str(k)] = answer
            if progress is not None:
                progress("guided search, walks", len(done), walks)
            if checkpoint is not None and time.monotonic() - saved > PATIENCE:
                write_kept(checkpoint, KIND, {"question": search, "walks": done})
                saved = time.monotonic()
    finally:
        if checkpoint is not None:
            write_kept(checkpoint, KIND, {"question": search, "walks": done})
    answers = [done[str(k)] for k in range(walks)]
    solutions = rank_tables(problems, [(number, tuple(table)) for tables, _, _ in answers for number, table in tables])
    judged, skipped = (sum(answer[k] for answer in answers) for k in (1, 2))
    return GuidedDiscovery(question, solutions, seed, walks, judged, skipped, time.monotonic() - begin)


def _walked(
    question: SearchQuestion, seed: int, numbers: list[int], workers: int | None, cluster: str | None
) -> Iterator[tuple[int, list[Any]]]:
    """The results of walks, in their order."""
    if workers == 1 and cluster is None:
        for k in numbers:
            yield k, walk(question, seed, k)
        return
    if not numbers:
        return
    pool = open_pool(cluster, workers)
    executor = pool.start()
    finished, plain = False, replace(question)  # without its computed results
    try:
        futures: list[tuple[int, Future[Any]]] = [(k, executor.submit(walk, plain, seed, k)) for k in numbers]
        for k, future in futures:
            yield k, future.result()
        finished = True
    finally:
        pool.close() if finished else pool.abandon()


@lru_cache(maxsize=2)
def _searches(question: SearchQuestion) -> list[tuple[int, TableSearch]]:
    """The problems that some table may solve, with their numbers."""
    searches = []
    for number, problem in enumerate(question.problems):
        search = TableSearch(problem)
        if judge([-1] * len(problem.space.rules), search.keeps, problem.cases).status != FAILS:
            searches.append((number, search))
    return searches


def walk(question: SearchQuestion, seed: int, number: int) -> list[Any]:
    """One walk: the tables that it found (each with the number of its problem), how many it judged and skipped."""
    searches = _searches(question)
    if not searches:
        return [[], 0, 0]
    which, search = searches[number % len(searches)]
    walker = _Walker(search.problem, search.keeps, random.Random(f"{seed} {number}"))
    walker.go(LENGTH)
    return [[[which, list(table)] for table in walker.solutions], walker.judged, walker.skipped]


class _Walker:
    def __init__(self, problem: Problem, keeps: Sequence[Sequence[bool]], draw: random.Random):
        self.problem, self.keeps, self.draw = problem, keeps, draw
        self.solutions: list[tuple[int, ...]] = []
        self.learned: list[tuple[tuple[int, int], ...]] = []  # choices of rules that fail together
        self.judged = self.skipped = 0

    def go(self, length: int) -> None:
        table = self._first()
        score, uses = self.score(table)
        best, stale = score, 0
        for _ in range(length):
            if score == 0 or stale == STALE:
                if score == 0:
                    self.solutions.append(used_part(table, self.keeps, self.problem))
                table = self._first()
                score, uses = self.score(table)
                best, stale = score, 0
                continue
            stale += 1
            rules = self.problem.space.rules
            rule = self.draw.randrange(len(rules)) if self.draw.random() < ASTRAY else self.draw.choice(uses)
            before = table[rule]
            table[rule] = self.draw.randrange(len(rules[rule].choices))
            if self._is_known(table):
                self.skipped += 1
                table[rule] = before
                continue
            new_score, new_uses = self.score(table)
            if new_score <= score or self.draw.random() < ASTRAY:
                score, uses = new_score, new_uses
                best, stale = min(best, score), 0 if score < best else stale
            else:
                table[rule] = before

    def _first(self) -> list[int]:
        table = []
        for rule in self.problem.space.rules:
            same = [k for k, choice in enumerate(rule.choices) if choice == rule.before]
            idle = same and self.draw.random() < IDLE
            table.append(same[0] if idle else self.draw.randrange(len(rule.choices)))
        return table

    def _is_known(self, table: Sequence[int]) -> bool:
        return any(all(table[rule] == choice for rule, choice in failure) for failure in self.learned)

    def score(self, table: list[int]) -> tuple[float, list[int]]:
        """The share of reached configurations that are hopeless, over all cases, and the rules of the first failure."""
        self.judged += 1
        total, uses = 0.0, 0
        for number, case in enumerate(self.problem.cases):
            outlook = Outlook(table, self.keeps, case)
            order, parents, _ = outlook.reached()
            hopeless = [here for here in order if not outlook.hopeful >> here & 1]
            lost = len(hopeless) / len(order)
            if hopeless and not uses:
                uses = outlook.failure(number, hopeless, parents).uses
                self.learned = [*self.learned[1 - MOST_LEARNED :], tuple((k, table[k]) for k in members(uses))]
            if not hopeless and case.daemon and outlook.cycle(order) >= 0:
                lost, uses = 0.5, uses or (1 << len(table)) - 1
            total += lost
        return total, members(uses)


def used_part(table: Sequence[int], keeps: Sequence[Sequence[bool]], problem: Problem) -> tuple[int, ...]:
    """The table with every rule undecided (-1) that is never used."""
    used = set()
    for case in problem.cases:
        order, _, _ = Outlook(table, keeps, case).reached()
        used |= {move.rule for here in order for move in case.arena.moves[here]}
    return tuple(choice if rule in used else -1 for rule, choice in enumerate(table))


def rank_tables(problems: Sequence[Problem], tables: list[tuple[int, tuple[int, ...]]]) -> tuple[Found, ...]:
    """The different processes among tables that hold, with their exact times, the fastest first."""
    kinds: dict[tuple[Any, ...], list[Any]] = {}
    for number, table in tables:
        kinds.setdefault((number, process(problems[number], table)), [number, table, 0])[2] += 1
    solutions = []
    for number, table, count in kinds.values():
        problem = problems[number]
        times = exact_times(table, TableSearch(problem).keeps, problem.cases)
        solutions.append(Found(problem, table, count, times))
    return tuple(sorted(solutions, key=lambda solution: solution.rank))
