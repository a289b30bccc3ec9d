"""When most interactions change nothing: jump to the next that does, on the complete graph.

The weight of a pair of states is the number of ordered pairs of agents in them, if their interaction changes
something, and 0 otherwise. The wait for the next change is geometric, and its pair is drawn by weight.
"""

import numpy as np
from numba import njit

from hegemon.engines.census import CHANGED, MARKED, SLOT, SLOT_BITS, look_up
from hegemon.engines.order import changes, is_watched
from hegemon.engines.randomness import next_below, next_double
from hegemon.engines.waiting import FOREVER, null_run

# How a kernel ended.
LIMIT, MET, BUSY, SILENT, SWITCH = 0, 1, 2, 3, 4

EVENT, PER_STATE = 25.0, 6.0  # the cost of an event in the units of epoch.py
NOT_DRAWN = np.int64(-1)


@njit
def enter(census, order, where, active, sums, size, slot):
    """Add a state to the table of active pairs; negative if a pair cannot be learnt."""
    side = len(order)
    order[size] = slot
    where[slot] = size
    sums[size] = 0
    for k in range(size + 1):
        forth = look_up(census, census.pairs, slot, order[k])
        back = look_up(census, census.pairs, order[k], slot)
        if forth < 0 or back < 0:
            where[slot] = -1
            return min(forth, back)
        active[size * side + k] = forth & CHANGED != 0
        active[k * side + size] = back & CHANGED != 0
    for k in range(size):
        sums[k] += active[k * side + size] * census.counts[slot]
    for k in range(size + 1):
        sums[size] += active[size * side + k] * census.counts[order[k]]
    return np.int64(0)


@njit(error_model="numpy")
def draw_pair(census, order, active, sums, size, rng, weight):
    """An active pair of states, by weight, as places in the order."""
    side = len(order)
    x = next_double(rng) * weight
    row = 0
    for k in range(size):
        here = float(census.counts[order[k]]) * float(sums[k] - active[k * side + k])
        if here > 0.0:
            row = k
            if x < here:
                break
            x -= here
    y = next_below(rng, sums[row] - active[row * side + row])
    column = 0
    for k in range(size):
        if active[row * side + k]:
            y -= census.counts[order[k]] - (k == row)
            if y < 0:
                column = k
                break
    return row, column


def skip(census, order, where, active, sums, rng, n, pending, budget, held, low, high, dense, patience):
    """Jump from change to change, for `budget` steps or until the stop is met.

    `pending[0]` is the wait still to pass before the next change. Answers how it ended (negative: an error) and
    the steps made. Ends with SWITCH when the chance of a change exceeds `dense`, with BUSY after `patience`
    changes.
    """
    side = len(order)
    where[:] = -1
    size = 0
    for rank in range(census.size[0]):
        slot = census.ranking[rank]
        if census.counts[slot]:
            if size == side:
                return SWITCH, np.int64(0)
            error = enter(census, order, where, active, sums, size, slot)
            if error < 0:
                return error, np.int64(0)
            size += 1
    all_pairs = float(n) * (n - 1.0)
    done = np.int64(0)
    kept = np.empty(4, np.uint64)
    while True:
        weight = 0.0
        for k in range(size):
            weight += float(census.counts[order[k]]) * float(sums[k] - active[k * side + k])
        if weight == 0.0:
            return SILENT, budget
        if pending[0] == NOT_DRAWN:
            if weight > dense * all_pairs:
                return SWITCH, done
            if patience == 0:
                return BUSY, done
            pending[0] = null_run(rng, weight / all_pairs)
        if pending[0] >= budget - done:
            # A wait too long to be known is forgotten: waiting has no memory.
            pending[0] = NOT_DRAWN if pending[0] == FOREVER else pending[0] - (budget - done)
            return LIMIT, budget
        kept[:] = rng
        row, column = draw_pair(census, order, active, sums, size, rng, weight)
        i, j = order[row], order[column]
        entry = look_up(census, census.pairs, i, j)
        first, second = (entry >> SLOT_BITS) & SLOT, entry & SLOT
        overflow = False
        for slot in (first, second):
            if where[slot] >= 0:
                continue
            if size == side:
                overflow = True
                continue
            error = enter(census, order, where, active, sums, size, slot)
            if error < 0:
                rng[:] = kept  # after room was made, the same pair is drawn again
                return error, done
            size += 1
        done += pending[0] + 1
        pending[0] = NOT_DRAWN
        patience -= 1
        for slot, change in ((i, -1), (j, -1), (first, 1), (second, 1)):
            census.counts[slot] += change
            place = where[slot]
            if place >= 0:
                for k in range(size):
                    sums[k] += change * active[k * side + place]
        if entry & MARKED:
            moved, satisfied = is_watched(census, entry, i, j), True
            if moved:
                return MET, done
            for k in range(len(held)):
                change = changes(census, entry, i, j, k)
                held[k] += change
                moved = moved or change != 0
                satisfied = satisfied and low[k] <= held[k] <= high[k]
            if moved and satisfied:
                return MET, done
        if overflow:
            return SWITCH, done
