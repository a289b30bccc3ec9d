"""Importance that is found: how rare what is seen is, and what a pilot's splitting tells of the way to the loss.

`rarity` knows nothing of the loss: a kind of agent that is hardly ever seen while the crowd's clock stands where it
does is far from the usual, and a loss is far from the usual too. It takes splitting to its first losses. `learnt`
looks back from those: the share of the walks through an entry of the table that ended in a loss is an estimate of
the committor there, and its logarithm is the importance of the next round.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import stream
from hegemon.experiments.holding import sketch
from hegemon.experiments.holding.process import Process, Walker
from hegemon.experiments.holding.replications import relative
from hegemon.experiments.holding.splitting import Plan, lay_out, replicate

LOOKS = 40_000  # of the plain survey
CLONES = 800, 5_000  # per level of the pilot that is learnt from: at large n, and at small n
TRIALS, TRIED = 6, 300  # replications that tell how good an importance is, and their clones per level
ROWS = 100_000  # looks that are logged in one stage
LEARNING = 3  # a branch of the tree of randomness
ROUNDS, MOST_ROUNDS = 2, 5  # with losses to look back from, and in all
SMALLEST, STEP = 4, 1.5  # the first size to learn at, and how sizes grow
ENOUGH = 1  # looks on ways to a loss, for an entry to be believed
SENTENCE = "learnt from the lineages of pilot splitting, at growing n"
STEEP = 1.0  # how much importance grows per knot where nothing is known


@dataclass(frozen=True)
class LearntTable:
    """An importance that is a table over the sketch of a configuration."""

    allocates: ClassVar[bool] = False
    vouched: ClassVar[bool] = False

    name: str
    sentence: str
    table: np.ndarray
    rows: int = 0
    measured: np.ndarray | None = None  # which entries were measured, and not continued from others

    def compiled(self, process: Process) -> tuple:
        tables = sketch.blank(process, self.rows)._replace(table=self.table)
        records = process.protocol.record_types
        return specialize(sketch.sketched, records, see=sketch.see, how_many=sketch.how_many), tables

    def logging(self, rows: int) -> "LearntTable":
        return dataclasses.replace(self, rows=rows)


def rarity(process: Process, seed: int) -> LearntTable:
    """Minus the logarithm of how often each entry is seen in plain runs, continued to what was never seen."""
    empty = sketch.blank(process)
    walker = Walker(process, LearntTable("nothing", "", empty.table).logging(LOOKS))
    return rarity_table(_surveyed(walker, seed))


def learnt(process: Process, seed: int, tell=lambda *_: None, first: LearntTable | None = None) -> LearntTable:
    """From rarity at a small n, or a first table, by rounds of splitting at growing n, each led by the last one."""
    found = first
    for size in ladder(process):
        tell("learning the way to the loss", size, process.protocol.n)
        here = process
        if size != process.protocol.n:
            here = Process(resized(process.protocol, size), None, process.named_start)
        found = _learnt_at(here, seed, found)
    assert found is not None
    return found


def ladder(process: Process) -> list[int]:
    """Sizes to learn at, the last being the process's own."""
    n = process.protocol.n
    if process.named_start is None or not process.topology.is_complete:
        return [n]
    sizes = [max(process.protocol.smallest_n, SMALLEST)]
    while sizes[-1] * STEP < n:
        sizes.append(math.ceil(sizes[-1] * STEP))
    return [size for size in sizes if size < 0.8 * n] + [n]


def _learnt_at(process: Process, seed: int, carried: LearntTable | None) -> LearntTable:
    """As long as no loss is seen the rarities go on deeper; then the committor. The best table seen is kept."""
    table = carried or rarity(process, seed)
    best, merit = carried, math.inf
    for turn in range(MOST_ROUNDS):
        walker = Walker(process, table.logging(max(ROWS, LOOKS)))
        plan = lay_out(walker, seed + 7919 * (turn + 1), 1)
        found = _merit(walker, plan, seed, turn)
        if found < merit:
            best, merit = table, found
        if turn >= ROUNDS and merit < math.inf:
            break
        gain, weight, support = _look_back(walker, plan, seed, turn)
        if gain.any():
            table = retained(committor_table(gain, weight, support), support, table)
            best = best or table
        elif best is not None:
            table = best
        else:
            table = rarity_table(weight)
    return best or table


def _merit(walker: Walker, plan: Plan, seed: int, turn: int) -> float:
    """Work times variance of a few small replications: the smaller the better; infinite if the pilot died out."""
    if plan.died:
        return math.inf
    walker.model.tables.logged[0] = len(walker.model.tables.clocks)  # it is full: nothing is logged
    small = dataclasses.replace(plan, clones=TRIED)
    tried = [replicate(walker, small, seed, LEARNING, TRIALS * turn + k) for k in range(TRIALS)]
    _, scatter = relative([one.rates[-1] for one in tried])
    return scatter**2 * sum(one.steps for one in tried)


def _surveyed(walker: Walker, seed: int) -> np.ndarray:
    """How often each entry is seen in plain runs, per step."""
    tables = walker.model.tables
    tables.logged[:] = 0, 0, 1
    walker.survey(stream(seed, LEARNING, 0), LOOKS)
    share = 1 / (walker.process.look * LOOKS)
    return sketch.spread(tables, tables.log[:LOOKS], tables.clocks[:LOOKS], np.full(LOOKS, share))


def _look_back(walker: Walker, plan: Plan, seed: int, turn: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each entry is seen per step, and how often by walks that end in a loss: along their lineages."""
    process, tables = walker.process, walker.model.tables
    clones = max(CLONES[0], min(CLONES[1], 50_000 // process.protocol.n))
    entries = walker.entries(clones)
    found, _ = walker.steady(stream(seed, LEARNING, 1, turn), plan.low, plan.levels[0], plan.burn, plan.steps, entries)
    rate, size, key = found / plan.steps, min(found, clones), process.key(seed, LEARNING, 2, turn)
    stages = []
    every = 1 + 100 * clones // ROWS
    for place, level in enumerate(plan.levels[1:]):
        if not size:
            break
        tables.logged[:] = 0, 0, every
        after, rose, parents = walker.stage(key, place, plan.low, level, entries, size, clones)
        rows, looks = int(tables.logged[0]), int(tables.logged[1])
        every = 1 + int(1.5 * looks) // ROWS  # so that all clones of the next stage are in its log
        stages.append((tables.log[:rows].copy(), tables.clocks[:rows].copy(), parents.copy(), size, rate / clones))
        entries, size, rate = after, rose, rate * rose / clones
    values = (entries.values[:size] == math.inf).astype(float)  # 1 where the leader is lost
    gain, weight, support = (np.zeros(tables.table.shape) for _ in range(3))
    for log, clocks, parents, before, share in reversed(stages):
        outcome = np.zeros(clones)
        outcome[parents[:, 1]] = values
        made_by = clocks[:, 2].astype(np.int64)
        scale = share * clones / max(1, made_by.max(initial=0) + 1)  # the log may have been full before the last clone
        weight += sketch.spread(tables, log, clocks, np.full(len(made_by), scale))
        gain += sketch.spread(tables, log, clocks, scale * outcome[made_by])
        support += sketch.spread(tables, log, clocks, (outcome[made_by] > 0).astype(float))
        # an entry is worth the mean outcome of its clones; each is cloned clones / before times, on average
        values = np.bincount(parents[:, 0], values, minlength=before) * before / clones
    return gain, weight + _surveyed(walker, seed), support


def rarity_table(weight: np.ndarray) -> LearntTable:
    """Minus the logarithm of how often each entry is seen; what was never seen at any clock is not heeded."""
    seen = weight[weight > 0]
    table = np.full(weight.shape, -math.log(seen.max()))
    for place in zip(*np.nonzero(weight.max(axis=-1)), strict=True):
        known = weight[place] > seen.min() / 2
        line = -np.log(np.maximum(weight[place], seen.min()))
        table[place] = sketch.continued(line, known, STEEP)
    return LearntTable("rarity", "how rarely what is seen occurs", table)


def committor_table(gain: np.ndarray, weight: np.ndarray, support: np.ndarray | None = None, slope=0.0):
    """Logarithms of gain over weight; what was seen and hardly ever gained anything is at the floor.

    A number of agents that was never seen is taken for the next smaller that was, or the next larger.
    """
    floor = math.log(gain.sum() / weight.sum()) - 2
    good = gain > 0 if support is None else (gain > 0) & (support >= ENOUGH)
    ratio = np.full(gain.shape, floor)
    ratio[good] = np.maximum(floor, np.log(gain[good] / weight[good]))
    table = np.full(gain.shape, floor)
    seen = weight.max(axis=-1) > 0
    for place in zip(*np.nonzero(seen), strict=True):
        table[place] = np.minimum(0.0, sketch.continued(ratio[place], weight[place] > 0, slope))
    for crowd, kind in zip(*np.nonzero(seen.any(axis=-1)), strict=True):
        known = np.flatnonzero(seen[crowd, kind])
        for many in np.flatnonzero(~seen[crowd, kind]):
            smaller = known[known < many]
            table[crowd, kind, many] = table[crowd, kind, smaller[-1] if len(smaller) else known[0]]
    return table


def retained(fresh: np.ndarray, support: np.ndarray, before: LearntTable) -> LearntTable:
    """Where no way to a loss was seen now, what was measured before counts: a way out of sight is not lost."""
    if before.measured is None:
        return LearntTable("learnt", SENTENCE, fresh, measured=support > 0)
    scaled = before.table * (fresh.min() / before.table.min())
    old = (support == 0) & before.measured
    table = np.where(old, np.maximum(fresh, scaled), fresh)
    return LearntTable("learnt", SENTENCE, table, measured=(support > 0) | before.measured)


def combined(tables: list[LearntTable]) -> LearntTable:
    """The largest of several importances, brought to the same floor: a way that one of them knows is enough."""
    floor = min(float(one.table.min()) for one in tables)
    table = np.maximum.reduce([one.table * (floor / one.table.min()) for one in tables])
    return LearntTable("found", "the largest of: " + "; ".join(one.sentence for one in tables), table)


def resized(protocol, n: int):
    """The same protocol with n agents: parameters that follow n by default go on doing so."""
    given, values = {}, {"n": protocol.n}
    for name, declaration in type(protocol).parameter_declarations.items():
        usual = declaration.resolve(name, None, values, protocol.id)
        values[name] = protocol.values[name]
        if usual != protocol.values[name]:
            given[name] = protocol.values[name]
    return type(protocol)(n, **given)
