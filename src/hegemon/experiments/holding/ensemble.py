"""A weighted ensemble: walkers with weights, in every cell that is reached.

When the leader is lost, the process begins again at its start. Losses per step of this process, in the long run, are
exactly 1 over the expected holding time (renewal; in physics the Hill relation). Walkers follow this process, each with
a weight; after every sample each cell draws its share of walkers again from those in it, with the cell's weight divided
equally. The weight of every set of configurations is right on average at all times, whatever the cells and their shares
are (Huber and Kim 1996; Zhang, Jasnow and Zuckerman 2010), so the weight that is lost per step is an unbiased estimate
of the rate.

Unlike levels of one number, cells follow all ways to a loss at once: no way has to be known in advance or hides
another.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hegemon.experiments.holding.process import Crowd
from hegemon.experiments.holding.settling import HOPELESS, LONGEST, slowest_return

PILOT, TUNING, MEASURED, FRESH, EXPLORING = range(5)  # branches of the tree of randomness
EXPLORERS = 2  # times the usual number of walkers per cell
SPREAD = 8  # an ensemble begins at moments of a plain run, spread over at least this many burn-ins


@dataclass(frozen=True)
class Plan:
    """The settings of every replication."""

    each: int  # walkers per cell
    walkers: int  # the most walkers in all
    look: int  # steps between two samples
    burn: int  # iterations before the losses are counted
    length: int  # iterations in which losses are counted
    reach: int  # the least number of plain steps over which its beginnings are spread
    usual: dict[str, Any]  # states and moments that plain runs show
    cells: int  # cells that the scouts had reached at the end
    importance: dict[str, Any]  # what the scouts learnt about rarity
    merits: dict[str, Any]  # and about the cells from which losses come

    def record(self) -> dict[str, Any]:
        return asdict(self)

    def times(self, clones: float = 1, longer: float = 1) -> "Plan":
        """The plan with more walkers and longer runs, by these factors."""
        return replace(
            self, each=max(1, round(self.each * clones)), walkers=round(self.walkers * clones),
            burn=int(self.burn * longer), length=int(self.length * longer),
        )  # fmt: skip


@dataclass(frozen=True)
class Replication:
    """The logarithm of the losses per step, -inf if there were none; and how leaders were lost."""

    number: int
    rate: float
    early: float  # the same for the second half of the burn-in
    steps: int
    work: int
    losses: int
    slowest: int | None  # samples until all its walkers were usual again; None if one was not
    ends: tuple[tuple[int, int, int, int], ...]  # a weighted sample of the losing meetings

    def record(self) -> dict[str, Any]:
        rate, early = (None if one == -math.inf else one for one in (self.rate, self.early))
        return {"number": self.number, "rate": rate, "early": early, "steps": self.steps, "work": self.work,
                "losses": self.losses, "slowest": self.slowest, "ends": self.ends}  # fmt: skip

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Replication":
        rate, early = (-math.inf if one is None else float(one) for one in (record["rate"], record["early"]))
        ends = tuple(tuple(end) for end in record["ends"])
        return cls(**(record | {"rate": rate, "early": early, "ends": ends}))


def sparse(values: np.ndarray) -> dict[str, Any]:
    places = np.flatnonzero(values)
    return {"size": len(values), "places": places.tolist(), "values": values[places].tolist()}


def dense(record: dict[str, Any]) -> np.ndarray:
    values = np.zeros(record["size"])
    values[np.array(record["places"], np.int64)] = record["values"]
    return values


def replicate(crowd: Crowd, plan: Plan, seed: int, branch: int, number: int, follow: Any = None) -> Replication:
    """One estimate, unbiased once the ensemble has settled (`settling`). It begins late in a plain run; on the branch
    FRESH, at the start. On the branch EXPLORING no walkers are guided to losses: its rates scatter more, and it reaches
    more.

    `follow(crowd)` is called after every iteration, its parents known.
    """
    steps, work, half = crowd.steps, crowd.work, plan.burn // 2
    key = crowd.process.key(seed, branch, number)
    crowd.begin(key, plan.look, 0 if branch == FRESH else max(plan.reach, SPREAD * plan.burn * plan.look))
    guided, each = crowd.merits, plan.each
    if branch == EXPLORING:
        crowd.merits, each = np.empty(0), EXPLORERS * plan.each
    for time in range(plan.burn + plan.length):
        if time == plan.burn:
            early = crowd.lost - math.log((plan.burn - half) * plan.look)
        if time in (half, plan.burn):
            crowd.count_anew()
        crowd.iterate(each, plan.walkers)
        if follow:
            follow(crowd)
    crowd.merits = guided
    rate = crowd.lost - math.log(plan.length * plan.look)
    ends = tuple(tuple(end) for end in crowd.ends.tolist())
    losses = int(crowd.losses.numbers[0])
    patience = LONGEST if branch == MEASURED else HOPELESS
    slowest = None if follow else slowest_return(crowd, crowd.populations, plan.usual, plan.burn, key, patience)
    return Replication(number, rate, early, crowd.steps - steps, crowd.work - work, losses, slowest, ends)
