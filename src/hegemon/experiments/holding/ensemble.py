"""A weighted ensemble: walkers with weights, in every cell that is reached.

When the leader is lost, let the process begin anew at its start. Losses per step of this process, in the long run,
are exactly 1 over the expected holding time (renewal; in physics the Hill relation). Walkers follow this process, each
with a weight; after every look the walkers of a cell are drawn again, its share of them, with the cell's weight shared
equally. The weight of every set of configurations is right on average at all times, whatever the cells and their shares
are (Huber and Kim 1996; Zhang, Jasnow and Zuckerman 2010), so the weight that is lost per step is an unbiased estimate
of the rate.

Unlike levels of one number, cells lead along all ways at once: none has to be foreseen, and none hides another.
"""

import math
from dataclasses import asdict, dataclass

import numpy as np

from hegemon.experiments.holding.process import Crowd

PILOT, TUNING, MEASURED = 0, 1, 2  # branches of the tree of randomness
SPREAD = 8  # an ensemble begins at moments of the process that are spread over so many times its burn-in


@dataclass(frozen=True)
class Plan:
    """What every replication does."""

    each: int  # walkers for a cell
    walkers: int  # at most, in all
    look: int  # steps between two looks
    burn: int  # iterations before the losses are counted
    length: int  # iterations in which they are
    cells: int  # that the scouts had in the end
    importance: dict  # what they learnt: what is rare
    merits: dict  # and where losses come from

    def record(self) -> dict:
        return asdict(self)

    def times(self, clones: float = 1, longer: float = 1) -> "Plan":
        """With so many times the walkers, and so many times as long."""
        return Plan(
            max(1, round(self.each * clones)), round(self.walkers * clones), self.look, int(self.burn * longer),
            int(self.length * longer), self.cells, self.importance, self.merits,
        )  # fmt: skip


@dataclass(frozen=True)
class Replication:
    """The logarithm of the losses per step, -inf if there were none; and how leaders were lost."""

    number: int
    rate: float
    early: float  # the same of the second half of the burn-in
    steps: int
    work: int
    losses: int
    ends: tuple[tuple[int, int, int, int], ...]  # a sample in proportion to weight

    def record(self) -> dict:
        rate, early = (None if one == -math.inf else one for one in (self.rate, self.early))
        return {"number": self.number, "rate": rate, "early": early, "steps": self.steps, "work": self.work,
                "losses": self.losses, "ends": self.ends}  # fmt: skip

    @classmethod
    def from_record(cls, record: dict) -> "Replication":
        rate, early = (-math.inf if one is None else float(one) for one in (record["rate"], record["early"]))
        ends = tuple(tuple(end) for end in record["ends"])
        return cls(record["number"], rate, early, record["steps"], record["work"], record["losses"], ends)


def sparse(values: np.ndarray) -> dict:
    places = np.flatnonzero(values)
    return {"size": len(values), "places": places.tolist(), "values": values[places].tolist()}


def dense(record: dict) -> np.ndarray:
    values = np.zeros(record["size"])
    values[np.array(record["places"], np.int64)] = record["values"]
    return values


def replicate(crowd: Crowd, plan: Plan, seed: int, branch: int, number: int, follow=None) -> Replication:
    """One estimate, unbiased once the ensemble has settled; the burn-in's second half tells whether it had.

    `follow(crowd)` is called after every iteration, its parents known.
    """
    steps, work, half = crowd.steps, crowd.work, plan.burn // 2
    crowd.begin(crowd.process.key(seed, branch, number), plan.look, SPREAD * plan.burn)
    for time in range(plan.burn + plan.length):
        if time == plan.burn:
            early = crowd.lost - math.log((plan.burn - half) * plan.look)
        if time in (half, plan.burn):
            crowd.count_anew()
        crowd.iterate(plan.each, plan.walkers)
        if follow:
            follow(crowd)
    rate = crowd.lost - math.log(plan.length * plan.look)
    ends = tuple(tuple(end) for end in crowd.ends.tolist())
    losses = int(crowd.losses.numbers[0])
    return Replication(number, rate, early, crowd.steps - steps, crowd.work - work, losses, ends)
