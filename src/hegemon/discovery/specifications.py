"""What is searched for: the starts, the outputs, and which configurations are correct."""

import itertools
from collections.abc import Iterator

from hegemon.discovery.arenas import make_arena
from hegemon.discovery.judge import Requirement
from hegemon.discovery.rules import RuleSpace
from hegemon.discovery.search import Problem
from hegemon.errors import InvalidInput

SPECIFICATIONS = ("leader-election",)
GRAPHS = ("complete", "directed-ring")
MOST_STATES = 4
MOST_CONFIGURATIONS = 2000  # of one size


def problems(
    space: RuleSpace, graph: str, sizes: tuple[int, ...], self_stabilizing: bool, silent: bool
) -> Iterator[Problem]:
    """Leader election: one problem per choice of the leader states, up to renaming.

    From a uniform start, state 0 is the start. Correct is exactly one leader, and the same agent stays the leader.
    """
    arenas = [make_arena(graph, n, space) for n in sizes]
    for outputs in itertools.product((1, 0), repeat=space.states):
        free = outputs if self_stabilizing else outputs[1:]
        if list(free) != sorted(free, reverse=True):
            continue
        cases = []
        for arena in arenas:
            everything = range(len(arena.configurations))
            leaders = [sum(map(int.__mul__, arena.counts(k, space.states), outputs)) for k in everything]
            starts = tuple(everything) if self_stabilizing else (arena.uniform(0, space.states),)
            cases.append(Requirement(arena, starts, tuple(count == 1 for count in leaders)))
        colours = tuple((output, not self_stabilizing and k == 0) for k, output in enumerate(outputs))
        yield Problem(space, outputs, colours, tuple(cases), silent)


def check(specification: str, states: int, graph: str, sizes: list[int]) -> None:
    """Refuse what cannot be searched."""
    if specification not in SPECIFICATIONS:
        raise InvalidInput(f"the specification {specification!r} is not known; choose {' or '.join(SPECIFICATIONS)}")
    if graph not in GRAPHS:
        raise InvalidInput(f"the graph {graph!r} cannot be searched; choose {' or '.join(GRAPHS)}")
    if not 2 <= states <= MOST_STATES:
        raise InvalidInput(f"states = {states} is out of range; choose 2 to {MOST_STATES}")
    least = 2 if graph == "complete" else 3
    for n in sizes:
        if n < least:
            raise InvalidInput(f"n = {n} is too small for a {graph} graph; the smallest is {least}")
        if (count := _configurations(states, graph, n)) > MOST_CONFIGURATIONS:
            raise InvalidInput(
                f"n = {n} has about {count:,} configurations of {states} states; at most {MOST_CONFIGURATIONS:,} can "
                "be searched, so choose smaller n"
            )


def _configurations(states: int, graph: str, n: int) -> int:
    if graph != "complete":
        return states ** min(n, 60) // n
    count = 1
    for k in range(1, states):
        count = count * (n + k) // k
    return count
