"""How long a leader is kept: expected steps from the safe configurations, and how it ends."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hegemon.exact import graph_kernels, kernels
from hegemon.exact.chain import Chain, matrix, transposed
from hegemon.exact.configurations import Configurations
from hegemon.exact.findings import kept_structure, losses
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

    def record(self) -> dict:
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
    """Only steps that change no output are followed; what is missing from a row is the loss of the leader."""
    everywhere = np.ones(chain.size, bool)
    safe = np.flatnonzero(inside & (leaders == 1))
    held = kept_structure(chain)
    reached = graph_kernels.distances(*held, safe, everywhere)[0] >= 0
    loss = losses(chain)
    backwards = transposed(*held)
    doomed = graph_kernels.distances(*backwards, np.flatnonzero(reached & (loss > 0)), reached)[0] >= 0
    for_ever = reached & ~doomed
    doubtful = graph_kernels.distances(*backwards, np.flatnonzero(for_ever), reached)[0] >= 0
    active = reached & ~doubtful
    system = LinearSystem(chain.offsets, chain.targets, chain.keeps, chain.denominator, active)
    solution = system.expected_steps()
    values = np.where(active, solution.values, np.inf)
    values[~reached] = np.nan
    worst = int(safe[first_smallest(values[safe], solution.error)])
    best = int(safe[first_largest(values[safe], solution.error)])
    way, probability = most_likely_way(chain, worst, active) if active[worst] else (None, 0.0)
    return HoldingTimes(
        set=name,
        values=values,
        error=solution.error,
        worst=float(values[safe].min()),
        worst_start=trace(chain, [worst]),
        best=float(values[safe].max()),
        best_start=trace(chain, [best]),
        from_starts={start: float(values[index]) for start, index in starts.items() if not np.isnan(values[index])},
        breaks=tuple(break_interactions(chain, best, active)) if active[best] else (),
        way=way,
        way_probability=probability,
    )


def visits(chain: Chain, start: int, active: np.ndarray) -> tuple[np.ndarray, float]:
    """How often each configuration is visited, on average, from this start until the leader is lost; and a bound on
    the error of the probability of any end that is computed from it.

    A residual r adds r_i times the probability of that end from configuration i: at most the sum of all |r_i|.
    """
    columns = matrix(chain.keeps, chain.targets, chain.offsets).tocsc()
    forwards = columns.indptr.astype(np.int64), columns.indices, columns.data
    backwards = LinearSystem(*forwards, chain.denominator, active, transposed=True)
    begin = np.zeros(chain.size)
    begin[start] = chain.denominator
    often, residual = backwards.refined(begin)
    return often, residual * np.count_nonzero(active)


def break_interactions(
    chain: Chain, start: int, active: np.ndarray, number: int = 3
) -> Iterator[tuple[float, Interaction]]:
    """How holding from this configuration ends: the pairs of states whose meeting ends it, most likely first."""
    space = chain.space
    if not isinstance(space, Configurations):  # in a round no single pair ends it
        return
    often, error = visits(chain, start, active)
    if not error < REQUIRED:  # the holding time has an error bound of its own; how it ends is left out
        return
    first, second, changes = space.model.first, space.model.second, space.model.changes
    rows = np.flatnonzero(active & (often > 0))
    ends = np.zeros(changes.shape)
    memory, places = chain.keys[rows] % space.memories, space.places
    kernels.add_breaks(
        chain.codes[rows], memory, often[rows] / chain.denominator, space.arc_table, places, changes, ends
    )
    ends /= ends.sum()  # it ends with probability 1; only rounding says otherwise
    for flat in np.argsort(-ends, axis=None)[:number]:
        row, b = divmod(int(flat), space.q)
        if ends[row, b] > 0:
            coin, a = divmod(row, space.q)
            codes, after = np.array([a, b]), np.array([first[row, b], second[row, b]])
            yield float(ends[row, b]), space.interaction(codes, after, 0, 1, coin)


def most_likely_way(chain: Chain, start: int, active: np.ndarray) -> tuple[Trace, float]:
    """The most probable sequence of changes up to the loss; steps that change nothing are left out."""
    from scipy.sparse import csr_array  # only here: they take long to load
    from scipy.sparse.csgraph import dijkstra

    size = chain.size
    rows = np.repeat(np.arange(size), np.diff(chain.offsets))
    own = rows == chain.targets
    stay = np.bincount(rows[own], chain.keeps[own], minlength=size)
    moving = chain.denominator - stay
    broken = chain.weights - chain.keeps
    most = np.zeros(size, np.int64)
    np.maximum.at(most, rows, broken)
    follows = active[rows] & active[chain.targets] & (chain.keeps > 0) & ~own
    ends = np.flatnonzero(active & (most > 0))
    tails = np.concatenate([rows[follows], ends])
    heads = np.concatenate([chain.targets[follows], np.full(len(ends), size)])
    chance = np.concatenate([chain.keeps[follows] / moving[rows[follows]], most[ends] / moving[ends]])
    step = 1e-9  # among equally likely ways the shortest; also keeps certain steps in the sparse matrix
    graph = csr_array((step - np.log(chance), (tails, heads)), (size + 1, size + 1))
    cost, before = dijkstra(graph, indices=start, return_predecessors=True)
    path = [int(before[size])]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    path.reverse()
    last = slice(chain.offsets[path[-1]], chain.offsets[path[-1] + 1])
    path.append(int(chain.targets[last][np.argmax(broken[last])]))
    steps = len(path) - 1
    story = trace(chain, path, changes=[False] * (steps - 1) + [True])
    return story, float(np.exp(-(cost[size] - step * steps)))
