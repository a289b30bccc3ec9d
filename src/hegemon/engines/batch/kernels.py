"""The kernels of engine `batch`: whole epochs in a row, and one epoch written down."""

import numpy as np

from hegemon.compute.compilation import lean
from hegemon.engines.batch.census import CAPACITY, COINS, CONDITIONS, SIZE, count_occupied, open_census
from hegemon.engines.batch.epoch import EFFECTIVE, MASK, WATCHED, epoch, open_course, open_log, open_workspace, plan
from hegemon.engines.batch.order import POSITIONS, could_meet, derive
from hegemon.engines.batch.skipping import BUSY, EVENT, LIMIT, PER_STATE, SWITCH, copy

# How a kernel ended, besides the endings in skipping.py: the stop may be met within the next epoch; epochs have
# become too costly.
NEAR, TOO_COSTLY = 6, 7


@lean
def restore(census, workspace, size):
    """The population as it was saved when there were `size` slots."""
    copy(workspace.saved, census.counts, size)
    for slot in range(size, census.head[CAPACITY]):
        census.counts[slot] = 0


@lean
def write_epoch(census, workspace, log, course, n):
    """The next epoch written down; its length, or a negative error. The population stays as it was."""
    derive(course.rng, POSITIONS, 0, log.rng)
    size = census.head[SIZE]
    copy(census.counts, workspace.saved, size)
    length, _ = plan(count_occupied(census), n)
    made = epoch(census, workspace, log, course, n, length)
    restore(census, workspace, size)
    return made


def run_epochs(census, workspace, log, course, n, budget, unchecked, affordable, patience):
    """Whole epochs that fit in `budget` steps; how it ended, and the steps made.

    An epoch in which the stop may be met is undone (NEAR), and so is one that does not fit (LIMIT); the first
    `unchecked` ones are not examined. With a log that has room, the next epoch is only written down: one kernel for
    both, since `epoch` takes long to compile.
    """
    census, workspace, log, course = open_census(census), open_workspace(workspace), open_log(log), open_course(course)
    if log.sizes[MASK]:
        return LIMIT, write_epoch(census, workspace, log, course, n)
    done = np.int64(0)
    rng, kept = course.rng, workspace.kept
    planned, length, cost = -1, np.int64(0), 0.0
    while True:
        occupied = count_occupied(census)
        if occupied != planned:
            planned = occupied
            length, cost = plan(occupied, n)
        if cost > affordable and unchecked == 0:
            return TOO_COSTLY, done
        size = census.head[SIZE]
        copy(census.counts, workspace.saved, size)
        copy(rng, kept, 4)
        made = epoch(census, workspace, log, course, n, length)
        if made < 0:
            restore(census, workspace, size)
            copy(kept, rng, 4)
            return made, done
        conditions = census.head[CONDITIONS]
        near = could_meet(course, conditions, course.tally[WATCHED] > 0)
        if unchecked == 0 and (near or made > budget - done):  # it may have ended before its length
            restore(census, workspace, size)
            copy(kept, rng, 4)
            return (NEAR if near else LIMIT), done
        unchecked -= unchecked > 0
        for k in range(conditions):
            course.held[k] += course.grown[k] - course.shrunk[k]
        done += made
        patience -= cost * made
        # a jump ends where some value of the coins changes something
        possible = course.tally[EFFECTIVE] * census.head[COINS]
        if possible * (EVENT + PER_STATE * occupied) < 0.5 * cost * made:
            return SWITCH, done
        if patience < 0:
            return BUSY, done
