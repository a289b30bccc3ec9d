"""What a daemon can do forever: maximal end components (de Alfaro 1997), and what it can force with probability 1.

An *end component* is a set of configurations with some of their choices, such that no outcome of these choices leaves
the set, and each of its configurations can be reached from each other. Whatever a daemon does, with probability 1 it
ends in one of them.
"""

from dataclasses import dataclass

import numpy as np

from hegemon.exact import graph_kernels
from hegemon.exact.chain import transposed
from hegemon.exact.decisions import DecisionProcess, Decisions


@dataclass(frozen=True)
class EndComponents:
    """`label` is the component of each configuration (-1: in none), `stays` the choices that never leave one."""

    label: np.ndarray
    stays: np.ndarray
    number: int


def end_components(process: DecisionProcess, active: np.ndarray) -> EndComponents:
    """The maximal ones among the active configurations."""
    owners, sources = process.owners, process.sources
    active = active.copy()
    stays = active[owners]
    while True:
        label, _, number = graph_kernels.components(*kept_graph(process, stays), active)
        inside = active[process.targets] & (label[process.targets] == label[owners[sources]])
        now = stays & every(process, inside)
        has = np.zeros(process.size, bool)
        has[owners[now]] = True
        if np.array_equal(now, stays) and np.array_equal(has, active):
            break
        stays, active = now & has[owners], has
    numbers, labels = np.unique(label[active], return_inverse=True)
    final = np.full(process.size, -1, np.int64)
    final[active] = labels.ravel()
    return EndComponents(final, stays, len(numbers))


def kept_graph(process: DecisionProcess, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What follows each configuration under the chosen choices: offsets and targets."""
    kept = chosen[process.sources]
    counts = np.concatenate([[0], np.cumsum(kept)])
    return counts[process.offsets[process.first]], process.targets[kept]


def reaching(process: DecisionProcess, goal: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The configurations from which some choices and coins lead to the goal through active configurations."""
    everything = np.ones(process.choices, bool)
    graph = transposed(*kept_graph(process, everything))
    return graph_kernels.distances(*graph, np.flatnonzero(goal), active | goal)[0] >= 0


def forced(process: DecisionProcess, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where some daemon reaches the goal with probability 1, and a choice that does so (-1 elsewhere)."""
    sure = np.ones(process.size, bool)
    while True:
        safe = every(process, sure[process.targets])
        reached, choice = goal.copy(), np.full(process.size, -1, np.int64)
        while True:  # one layer nearer to the goal after the other
            nearer = ~every(process, ~reached[process.targets])
            useful = np.flatnonzero(safe & nearer & ~reached[process.owners])
            if not len(useful):
                break
            choice[process.owners[useful[::-1]]] = useful[::-1]
            reached[process.owners[useful]] = True
        if np.array_equal(reached, sure):
            return sure, choice
        sure = reached


def every(process: DecisionProcess, entries: np.ndarray) -> np.ndarray:
    """Whether something holds of every outcome of each choice."""
    return np.logical_and.reduceat(entries, process.offsets[:-1]) if process.choices else np.empty(0, bool)


def fair_components(process: Decisions, active: np.ndarray, fairness: str) -> EndComponents:
    """The end components in which a fair daemon can stay forever.

    `weak`: whatever is enabled all the time acts infinitely often. `strong`: whatever is enabled infinitely often does.
    In a population every pair is enabled all the time, so weak fairness means that each pair meets infinitely often.
    """
    ends = end_components(process, active)
    if not fairness:
        return ends
    bits, enabled = process.bits, process.enabled
    keep = np.zeros(process.size, bool)
    for component in range(ends.number):
        members = np.flatnonzero(ends.label == component)
        acts = np.bitwise_or.reduce(bits[ends.stays & (ends.label[process.owners] == component)])
        join = np.bitwise_and if fairness == "weak" else np.bitwise_or
        passed_over = join.reduce(enabled[members]) & ~acts
        if not passed_over:
            keep[members] = True
        elif fairness == "strong":  # it may be able to stay where they are not enabled
            rest = np.zeros(process.size, bool)
            rest[members[enabled[members] & passed_over == 0]] = True
            keep |= fair_components(process, rest, fairness).label >= 0
    return end_components(process, keep)
