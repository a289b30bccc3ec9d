"""Schedules that decide everything: a daemon against a protocol without coins, or one that chooses the coins as well.

Then nothing is random, and a schedule is a story: who acts, step by step, which `hegemon run --start FILE`
follows. A *move* is an interaction, or a node's action, that changes something.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from hegemon.exact import graph_kernels
from hegemon.exact.configurations import Configurations
from hegemon.exact.decisions import Decisions
from hegemon.exact.end_components import EndComponents, fair_components, kept_graph
from hegemon.exact.findings import Finding
from hegemon.exact.traces import trace
from hegemon.runs.stories import Interaction, Round, Trace


class Adversary:
    """What the worst schedule does in one decision process without chance, for one set."""

    def __init__(self, process: Decisions, inside: np.ndarray, fairness: str = ""):
        assert process.is_certain
        self.process, self.chain, self.inside, self.fairness = process, process.chain, inside, fairness
        self.offsets, self.targets = kept_graph(process, np.ones(process.choices, bool))

    def after(self, index: int) -> list[int]:
        """The configurations that one move leads to."""
        return self.targets[self.offsets[index] : self.offsets[index + 1]].tolist()

    @cached_property
    def _components(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The components outside the set; those that no move leaves come first."""
        return graph_kernels.components(self.offsets, self.targets, ~self.inside)

    def answer(self, name: str, claimed: bool = False) -> Finding:
        """Whether the set is reached under every schedule, and how long that takes; or a schedule that avoids it."""
        if avoidance := self._stuck() or (self._fair() if self.fairness else self._cycle()):
            story, length = avoidance
            moves = len(story.interactions) - length
            how = f"goes round a cycle of {length} step{'s' * (length != 1)}" if length else "is where nothing can move"
            sentence = f"a schedule keeps out of the set: after {moves} step{'s' * (moves != 1)} it {how}"
            return Finding("reached", name, False, claimed, sentence, story)
        if self.fairness:
            sentence = "reached whatever a fair schedule does"
            return Finding("reached", name, True, claimed, sentence)
        path = self._longest()
        moves = len(path) - 1
        sentence = f"reached whatever the schedule, after at most {moves} move{'s' * (moves != 1)}"
        return Finding("reached", name, True, claimed, sentence, trace(self.chain, path))

    def _to(self, goal: int) -> list[int]:
        """A path from a start to the goal, outside the set; in a whole chain every configuration is a start."""
        if self.chain.is_whole:
            return [goal]
        return self._way([start for start in self.chain.starts if not self.inside[start]], lambda index: index == goal)

    def _way(self, sources: Any, is_goal: Callable[..., Any], label: Any = None, among: Any = None) -> list[int]:
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
            for after in self.after(index):
                if after not in before and not self.inside[after] and (label is None or label[after] == among):
                    before[after] = index
                    queue.append(after)
        raise AssertionError("there is no such way")

    @cached_property
    def _open(self) -> np.ndarray:
        """The configurations that the adversary can reach without entering the set."""
        starts = np.flatnonzero(~self.inside) if self.chain.is_whole else np.array(self.chain.starts, np.int64)
        starts = starts[~self.inside[starts]]
        return graph_kernels.distances(self.offsets, self.targets, starts, ~self.inside)[0] >= 0

    def _stuck(self) -> tuple[Trace, int] | None:
        """A configuration outside the set in which no move is possible."""
        ends = np.flatnonzero(self._open & (np.diff(self.offsets) == 0))
        return (trace(self.chain, self._to(int(ends[0]))), 0) if len(ends) else None

    def _cycle(self) -> tuple[Trace, int] | None:
        """A cycle of moves outside the set: the way to it and once around, and its length."""
        label, order, number = self._components
        sizes = np.bincount(label[order], minlength=number)
        members = order[(sizes[label[order]] > 1) & self._open[order]]
        if not len(members):
            return None
        first = int(members[0])
        second = next(after for after in self.after(first) if label[after] == label[first])
        around = self._way([second], lambda index: index == first, label, label[first])
        return trace(self.chain, self._to(first) + around), len(around)

    def _fair(self) -> tuple[Trace, int] | None:
        """The path to a component outside the set in which a schedule can be fair forever, and one round in it."""
        components = fair_components(self.process, ~self.inside, self.fairness)
        members = np.flatnonzero(self._open & (components.label >= 0))
        return self._fair_round(int(members[0]), components) if len(members) else None

    def _fair_round(self, start: int, components: EndComponents) -> tuple[Trace, int]:
        """A round in which every node acts or is not enabled at some time; in a population, every pair meets."""
        process, chain, label = self.process, self.chain, components.label
        component = label[start]
        before = trace(chain, self._to(start))
        place, steps = start, list[Any]()

        def walk(is_goal: Callable[..., Any]) -> None:
            nonlocal place
            path = self._way([place], is_goal, label, component)
            steps.extend(trace(chain, path).interactions)
            place = path[-1]

        members = np.flatnonzero(label == component)
        inner = np.flatnonzero(components.stays & (label[process.owners] == component))
        pairs = isinstance(chain.space, Configurations)
        able = int(np.bitwise_or.reduce(process.enabled[members]))
        for party in range(chain.space.topology.arcs if pairs else chain.space.n):
            if not pairs and not able >> party & 1:
                continue
            acting = {int(process.owners[k]): k for k in inner[::-1] if process.bits[k] >> party & 1}
            rests = self.fairness == "weak" or not able >> party & 1
            walk(lambda at, p=party, a=acting, r=rests: at in a or r and not process.enabled[at] >> p & 1)
            after = int(process.targets[process.offsets[acting[place]]]) if place in acting else place
            if after != place or pairs:
                steps.append(self._step(place, after, party))
                place = after
        walk(lambda index: index == start)
        story = replace(before, interactions=(*before.interactions, *steps))
        return story, len(steps)

    def _step(self, place: int, after: int, party: int) -> Interaction | Round:
        """The step in which the pair of this number meets, or the nodes that differ act."""
        space, (codes, codes_after) = self.chain.space, self.chain.codes_at([place, after])
        if not isinstance(space, Configurations):
            return space.step(codes, int(self.chain.keys[after]), None)[0]
        i, j = int(space.topology.sources[party]), int(space.topology.targets[party])
        a, b = codes[i], codes[j]
        goal = codes_after[i], codes_after[j]
        first, second = space.model.first, space.model.second
        coin = next(c for c in range(space.coins) if (first[c * space.q + a, b], second[c * space.q + a, b]) == goal)
        return space.interaction(codes, codes_after, i, j, coin)

    def _longest(self) -> list[int]:
        """A longest path of moves until the set is entered; there is no cycle, so it is finite."""
        _, order, _ = self._components
        length, best = np.zeros(self.chain.size, np.int64), np.full(self.chain.size, -1, np.int64)
        for index in order[self._open[order]].tolist():  # those that lead nowhere else first
            after = self.after(index)
            best[index] = max(after, key=lambda successor: length[successor])
            length[index] = 1 + length[best[index]]
        starts = np.arange(self.chain.size) if self.chain.is_whole else np.array(self.chain.starts)
        path = [int(starts[np.argmax(length[starts])])]
        while best[path[-1]] >= 0:
            path.append(int(best[path[-1]]))
        return path
