"""A search question: the protocols to search, the graphs and the goal. It is checked on construction."""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from hegemon import doors
from hegemon.discovery.arenas import GRAPHS, LARGEST_CONNECTED, SMALLEST, make_arenas
from hegemon.discovery.goals import SearchGoal, make_goal
from hegemon.discovery.judge import Requirement
from hegemon.discovery.rules import RuleSpace
from hegemon.discovery.search import Problem
from hegemon.errors import InvalidInput
from hegemon.experiments.axes import parse_axis

MOST_STATES = 6  # walks of a guided search
MOST_CONFIGURATIONS = 2000  # graphs of one size
READS = {"directed-ring": 1, "oriented-ring": 2, "ring": 2}  # how many neighbours a node reads there
KINDS: dict[str, Callable[[int], bool]] = {
    "odd": lambda n: n % 2 == 1,
    "even": lambda n: n % 2 == 0,
    "prime": lambda n: n > 1 and all(n % k for k in range(2, n)),
}

QUESTION = {
    "specification": doors.text,
    "states": doors.whole(2, MOST_STATES),
    "graph": doors.text,
    **dict.fromkeys(("self_stabilizing", "silent", "symmetric", "coin"), doors.switch),
    **dict.fromkeys(("daemon", "start", "correct"), doors.text | doors.none),
}


@dataclass(frozen=True)
class SearchQuestion:
    """Everything that determines the result of a search."""

    specification: str
    states: int
    n: tuple[int, ...]
    graph: str = "complete"
    self_stabilizing: bool = False
    silent: bool = False
    symmetric: bool = False
    coin: bool = False
    daemon: str | None = None
    start: str | None = None
    correct: str | None = None

    def __post_init__(self) -> None:
        doors.require_fields(self, **QUESTION)
        if self.graph not in GRAPHS:
            raise InvalidInput(f"the graph {self.graph!r} cannot be searched; choose {' or '.join(GRAPHS)}")
        self._check_daemon()
        least = SMALLEST.get(self.graph, 3)
        for n in self.n:
            if n < least:
                raise InvalidInput(f"n = {n} is too small for a {self.graph} graph; the smallest is {least}")
            if self.graph == "connected" and n > LARGEST_CONNECTED:
                raise InvalidInput(f"n = {n} is too large for all connected graphs; the largest is {LARGEST_CONNECTED}")
            if (count := self._configurations(n)) > MOST_CONFIGURATIONS:
                raise InvalidInput(
                    f"n = {n} has about {count:,} configurations of {self.states} states; at most "
                    f"{MOST_CONFIGURATIONS:,} can be searched, so choose smaller n"
                )
        _ = self.goal

    def _check_daemon(self) -> None:
        if self.daemon is None:
            if self.graph == "oriented-ring":
                raise InvalidInput("oriented-ring is for nodes that read both neighbours; give --daemon central too")
            return
        if self.daemon != "central":
            raise InvalidInput(f"the daemon {self.daemon!r} cannot be searched; give central")
        if self.graph not in READS:
            raise InvalidInput(f"with a daemon nodes are on a ring; choose the graph {' or '.join(READS)}")
        if self.coin or self.symmetric:
            option = "coin" if self.coin else "symmetric"
            raise InvalidInput(f"--{option} is for agents that meet; drop it, or drop --daemon")

    def _configurations(self, n: int) -> int:
        if self.graph != "complete":
            turns = {"path": 2, "ring": 2 * n, "connected": 1}.get(self.graph, n)
            return int(self.states ** min(n, 60) // turns)
        count = 1
        for k in range(1, self.states):
            count = count * (n + k) // k
        return count

    @cached_property
    def goal(self) -> SearchGoal:
        return make_goal(
            self.specification, self.states, self.self_stabilizing, self.silent, self.start, self.correct
        )  # fmt: skip

    @cached_property
    def space(self) -> RuleSpace:
        reads = READS[self.graph] if self.daemon else 0
        symmetric = self.graph == "ring" if self.daemon else self.symmetric
        return RuleSpace(self.states, symmetric, self.coin, reads)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """One problem per choice of the outputs of the states, up to renaming; those without a start are left out."""
        arenas = [arena for n in self.n for arena in make_arenas(self.graph, n, self.space)]
        problems = []
        for outputs in itertools.product((1, 0), repeat=self.states):
            if self.goal.is_least(outputs):
                cases = [
                    Requirement(arena, starts, correct, label, self.daemon is not None)
                    for arena in arenas
                    for label, starts, correct in self.goal.scenarios(arena, outputs)
                ]
                if len({id(case.arena) for case in cases}) == len(arenas):
                    problems.append(Problem(self.space, outputs, self.goal.colours(outputs), tuple(cases), self.goal))
        if not problems:
            raise InvalidInput(f"no configuration satisfies the start {self.goal.start!r} for every n; change it")
        return tuple(problems)

    def record(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"n": list(self.n)}

    @property
    def command(self) -> str:
        """The command of this search."""
        words = [f"hegemon discover {_quoted(self.specification)} --states {self.states} --n {_written(self.n)}"]
        for option in fields(self)[3:]:
            value = getattr(self, option.name)
            if value != option.default:
                words.append(f"--{option.name.replace('_', '-')}" + ("" if value is True else f" {_quoted(value)}"))
        return " ".join(words)


def parse_sizes(n: Sequence[int] | int | str, name: str = "n") -> tuple[int, ...]:
    """Numbers of agents: 2..5, 3,5 or `odd 3..9`, `prime 3..11`, `even 4..8`."""
    kind = re.match(r"\s*(odd|even|prime)\s+(.*)", n) if isinstance(n, str) else None
    sizes = sorted(parse_axis("n", kind[2] if kind else n))
    chosen = [size for size in sizes if kind is None or KINDS[kind[1]](size)]
    if not chosen:
        raise InvalidInput(f"--{name} {n} has no number of agents; give for instance 'odd 3..7'")
    return tuple(chosen)


def _written(sizes: Sequence[int]) -> str:
    whole = tuple(range(sizes[0], sizes[-1] + 1))
    return f"{sizes[0]}..{sizes[-1]}" if tuple(sizes) == whole and len(sizes) > 1 else ",".join(map(str, sizes))


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w:.-]+", text) else f'"{text}"'
