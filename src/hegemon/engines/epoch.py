"""An epoch: many interactions on the complete graph at once, exactly (Berenbrink et al., ESA 2020, multi-batch).

While no agent is met twice, an interaction needs no states: its two agents are *delayed*. A run of delayed
interactions ends with one that meets an agent again; that agent is then looked at: it is *touched* already
(its state is in a list), or it is one of a delayed interaction, which is carried out now. At the end all
interactions still delayed are carried out together: their initiators and responders are taken from the
untouched population without replacement and matched at random.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

from hegemon.engines.census import CHANGED, MARKED, SLOT, SLOT_BITS, look_up
from hegemon.engines.randomness import next_below, next_double, next_index
from hegemon.engines.sampling import hypergeometric, take
from hegemon.engines.waiting import fresh_run

# Relative costs, in nanoseconds where they were measured; only their ratios matter.
COLLISION, DRAW, CARD = 130.0, 55.0, 8.0

Desk = namedtuple("Desk", "order bounds guide removed rest firsts seconds touched deck saved")
Log = namedtuple("Log", "sizes positions firsts seconds taken kind_firsts kind_seconds kind_counts rng")

# The tally of an epoch: interactions that changed something; that changed a watched mark; draws; cards dealt;
# then how often each count of the stop grew and shrank.
EFFECTIVE, WATCHED, DRAWS, CARDS, COUNTS = 0, 1, 2, 3, 4


def new_desk(capacity: int, touched: int, deck: int) -> Desk:
    """Room for epochs over this many slots."""

    def zeros(size):
        return np.zeros(size, np.int64)

    slots = (zeros(capacity) for _ in range(2))
    return Desk(*slots, np.zeros(4 * capacity + 8, np.int32), *(zeros(capacity) for _ in range(4)),
                np.zeros(touched, np.int32), np.zeros(deck, np.int32), zeros(capacity))  # fmt: skip


def new_log(explicit: int, kinds: int, rng) -> Log:
    """Room to write down an epoch; without room nothing is written."""
    hashed = 1
    while hashed < 4 * explicit:
        hashed *= 2
    integers = [np.zeros(size, np.int64) for size in (2, explicit, explicit, explicit, hashed, kinds, kinds, kinds)]
    return Log(*integers, rng)


@njit(error_model="numpy")
def note(census, tally, entry, i, j, times):
    """Add `times` interactions of slots i and j to the tally."""
    if entry & CHANGED:
        tally[EFFECTIVE] += times
    if entry & MARKED:
        marks, first, second = census.marks, (entry >> SLOT_BITS) & SLOT, entry & SLOT
        if ((marks[i] ^ marks[first]) | (marks[j] ^ marks[second])) & census.watch[0]:
            tally[WATCHED] += times
        for k in range((len(tally) - COUNTS) // 2):
            change = (marks[first] >> k & 1) + (marks[second] >> k & 1) - (marks[i] >> k & 1) - (marks[j] >> k & 1)
            tally[COUNTS + 2 * k + (change < 0)] += abs(change) * times


@njit(error_model="numpy")
def write_down(log, position, i, j):
    """This interaction, carried out by itself, took place at this step of the epoch."""
    size = log.sizes[0]
    log.positions[size], log.firsts[size], log.seconds[size] = position, i, j
    log.sizes[0] += 1
    mask = len(log.taken) - 1
    place = position & mask
    while log.taken[place]:
        place = (place + 1) & mask
    log.taken[place] = position


@njit(error_model="numpy")
def some_delayed_position(log, before):
    """When a delayed interaction took place: uniform over the steps before that are not written down."""
    mask = len(log.taken) - 1
    while True:
        position = 1 + next_below(log.rng, before - 1)
        place = position & mask
        while log.taken[place] and log.taken[place] != position:
            place = (place + 1) & mask
        if log.taken[place] == 0:
            return position


@njit(error_model="numpy")
def lay_out(census, desk, n):
    """The occupied slots and the means to draw from them; answers how many, and the width of the guide."""
    occupied, total = 0, 0
    for rank in range(census.size[0]):
        slot = census.ranking[rank]
        if census.counts[slot]:
            total += census.counts[slot]
            desk.order[occupied], desk.bounds[occupied], desk.removed[occupied] = slot, total, 0
            occupied += 1
    shift = max(0, int(math.log2(n / (2.0 * occupied))))
    k = 0
    for entry in range(((n - 1) >> shift) + 1):
        while desk.bounds[k] <= entry << shift:
            k += 1
        desk.guide[entry] = k
    return occupied, shift


@njit(error_model="numpy", inline="always")
def draw_untouched(desk, rng, n, shift):
    """Take one agent out of the untouched population: where its slot stands in the order.

    An agent is a number below n; of each state the first so many were removed before.
    """
    bounds, guide, removed = desk.bounds, desk.guide, desk.removed
    while True:
        x = next_below(rng, n)
        k = np.int64(guide[x >> shift])
        while x >= bounds[k]:
            k += 1
        before = bounds[k - 1] if k else 0
        if x - before >= removed[k]:
            removed[k] += 1
            return k


@njit(error_model="numpy")
def meet_again(census, desk, log, rng, n, shift, tally, delayed, touched, before):
    """One of the agents met in this epoch, uniformly, taken out: its slot, and how many are left of each sort.

    `before` is the step of the epoch that meets it. A negative slot is an error.
    """
    x = next_below(rng, 2 * delayed + touched)
    if x < touched:
        slot = np.int64(desk.touched[x])
        desk.touched[x] = desk.touched[touched - 1]
        return slot, delayed, touched - 1
    i = desk.order[draw_untouched(desk, rng, n, shift)]
    j = desk.order[draw_untouched(desk, rng, n, shift)]
    entry = look_up(census, census.pairs, i, j)
    if entry < 0:
        return entry, delayed, touched
    note(census, tally, entry, i, j, 1)
    if len(log.positions):
        write_down(log, some_delayed_position(log, before), i, j)
    first, second = (entry >> SLOT_BITS) & SLOT, entry & SLOT
    if (x - touched) & 1:
        first, second = second, first
    desk.touched[touched] = second
    return first, delayed - 1, touched + 1


@njit(error_model="numpy")
def collide(census, desk, log, rng, n, length, tally):
    """The epoch up to its end, with the delayed interactions still to be carried out.

    Answers the steps made, how many of them are delayed, and the number of touched agents; negative steps
    are an error. The epoch ends early when the list of touched agents is full.
    """
    occupied, shift = lay_out(census, desk, n)
    delayed, touched, made = 0, 0, 0
    room = len(desk.touched) - 8
    while touched < room:
        run = fresh_run(rng, n, 2 * delayed + touched, length - made)
        delayed += run
        made += run
        if made == length:
            break
        made += 1
        met = 2 * delayed + touched
        # Of the pairs with an agent that was met: both were, or only the initiator, or only the responder.
        both = (met - 1.0) / (2.0 * n - met - 1.0)
        u = next_double(rng)
        first_met, second_met = u < 0.5 + 0.5 * both, u < both or u >= 0.5 + 0.5 * both
        i = j = np.int64(-1)
        if first_met:
            i, delayed, touched = meet_again(census, desk, log, rng, n, shift, tally, delayed, touched, made)
            if i < 0:
                return i, occupied, delayed, touched
        else:
            i = desk.order[draw_untouched(desk, rng, n, shift)]
        if second_met:
            j, delayed, touched = meet_again(census, desk, log, rng, n, shift, tally, delayed, touched, made)
            if j < 0:
                return j, occupied, delayed, touched
        else:
            j = desk.order[draw_untouched(desk, rng, n, shift)]
        entry = look_up(census, census.pairs, i, j)
        if entry < 0:
            return entry, occupied, delayed, touched
        note(census, tally, entry, i, j, 1)
        if len(log.positions):
            write_down(log, made, i, j)
        desk.touched[touched] = (entry >> SLOT_BITS) & SLOT
        desk.touched[touched + 1] = entry & SLOT
        touched += 2
    return made, occupied, delayed, touched


@njit(error_model="numpy", inline="always")
def carry_out(census, log, tally, entry, i, j, times):
    """Put the outcome of `times` delayed interactions back into the population."""
    census.counts[(entry >> SLOT_BITS) & SLOT] += times
    census.counts[entry & SLOT] += times
    if entry & (CHANGED | MARKED):
        note(census, tally, entry, i, j, times)
    if len(log.kind_counts):
        kind = log.sizes[1]
        log.kind_firsts[kind], log.kind_seconds[kind], log.kind_counts[kind] = i, j, times
        log.sizes[1] += 1


@njit(error_model="numpy")
def match(census, desk, log, rng, tally, occupied, delayed):
    """Match initiators and responders at random: whole rows of pairs where many agents share a state, cards
    dealt from a shuffled deck where few do. Answers 0, or an error."""
    order, firsts, seconds, deck = desk.order, desk.firsts, desk.seconds, desk.deck
    pairs = census.pairs
    many = occupied * DRAW / CARD
    waiting = delayed
    for k in range(occupied):
        need, pool = firsts[k], waiting
        if need <= many and waiting <= len(deck):
            continue
        waiting -= need
        firsts[k] = 0
        for m in range(occupied):
            if need == 0:
                break
            if seconds[m] == 0:
                continue
            times = hypergeometric(rng, seconds[m], pool - seconds[m], need)
            tally[DRAWS] += 1
            pool -= seconds[m]
            if times:
                need -= times
                seconds[m] -= times
                i, j = order[k], order[m]
                entry = look_up(census, pairs, i, j)
                if entry < 0:
                    return entry
                carry_out(census, log, tally, entry, i, j, times)
    size = 0
    for m in range(occupied):
        for _ in range(seconds[m]):
            deck[size] = order[m]
            size += 1
    tally[CARDS] += size
    dealt = 0
    for k in range(occupied):
        i = order[k]
        for _ in range(firsts[k]):
            chosen = dealt + next_index(rng, size - dealt)
            j = np.int64(deck[chosen])
            deck[chosen] = deck[dealt]
            dealt += 1
            entry = look_up(census, pairs, i, j)
            if entry < 0:
                return entry
            carry_out(census, log, tally, entry, i, j, 1)
    return np.int64(0)


@njit(error_model="numpy")
def epoch(census, desk, log, rng, n, length, tally):
    """At most `length` interactions, all of them carried out; the steps made, or a negative error."""
    tally[:] = 0
    made, occupied, delayed, touched = collide(census, desk, log, rng, n, length, tally)
    if made < 0:
        return made
    total = n
    before = 0
    for k in range(occupied):
        desk.rest[k] = desk.bounds[k] - before - desk.removed[k]
        before = desk.bounds[k]
        total -= desk.removed[k]
    take(rng, desk.rest[:occupied], total, delayed, desk.firsts[:occupied])
    take(rng, desk.rest[:occupied], total - delayed, delayed, desk.seconds[:occupied])
    tally[DRAWS] += 2 * occupied
    for k in range(occupied):
        census.counts[desk.order[k]] = desk.rest[k]
    error = match(census, desk, log, rng, tally, occupied, delayed)
    if error < 0:
        return error
    for k in range(touched):
        census.counts[desk.touched[k]] += 1
    return made
