"""How long a leader is kept: expected steps from the safe configurations, and how it ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.exact import graph_kernels, kernels
from hegemon.exact.chain import Chain, matrix
from hegemon.exact.configurations import Configurations
from hegemon.exact.hitting import finite, first_largest, first_smallest
from hegemon.exact.solving import REQUIRED, LinearSystem
from hegemon.exact.traces import trace
from hegemon.runs.stories import Interaction, Trace


@dataclass(frozen=True)
class HoldingTimes:
    """Expected steps from configurations of the set until the leader is not the same unique one."""

    set: str
    values: np.ndarray
    error: float
    worst: float
    worst_start: Trace
    best: float
    best_start: Trace
    from_starts: dict[str, float]
    breaks: tuple[tuple[float, Interaction], ...]  # the interactions that end it, with their probabilities
    way: Trace | None  # the most likely sequence of changes from the worst start
    way_probability: float

    def record(self) -> dict[str, Any]:
        return {
            "set": self.set,
            "worst": finite(self.worst),
            "worst_start": self.worst_start.configuration,
            "best": finite(self.best),
            "best_start": self.best_start.configuration,
            "from": {name: finite(value) for name, value in self.from_starts.items()},
            "relative_error": self.error,
            "breaks": [
                {"probability": probability, "before": list(step.before), "after": list(step.after)}
                for probability, step in self.breaks
            ],
            "most_likely_way": self.way.record() if self.way else None,
            "most_likely_way_probability": self.way_probability,
        }


def holding_times(
    chain: Chain, name: str, inside: np.ndarray, leaders: np.ndarray, starts: dict[str, int]
) -> HoldingTimes:
    """Only steps that change no output are followed; the rest of a row's probability is the loss of the leader."""
    safe = np.flatnonzero(inside & (leaders == 1)).astype(np.int32)
    arcs, everywhere = (chain.offsets, chain.targets), np.ones(chain.size, bool)
    reached = graph_kernels.distances(*arcs, safe, everywhere, chain.keeps)[0] >= 0
    parts = graph_kernels.components(*arcs, reached, chain.keeps)[:2]
    active = graph_kernels.prospects(*arcs, chain.keeps, chain.denominator, *parts)[1]
    part = HeldPart.of(chain, active)
    del parts
    solution = LinearSystem(
        part.offsets, part.targets, part.keeps, chain.denominator, np.ones(len(part.members), bool)
    ).expected_steps()
    values = np.where(reached, np.inf, np.nan)
    values[part.members] = solution.values
    worst = int(safe[first_smallest(values[safe], solution.error)])
    best = int(safe[first_largest(values[safe], solution.error)])
    way, probability = most_likely_way(chain, part, worst) if active[worst] else (None, 0.0)
    return HoldingTimes(
        set=name,
        values=values,
        error=solution.error,
        worst=float(values[safe].min()),
        worst_start=trace(chain, [worst]),
        best=float(values[safe].max()),
        best_start=trace(chain, [best]),
        from_starts={start: float(values[index]) for start, index in starts.items() if not np.isnan(values[index])},
        breaks=tuple(break_interactions(chain, part, best)) if active[best] else (),
        way=way,
        way_probability=probability,
    )


@dataclass(frozen=True)
class HeldPart:
    """The active rows of a chain, renumbered, with the entries that stay among them and change no output."""

    members: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray
    keeps: np.ndarray
    ends: np.ndarray  # the largest weight, in each row, of a transition that changes an output

    @classmethod
    def of(cls, chain: Chain, active: np.ndarray) -> "HeldPart":
        members = np.flatnonzero(active)
        place = np.full(chain.size, -1, np.int32)
        place[members] = np.arange(len(members))
        lengths = np.diff(chain.offsets)[members]
        begins = np.cumsum(lengths, dtype=np.int64) - lengths
        entries = np.arange(lengths.sum()) + np.repeat(chain.offsets[members] - begins, lengths)
        keeps = chain.keeps[entries].astype(np.int32)
        ends = np.maximum.reduceat(chain.weights[entries] - keeps, begins)
        targets = place[chain.targets[entries]]
        stays = (targets >= 0) & (keeps > 0)
        offsets = np.concatenate([[0], np.cumsum(np.add.reduceat(stays, begins, dtype=np.int64))])
        return cls(members, offsets, targets[stays], keeps[stays], ends)


def visits(part: HeldPart, denominator: int, start: int) -> tuple[np.ndarray, float]:
    """How often each configuration is visited, on average, from this start until the leader is lost; and a bound on
    the error of the probability of any end that is computed from it.

    A residual r adds r_i times the probability of that end from configuration i: at most the sum of all |r_i|.
    """
    columns = matrix(part.keeps, part.targets, part.offsets).tocsc()
    forwards = columns.indptr.astype(np.int64), columns.indices, columns.data
    size = len(part.members)
    backwards = LinearSystem(*forwards, denominator, np.ones(size, bool), transposed=True)
    often, residual = backwards.refined(denominator * (part.members == start))
    return often, residual * size


def break_interactions(
    chain: Chain, part: HeldPart, start: int, number: int = 3
) -> Iterator[tuple[float, Interaction]]:
    """How holding from this configuration ends: the pairs of states whose meeting ends it, most likely first."""
    space = chain.space
    if not isinstance(space, Configurations):  # in a round no single pair ends it
        return
    often, error = visits(part, chain.denominator, start)
    if not error < REQUIRED:  # not precise enough: how it ends is left out; the holding time has its own error bound
        return
    first, second, changes = space.model.first, space.model.second, space.model.changes
    rows, often = part.members[often > 0], often[often > 0]
    ends = np.zeros(changes.shape)
    memory, places = chain.keys[rows] % space.memories, space.places
    kernels.add_breaks(chain.codes_at(rows), memory, often / chain.denominator, space.arc_table, places, changes, ends)
    ends /= ends.sum()  # it ends with probability 1: this removes rounding errors
    for flat in np.argsort(-ends, axis=None)[:number]:
        row, b = divmod(int(flat), space.q)
        if ends[row, b] > 0:
            coin, a = divmod(row, space.q)
            codes, after = np.array([a, b]), np.array([first[row, b], second[row, b]])
            yield float(ends[row, b]), space.interaction(codes, after, 0, 1, coin)


def most_likely_way(chain: Chain, part: HeldPart, start: int) -> tuple[Trace, float]:
    """The most probable sequence of changes up to the loss; steps that change nothing are left out."""
    from scipy.sparse import csr_array  # only here: they take long to load
    from scipy.sparse.csgraph import dijkstra

    size = len(part.members)
    rows = np.repeat(np.arange(size), np.diff(part.offsets))
    moves = rows != part.targets
    stay = np.bincount(rows[~moves], part.keeps[~moves], minlength=size)
    moving = chain.denominator - stay
    ends = np.flatnonzero(part.ends > 0)
    tails = np.concatenate([rows[moves], ends])
    heads = np.concatenate([part.targets[moves], np.full(len(ends), size)])
    chance = np.concatenate([part.keeps[moves] / moving[rows[moves]], part.ends[ends] / moving[ends]])
    step = 1e-9  # among equally likely ways the shortest; also keeps certain steps in the sparse matrix
    graph = csr_array((step - np.log(chance), (tails, heads)), (size + 1, size + 1))
    begin = int(np.searchsorted(part.members, start))
    cost, before = dijkstra(graph, indices=begin, return_predecessors=True)
    way = [int(before[size])]
    while way[-1] != begin:
        way.append(int(before[way[-1]]))
    path = part.members[way[::-1]].tolist()
    last = slice(chain.offsets[path[-1]], chain.offsets[path[-1] + 1])
    path.append(int(chain.targets[last][np.argmax(chain.weights[last] - chain.keeps[last])]))
    steps = len(path) - 1
    story = trace(chain, path, changes=[False] * (steps - 1) + [True])
    return story, float(np.exp(-(cost[size] - step * steps)))
