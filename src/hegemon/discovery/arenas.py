"""The configurations of n agents on a graph, up to symmetry, and their successors by every rule.

On a complete graph a configuration is the number of agents in each state; on any other graph it is the array of states
up to the symmetries of the graph. All successors for all choices of a rule are listed once, so that judging a table
is only looking up numbers.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from hegemon.discovery.rules import RuleSpace, States

Configuration = tuple[int, ...]
Arcs = tuple[tuple[int, int], ...]
GRAPHS = ("complete", "directed-ring", "oriented-ring", "ring", "path", "connected")
SMALLEST = {"complete": 2, "path": 2, "connected": 2}  # the others are rings
LARGEST_CONNECTED = 5


@dataclass(frozen=True)
class Move:
    """One rule, applied somewhere: the configuration after each of its choices. `weight` counts arcs and faces."""

    rule: int
    after: tuple[int, ...]
    weight: int
    idle: int = -1  # with a daemon: the choice that changes nothing, which does not count as a move


@dataclass(frozen=True)
class Arena:
    """All configurations of n agents on a graph."""

    graph: str
    n: int
    arcs: Arcs
    configurations: tuple[Configuration, ...]
    arrays: tuple[int, ...]  # the number of arrays of agents that each stands for
    moves: tuple[tuple[Move, ...], ...]
    total: int  # the weights of all moves together

    @property
    def anonymous(self) -> bool:
        """Whether agents have no places, and configurations are counts."""
        return self.graph == "complete"

    @property
    def place(self) -> str:
        return f"n = {self.n}" if self.graph in GRAPHS else f"n = {self.n} with edges {_edges(self.arcs)}"

    def counts(self, configuration: int, states: int) -> tuple[int, ...]:
        """How many agents are in each state."""
        states_or_counts = self.configurations[configuration]
        return states_or_counts if self.anonymous else tuple(states_or_counts.count(x) for x in range(states))


def make_arenas(graph: str, n: int, space: RuleSpace) -> list[Arena]:
    """One arena; for `connected`, one per connected graph of n nodes, up to isomorphism."""
    if graph == "complete":
        return [_complete(n, space)]
    if graph != "connected":
        return [_placed(graph, n, _arcs(graph, n), space)]
    return [_placed(f"connected:{k}", n, arcs, space) for k, arcs in enumerate(connected(n))]


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
            if turned and rule in here:  # other arcs have the same successors: agents have no places
                weight += here[rule].weight
            after = []
            for outcome in space.rules[rule].choices:
                there = list(counts)
                for state, change in ((a, -1), (b, -1), (outcome[0], 1), (outcome[1], 1)):
                    there[state] += change
                after.append(index[tuple(there)])
            here[rule] = Move(rule, tuple(after), weight)
        moves.append(tuple(here.values()))
    total = n * (n - 1) * space.faces
    return Arena("complete", n, (), tuple(places), tuple(arrays), tuple(moves), total)


def _placed(graph: str, n: int, arcs: Arcs, space: RuleSpace) -> Arena:
    """Agents with places: the arcs determine which agents meet, or which neighbours a node reads."""
    group = symmetries(n, arcs, graph)
    every = list(itertools.product(range(space.states), repeat=n))
    least: dict[Configuration, Configuration] = {}
    for array in every:
        if array not in least:
            orbit = {tuple(array[k] for k in order) for order in group}
            least |= dict.fromkeys(orbit, min(orbit))
    places = sorted(set(least.values()))
    index = {array: k for k, array in enumerate(places)}
    arrays = [0] * len(places)
    for array in every:
        arrays[index[least[array]]] += 1
    scenes = list(_scenes(graph, n, arcs, space))
    moves = []
    for array in places:
        here: dict[tuple[int, tuple[int, ...], int], int] = {}
        for members, face in scenes:
            rule, turned = space.index[(*(array[k] for k in members), face)]
            after = []
            for outcome in space.rules[rule].choices:
                there = list(array)
                for k, state in zip(members, outcome[::-1] if turned else outcome, strict=False):
                    there[k] = state
                after.append(index[least[tuple(there)]])
            idle = space.rules[rule].choices.index(space.rules[rule].before) if space.neighbours else -1
            key = rule, tuple(after), idle
            here[key] = here.get(key, 0) + 1
        moves.append(tuple(Move(*key[:2], weight, key[2]) for key, weight in here.items()))
    return Arena(graph, n, arcs, tuple(places), tuple(arrays), tuple(moves), len(scenes))


def _scenes(graph: str, n: int, arcs: Arcs, space: RuleSpace) -> Iterator[tuple[States, int]]:
    """Everything that can happen: the agents that a rule reads, those that it may change first, and a face."""
    if space.neighbours == 1:
        yield from (((i, (i - 1) % n), 0) for i in range(n))
    elif space.neighbours == 2:
        yield from (((i, (i - 1) % n, (i + 1) % n), 0) for i in range(n))
    else:
        yield from itertools.product(arcs, range(space.faces))


def _arcs(graph: str, n: int) -> Arcs:
    if graph == "path":
        edges = [(i, i + 1) for i in range(n - 1)]
    else:
        edges = [(i, (i + 1) % n) for i in range(n)]
    one_way = graph in ("directed-ring", "oriented-ring")
    return tuple(edges) if one_way else tuple(edges + [(j, i) for i, j in edges])


def symmetries(n: int, arcs: Arcs, graph: str = "") -> list[tuple[int, ...]]:
    """The permutations of the nodes that map arcs to arcs."""
    if graph in ("directed-ring", "oriented-ring", "ring"):
        turns = [tuple((i + k) % n for i in range(n)) for k in range(n)]
        return turns if graph != "ring" else turns + [turn[::-1] for turn in turns]
    if graph == "path":
        return [tuple(range(n)), tuple(range(n))[::-1]]
    there = set(arcs)
    orders = itertools.permutations(range(n))
    return [order for order in orders if all((order[i], order[j]) in there for i, j in arcs)]


def connected(n: int) -> list[Arcs]:
    """All connected graphs of n nodes up to isomorphism, the fewest edges first."""
    pairs = list(itertools.combinations(range(n), 2))
    orders = list(itertools.permutations(range(n)))
    graphs, seen = [], set()
    for chosen in sorted(range(1 << len(pairs)), key=lambda bits: (bits.bit_count(), bits)):
        if chosen in seen:
            continue
        edges = [pair for k, pair in enumerate(pairs) if chosen >> k & 1]
        for order in orders:
            image = {tuple(sorted((order[i], order[j]))) for i, j in edges}
            seen.add(sum(1 << k for k, pair in enumerate(pairs) if pair in image))
        if _is_connected(n, edges):
            graphs.append(tuple(edges + [(j, i) for i, j in edges]))
    return graphs


def _is_connected(n: int, edges: list[tuple[int, int]]) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {k for edge in edges if reached & set(edge) for k in edge}
    return len(reached) == n


def _edges(arcs: Arcs) -> str:
    return ", ".join(f"{i}-{j}" for i, j in arcs if i < j)
