"""The best and the worst that a daemon can do, with a proved error.

Strategies are improved (Howard 1960): the linear equations of one strategy are solved, and each configuration takes the
choice with the best value, until none is better. That only finds candidates. The proof comes after it: if a nonnegative
x has c + P x <= x for every choice, no daemon makes the expected cost larger than x; if x <= c + P x for every choice,
none that reaches the goal makes it smaller. A solution that misses this by at most e, with costs c of at least 1,
fulfils it after division by 1 - e or 1 + e.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.exact.decisions import DecisionProcess
from hegemon.exact.end_components import EndComponents, end_components, every, reaching
from hegemon.exact.solving import REQUIRED, LinearSystem, unreliable

SWEEPS = 60  # of value iteration, for a strategy to begin with
MOST_IMPROVEMENTS = 1000
BETTER = 1e-11  # relative: less than that is rounding


@dataclass(frozen=True)
class Optimum:
    """The value of every configuration, the choice that attains it (-1: none is needed), and the proved error:
    relative where costs are at least 1, absolute otherwise."""

    values: np.ndarray
    choices: np.ndarray
    error: float


class Optimizer:
    """Optimal costs until the active configurations are left, over the allowed choices.

    Either they contain no end component, or every step has a positive cost and the least cost is computed.
    """

    def __init__(self, process: DecisionProcess, active: np.ndarray, allowed: np.ndarray | None = None):
        self.process, self.active = process, active
        self.allowed = active[process.owners] if allowed is None else allowed & active[process.owners]

    def steps(self, largest: bool, first: np.ndarray | None = None) -> Optimum:
        return self.costs(np.ones(self.process.choices), largest, first)

    def costs(self, costs: np.ndarray, largest: bool, first: np.ndarray | None = None) -> Optimum:
        """The largest or least expected sum of costs that are all at least 1; `first` is a strategy to begin with."""
        values, chosen, residual = self._improved(costs, largest, first)
        if not residual < REQUIRED:
            raise unreliable(residual, f"on {int(self.active.sum()):,} configurations")
        return Optimum(values, chosen, residual / (1 - residual))

    def sums(self, costs: np.ndarray, largest: bool, steps: float, first: np.ndarray | None = None) -> Optimum:
        """The same for costs that may be 0, where any daemon leaves after at most `steps` expected steps."""
        values, chosen, residual = self._improved(costs, largest, first)
        if not residual * steps < REQUIRED:
            raise unreliable(residual * steps, f"on {int(self.active.sum()):,} configurations")
        return Optimum(values, chosen, residual * steps)

    def _improved(self, costs: np.ndarray, largest: bool, first: Any) -> tuple[np.ndarray, np.ndarray, float]:
        sign = 1.0 if largest else -1.0
        if not self.active.any():
            return np.zeros(self.process.size), np.full(self.process.size, -1, np.int64), 0.0
        chosen = self._greedy(costs, sign) if first is None else first.copy()
        values = np.zeros(self.process.size)
        for _ in range(MOST_IMPROVEMENTS):
            values, residual = self._evaluated(costs, chosen)
            looks = self._looks(costs, values)
            best = self._best(sign * looks)
            gain = sign * (looks[best] - looks[chosen])
            better = self.active & (gain > BETTER * np.abs(looks[chosen]) + BETTER * np.abs(costs).max(initial=0))
            if not better.any():
                break
            chosen = np.where(better, best, chosen)
        own, mine = self.process.owners[self.allowed], looks[self.allowed]
        width = int(np.diff(self.process.offsets).max(initial=1))
        rounding = (width + 6) * 2.0**-53 * (np.abs(mine) + np.abs(values[own]))
        wrong = (sign * (mine - values[own]) + rounding).max(initial=0.0)
        chosen = np.where(self.active, chosen, -1)
        return values, chosen, float(max(wrong, residual))

    def _looks(self, costs: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The cost of each choice if its successors have these values."""
        return costs + self.process.matrix @ values

    def _best(self, looks: np.ndarray) -> np.ndarray:
        """For every configuration, the allowed choice with the largest value; the first of several."""
        process = self.process
        looks = np.where(self.allowed, looks, -np.inf)
        best = np.zeros(process.size, np.int64)
        some = np.flatnonzero(np.diff(process.first))
        if len(some):
            largest = np.maximum.reduceat(looks, process.first[some])
            is_largest = looks == np.repeat(largest, np.diff(process.first)[some])
            places = np.flatnonzero(is_largest)
            best[process.owners[places[::-1]]] = places[::-1]
        return best

    def _greedy(self, costs: np.ndarray, sign: float) -> np.ndarray:
        values = np.zeros(self.process.size)
        best = np.zeros(self.process.size, np.int64)
        for _ in range(SWEEPS):
            looks = self._looks(costs, values)
            best = self._best(sign * looks)
            before, values = values, np.where(self.active, looks[best], 0.0)
            if np.array_equal(before, values):
                break
        return best

    def _evaluated(self, costs: np.ndarray, chosen: Any) -> tuple[np.ndarray, float]:
        """The costs of a strategy, and the residual of their equations."""
        process, active = self.process, self.active
        lengths = np.where(active, np.diff(process.offsets)[chosen], 0)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - process.offsets[chosen], lengths)
        system = LinearSystem(
            offsets, process.targets[entries], process.weights[entries], process.denominator, active
        )  # fmt: skip
        return system.refined(costs[chosen] * process.denominator * active)


def likeliest(process: DecisionProcess, goal: np.ndarray, active: np.ndarray) -> Optimum:
    """The largest probability of reaching the goal through active configurations, and a strategy that attains it.

    Each end component is merged into one configuration, so that no daemon can stay: the equations have one solution.
    """
    active = active & ~goal & reaching(process, goal, active & ~goal)
    ends = end_components(process, active)
    small, place, kept = _collapsed(process, ends)
    inside = np.zeros(small.size, bool)
    inside[place[active]] = True
    into = small.matrix @ np.isin(np.arange(small.size), place[goal]).astype(float)
    optimizer = Optimizer(small, inside)
    longest = optimizer.steps(largest=True)
    optimum = optimizer.sums(into, True, longest.values.max(initial=0.0) * (1 + longest.error), longest.choices)
    values = np.where(goal, 1.0, np.where(active, np.clip(optimum.values[place], 0.0, 1.0), 0.0))
    choices = np.full(process.size, -1, np.int64)
    taken = kept[optimum.choices[optimum.choices >= 0]]
    choices[process.owners[taken]] = taken
    return Optimum(values, _routed(process, ends, choices), optimum.error)


def _collapsed(process: DecisionProcess, ends: EndComponents) -> tuple[DecisionProcess, np.ndarray, np.ndarray]:
    """The process with every end component merged into one configuration with the choices that may leave it; the new
    place of each configuration; and the choices that are kept."""
    alone = np.flatnonzero(ends.label < 0)
    place = np.empty(process.size, np.int64)
    place[alone] = ends.number + np.arange(len(alone))
    place[ends.label >= 0] = ends.label[ends.label >= 0]
    kept = np.flatnonzero(~ends.stays)
    kept = kept[np.argsort(place[process.owners[kept]], kind="stable")]
    lengths = np.diff(process.offsets)[kept]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - process.offsets[kept], lengths)
    first = np.searchsorted(place[process.owners[kept]], np.arange(ends.number + len(alone) + 1))
    small = DecisionProcess(
        first, offsets, place[process.targets[entries]], process.weights[entries], process.denominator
    )  # fmt: skip
    return small, place, kept


def _routed(process: DecisionProcess, ends: EndComponents, choices: np.ndarray) -> np.ndarray:
    """The given choices and, in each end component, choices that lead to the configuration where it is left."""
    choices = choices.copy()
    arrived = (choices >= 0) | (ends.label < 0)
    while True:
        nearer = ~every(process, ~arrived[process.targets])
        useful = np.flatnonzero(ends.stays & nearer & ~arrived[process.owners])
        if not len(useful):
            return choices
        choices[process.owners[useful[::-1]]] = useful[::-1]
        arrived[process.owners[useful]] = True
