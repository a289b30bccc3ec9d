"""Yes-or-no questions about sets: closed, keeping the leader, reached with probability 1, computed predicates."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.exact import graph_kernels
from hegemon.exact.chain import Chain
from hegemon.exact.traces import path_from_start, trace, walked
from hegemon.runs.stories import Trace


@dataclass(frozen=True)
class Finding:
    """One result. `claimed`: whether the protocol's author states that it holds."""

    question: str
    set: str
    holds: bool
    claimed: bool
    sentence: str
    counterexample: Trace | None = None

    @property
    def refutes(self) -> bool:
        return self.claimed and not self.holds

    def record(self) -> dict[str, Any]:
        row = {"question": self.question, "set": self.set, "holds": self.holds, "claimed": self.claimed}
        row["sentence"] = self.sentence
        row["counterexample"] = self.counterexample.record() if self.counterexample else None
        return row


def is_closed(chain: Chain, name: str, inside: np.ndarray, claimed: bool) -> Finding:
    """No step leads out of the set."""
    way_out = graph_kernels.leaves(chain.offsets, chain.targets, chain.weights, inside)
    broken = np.flatnonzero(way_out >= 0)
    held = configurations(int(inside.sum()))
    if not len(broken):
        return Finding("closed", name, True, claimed, f"no step leaves the set ({held})")
    first = int(broken[0])  # the nearest one: reachable configurations are numbered by their distance from the start
    path = [*path_from_start(chain, first), int(chain.targets[way_out[first]])]
    sentence = f"a step leaves the set from {len(broken)} of its {held}"
    return Finding("closed", name, False, claimed, sentence, trace(chain, path))


def configurations(number: int) -> str:
    return f"{number} configuration{'s' * (number != 1)}"


def keeps_leader(chain: Chain, name: str, inside: np.ndarray, leaders: np.ndarray, claimed: bool) -> Finding:
    """Every configuration of the set has one leader, and from it no agent's output ever changes."""
    several = np.flatnonzero(inside & (leaders != 1))
    if len(several):
        sentence = f"the set has configurations with {leaders[several[0]]} leaders"
        counterexample = trace(chain, path_from_start(chain, int(several[0])))
        return Finding("leader", name, False, claimed, sentence, counterexample)
    everywhere = np.ones(chain.size, bool)
    distance, parent = graph_kernels.distances(
        chain.offsets, chain.targets, np.flatnonzero(inside), everywhere, chain.keeps
    )
    losing = (distance >= 0) & np.logical_or.reduceat(chain.weights != chain.keeps, chain.offsets[:-1])
    if not losing.any():
        return Finding("leader", name, True, claimed, "no step from the set, or after it, changes any agent's output")
    candidates = np.flatnonzero(losing)
    path = walked(parent, int(candidates[np.argmin(distance[candidates])]))
    row = slice(chain.offsets[path[-1]], chain.offsets[path[-1] + 1])
    changing = int(chain.targets[row][np.argmax(chain.weights[row] - chain.keeps[row])])
    before = path_from_start(chain, path[0])
    changes = [None] * (len(before) - 1) + [False] * (len(path) - 1) + [True]
    steps = len(path)
    sentence = f"the leader can be lost, or get a rival, within {steps} step{'s' * (steps > 1)} from the set"
    return Finding("leader", name, False, claimed, sentence, trace(chain, [*before, *path[1:], changing], changes))


def can_reach(chain: Chain, inside: np.ndarray) -> np.ndarray:
    """Which configurations have any way into the set."""
    return ways_into(chain, inside)[0]


def ways_into(chain: Chain, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Which configurations have any way into the set, and from which it is reached with probability 1 (no trap can be
    reached before); and the components outside, as labels and order."""
    label, order, _ = graph_kernels.components(chain.offsets, chain.targets, ~inside, chain.weights)
    able, sure = graph_kernels.prospects(
        chain.offsets, chain.targets, chain.weights, chain.denominator, label, order
    )  # fmt: skip
    able |= inside
    sure |= inside
    return able, sure, (label, order)


def is_reached(chain: Chain, name: str, inside: np.ndarray, claimed: bool) -> Finding:
    """Probability 1 of a first visit: the chain ends at the set, so only what can come before a visit counts."""
    begins = np.flatnonzero(~inside) if chain.is_whole else np.array([s for s in chain.starts if not inside[s]], int)
    distance, parent = graph_kernels.distances(chain.offsets, chain.targets, begins, ~inside)
    before = distance >= 0
    lost = before & ~can_reach(chain, inside)
    if not lost.any():
        covers = "every configuration" if chain.is_whole else "the start"
        return Finding("reached", name, True, claimed, f"reached with probability 1 from {covers}")
    label, order, number = graph_kernels.components(chain.offsets, chain.targets, lost)
    bottom = graph_kernels.is_bottom(chain.offsets, chain.targets, label, number)
    sizes = np.bincount(label[order], minlength=number)
    if chain.is_whole:
        smallest = np.flatnonzero(bottom)[np.argmin(sizes[bottom])]
        path = [int(np.flatnonzero(label == smallest)[0])]
    else:
        trapped = np.flatnonzero(lost)
        path = walked(parent, int(trapped[np.argmin(distance[trapped])]))
    among = "" if chain.is_whole else " that can come before it"
    traps, size = int(bottom.sum()), chain.size if chain.is_whole else int(before.sum())
    sentence = (
        f"never reached from {int(lost.sum())} of {size} configuration{'s' * (size != 1)}{among} "
        f"({traps} set{'s' * (traps != 1)} of configurations outside {'is' if traps == 1 else 'are'} never left)"
    )
    return Finding("reached", name, False, claimed, sentence, trace(chain, path))


def is_computed(chain: Chain, inside: np.ndarray, value: str, name: str) -> Finding:
    """The right output is reached and kept: every component that is never left lies inside the set."""
    everywhere = np.ones(chain.size, bool)
    label, _, number = graph_kernels.components(chain.offsets, chain.targets, everywhere)
    bottom = graph_kernels.is_bottom(chain.offsets, chain.targets, label, number)
    wrong = np.flatnonzero(bottom[label] & ~inside)
    if not len(wrong):
        return Finding("predicate", name, True, True, f"{value}: the right output is reached and kept")
    nearest = int(wrong[0])
    sentence = f"{value}: a wrong output is visited again and again"
    return Finding("predicate", name, False, True, sentence, trace(chain, path_from_start(chain, nearest)))
