"""The goal of a search: starts, and the configurations that are correct for them.

Agents of a searched protocol have a `state` (0, 1, …) and an `output` (0 or 1, fixed for each state). A goal gives
*scenarios*: starts, and the configurations that are correct from them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

from hegemon.discovery.arenas import Arena
from hegemon.errors import InvalidInput
from hegemon.models import Bit, PopulationProtocol, Range
from hegemon.models.assumptions import truth
from hegemon.models.conditions import parse_set
from hegemon.models.expressions import parse, whole_number
from hegemon.models.functions import names_in

KNOWN = "leader-election, majority, threshold:K, 'predicate:A % 2 == 1', or own with --correct"
OUTPUTS, STATES, NOTHING = "outputs", "states", "nothing"  # what a settled configuration keeps, if it is correct

Scenario = tuple[str, tuple[int, ...], tuple[bool, ...]]  # its name, the starts, and what is correct


@dataclass(frozen=True)
class SearchGoal:
    """A specification: `start` and `correct` are conditions on configurations; a predicate is about inputs A and B."""

    name: str
    self_stabilizing: bool
    keeps: str
    start: str = "all(state == 0)"
    correct: str = "count(output == 1) == 1"
    predicate: str | None = None
    unasked: str | None = None  # inputs for which every output is correct

    def scenarios(self, arena: Arena, outputs: Sequence[int]) -> Iterator[Scenario]:
        if self.predicate is not None:
            yield from self._inputs(arena, outputs)
            return
        correct = self._where(self.correct, arena, outputs)
        starts = [True] * len(correct) if self.self_stabilizing else self._where(self.start, arena, outputs)
        if any(starts):
            yield "", tuple(k for k, is_start in enumerate(starts) if is_start), tuple(correct)

    def _inputs(self, arena: Arena, outputs: Sequence[int]) -> Iterator[Scenario]:
        """Agents start in state 0 (input A) or 1 (input B), and in the end all output whether the predicate holds."""
        every = [arena.counts(k, len(outputs)) for k in range(len(arena.configurations))]
        for answer in (1, 0):
            starts = []
            for k, counts in enumerate(every):
                inputs = {"A": counts[0], "B": counts[1], "n": arena.n}
                if counts[0] + counts[1] == arena.n and not (self.unasked and truth(self.unasked, inputs, "predicate")):
                    starts += [k] if truth(str(self.predicate), inputs, "predicate") == bool(answer) else []
            correct = [all(outputs[x] == answer for x, count in enumerate(counts) if count) for counts in every]
            if starts:
                yield f"inputs for which it is {'true' if answer else 'false'}", tuple(starts), tuple(correct)

    def _where(self, condition: str, arena: Arena, outputs: Sequence[int]) -> list[bool]:
        protocol = _searched(len(outputs))(n=arena.n)
        chosen = parse_set(condition, protocol)
        inside = []
        for k in range(len(arena.configurations)):
            counts = arena.counts(k, len(outputs))
            agents = [
                SimpleNamespace(state=x, output=outputs[x]) for x, count in enumerate(counts) for _ in range(count)
            ]
            inside.append(chosen.contains(agents, protocol.p, protocol.values))
        return inside

    @cached_property
    def names_states(self) -> bool:
        """Whether a condition distinguishes states, so that they cannot be renamed."""
        texts = [self.correct] if self.self_stabilizing else [self.correct, self.start]
        return self.predicate is None and any("state" in names_in(parse(text)) for text in texts)

    @property
    def starts_uniform(self) -> bool:
        return self.predicate is None and not self.self_stabilizing and self.start == SearchGoal.start

    def colours(self, outputs: Sequence[int]) -> tuple[Any, ...]:
        """What a renaming of states must preserve: the outputs, and the states that the goal distinguishes."""
        if self.predicate is not None:
            return tuple((output, k if k < 2 else -1) for k, output in enumerate(outputs))
        if self.starts_uniform and "state" not in names_in(parse(self.correct)):
            return tuple((output, k == 0) for k, output in enumerate(outputs))
        return tuple((output, k if self.names_states else -1) for k, output in enumerate(outputs))

    def state_names(self, outputs: Sequence[int]) -> list[str]:
        """L and F (if there are several of a kind L1, L2); for predicates A and B, in which agents start, C, D."""
        if self.predicate is not None:
            return list("ABCDEFGH"[: len(outputs)])
        if self.name == "own":
            return [f"S{k}" for k in range(len(outputs))]
        names = []
        for k, output in enumerate(outputs):
            letter, same = ("L" if output else "F"), [j for j in range(len(outputs)) if outputs[j] == output]
            names.append(letter if len(same) == 1 else f"{letter}{same.index(k) + 1}")
        return names

    def is_least(self, outputs: Sequence[int]) -> bool:
        """Whether no renaming of the states gives outputs that come earlier: those with 1 come first."""
        free: dict[str, Any] = {}
        for colour, output in zip(self.colours([0] * len(outputs)), outputs, strict=True):
            free.setdefault(colour, []).append(output)
        return all(group == sorted(group, reverse=True) for group in free.values())


@lru_cache(maxsize=8)
def _searched(states: int) -> Any:
    """A protocol class with the fields of searched agents, for parsing conditions."""

    class Searched(PopulationProtocol):
        """The protocols that are searched."""

        class State:
            state: Range(0, states - 1)  # type: ignore[valid-type]
            output: Bit  # type: ignore[valid-type]

        def interact(a: Any, b: Any, p: Any) -> None:
            pass

    return Searched


def make_goal(
    specification: str, states: int, self_stabilizing: bool, silent: bool, start: str | None, correct: str | None
) -> SearchGoal:
    """The goal that a specification names; a meaningless specification is refused."""
    kind, colon, rest = specification.partition(":")
    keeps = STATES if silent else OUTPUTS
    if start is not None and self_stabilizing:
        raise InvalidInput("--start and --self-stabilizing contradict each other: the latter starts anywhere; drop one")
    if correct is not None and kind != "own":
        raise InvalidInput(
            f"--correct belongs to the specification own, and {specification} says itself what is correct"
        )
    if kind in ("leader-election", "own") and not colon:
        if kind == "own" and correct is None:
            raise InvalidInput('own needs --correct, such as --correct "count(output == 1) == 2"')
        goal = SearchGoal(
            specification,
            self_stabilizing,
            keeps if kind != "own" or silent else NOTHING,
            start or SearchGoal.start,
            correct or SearchGoal.correct,
        )
        for text in (goal.correct,) if self_stabilizing else (goal.correct, goal.start):
            parse_set(text, _searched(states)(n=2))
        return goal
    if start is not None or self_stabilizing:
        raise InvalidInput(f"{specification} starts from all inputs; drop --{'start' if start else 'self-stabilizing'}")
    if kind == "majority" and not colon:
        return SearchGoal(specification, False, keeps, predicate="A > B", unasked="A == B")
    if kind == "threshold" and colon:
        return SearchGoal(specification, False, keeps, predicate=f"A >= {whole_number(rest, 'threshold', 1, 100)}")
    if kind == "predicate" and colon:
        truth(rest, {"A": 1, "B": 1, "n": 2}, "predicate")
        return SearchGoal(specification, False, keeps, predicate=rest.strip())
    raise InvalidInput(f"the specification {specification!r} is not known; choose {KNOWN}")
