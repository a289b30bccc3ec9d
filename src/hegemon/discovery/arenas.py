"""The configurations of n agents on a graph, up to symmetry, and what every rule could make of them.

On a complete graph a configuration is the number of agents in each state; on a directed ring it is the array of states
up to rotation. All successors for all choices of a rule are listed once: judging a table is then looking up numbers.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hegemon.discovery.rules import RuleSpace

Configuration = tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """One rule, applied somewhere: the configuration after each of its choices. `weight` counts arcs and faces."""

    rule: int
    after: tuple[int, ...]
    weight: int


@dataclass(frozen=True)
class Arena:
    """All configurations of n agents on a graph."""

    graph: str
    n: int
    configurations: tuple[Configuration, ...]
    arrays: tuple[int, ...]  # how many arrays of agents each stands for
    moves: tuple[tuple[Move, ...], ...]
    total: int  # the weights of all moves together

    def index(self, configuration: Configuration) -> int:
        return self.configurations.index(configuration)

    def counts(self, configuration: int, states: int) -> tuple[int, ...]:
        """How many agents are in each state."""
        found = self.configurations[configuration]
        return found if self.graph == "complete" else tuple(found.count(x) for x in range(states))

    def uniform(self, state: int, states: int) -> int:
        counts = tuple(self.n if x == state else 0 for x in range(states))
        return self.index(counts if self.graph == "complete" else (state,) * self.n)


def make_arena(graph: str, n: int, space: RuleSpace) -> Arena:
    return _complete(n, space) if graph == "complete" else _ring(n, space)


def _complete(n: int, space: RuleSpace) -> Arena:
    s = space.states
    places = [c for c in itertools.product(range(n + 1), repeat=s) if sum(c) == n]
    index = {c: k for k, c in enumerate(places)}
    arrays = [math.factorial(n) // math.prod(math.factorial(c) for c in counts) for counts in places]
    moves = []
    for counts in places:
        here: dict[int, Move] = {}
        for (a, b, _), (rule, turned) in space.index.items():
            weight = counts[a] * (counts[b] - (a == b))
            if weight <= 0:
                continue
            if turned and rule in here:  # the same successors: agents have no places
                weight += here[rule].weight
            after = []
            for outcome in space.rules[rule].choices:
                there = list(counts)
                for state, change in ((a, -1), (b, -1), (outcome[0], 1), (outcome[1], 1)):
                    there[state] += change
                after.append(index[tuple(there)])
            here[rule] = Move(rule, tuple(after), weight)
        moves.append(tuple(here.values()))
    return Arena("complete", n, tuple(places), tuple(arrays), tuple(moves), n * (n - 1) * space.faces)


def _ring(n: int, space: RuleSpace) -> Arena:
    def least(array: Sequence[int]) -> Configuration:
        return min(tuple(array[k:]) + tuple(array[:k]) for k in range(n))

    every = list(itertools.product(range(space.states), repeat=n))
    places = sorted({least(array) for array in every})
    index = {array: k for k, array in enumerate(places)}
    arrays = [0] * len(places)
    for array in every:
        arrays[index[least(array)]] += 1
    moves = []
    for array in places:
        here: dict[tuple[int, tuple[int, ...]], int] = {}
        for place, face in itertools.product(range(n), range(space.faces)):
            other = (place + 1) % n
            rule, turned = space.index[array[place], array[other], face]
            after = []
            for outcome in space.rules[rule].choices:
                there = list(array)
                there[place], there[other] = outcome[::-1] if turned else outcome
                after.append(index[least(there)])
            key = rule, tuple(after)
            here[key] = here.get(key, 0) + 1
        moves.append(tuple(Move(rule, after, weight) for (rule, after), weight in here.items()))
    return Arena("directed-ring", n, tuple(places), tuple(arrays), tuple(moves), n * space.faces)
