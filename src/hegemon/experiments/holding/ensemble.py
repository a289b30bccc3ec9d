"""A weighted ensemble: walkers with weights, and in every cell that is reached as many as in every other.

When the leader is lost, let the process begin anew at its start. Losses per step of this process, in the long run,
are exactly 1 over the expected holding time (renewal; in physics the Hill relation). Walkers follow this process, each
with a weight; after every look the walkers of a cell are drawn again, so many of them, with the cell's weight shared
equally. The weight of every set of configurations is right on average at all times, whatever the cells are (Huber and
Kim 1996; Zhang, Jasnow and Zuckerman 2010), so the weight that is lost per step is an unbiased estimate of the rate.

Unlike levels of one number, cells lead along all ways at once: none has to be foreseen, and none hides another.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from hegemon.compute.randomness import stream
from hegemon.experiments.holding.process import Crowd

PILOT, TUNING, MEASURED = 0, 1, 2  # branches of the tree of randomness
SHORTEST = 100  # iterations of the first stretch
REFRESHES = 10  # of the rarities, in one stretch
FADING = 0.01  # what was seen in the first stretch counts so much in the second
STEADY = 1.2  # a stretch is long enough if it reaches at most so many times the cells of the one before
PILOT_SHARE = 0.25  # of the budget
PLAIN = 10**6, 3 * 10**7  # plain steps, at least and at most


@dataclass(frozen=True)
class Plan:
    """What every replication does."""

    each: int  # walkers in a cell
    burn: int  # iterations before the losses are counted
    length: int  # iterations in which they are
    cells: int  # that the pilot had in the end
    walkers: int
    plain_steps: int
    plain_losses: int
    importance: dict  # what the pilot learnt

    def record(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class Replication:
    """The logarithm of the losses per step, -inf if there were none; and how leaders were lost."""

    number: int
    rate: float
    steps: int
    work: int
    losses: int
    ends: tuple[tuple[int, int, int, int], ...]  # a sample in proportion to weight

    def record(self) -> dict:
        rate = None if self.rate == -math.inf else self.rate
        return {"number": self.number, "rate": rate, "steps": self.steps, "work": self.work,
                "losses": self.losses, "ends": self.ends}  # fmt: skip

    @classmethod
    def from_record(cls, record: dict) -> "Replication":
        rate = -math.inf if record["rate"] is None else float(record["rate"])
        ends = tuple(tuple(end) for end in record["ends"])
        return cls(record["number"], rate, record["steps"], record["work"], record["losses"], ends)


def lay_out(crowd: Crowd, seed: int, budget: int, tell: Callable = lambda *_: None) -> Plan:
    """The pilot: cells are found, and how long an ensemble takes to settle."""
    importance, each = crowd.importance, crowd.importance.each
    plain_steps = int(min(max(budget / 20, PLAIN[0]), PLAIN[1]))
    tell("plain steps", plain_steps)
    plain_losses = crowd.plain(stream(seed, PILOT, 0), plain_steps)
    crowd.begin(crowd.process.key(seed, PILOT, 1))
    length, cells, rate = SHORTEST, 0, -math.inf
    while True:
        for _ in range(2):
            importance.forget(crowd.model.cells, FADING)
            for time in range(length):
                if time % max(1, length // REFRESHES) == 0:
                    importance.refresh(crowd.model.cells)
                crowd.iterate(each, learns=True)
                tell("finding what is rare", crowd.cells)
        importance.refresh(crowd.model.cells)
        crowd.count_anew()
        for _ in range(length):
            crowd.iterate(each)
            tell("finding what is rare", crowd.cells)
        before, rate = rate, crowd.lost - math.log(length)
        settled = crowd.cells <= STEADY * cells and abs(rate - before) < 1
        if settled or crowd.work > PILOT_SHARE * budget:
            break
        cells, length = crowd.cells, 2 * length
    return Plan(each, length // 2, length, crowd.cells, crowd.size, plain_steps, plain_losses,
                importance.record(crowd.model.cells))  # fmt: skip


def replicate(crowd: Crowd, plan: Plan, seed: int, branch: int, number: int, follow=None) -> Replication:
    """One unbiased estimate. `follow(crowd)` is called after every iteration, its parents known."""
    steps, work = crowd.steps, crowd.work
    crowd.begin(crowd.process.key(seed, branch, number))
    for time in range(plan.burn + plan.length):
        if time == plan.burn:
            crowd.count_anew()
        crowd.iterate(plan.each)
        if follow:
            follow(crowd)
    rate = crowd.lost - math.log(plan.length * crowd.model.look)
    ends = tuple(tuple(end) for end in crowd.ends.tolist())
    losses = int(crowd.losses.numbers[0])
    return Replication(number, rate, crowd.steps - steps, crowd.work - work, losses, ends)
