"""When most interactions change nothing: jump to the next that does, on the complete graph.

The weight of a pair of states is the number of ordered pairs of agents in them, if their interaction changes
something for some value of the coins, and 0 otherwise. The wait for the next such pair is geometric, and the pair is
drawn by weight; its coins are tossed then, so that, if there are any, some events change nothing.
"""

import numpy as np

from hegemon.compute.compilation import lean
from hegemon.compute.randomness import next_below, next_double
from hegemon.compute.waiting import null_wait
from hegemon.engines.batch.census import (
    COUNT,
    FULL,
    MARKED,
    RANKED,
    SIZE,
    can_change,
    change_of,
    first_of,
    is_watched,
    look_up,
    second_of,
    toss,
)
from hegemon.engines.batch.epoch import plan

# How a kernel ended.
LIMIT, MET, BUSY, SILENT, SWITCH, LONG = 0, 1, 2, 3, 4, 5

EVENT, PER_STATE = 80.0, 8.0  # the cost of an event in the units of epoch.py
NOT_DRAWN = np.int64(-1)
FAR = 2.0**62  # waits from here on are left to Python, whose integers have no end


@lean
def copy(source, target, size):
    """Whole-array assignment, which would compile many seconds of error messages into a kernel."""
    for k in range(size):
        target[k] = source[k]


@lean
def enter(census, order, where, active, sums, size, slot):
    """Add a state to the table of active pairs; negative if there is no room to learn one."""
    side = len(order)
    order[size] = slot
    where[slot] = size
    sums[size] = 0
    for k in range(size + 1):
        forth, back = can_change(census, slot, order[k]), can_change(census, order[k], slot)
        if forth == FULL or back == FULL:
            where[slot] = -1
            return np.int64(FULL)
        active[size * side + k] = forth
        active[k * side + size] = back
    for k in range(size):
        sums[k] += active[k * side + size] * census.states[COUNT, slot]
    for k in range(size + 1):
        sums[size] += active[size * side + k] * census.states[COUNT, order[k]]
    return np.int64(0)


@lean
def enter_both(census, order, where, active, sums, size, first, second):
    """Add what a pair becomes, if it is new and the table has room; the number of states in it, and any error."""
    for slot in (first, second):
        if where[slot] < 0 and size < len(order):
            error = enter(census, order, where, active, sums, size, slot)
            if error < 0:
                return size, error
            size += 1
    return size, np.int64(0)


@lean
def move(census, where, active, sums, side, size, slot, change):
    """One agent more or less in this slot's state."""
    census.states[COUNT, slot] += change
    place = where[slot]
    if place >= 0:
        for k in range(size):
            sums[k] += change * active[k * side + place]


@lean
def draw_pair(census, where, active, sums, side, rng, weight):
    """An active pair of states, by weight, as places in the table.

    The states are gone through in the order of their codes, never in that of the table, which depends on when the
    kernel was called: a run must not depend on where somebody looks at it.
    """
    x = next_double(rng) * weight
    row = 0
    for rank in range(census.head[SIZE]):
        slot = census.states[RANKED, rank]
        k = where[slot]
        if k < 0:
            continue
        here = float(census.states[COUNT, slot]) * float(sums[k] - active[k * side + k])
        if here > 0.0:
            row = k
            if x < here:
                break
            x -= here
    y = next_below(rng, sums[row] - active[row * side + row])
    column = 0
    for rank in range(census.head[SIZE]):
        slot = census.states[RANKED, rank]
        k = where[slot]
        if k >= 0 and active[row * side + k]:
            y -= census.states[COUNT, slot] - (k == row)
            if y < 0:
                column = k
                break
    return row, column


@lean
def total_weight(census, where, active, sums, side):
    """The number of ordered pairs of agents whose interaction changes something, and how many states are occupied."""
    weight, occupied = 0.0, 0
    for rank in range(census.head[SIZE]):  # always in one order: the sum is rounded when it is large
        slot = census.states[RANKED, rank]
        k = where[slot]
        if k >= 0 and census.states[COUNT, slot]:
            occupied += 1
            weight += float(census.states[COUNT, slot]) * float(sums[k] - active[k * side + k])
    return weight, occupied


def chance_of_change(census, states, n):
    """The chance that an interaction changes something, agents being in the first so many slots; or an error."""
    pairs = 0.0
    for i in range(states):
        for j in range(states):
            changes = can_change(census, i, j)
            if changes == FULL:
                return float(FULL)
            if changes:
                pairs += float(census.states[COUNT, i]) * float(census.states[COUNT, j] - (i == j))
    return pairs / (float(n) * (n - 1.0))


def skip(census, order, where, active, sums, kept, rng, n, pending, far, budget, held, low, high, patience):
    """Jump from change to change, for `budget` steps or until the stop is met.

    `pending[0]` is the wait still to pass before the next change; one that is too long is put into `far[0]`, and
    ends the kernel with LONG. Answers how it ended (negative: an error) and the steps made. Ends with SWITCH when
    changes are so frequent that epochs cost less, with BUSY after `patience` changes.
    """
    side = len(order)
    for slot in range(len(where)):
        where[slot] = -1
    occupied = 0
    for rank in range(census.head[SIZE]):
        slot = census.states[RANKED, rank]
        if census.states[COUNT, slot]:
            if occupied == side:
                return SWITCH, np.int64(0)
            order[occupied] = slot
            occupied += 1
    for size in range(occupied):  # apart from the loop above: learning a pair may rank new states
        error = enter(census, order, where, active, sums, size, order[size])
        if error < 0:
            return error, np.int64(0)
    size = occupied
    all_pairs = float(n) * (n - 1.0)
    done = np.int64(0)
    planned, dense = -1, 0.0
    while True:
        weight, occupied = total_weight(census, where, active, sums, side)
        if weight == 0.0:
            return SILENT, done
        if pending[0] == NOT_DRAWN:
            if occupied != planned:
                planned = occupied
                dense = plan(occupied, n)[1] / (EVENT + PER_STATE * occupied)
            if weight > dense * all_pairs:
                return SWITCH, done
            if patience == 0:
                return BUSY, done
            wait = null_wait(rng, weight / all_pairs)
            if wait >= FAR:
                far[0] = wait
                return LONG, done
            pending[0] = np.int64(wait)
        if pending[0] >= budget - done:
            pending[0] -= budget - done
            return LIMIT, budget
        copy(rng, kept, 4)
        row, column = draw_pair(census, where, active, sums, side, rng, weight)
        i, j = order[row], order[column]
        entry = look_up(census, i, j, toss(census, rng))
        if entry < 0:
            copy(kept, rng, 4)
            return entry, done
        first, second = first_of(entry), second_of(entry)
        if where[first] < 0 or where[second] < 0:
            size, error = enter_both(census, order, where, active, sums, size, first, second)
            if error < 0:
                copy(kept, rng, 4)  # after room was made, the same pair is drawn again
                return error, done
        done += pending[0] + 1
        pending[0] = NOT_DRAWN
        patience -= 1
        if first != i:
            move(census, where, active, sums, side, size, i, -1)
            move(census, where, active, sums, side, size, first, 1)
        if second != j:
            move(census, where, active, sums, side, size, j, -1)
            move(census, where, active, sums, side, size, second, 1)
        if entry & MARKED:
            moved, satisfied = is_watched(census, entry, i, j), True
            if moved:
                return MET, done
            for k in range(len(held)):
                change = change_of(census, entry, i, j, k)
                held[k] += change
                moved = moved or change != 0
                satisfied = satisfied and low[k] <= held[k] <= high[k]
            if moved and satisfied:
                return MET, done
        if where[first] < 0 or where[second] < 0:
            return SWITCH, done  # there are too many states for the table
