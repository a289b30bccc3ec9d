"""The order of an epoch's interactions, drawn only where somebody looks.

An epoch says how often each pair of states interacted, not when. Those that were written down have a
position; all others are exchangeable, so that any way to spread them over the remaining positions is equally
likely. The spreading is a binary tree: a node splits its interactions between the two halves of its interval.
A node's random numbers depend on the epoch and the interval alone, so every look at an epoch sees one order.
"""

from collections import namedtuple

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean
from hegemon.compute.sampling import hypergeometric
from hegemon.engines.batch.census import COUNT, MARKED, change_of, first_of, is_watched, look_up, second_of
from hegemon.engines.batch.epoch import COIN, FIRST, NUMBER, POSITION, SECOND

POSITIONS, ORDER = 1, 2  # purposes of the streams behind an epoch's order
DEPTH = 66  # of the tree

# For the way through the tree: the nodes still to visit, what the stop's counts may do, and generators.
Room = namedtuple("Room", "lows highs begins grown shrunk rng key")


@lean
def scrambled(x):
    """64 well-mixed bits (the finalizer of splitmix64)."""
    x = uint64(x) + uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@lean
def derive(key, first, second, state):
    """A generator state that depends on the key and two numbers."""
    for k in range(4):
        state[k] = scrambled(key[k] ^ scrambled(uint64(first) ^ scrambled(uint64(second) + uint64(k))))


@lean
def could_meet(held, low, high, grown, shrunk, watched):
    """Whether counts that grow and shrink by so much, in unknown order, may pass through the stop."""
    if watched:
        return True
    moved = False
    for k in range(len(held)):
        moved = moved or grown[k] or shrunk[k]
        if held[k] + grown[k] < low[k] or held[k] - shrunk[k] > high[k]:
            return False
    return moved


@lean
def apply(census, held, done, e, times):
    """Repeat what the log says in column e, so often; whether the stop's counts or a watched mark moved."""
    i, j = done[FIRST, e], done[SECOND, e]
    entry = look_up(census, i, j, done[COIN, e])
    counts = census.states[COUNT]
    counts[i] -= times
    counts[j] -= times
    counts[first_of(entry)] += times
    counts[second_of(entry)] += times
    moved = False
    if entry & MARKED:
        for k in range(len(held)):
            change = change_of(census, entry, i, j, k)
            held[k] += change * times
            moved = moved or change != 0
    return moved, bool(entry & MARKED) and is_watched(census, entry, i, j)


@lean
def is_near(census, log, held, low, high, kinds, numbers, begin, end, first, last, grown, shrunk):
    """Whether the stop may be met by the kinds begin..end and the written interactions first..last."""
    for k in range(len(held)):
        grown[k] = shrunk[k] = 0
    watched = False
    for e in range(begin, end + last - first):
        if e < end:
            done, column, times = log.kinds, np.int64(kinds[e]), numbers[e]
        else:
            done, column, times = log.written, np.int64(first + e - end), np.int64(1)
        i, j = done[FIRST, column], done[SECOND, column]
        entry = look_up(census, i, j, done[COIN, column])
        if entry & MARKED:
            watched = watched or is_watched(census, entry, i, j)
            for k in range(len(held)):
                change = change_of(census, entry, i, j, k)
                if change > 0:
                    grown[k] += change * times
                else:
                    shrunk[k] -= change * times
    return could_meet(held, low, high, grown, shrunk, watched)


@lean
def split(rng, kinds, numbers, begin, end, left_size):
    """Divide the interactions of a node: `left_size` of them go to the left half, at random.

    The right half stays at `begin`, the left half follows it; answers where the left begins and ends.
    """
    total = 0
    for e in range(begin, end):
        total += numbers[e]
    kept, moved = begin, end
    for e in range(begin, end):
        here = hypergeometric(rng, numbers[e], total - numbers[e], left_size)
        total -= numbers[e]
        left_size -= here
        there = numbers[e] - here
        if here:
            kinds[moved], numbers[moved] = kinds[e], here
            moved += 1
        if there:
            kinds[kept], numbers[kept] = kinds[e], there
            kept += 1
    for e in range(end, moved):
        kinds[kept + e - end], numbers[kept + e - end] = kinds[e], numbers[e]
    return kept, kept + moved - end


@lean
def up_to(positions, step):
    """How many of the positions, which ascend, are at most `step`."""
    low, high = 0, len(positions)
    while low < high:
        middle = (low + high) // 2
        if positions[middle] <= step:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def is_met(held, low, high):
    for k in range(len(held)):
        if held[k] < low[k] or held[k] > high[k]:
            return False
    return True


def follow_epoch(census, log, kinds, numbers, room, before, length, upto, held, low, high):
    """Go through the epoch from its first step to step `upto`, or to the first that meets the stop.

    `before` is the generator with which the epoch began. What was written down ascends in time; `kinds` and `numbers`
    begin with the other interactions and have room for the tree. The census holds the population before the epoch, and
    afterwards that of the step where the way ends. Answers that step and whether the stop is met there.
    """
    positions = log.written[POSITION]
    # Nodes still to visit, the next one on top: interval (lows, highs], its kinds from `begins` up to the next.
    lows, highs, begins, grown, shrunk = room.lows, room.highs, room.begins, room.grown, room.shrunk
    lows[0], highs[0], begins[0], begins[1] = 0, length, 0, log.sizes[1]
    top = 0
    rng, key = room.rng, room.key
    derive(before, ORDER, 0, key)
    while top >= 0:
        low_step, high_step, begin, end = lows[top], highs[top], begins[top], begins[top + 1]
        if low_step >= upto:
            break
        first, last = up_to(positions, low_step), up_to(positions, high_step)
        single = high_step - low_step == 1
        if single or (
            high_step <= upto
            and not is_near(census, log, held, low, high, kinds, numbers, begin, end, first, last, grown, shrunk)
        ):
            moved, watched = False, False
            for e in range(begin, end):
                moved, watched = apply(census, held, log.kinds, np.int64(kinds[e]), numbers[e])
            for e in range(first, last):
                moved, watched = apply(census, held, log.written, e, 1)
            if single and (watched or (moved and is_met(held, low, high))):
                return high_step, True
            top -= 1
            continue
        middle = (low_step + high_step) // 2
        derive(key, low_step, high_step, rng)
        to_the_left = middle - low_step - (up_to(positions, middle) - first)
        left, left_end = split(rng, kinds, numbers, begin, end, to_the_left)
        lows[top], begins[top + 1] = middle, left  # the right half, below
        top += 1
        lows[top], highs[top], begins[top + 1] = low_step, middle, left_end
    return upto, False


def new_room(conditions: int) -> Room:
    """Room for a stop of so many counts."""
    sizes = (DEPTH, np.int64), (DEPTH, np.int64), (DEPTH + 1, np.int64), (conditions, np.int64), (conditions, np.int64)
    return Room(*(np.empty(size, kind) for size, kind in (*sizes, (4, np.uint64), (4, np.uint64))))


def ordered(log):
    """The log with what was written down in the order of time, and room for the tree of all else."""
    written, size = log.sizes
    by_time = np.argsort(log.written[POSITION, :written])
    room = 2 * size + min(DEPTH * size, log.kinds[NUMBER, :size].sum()) + 2
    kinds, numbers = np.empty(room, np.int32), np.empty(room, np.int64)
    kinds[:size], numbers[:size] = np.arange(size), log.kinds[NUMBER, :size]
    return log._replace(written=np.ascontiguousarray(log.written[:, by_time])), kinds, numbers
