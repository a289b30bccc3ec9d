"""The kernels of engine `batch`: whole epochs in a row, and one epoch written down."""

import numpy as np

from hegemon.compute.compilation import lean
from hegemon.engines.batch.census import COINS, COUNT, SIZE, count_occupied
from hegemon.engines.batch.epoch import COUNTS, EFFECTIVE, SAVED, WATCHED, epoch, plan
from hegemon.engines.batch.order import POSITIONS, could_meet, derive
from hegemon.engines.batch.skipping import BUSY, EVENT, LIMIT, PER_STATE, SWITCH, copy

# How a kernel ended, besides the endings in skipping.py: the stop may be met within the next epoch; epochs have
# become too costly.
NEAR, TOO_COSTLY = 6, 7


@lean
def restore(census, workspace, size):
    """The population as it was saved when there were `size` slots."""
    copy(workspace.table[SAVED], census.states[COUNT], size)
    for slot in range(size, census.states.shape[1]):
        census.states[COUNT, slot] = 0


@lean
def write_epoch(census, workspace, log, rng, n, tally):
    """The next epoch written down; its length, or a negative error. The population stays as it was."""
    derive(rng, POSITIONS, 0, log.rng)
    size = census.head[SIZE]
    copy(census.states[COUNT], workspace.table[SAVED], size)
    length, _ = plan(count_occupied(census), n)
    made = epoch(census, workspace, log, rng, n, length, tally)
    restore(census, workspace, size)
    return made


def run_epochs(census, workspace, log, rng, n, budget, held, low, high, tally, unchecked, affordable, patience):
    """Whole epochs that fit in `budget` steps; how it ended, and the steps made.

    An epoch in which the stop may be met is undone (NEAR); the first `unchecked` ones are not examined. With a log
    that has room, the next epoch is only written down: one kernel for both, since `epoch` takes long to compile.
    """
    if len(log.taken) > 1:
        return LIMIT, write_epoch(census, workspace, log, rng, n, tally)
    done = np.int64(0)
    kept = workspace.kept
    conditions = len(held)
    while True:
        occupied = count_occupied(census)
        length, cost = plan(occupied, n)
        if cost > affordable and unchecked == 0:
            return TOO_COSTLY, done
        if length > budget - done and unchecked == 0:
            return LIMIT, done
        size = census.head[SIZE]
        copy(census.states[COUNT], workspace.table[SAVED], size)
        copy(rng, kept, 4)
        made = epoch(census, workspace, log, rng, n, length, tally)
        if made < 0:
            restore(census, workspace, size)
            copy(kept, rng, 4)
            return made, done
        grown, shrunk = tally[COUNTS : COUNTS + conditions], tally[COUNTS + conditions :]
        if unchecked == 0 and could_meet(held, low, high, grown, shrunk, tally[WATCHED] > 0):
            restore(census, workspace, size)
            copy(kept, rng, 4)
            return NEAR, done
        unchecked = max(0, unchecked - 1)
        for k in range(conditions):
            held[k] += grown[k] - shrunk[k]
        done += made
        patience -= cost * made
        possible = tally[EFFECTIVE] * census.head[COINS]  # a jump ends where some value of the coins changes something
        if possible * (EVENT + PER_STATE * occupied) < 0.5 * cost * made:
            return SWITCH, done
        if patience < 0:
            return BUSY, done
