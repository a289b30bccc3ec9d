"""When most interactions change nothing: jump to the next that does, on the complete graph.

The weight of a pair of states is the number of ordered pairs of agents in them, if their interaction changes
something for some value of the coins, and 0 otherwise. The wait for the next such pair is geometric, and the pair is
drawn by weight; its coins are tossed then, so that, if there are any, some events change nothing.
"""

from typing import Any

import numpy as np

from hegemon.compute.bundles import bundle
from hegemon.compute.compilation import lean
from hegemon.compute.randomness import next_below, next_double
from hegemon.compute.waiting import null_rate, null_wait
from hegemon.engines.batch.census import (
    CAPACITY,
    CONDITIONS,
    FULL,
    MARKED,
    SIZE,
    can_change,
    change_of,
    first_of,
    is_watched,
    look_up,
    open_census,
    second_of,
    toss,
)
from hegemon.engines.batch.epoch import is_within, open_course, open_workspace, plan

# How a kernel ended.
LIMIT, MET, BUSY, SILENT, SWITCH, LONG = 0, 1, 2, 3, 4, 5

EVENT, PER_STATE = 80.0, 8.0  # the cost of an event in the units of epoch.py
NOT_DRAWN = np.int64(-1)
FAR = 2.0**62  # waits from this length on are left to Python, whose integers are unbounded


# The table of active pairs. size: how many states it has room for. order: the slots in it. where: the place of each
# slot, or -1. active: which pairs of places change something. sums: how many agents an agent of each place changes
# something with. wait: still to pass before the next change. far: the same if it is very long.
Table, open_table = bundle(
    "Table", size=np.int64, order=np.int64, where=np.int64, active=np.int8, sums=np.int64, wait=np.int64, far=np.float64
)
LARGEST_SIDE = 1024  # states in that table


def new_table(capacity: int, wait: np.ndarray, far: np.ndarray) -> Any:
    side = min(capacity, LARGEST_SIDE)
    rows = [np.zeros(size, np.int64) for size in (side, capacity, side)]
    return Table(np.array([side]), rows[0], rows[1], np.zeros(side**2, np.int8), rows[2], wait, far)


@lean
def copy(source, target, size):
    """A loop: whole-array assignment adds error messages to a kernel, which take many seconds to compile."""
    for k in range(size):
        target[k] = source[k]


@lean
def enter(census, table, size, slot):
    """Add a state to the table of active pairs; negative if there is no room to learn one."""
    order, active, sums, counts, side = table.order, table.active, table.sums, census.counts, table.size[0]
    order[size] = slot
    table.where[slot] = size
    sums[size] = 0
    for k in range(size + 1):
        forth, back = can_change(census, slot, order[k]), can_change(census, order[k], slot)
        if forth == FULL or back == FULL:
            table.where[slot] = -1
            return np.int64(FULL)
        active[size * side + k] = forth
        active[k * side + size] = back
    for k in range(size):
        sums[k] += active[k * side + size] * counts[slot]
    for k in range(size + 1):
        sums[size] += active[size * side + k] * counts[order[k]]
    return np.int64(0)


@lean
def enter_both(census, table, size, first, second):
    """Add what a pair becomes, if it is new and the table has room; the number of states in it, and any error."""
    for slot in (first, second):
        if table.where[slot] < 0 and size < table.size[0]:
            error = enter(census, table, size, slot)
            if error < 0:
                return size, error
            size += 1
    return size, np.int64(0)


@lean
def move(census, table, size, slot, change):
    """One agent more or less in this slot's state."""
    census.counts[slot] += change
    place = table.where[slot]
    if place >= 0:
        for k in range(size):
            table.sums[k] += change * table.active[k * table.size[0] + place]


@lean
def draw_pair(census, table, rng, weight):
    """An active pair of states, by weight, as places in the table.

    The states are gone through in the order of their codes, never in that of the table, which depends on when the
    kernel was called: a run must not depend on the steps at which it is observed.
    """
    where, active, sums, side = table.where, table.active, table.sums, table.size[0]
    x = next_double(rng) * weight
    row = 0
    for rank in range(census.head[SIZE]):
        slot = census.ranked[rank]
        k = where[slot]
        if k < 0:
            continue
        here = float(census.counts[slot]) * float(sums[k] - active[k * side + k])
        if here > 0.0:
            row = k
            if x < here:
                break
            x -= here
    y = next_below(rng, sums[row] - active[row * side + row])
    column = 0
    for rank in range(census.head[SIZE]):
        slot = census.ranked[rank]
        k = where[slot]
        if k >= 0 and active[row * side + k]:
            y -= census.counts[slot] - (k == row)
            if y < 0:
                column = k
                break
    return row, column


@lean
def total_weight(census, table):
    """The number of ordered pairs of agents whose interaction changes something, and how many states are occupied."""
    weight, occupied = 0.0, 0
    for rank in range(census.head[SIZE]):  # always in one order: the sum is rounded when it is large
        slot = census.ranked[rank]
        k = table.where[slot]
        if k >= 0 and census.counts[slot]:
            occupied += 1
            weight += float(census.counts[slot]) * float(table.sums[k] - table.active[k * table.size[0] + k])
    return weight, occupied


def chance_of_change(census, states, n):
    """The chance that an interaction changes something, agents being in the first `states` slots; or an error."""
    census = open_census(census)
    pairs = 0.0
    for i in range(states):
        for j in range(states):
            changes = can_change(census, i, j)
            if changes == FULL:
                return float(FULL)
            if changes:
                pairs += float(census.counts[i]) * float(census.counts[j] - (i == j))
    return pairs / (float(n) * (n - 1.0))


def skip(census, table, workspace, course, n, budget, patience):
    """Jump from change to change, for `budget` steps or until the stop is met.

    A wait that is too long is put into the table's `far`, and ends the kernel with LONG. Returns how it ended
    (negative: an error) and the steps made. Ends with SWITCH when changes are so frequent that epochs cost less, with
    BUSY after `patience` changes.
    """
    census, table, course = open_census(census), open_table(table), open_course(course)
    order, where, pending, rng, kept = table.order, table.where, table.wait, course.rng, open_workspace(workspace).kept
    for slot in range(census.head[CAPACITY]):
        where[slot] = -1
    occupied = 0
    for rank in range(census.head[SIZE]):
        slot = census.ranked[rank]
        if census.counts[slot]:
            if occupied == table.size[0]:
                return SWITCH, np.int64(0)
            order[occupied] = slot
            occupied += 1
    for size in range(occupied):  # apart from the loop above: learning a pair may rank new states
        error = enter(census, table, size, order[size])
        if error < 0:
            return error, np.int64(0)
    size = occupied
    all_pairs = float(n) * (n - 1.0)
    done = np.int64(0)
    planned, dense = -1, 0.0
    while True:
        weight, occupied = total_weight(census, table)
        if weight == 0.0:
            return SILENT, done
        if pending[0] == NOT_DRAWN:
            if occupied != planned:
                planned = occupied
                _, cost = plan(occupied, n)
                dense = cost / (EVENT + PER_STATE * occupied)
            if weight > dense * all_pairs:
                return SWITCH, done
            if patience == 0:
                return BUSY, done
            chance = weight / all_pairs
            wait = null_wait(rng, chance, null_rate(chance))
            if wait >= FAR:
                table.far[0] = wait
                return LONG, done
            pending[0] = np.int64(wait)
        if pending[0] >= budget - done:
            pending[0] -= budget - done
            return LIMIT, budget
        copy(rng, kept, 4)
        row, column = draw_pair(census, table, rng, weight)
        i, j = order[row], order[column]
        entry = look_up(census, i, j, toss(census, rng))
        if entry < 0:
            copy(kept, rng, 4)
            return entry, done
        first, second = first_of(entry), second_of(entry)
        if where[first] < 0 or where[second] < 0:
            size, error = enter_both(census, table, size, first, second)
            if error < 0:
                copy(kept, rng, 4)  # after room was made, the same pair is drawn again
                return error, done
        done += pending[0] + 1
        pending[0] = NOT_DRAWN
        patience -= 1
        if first != i:
            move(census, table, size, i, -1)
            move(census, table, size, first, 1)
        if second != j:
            move(census, table, size, j, -1)
            move(census, table, size, second, 1)
        if entry & MARKED:
            moved = is_watched(census, entry, i, j)
            if moved:
                return MET, done
            for k in range(census.head[CONDITIONS]):
                change = change_of(census, entry, i, j, k)
                course.held[k] += change
                moved = moved or change != 0
            if moved and is_within(course, census.head[CONDITIONS], False):
                return MET, done
        if where[first] < 0 or where[second] < 0:
            return BUSY, done  # the table is full; there may be room once the states that no agent is in are dropped
