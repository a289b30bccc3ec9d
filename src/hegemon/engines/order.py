"""The order of an epoch's interactions, drawn only where somebody looks.

An epoch says how often each pair of states interacted, not when. Those that were written down have a
position; all others are exchangeable, so that any way to spread them over the remaining positions is equally
likely. The spreading is a binary tree: a node splits its interactions between the two halves of its interval.
A node's random numbers depend on the epoch and the interval alone, so every look at an epoch sees one order.
"""

import numpy as np
from numba import njit, uint64

from hegemon.engines.census import MARKED, SLOT, SLOT_BITS, look_up
from hegemon.engines.sampling import hypergeometric


@njit
def scrambled(x):
    """64 well-mixed bits (the finalizer of splitmix64)."""
    x = uint64(x) + uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit
def derive(key, first, second, state):
    """A generator state that depends on the key and two numbers."""
    for k in range(4):
        state[k] = scrambled(key[k] ^ scrambled(uint64(first) ^ scrambled(uint64(second) + uint64(k))))


@njit
def changes(census, entry, i, j, k):
    """By how much this interaction changes the stop's k-th count."""
    marks = census.marks
    first, second = (entry >> SLOT_BITS) & SLOT, entry & SLOT
    return (marks[first] >> k & 1) + (marks[second] >> k & 1) - (marks[i] >> k & 1) - (marks[j] >> k & 1)


@njit
def is_watched(census, entry, i, j):
    marks = census.marks
    first, second = (entry >> SLOT_BITS) & SLOT, entry & SLOT
    return ((marks[i] ^ marks[first]) | (marks[j] ^ marks[second])) & census.watch[0] != 0


@njit
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


@njit
def apply(census, held, i, j, times):
    """Let slots i and j interact so often; whether the stop's counts or a watched mark moved."""
    entry = look_up(census, census.pairs, i, j)
    census.counts[i] -= times
    census.counts[j] -= times
    census.counts[(entry >> SLOT_BITS) & SLOT] += times
    census.counts[entry & SLOT] += times
    moved = False
    if entry & MARKED:
        for k in range(len(held)):
            change = changes(census, entry, i, j, k)
            held[k] += change * times
            moved = moved or change != 0
    return moved, bool(entry & MARKED) and is_watched(census, entry, i, j)


@njit
def is_near(census, log, held, low, high, kinds, numbers, begin, end, first, last):
    """Whether the stop may be met by the kinds begin..end and the written interactions first..last."""
    grown, shrunk = np.zeros(len(held), np.int64), np.zeros(len(held), np.int64)
    watched = False
    for e in range(begin, end + last - first):
        if e < end:
            i, j, times = log.kind_firsts[kinds[e]], log.kind_seconds[kinds[e]], numbers[e]
        else:
            i, j, times = log.firsts[first + e - end], log.seconds[first + e - end], 1
        entry = look_up(census, census.pairs, i, j)
        if entry & MARKED:
            watched = watched or is_watched(census, entry, i, j)
            for k in range(len(held)):
                change = changes(census, entry, i, j, k)
                if change > 0:
                    grown[k] += change * times
                else:
                    shrunk[k] -= change * times
    return could_meet(held, low, high, grown, shrunk, watched)


@njit
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


def walk(census, log, key, length, upto, held, low, high):
    """Go through the epoch from its first step to step `upto`, or to the first that meets the stop.

    The census holds the population before the epoch, and that of the step where the walk ends afterwards.
    Answers that step and whether the stop is met there.
    """
    written = log.sizes[0]
    by_time = np.argsort(log.positions[:written])
    log.firsts[:written], log.seconds[:written] = log.firsts[:written][by_time], log.seconds[:written][by_time]
    positions = log.positions[:written][by_time]
    size = log.sizes[1]
    interactions = log.kind_counts[:size].sum()
    room = 2 * size + min(64 * size, interactions) + 2
    kinds, numbers = np.empty(room, np.int32), np.empty(room, np.int64)
    kinds[:size], numbers[:size] = np.arange(size), log.kind_counts[:size]
    # Nodes still to visit, the next one on top: interval (lows, highs], its kinds from `begins` up to the next.
    lows, highs, begins = np.empty(66, np.int64), np.empty(66, np.int64), np.empty(67, np.int64)
    lows[0], highs[0], begins[0], begins[1] = 0, length, 0, size
    top = 0
    rng = np.empty(4, np.uint64)
    while top >= 0:
        low_step, high_step, begin, end = lows[top], highs[top], begins[top], begins[top + 1]
        if low_step >= upto:
            break
        first = np.searchsorted(positions, low_step, side="right")
        last = np.searchsorted(positions, high_step, side="right")
        single = high_step - low_step == 1
        if single or (
            high_step <= upto
            and not is_near(census, log, held, low, high, kinds, numbers, begin, end, first, last)
        ):
            moved, watched = False, False
            for e in range(begin, end):
                moved, watched = apply(
                    census, held, log.kind_firsts[kinds[e]], log.kind_seconds[kinds[e]], numbers[e]
                )
            for e in range(first, last):
                moved, watched = apply(census, held, log.firsts[e], log.seconds[e], 1)
            if single and (watched or (moved and np.all((low <= held) & (held <= high)))):
                return high_step, True
            top -= 1
            continue
        middle = (low_step + high_step) // 2
        before = np.searchsorted(positions, middle, side="right") - first
        derive(key, low_step, high_step, rng)
        left, left_end = split(rng, kinds, numbers, begin, end, middle - low_step - before)
        lows[top], begins[top + 1] = middle, left  # the right half, below
        top += 1
        lows[top], highs[top], begins[top + 1] = low_step, middle, left_end
    return upto, False
