"""The order of an epoch's interactions, drawn only where it is observed.

An epoch says how often each pair of states interacted, not when. Those that were written down have a
position; all others are exchangeable, so that any way to spread them over the remaining positions is equally
likely. The spreading is a binary tree: a node splits its interactions between the two halves of its interval.
A node's random numbers depend on the epoch and the interval alone, so every replay of an epoch has the same order.
"""

from typing import Any

import numpy as np
from numba import uint64

from hegemon.compute.bundles import bundle
from hegemon.compute.compilation import lean
from hegemon.compute.sampling import hypergeometric
from hegemon.engines.batch.census import (
    CONDITIONS,
    MARKED,
    change_of,
    first_of,
    is_watched,
    look_up,
    open_census,
    second_of,
)
from hegemon.engines.batch.epoch import (
    COIN,
    FIRST,
    KINDS,
    NUMBER,
    POSITION,
    SECOND,
    WIDTH,
    WRITTEN,
    is_within,
    open_course,
    open_log,
)

POSITIONS, ORDER = 1, 2  # purposes of the streams behind an epoch's order
DEPTH = 66  # of the tree

# The way through the tree. lows, highs, begins: of the nodes still to visit. kinds, numbers: which of the log's kinds
# are in a node, and how many of each. rng, key: generators.
Tree, open_tree = bundle(
    "Tree", lows=np.int64, highs=np.int64, begins=np.int64, kinds=np.int32, numbers=np.int64, rng=np.uint64,
    key=np.uint64,
)  # fmt: skip


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
def could_meet(course, conditions, watched):
    """Whether counts that grow and shrink as the course says, in unknown order, may pass through the stop."""
    if watched:
        return True
    moved = False
    for k in range(conditions):
        moved = moved or course.grown[k] != 0 or course.shrunk[k] != 0
    return moved and is_within(course, conditions, True)


@lean
def apply(census, course, entries, e, times):
    """Repeat the interaction in entry e of the log `times` times; whether the stop's counts or a watched mark moved."""
    i, j = entries[WIDTH * e + FIRST], entries[WIDTH * e + SECOND]
    entry = look_up(census, i, j, entries[WIDTH * e + COIN])
    counts = census.counts
    counts[i] -= times
    counts[j] -= times
    counts[first_of(entry)] += times
    counts[second_of(entry)] += times
    moved = watched = False
    if entry & MARKED:
        watched = is_watched(census, entry, i, j)
        for k in range(census.head[CONDITIONS]):
            change = change_of(census, entry, i, j, k)
            course.held[k] += change * times
            moved = moved or change != 0
    return moved, watched


@lean
def is_near(census, log, course, tree, begin, end, first, last):
    """Whether the stop may be met by the kinds begin..end and the written interactions first..last."""
    conditions = census.head[CONDITIONS]
    for k in range(conditions):
        course.grown[k] = course.shrunk[k] = 0
    watched = False
    for e in range(begin, end + last - first):
        if e < end:
            entries, at, times = log.kinds, WIDTH * np.int64(tree.kinds[e]), tree.numbers[e]
        else:
            entries, at, times = log.written, WIDTH * (first + e - end), np.int64(1)
        i, j = entries[at + FIRST], entries[at + SECOND]
        entry = look_up(census, i, j, entries[at + COIN])
        if entry & MARKED:
            watched = watched or is_watched(census, entry, i, j)
            for k in range(conditions):
                change = change_of(census, entry, i, j, k) * times
                if change > 0:
                    course.grown[k] += change
                else:
                    course.shrunk[k] -= change
    return could_meet(course, conditions, watched)


@lean
def split(tree, begin, end, left_size):
    """Divide the interactions of a node: `left_size` of them go to the left half, at random.

    The right half stays at `begin`, the left half follows it; returns where the left begins and ends.
    """
    kinds, numbers = tree.kinds, tree.numbers
    total = 0
    for e in range(begin, end):
        total += numbers[e]
    kept, moved = begin, end
    for e in range(begin, end):
        here = hypergeometric(tree.rng, numbers[e], total - numbers[e], left_size)
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
def up_to(log, step):
    """How many of the written interactions, which are in the order of time, took place by `step`."""
    low, high = 0, log.sizes[WRITTEN]
    while low < high:
        middle = (low + high) // 2
        if log.written[WIDTH * middle + POSITION] <= step:
            low = middle + 1
        else:
            high = middle
    return low


def follow_epoch(census, log, course, tree, length, upto):
    """Go through the epoch from its first step to step `upto`, or to the first that meets the stop.

    The course's generator is the one with which the epoch began. What was written down ascends in time; the tree begins
    with the other interactions. The census holds the population before the epoch, and afterwards that of the last step
    reached. Returns that step and whether the stop is met there.
    """
    census, log, course, tree = open_census(census), open_log(log), open_course(course), open_tree(tree)
    # Nodes still to visit, the next one on top: interval (lows, highs], its kinds from `begins` up to the next.
    lows, highs, begins = tree.lows, tree.highs, tree.begins
    lows[0], highs[0], begins[0], begins[1] = 0, length, 0, log.sizes[KINDS]
    top = 0
    derive(course.rng, ORDER, 0, tree.key)
    while top >= 0:
        low_step, high_step, begin, end = lows[top], highs[top], begins[top], begins[top + 1]
        if low_step >= upto:
            break
        first, last = up_to(log, low_step), up_to(log, high_step)
        single = high_step - low_step == 1
        if single or (high_step <= upto and not is_near(census, log, course, tree, begin, end, first, last)):
            moved, watched = False, False
            for e in range(begin, end):
                moved, watched = apply(census, course, log.kinds, np.int64(tree.kinds[e]), tree.numbers[e])
            for e in range(first, last):
                moved, watched = apply(census, course, log.written, e, 1)
            if single and (watched or (moved and is_within(course, census.head[CONDITIONS], False))):
                return high_step, True
            top -= 1
            continue
        middle = (low_step + high_step) // 2
        derive(tree.key, low_step, high_step, tree.rng)
        to_the_left = middle - low_step - (up_to(log, middle) - first)
        left, left_end = split(tree, begin, end, to_the_left)
        lows[top], begins[top + 1] = middle, left  # the right half, below
        top += 1
        lows[top], highs[top], begins[top + 1] = low_step, middle, left_end
    return upto, False


def ordered(log: Any) -> tuple[Any, Any]:
    """The log with the written interactions in the order of time, and the tree of all others."""
    written, size = log.sizes[WRITTEN], log.sizes[KINDS]
    alone = log.written.reshape(-1, WIDTH)[:written]
    alone = alone[np.argsort(alone[:, POSITION])]
    together = log.kinds.reshape(-1, WIDTH)[:size, NUMBER]
    room = 2 * size + min(DEPTH * size, together.sum()) + 2
    kinds, numbers = np.empty(room, np.int32), np.empty(room, np.int64)
    kinds[:size], numbers[:size] = np.arange(size), together
    nodes = (np.empty(DEPTH + 1, np.int64) for _ in range(3))
    log = log._replace(written=alone.ravel())
    return log, Tree(*nodes, kinds, numbers, np.empty(4, np.uint64), np.empty(4, np.uint64))
