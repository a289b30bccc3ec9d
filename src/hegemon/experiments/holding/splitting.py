"""Multilevel splitting with fixed effort: levels laid out by a pilot, then independent replications.

When the leader is lost, let the process begin anew at its start. Losses per step of this process, in the long run,
are exactly 1 over the expected holding time (renewal; in physics the Hill relation). Each loss is preceded by one
entry from the basin {importance <= low} into {importance >= levels[0]}, so

    losses per step = entries per step * product of P(level k+1 | level k),

where a clone that falls back into the basin has failed, and a lost leader counts as above every level. Levels,
number of clones and steps are fixed before a replication begins, so that the product is an unbiased estimate whatever
the importance is, with ties and jumps over several levels (Garvels 2000; Bréhier et al. 2016).
"""

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from hegemon.compute.randomness import stream
from hegemon.experiments.holding.process import Walker

PILOT, TUNING, MEASURED = 0, 1, 2  # branches of the tree of randomness
LOOKS = 4_000  # at the importance, in the first survey
BASIN, GATE = 0.5, 0.9  # quantiles of the importance: the edge of the basin, and the first level
SHARE = 0.25  # of the clones should reach the next level
PILOT_CLONES = 300
MOST_LEVELS = 4_000
BURN = 0.1  # of the steady steps are not counted
MEMORY = 4e8  # bytes that entries may take


@dataclass(frozen=True)
class Plan:
    """What every replication does."""

    low: float
    levels: tuple[float, ...]  # the last is infinite: the loss
    shares: tuple[float, ...]  # of clones that reached levels 1, 2, … in the pilot
    burn: int
    steps: int
    clones: int
    died: bool = False  # the pilot never lost a leader: the levels end where it came to
    plain_losses: int = 0  # in the pilot's plain steps
    plain_steps: int = 0


@dataclass(frozen=True)
class Replication:
    """Logarithms of entries per step into each level, -inf after it has died out; and how leaders were lost."""

    number: int
    rates: tuple[float, ...]
    steps: int
    ends: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    losses: int = 0  # in its plain steps

    def record(self) -> dict:
        rates = [None if rate == -math.inf else rate for rate in self.rates]
        return {"number": self.number, "rates": rates, "steps": self.steps, "losses": self.losses,
                "ends": [[*end, count] for end, count in self.ends.items()]}  # fmt: skip

    @classmethod
    def from_record(cls, record: dict) -> "Replication":
        rates = tuple(-math.inf if rate is None else float(rate) for rate in record["rates"])
        ends = {tuple(end[:4]): end[4] for end in record["ends"]}
        return cls(record["number"], rates, record["steps"], ends, record["losses"])


def replicate(walker: Walker, plan: Plan, seed: int, branch: int, number: int, keep: list | None = None) -> Replication:
    """One unbiased estimate of the rate into every level. `keep` receives all entries and whose clones they are."""
    before = walker.steps
    process = walker.process
    entries = walker.entries(plan.clones)
    found, losses = walker.steady(
        stream(seed, branch, number, 0), plan.low, plan.levels[0], plan.burn, plan.steps, entries
    )
    size = min(found, plan.clones)
    rate = math.log(found / plan.steps) if found else -math.inf
    rates = [rate]
    key = process.key(seed, branch, number, 1)
    if keep is not None:
        keep.append((entries, size, None))
    for place, level in enumerate(plan.levels[1:]):
        if size:
            entries, size, parents = walker.stage(key, place, plan.low, level, entries, size, plan.clones)
            if keep is not None:
                keep.append((entries, size, parents))
        rate = rate + math.log(size / plan.clones) if size else -math.inf
        rates.append(rate)
    lost = size and plan.levels[-1] == math.inf
    ends = Counter(map(tuple, entries.ends[:size].tolist())) if lost else Counter()
    return Replication(number, tuple(rates), walker.steps - before, dict(ends), losses)


def lay_out(walker: Walker, seed: int, effort: int, tell=lambda *_: None) -> Plan:
    """The pilot: where the basin ends, and levels that about a quarter of the clones reach."""
    process = walker.process
    low, high, losses, steps = _basin(walker, seed)
    burn, length, entries, size = _entries(walker, seed, low, high, process)
    levels, shares, key = [high], [], process.key(seed, PILOT, 2)
    clones, tries, died, number = PILOT_CLONES, 0, False, 0
    while levels[-1] < math.inf:
        tell("laying out levels", len(levels))
        heights = walker.heights(key, number, low, entries, size, clones)
        level = _next_level(heights, levels[-1])
        number += 1
        if level is not None:
            after, rose, _ = walker.stage(key, number, low, level, entries, size, clones)
            number += 1
            if rose:
                levels.append(level)
                shares.append(rose / clones)
                entries, size, clones, tries = after, rose, PILOT_CLONES, 0
                if len(levels) < MOST_LEVELS:
                    continue
                died = level < math.inf
                break
        if tries == 3:
            died = True
            break
        tries, clones = tries + 1, 4 * clones
    noise = sum((1 - share) / share for share in shares) + 1
    most = int(MEMORY / (2 * process.protocol.n * np.dtype(process.kind).itemsize))
    clones = max(100, min(int(effort * noise), most, 100_000))
    length = max(length, int(length * clones / 4 / PILOT_CLONES))
    return Plan(low, tuple(levels), tuple(shares), max(burn, int(BURN * length)), length, clones, died, losses, steps)


def _basin(walker: Walker, seed: int) -> tuple[float, float, int, int]:
    """The edge of the basin and the first level, from the importance at many looks."""
    looks = LOOKS
    while True:
        values, losses, steps = walker.survey(stream(seed, PILOT, 0, looks), looks)
        values = np.sort(values[looks // 10 :])
        low = float(values[int(BASIN * len(values))])
        above = values[values > low]
        if len(above) >= 20 or looks >= 64 * LOOKS:
            break
        looks *= 4
    if not len(above):
        return low, math.nextafter(low, math.inf), losses, steps
    high = max(float(values[int(GATE * len(values))]), float(above[0]))
    return low, high, losses, steps


def _entries(walker: Walker, seed: int, low: float, high: float, process):
    """Enough entries to begin with, and in how many steps they come."""
    length = 500 * process.look
    while True:
        entries = walker.entries(PILOT_CLONES)
        burn = int(BURN * length)
        found, _ = walker.steady(stream(seed, PILOT, 1, length), low, high, burn, length, entries)
        if found >= PILOT_CLONES or found and length > 10**8:
            return burn, length, entries, min(found, PILOT_CLONES)
        if length > 10**10:
            return burn, length, entries, 0
        length *= 2


def _next_level(heights: np.ndarray, current: float) -> float | None:
    """A level above the current one that about a quarter reach; None if no clone rose at all."""
    if np.isinf(heights).mean() >= SHARE / 2:
        return math.inf
    heights = np.sort(heights)
    level = float(heights[int((1 - SHARE) * len(heights))])
    if level > current:
        return level
    above = heights[heights > current]
    return float(above[0]) if len(above) else None
