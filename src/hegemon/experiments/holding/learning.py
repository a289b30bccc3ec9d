"""Importance that is found: how rare what is seen is, and what a pilot's splitting tells of the way to the loss.

`rarity` knows nothing of the loss: a kind of agent that is hardly ever seen while the crowd's clock stands where it
does is far from the usual, and a loss is far from the usual too. It takes splitting to its first losses. `learnt`
looks back from those: the share of the walks through an entry of the table that ended in a loss is an estimate of
the committor there, and its logarithm is the importance of the next round.
"""

import math
from dataclasses import dataclass

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import stream
from hegemon.experiments.holding import sketch
from hegemon.experiments.holding.process import Process, Walker
from hegemon.experiments.holding.splitting import Plan, lay_out

LOOKS = 40_000  # of the plain survey
CLONES = 1_000  # per level of the pilot that is learnt from
ROWS = 40_000  # looks that are logged in one stage
LEARNING = 3  # a branch of the tree of randomness
ROUNDS, MOST_ROUNDS = 2, 6  # with losses to look back from, and in all
STEEP = 1.0  # how much importance grows per knot where nothing is known


@dataclass(frozen=True)
class Table:
    """An importance that is a table over the sketch of a configuration."""

    name: str
    sentence: str
    table: np.ndarray
    rows: int = 0

    def compiled(self, process: Process) -> tuple:
        tables = sketch.blank(process, self.rows)._replace(table=self.table)
        records = process.protocol.record_types
        return specialize(sketch.sketched, records, see=sketch.see, how_many=sketch.how_many), tables

    def logging(self, rows: int) -> "Table":
        return Table(self.name, self.sentence, self.table, rows)


def rarity(process: Process, seed: int) -> Table:
    """Minus the logarithm of how often each entry is seen in plain runs, continued to what was never seen."""
    empty = sketch.blank(process)
    walker = Walker(process, Table("nothing", "", empty.table).logging(LOOKS))
    return rarity_table(_surveyed(walker, seed))


def learnt(process: Process, seed: int, tell=lambda *_: None) -> Table:
    """From rarity, by rounds of splitting: as long as no loss is seen the rarities go on deeper, then the committor."""
    found = rarity(process, seed)
    looked_back = 0
    for turn in range(MOST_ROUNDS):
        tell("learning the way to the loss", turn + 1, None)
        walker = Walker(process, found.logging(max(ROWS, LOOKS)))
        plan = lay_out(walker, seed + 7919 * (turn + 1), 1)
        gain, weight = _look_back(walker, plan, seed, turn)
        if gain.any():
            looked_back += 1
            sentence = f"learnt from {turn + 1} rounds of pilot splitting"
            found = Table("learnt", sentence, committor_table(gain, weight))
        else:
            found = rarity_table(weight)
        if looked_back == ROUNDS:
            break
    return found


def _surveyed(walker: Walker, seed: int) -> np.ndarray:
    """How often each entry is seen in plain runs, per step."""
    tables = walker.model.tables
    tables.logged[0] = 0
    walker.survey(stream(seed, LEARNING, 0), LOOKS)
    share = 1 / (walker.process.look * LOOKS)
    return sketch.spread(tables, tables.log[:LOOKS], tables.clocks[:LOOKS], np.full(LOOKS, share))


def _look_back(walker: Walker, plan: Plan, seed: int, turn: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each entry is seen per step, and how often by walks that end in a loss: along their lineages."""
    process, tables = walker.process, walker.model.tables
    entries = walker.entries(CLONES)
    found, _ = walker.steady(stream(seed, LEARNING, 1, turn), plan.low, plan.levels[0], plan.burn, plan.steps, entries)
    rate, size, key = found / plan.steps, min(found, CLONES), process.key(seed, LEARNING, 2, turn)
    stages = []
    for place, level in enumerate(plan.levels[1:]):
        if not size:
            break
        tables.logged[0] = 0
        after, rose, parents = walker.stage(key, place, plan.low, level, entries, size, CLONES)
        rows = int(tables.logged[0])
        stages.append((tables.log[:rows].copy(), tables.clocks[:rows].copy(), parents.copy(), size, rate / CLONES))
        entries, size, rate = after, rose, rate * rose / CLONES
    values = (entries.values[:size] == math.inf).astype(float)  # 1 where the leader is lost
    gain, weight = np.zeros(tables.table.shape), np.zeros(tables.table.shape)
    for log, clocks, parents, before, share in reversed(stages):
        outcome = np.zeros(CLONES)
        outcome[parents[:, 1]] = values
        clones = clocks[:, 2].astype(np.int64)
        scale = share * CLONES / max(1, clones.max(initial=0) + 1)  # the log may have been full before the last clone
        weight += sketch.spread(tables, log, clocks, np.full(len(clones), scale))
        gain += sketch.spread(tables, log, clocks, scale * outcome[clones])
        # an entry is worth the mean outcome of its clones; each is cloned CLONES / before times, on average
        values = np.bincount(parents[:, 0], values, minlength=before) * before / CLONES
    return gain, weight + _surveyed(walker, seed)


def rarity_table(weight: np.ndarray) -> Table:
    """Minus the logarithm of how often each entry is seen; what was never seen at any clock is not heeded."""
    seen = weight[weight > 0]
    table = np.full(weight.shape, -math.log(seen.max()))
    for place in zip(*np.nonzero(weight.max(axis=-1)), strict=True):
        known = weight[place] > seen.min() / 2
        line = -np.log(np.maximum(weight[place], seen.min()))
        table[place] = sketch.continued(line, known, STEEP)
    return Table("rarity", "how rarely what is seen occurs", table)


def committor_table(gain: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Logarithms of gain over weight; what was seen and never gained anything is at the floor."""
    floor = math.log(gain.sum() / weight.sum()) - 2
    table = np.full(gain.shape, floor)
    for place in zip(*np.nonzero(weight.max(axis=-1)), strict=True):
        known = weight[place] > 0
        line = np.full(sketch.KNOTS, floor)
        good = gain[place] > 0
        line[good] = np.maximum(floor, np.log(gain[place][good] / weight[place][good]))
        table[place] = np.minimum(0.0, sketch.continued(line, known, 0.0))
    return table
