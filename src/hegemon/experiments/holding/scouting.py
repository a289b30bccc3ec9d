"""Before anything is measured, scouts find what is rare and which ways lead to losses.

Two independent parties of scouts explore. If both find the same ways, few are hidden; if they find different ways, many
are hidden from both. As in capture and recapture of animals (Lincoln and Petersen), the part that neither found is
estimated from the parts that only one found.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hegemon.experiments.holding.ensemble import (
    EXPLORING,
    FRESH,
    PILOT,
    SPREAD,
    TUNING,
    Plan,
    Replication,
    dense,
    sparse,
)
from hegemon.experiments.holding.merits import Generation, merits
from hegemon.experiments.holding.plain import RUNS, Plain, survey
from hegemon.experiments.holding.process import Crowd
from hegemon.experiments.holding.replications import FIRST, GOOD, relative, student
from hegemon.experiments.holding.settling import PATIENCE, drift, early_drift, harmless

PARTIES = 2
LOOKS, SHORT = 4, 8  # samples in a unit of parallel time; least number of steps between two of them
SHORTEST = 64  # units of parallel time of the first round
ROUNDS = 3  # rounds with losses before walkers are guided
GUIDED_ROUNDS = 4
SCOUTS, GUIDES = 65_536, 16_384  # most walkers, before and after that
SCOUTING, GUIDING = 6 * 10**9, 3 * 10**9  # most work of a round, before and after that
REFRESHES = 10  # updates of the rarities in one round
FADING = 0.01  # the weight of one round's observations in the next
STEADY = 1.2  # a round is long enough if it reaches at most this many times the cells of the one before
FINER = 4  # times as many samples, if no walker finds a loss
SHARE = 0.5  # of the budget for the scouts
PLAIN = 10**6, 10**8  # least and most plain steps
TRIALS = 4  # replications that try a plan
MOST_HIDDEN = 0.1  # the largest share of losses by ways that no party found
EXPEDITIONS = 3  # most expeditions
ATTEMPTS = 6  # to make ensembles large and long enough


class Party(NamedTuple):
    """The result of one party of scouts: its plan, and the logarithm of the losses per step along the ways that it
    found, which is minus infinity for no losses."""

    plan: Plan
    rate: float


@dataclass(frozen=True)
class Scouted:
    """The result of all parties: the plan, plain runs, an estimate of the share of losses that is hidden, the scatter
    of the replications that tried the plan, and the rates of those that began at the start."""

    plan: Plan
    plain: Plain
    hidden: float
    scatter: float
    fresh: list[float]
    slowest: int | None  # samples until all walkers of the trials were usual again
    work: int

    def record(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Scouted":
        return cls(**(record | {"plan": Plan(**record["plan"]), "plain": Plain(**record["plain"])}))


def scout(crowd: Crowd, seed: int, party: int, budget: float, tell: Callable[..., Any]) -> Party:
    """One party: rounds with walkers in all cells equally until losses are found, then rounds guided by these."""
    importance, n = crowd.importance, crowd.process.protocol.n
    clones = 2 ** (party // PARTIES)  # later expeditions are larger
    each, look = importance.each * clones, max(n // LOOKS, min(n, SHORT))
    length = SHORTEST * n // look
    found: list[np.ndarray] = []
    rates: list[float] = []
    begun, share = crowd.work, SHARE / PARTIES * budget
    crowd.merits = np.empty(0)
    importance.begin(crowd.model.cells)

    def begin(times: int) -> None:
        crowd.begin(crowd.process.key(seed, PILOT, 1 + party, times), look, SPREAD * length * look)

    def afforded(walkers: int, work: int) -> int:
        """That many walkers, or fewer if this work allows no more in a round."""
        return clones * min(walkers, work // (length * crowd.cost_of_look))

    def travel(walkers: int, learns: bool) -> float:
        """One round; the logarithm of the losses per step."""
        generations = []
        crowd.count_anew()
        for time in range(length):
            if learns and time % max(1, length // REFRESHES) == 0:
                importance.refresh(crowd.model.cells)
            weights = crowd.weights.copy()
            crowd.iterate(each, walkers, learns)
            generations.append(Generation.of(crowd, weights))
            if learns:  # it ends earlier if losses are found often enough
                tell("finding what is rare (steps, at most)", int(crowd.work - begun), int(share))
            else:
                tell("following losses", len(rates) * length + time + 1, GUIDED_ROUNDS * length)
        if learns:
            importance.refresh(crowd.model.cells)
        merit = merits(generations, importance.keys(crowd.model.cells))
        if merit is not None:
            found.append(merit)
        return crowd.lost - math.log(length * look)

    begin(0)
    cells = finer = rounds = 0
    while rounds < ROUNDS and crowd.work - begun < share:
        importance.forget(crowd.model.cells, FADING)
        lost = travel(afforded(SCOUTS, SCOUTING), learns=True) > -math.inf
        if crowd.cells > STEADY * cells:
            length *= 2 if cells else 1
            rounds = 0
        elif lost:
            rounds += 1
        else:  # time is not the limit: too many walkers die out on the way
            look, each = (max(1, look // FINER), each) if look > 1 else (1, 2 * each)
            finer, found = finer + 1, []
            begin(finer)
        cells = crowd.cells
    for _ in range(GUIDED_ROUNDS if found else 0):
        crowd.merits = np.mean(found, axis=0)
        rates.append(travel(afforded(GUIDES, GUIDING), learns=False))
    plan = Plan(
        each, afforded(GUIDES, GUIDING), look, length, length, 0, {}, cells, importance.record(crowd.model.cells),
        sparse(np.mean(found, axis=0)) if found else {},
    )  # fmt: skip
    late = rates[len(rates) // 2 :]  # the first rates are from rounds that were still learning
    return Party(plan, relative(late)[0] if late else -math.inf)


def together(importance: Any, plans: list[Plan]) -> Plan:
    """What several parties found, in one plan."""
    found = [dense(one.merits) for one in plans if one.merits]
    return dataclasses.replace(
        plans[0],
        look=min(one.look for one in plans),
        burn=max(one.burn * one.look for one in plans) // min(one.look for one in plans),
        length=max(one.length * one.look for one in plans) // min(one.look for one in plans),
        each=max(one.each for one in plans),
        walkers=max(one.walkers for one in plans),
        cells=max(one.cells for one in plans),
        importance=importance.joined([one.importance for one in plans]),
        merits=sparse(np.mean(found, axis=0)) if found else {},
    )


def unseen(first: float, second: float, both: float) -> float:
    """The share of all losses by ways that neither party found, from the losses per step along the ways of the first,
    of the second and of both together."""
    first, second = min(first, both), min(second, both)
    shared = first + second - both
    if shared <= 0:
        return 1.0
    missed = (both - first) * (both - second) / shared
    return missed / (both + missed)


def explore(team: Any, seed: int, budget: int, precision: float, tell: Callable[..., Any]) -> Scouted:
    """The plan of a measurement, with ensembles that are large and long enough for the precision."""
    pilot, importance = team.crowd(), team.importance
    plain_steps = int(min(max(budget / 20, PLAIN[0]), PLAIN[1]))
    tell("plain steps", plain_steps)
    plain = survey(pilot, pilot.process.key(seed, PILOT, 0), plain_steps)
    usual = {"states": plain.states, "moments": plain.moments}
    plans: list[Plan] = []
    numbers = iter(range(10**6))

    def tried(plan: Plan, branch: int, trials: int = TRIALS) -> list[Replication]:
        few = [next(numbers) for _ in range(trials)]
        return list(team.replicate(plan, seed, branch, few))

    hidden, expedition = 1.0, 0
    while True:
        parties = range(PARTIES * expedition, PARTIES * (expedition + 1))
        new = list(team.scout(seed, parties, budget, tell))
        plans += [one.plan for one in new]
        plan = dataclasses.replace(together(importance, plans), reach=plain_steps // RUNS // 3, usual=usual)
        tell("trying what both parties found", len(plans))
        late = tried(plan, TUNING)
        rate, scatter = relative([one.rate for one in late])
        if rate > -math.inf:
            first, second = (math.exp(one.rate - rate) for one in new)
            hidden = unseen(first, second, 1.0)
        expedition += 1
        if hidden <= MOST_HIDDEN or expedition == EXPEDITIONS or team.work > SHARE * budget / 2:
            break
    wished = min(GOOD, math.sqrt(4 * FIRST) * math.log1p(precision) / student(0.975, FIRST - 1))
    for _ in range(ATTEMPTS):
        tell("trying whether they settle", plan.burn)
        fresh = tried(plan, FRESH)
        slowest = latest(late + fresh + tried(plan, EXPLORING, 1))
        work = sum(one.work for one in late) / TRIALS
        most = (budget - team.work) / (2 * FIRST * work)
        more = min(4.0, most, (scatter / wished) ** 2)
        if slowest is None:
            break
        settled = slowest <= PATIENCE * plan.burn and _steady(late, fresh, precision)
        longer = 1.0 if settled else min(2.0, most)
        if longer < 1.5 and more < 1.5:
            break
        clones = max(1, round(math.sqrt(more)))
        plan = plan.times(clones, longer * max(1.0, more / clones))
        late = tried(plan, TUNING)
        _, scatter = relative([one.rate for one in late])
    return Scouted(plan, plain, hidden, scatter, [one.rate for one in fresh], slowest, team.work)


def latest(found: list[Replication]) -> int | None:
    """Samples until all walkers of these replications were usual again; None if one was not."""
    looks = [one.slowest for one in found if one.slowest is not None]
    return max(looks) if len(looks) == len(found) else None


def _steady(late: list[Replication], fresh: list[Replication], precision: float) -> bool:
    """Whether the rate of losses was the same in the burn-in, afterwards, and in ensembles that began at the start."""
    rates = [one.rate for one in late]
    drifts = early_drift(rates, [one.early for one in late]), drift(rates, [one.rate for one in fresh])
    return all(harmless(*one, precision, doubt=1) for one in drifts)
