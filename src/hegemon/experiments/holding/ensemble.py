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
SHORTEST = 64  # iterations of the first stretch
FINER = 4  # times as many looks
REFRESHES = 10  # of the rarities, in one stretch
FADING = 0.01  # what was seen in the first stretch counts so much in the second
STEADY = 1.2  # a stretch is long enough if it reaches at most so many times the cells of the one before
PILOT_SHARE = 0.25  # of the budget
PLAIN = 10**6, 3 * 10**7  # plain steps, at least and at most


@dataclass(frozen=True)
class Plan:
    """What every replication does."""

    each: int  # walkers in a cell
    look: int  # steps between two looks
    burn: int  # iterations before the losses are counted
    length: int  # iterations in which they are
    cells: int  # that the pilot had in the end
    walkers: int
    plain_steps: int
    plain_losses: int
    importance: dict  # what the pilot learnt
    work: int = 0  # of all that came before the replications

    def record(self) -> dict:
        return asdict(self)


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


def lay_out(crowd: Crowd, seed: int, budget: int, tell: Callable = lambda *_: None) -> Plan:
    """The pilot: cells are found, and how long an ensemble takes to settle."""
    importance, each = crowd.importance, crowd.importance.each
    plain_steps = int(min(max(budget / 20, PLAIN[0]), PLAIN[1]))
    tell("plain steps", plain_steps)
    plain_losses = crowd.plain(stream(seed, PILOT, 0), plain_steps)
    look = crowd.process.protocol.n  # a unit of parallel time: where that suffices, more looks cost more than they gain
    crowd.begin(crowd.process.key(seed, PILOT, 1), look)
    length, cells, rate, finer = SHORTEST, 0, -math.inf, 0
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
        steady = crowd.cells <= STEADY * cells
        if steady and abs(rate - before) < 1 or crowd.work > PILOT_SHARE * budget:
            break
        if not steady or rate > -math.inf:
            length *= 2
        else:  # no lack of time: too many walkers die out on the way
            look, each = (max(1, look // FINER), each) if look > 1 else (1, 2 * each)
            finer += 1
            crowd.begin(crowd.process.key(seed, PILOT, 1 + finer), look)
        cells = crowd.cells
    return Plan(each, look, length, length, crowd.cells, crowd.size, plain_steps, plain_losses,
                importance.record(crowd.model.cells))  # fmt: skip


def replicate(crowd: Crowd, plan: Plan, seed: int, branch: int, number: int, follow=None) -> Replication:
    """One estimate, unbiased once the ensemble has settled; the burn-in's second half tells whether it had.

    `follow(crowd)` is called after every iteration, its parents known.
    """
    steps, work, half = crowd.steps, crowd.work, plan.burn // 2
    crowd.begin(crowd.process.key(seed, branch, number), plan.look)
    for time in range(plan.burn + plan.length):
        if time == plan.burn:
            early = crowd.lost - math.log((plan.burn - half) * plan.look)
        if time in (half, plan.burn):
            crowd.count_anew()
        crowd.iterate(plan.each)
        if follow:
            follow(crowd)
    rate = crowd.lost - math.log(plan.length * plan.look)
    ends = tuple(tuple(end) for end in crowd.ends.tolist())
    losses = int(crowd.losses.numbers[0])
    return Replication(number, rate, early, crowd.steps - steps, crowd.work - work, losses, ends)
