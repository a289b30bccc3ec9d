"""The scheduler as an adversary: who meets, or which nodes move, is chosen to keep the protocol out of a set.

A *move* is an interaction, or a node's action, that changes something. Schedules:
  adversary     any move that is possible, forever (the unfair central daemon; silent interactions are no moves);
                coins of an interaction fall as the adversary likes;
  fair          every pair of agents meets again and again, in any order the adversary likes (weak fairness);
  central       rounds: one node moves at a time; distributed: any nodes move at once. Unfair, and the coins of the
                nodes fall as the adversary likes.
Agents have names here: a schedule says who meets whom, so that `hegemon run --start FILE` can follow it.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.exact import graph_kernels
from hegemon.exact.chain import Chain
from hegemon.exact.configurations import Configurations
from hegemon.exact.findings import Finding
from hegemon.exact.rounds import RoundConfigurations
from hegemon.exact.traces import trace
from hegemon.runs.stories import Trace

POPULATION, ROUNDS = ("adversary", "fair"), ("central", "distributed")
SCHEDULES = ("random", *POPULATION, *ROUNDS)
MOST_ARCS = 63
MOST_SUBSETS = 100_000  # combined moves of one configuration under the distributed daemon


@dataclass(frozen=True)
class Moves:
    """Row i: the configurations that one move leads to from configuration i."""

    offsets: np.ndarray
    targets: np.ndarray

    def after(self, index: int) -> list[int]:
        return self.targets[self.offsets[index] : self.offsets[index + 1]].tolist()


def population_moves(chain: Chain) -> Moves:
    """The transitions of a chain without symmetry, less those that change nothing."""
    rows = np.repeat(np.arange(chain.size), np.diff(chain.offsets))
    kept = chain.targets != rows
    return Moves(np.concatenate([[0], np.cumsum(kept)])[chain.offsets], chain.targets[kept])


def daemon_moves(chain: Chain, schedule: str) -> Moves:
    """Every combination of nodes (one, or any) and of their coins, among the configurations of a chain of rounds."""
    space, rows, targets = chain.space, [], []
    assert isinstance(space, RoundConfigurations)
    seen = [space.seen(chain.codes, node).tolist() for node in range(space.n)]
    for index, codes in enumerate(chain.codes.tolist()):
        choices = []
        for node in range(space.n):
            outcomes = space.outcomes(codes[node], tuple(seen[node][index]))
            choices.append([state for state in outcomes if state != codes[node]])
        if schedule == "central":
            moves = [{node: state} for node, states in enumerate(choices) for state in states]
        else:
            if np.prod([1.0 + len(states) for states in choices]) > MOST_SUBSETS:
                raise InvalidInput(
                    f"a configuration of {space.protocol.id} has more than {MOST_SUBSETS} combined moves; ask for the "
                    "central daemon, or take a smaller graph"
                )
            options = [[None, *states] for states in choices]
            moves = [
                {node: state for node, state in enumerate(combination) if state is not None}
                for combination in itertools.product(*options)
            ]
        for move in moves:
            after = [move.get(node, code) for node, code in enumerate(codes)]
            target = chain.index(after)
            if target is None:
                raise InvalidInput(
                    f"a daemon leads {space.protocol.id} out of what the start reaches in rounds; give --start all"
                )
            if target != index:
                rows.append(index)
                targets.append(target)
    from scipy.sparse import csr_array  # only here: it takes long to load

    matrix = csr_array((np.ones(len(rows), np.int8), (rows, targets)), (chain.size, chain.size))
    return Moves(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))


class Adversary:
    """What the worst schedule does on one chain, for one set."""

    def __init__(self, chain: Chain, inside: np.ndarray, schedule: str):
        self.chain, self.inside, self.schedule = chain, inside, schedule
        self.moves = daemon_moves(chain, schedule) if schedule in ROUNDS else population_moves(chain)

    @cached_property
    def _components(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Of what is outside the set, those that nothing leaves first."""
        return graph_kernels.components(self.moves.offsets, self.moves.targets, ~self.inside)

    def answer(self, name: str) -> Finding:
        """Whether the set is reached whatever the schedule, and how long that takes; or a schedule that avoids it."""
        fair = self.schedule == "fair"
        if found := self._fair() if fair else self._stuck() or self._cycle():
            story, length = found
            moves = len(story.interactions) - length
            how = f"goes round a cycle of {length} step{'s' * (length != 1)}" if length else "is where nothing can move"
            sentence = f"a schedule keeps out of the set: after {moves} step{'s' * (moves != 1)} it {how}"
            return Finding("schedule", name, False, False, sentence, story)
        if fair:
            sentence = "reached however the pairs take turns, if each of them meets again and again"
            return Finding("schedule", name, True, False, sentence)
        path = self._longest()
        sentence = f"reached whatever the schedule, after at most {len(path) - 1} moves"
        return Finding("schedule", name, True, False, sentence, trace(self.chain, path))

    def _to(self, goal: int) -> list[int]:
        """From a start, along any moves outside the set; in a whole chain everything is a start."""
        if self.chain.is_whole:
            return [goal]
        return self._way([start for start in self.chain.starts if not self.inside[start]], lambda index: index == goal)

    def _way(self, sources, is_goal, label=None) -> list[int]:
        """A shortest way of moves from the sources to a goal, outside the set (and inside one component)."""
        before: dict[int, int | None] = dict.fromkeys(sources)
        queue = list(sources)
        for index in queue:
            if is_goal(index):
                path: list[int] = []
                place: int | None = index
                while place is not None:
                    path.append(place)
                    place = before[place]
                return path[::-1]
            for after in self.moves.after(index):
                allowed = not self.inside[after] and (label is None or self._components[0][after] == label)
                if after not in before and allowed:
                    before[after] = index
                    queue.append(after)
        raise AssertionError("there is no such way")

    @cached_property
    def _open(self) -> np.ndarray:
        """What the adversary can come to without having entered the set."""
        starts = np.flatnonzero(~self.inside) if self.chain.is_whole else np.array(self.chain.starts, np.int64)
        starts = starts[~self.inside[starts]]
        return graph_kernels.distances(self.moves.offsets, self.moves.targets, starts, ~self.inside)[0] >= 0

    def _stuck(self) -> tuple[Trace, int] | None:
        """A configuration outside the set in which no move is possible."""
        ends = np.flatnonzero(self._open & (np.diff(self.moves.offsets) == 0))
        return (trace(self.chain, self._to(int(ends[0]))), 0) if len(ends) else None

    def _cycle(self) -> tuple[Trace, int] | None:
        """A cycle of moves outside the set: the way to it and once around, and its length."""
        label, order, number = self._components
        sizes = np.bincount(label[order], minlength=number)
        members = order[(sizes[label[order]] > 1) & self._open[order]]
        if not len(members):
            return None
        first = int(members[0])
        second = next(after for after in self.moves.after(first) if label[after] == label[first])
        around = self._way([second], lambda index: index == first, label[first])
        return trace(self.chain, self._to(first) + around), len(around)

    def _fair(self) -> tuple[Trace, int] | None:
        """A component outside the set in which every arc can be used without leaving it."""
        chain, (label, _, number) = self.chain, self._components
        assert isinstance(chain.space, Configurations)
        chain.space.protocol.refuse_coins("fair schedules of it are not decided; ask for the worst case adversary")
        arcs, model = chain.space.arc_table, chain.space.model
        powers, first, second = model.powers, model.first, model.second
        if len(arcs) > MOST_ARCS:
            raise InvalidInput(f"{len(arcs)} arcs are too many for fair schedules; take at most {MOST_ARCS}")
        order = np.argsort(chain.keys)
        used, inner = np.zeros(number, np.uint64), []
        for arc, (i, j) in enumerate(arcs[:, :2]):
            a, b = chain.codes[:, i], chain.codes[:, j]
            after = chain.keys + (first[a, b] - a) * powers[i] + (second[a, b] - b) * powers[j]
            target = order[np.searchsorted(chain.keys, after, sorter=order)]
            stays = (label >= 0) & (label[target] == label)
            np.bitwise_or.at(used, label[stays], np.uint64(1 << arc))
            inner.append((stays, target))
        full = np.uint64((1 << len(arcs)) - 1)
        winning = np.flatnonzero(self._open)
        winning = winning[used[label[winning]] == full]
        return self._fair_round(int(winning[0]), inner) if len(winning) else None

    def _fair_round(self, start: int, inner) -> tuple[Trace, int]:
        """The way to a component, and one round in it that uses every arc."""
        chain, label = self.chain, self._components[0]
        space = chain.space
        assert isinstance(space, Configurations)
        before = trace(chain, self._to(start))
        place, steps = start, []

        def walk(is_goal):
            nonlocal place
            path = self._way([place], is_goal, label[start])
            steps.extend(trace(chain, path).interactions)
            place = path[-1]

        for (i, j), (stays, target) in zip(space.arc_table[:, :2].tolist(), inner, strict=True):
            walk(lambda index, stays=stays: stays[index])
            after = int(target[place])
            steps.append(space.interaction(chain.codes[place], chain.codes[after], i, j))
            place = after
        walk(lambda index: index == start)
        return Trace(before.protocol, before.configuration, (*before.interactions, *steps)), len(steps)

    def _longest(self) -> list[int]:
        """The most moves outside the set until it is entered; there is no cycle, so they end."""
        _, order, _ = self._components
        length, best = np.zeros(self.chain.size, np.int64), np.full(self.chain.size, -1, np.int64)
        for index in order[self._open[order]].tolist():  # those that lead nowhere else first
            after = self.moves.after(index)
            best[index] = max(after, key=lambda other: length[other])
            length[index] = 1 + length[best[index]]
        starts = np.arange(self.chain.size) if self.chain.is_whole else np.array(self.chain.starts)
        path = [int(starts[np.argmax(length[starts])])]
        while best[path[-1]] >= 0:
            path.append(int(best[path[-1]]))
        return path
