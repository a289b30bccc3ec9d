"""Compiled parts of the engine `rounds`: one round, many rounds, and the search for a period.

Words are packed states. `scratch` holds records: the node itself first, then its neighbours.
"""

import numpy as np

from hegemon.engines.coins import coins_from, word_at

MET, PERIODIC, FAILED = 1, 2, 4  # why a kernel came back
CURRENT, TIME = 0, 1  # in `state`: which buffer holds the configuration, and how many rounds it is old
AGE, PATIENCE = 0, 1  # in `clock`: rounds since the anchor was set, and when it will be set again

# ruff: noqa: F821 - `pack`, `unpack`, `update`, `marks_of`, `gather` and `sweep` are bound by specialize


def pack_all(records, words, layout):
    for v in range(len(words)):
        words[v] = pack(records[v], layout)


def unpack_all(words, records, layout):
    for v in range(len(words)):
        unpack(np.int64(words[v]), records[v], layout)


def gather(words, v, scratch, offsets, targets, layout):
    """Unpack v's neighbours behind the first scratch record; answers where they end."""
    begin = offsets[v]
    degree = offsets[v + 1] - begin
    for k in range(degree):
        unpack(np.int64(words[targets[begin + k]]), scratch[k + 1], layout)
    return degree + 1


def sweep(low, high, scratch, counts, old, new, time, key, bits, p, layout, offsets, targets):
    """One round of the nodes low..high-1, from `old` to `new`. Adds up the stop's conditions after the round;
    answers, as bits, for which of them some node changed, or -1 if a state was out of range."""
    me = scratch[0]
    per_word = 64 // bits if bits > 0 else 1
    word = np.uint64(0)
    coins = 0
    changed = 0
    for v in range(low, high):
        if bits > 0:
            if v == low or v % per_word == 0:
                word = word_at(key, time, v // per_word)
            coins = coins_from(word, v % per_word, bits)
        end = gather(old, v, scratch, offsets, targets, layout)
        unpack(np.int64(old[v]), me, layout)
        before = marks_of(me, p[0])
        update(me, scratch[1:end], coins, p[0])
        packed = pack(me, layout)
        if packed < 0:
            return -1
        new[v] = packed
        after = marks_of(me, p[0])
        for k in range(len(counts)):
            counts[k] += (after >> k) & 1
        changed |= before ^ after
    return changed


def meets(counts, low, high, changed, watch, whole):
    """Whether the counted part of the stop is met after a round; `whole`: there are predicates besides."""
    if changed & watch:
        return True
    for k in range(len(counts)):
        if counts[k] < low[k] or counts[k] > high[k]:
            return False
    return whole or len(counts) > 0


def recurs(words, anchor, clock, private):
    """Brent's search (BIT 1980): has the part that neighbours can see come back to what it was at the anchor?"""
    if clock[PATIENCE] == 0:
        return False
    clock[AGE] += 1
    same = True
    for v in range(len(words)):
        if (words[v] ^ anchor[v]) & ~private:
            same = False
            break
    if not same and clock[AGE] == clock[PATIENCE]:
        anchor[:] = words
        clock[AGE] = 0
        clock[PATIENCE] *= 2
    return same


def run(
    budget, buffers, state, scratch, counts, low, high, watch, whole, anchor, clock, private,
    key, bits, p, layout, offsets, targets,
):  # fmt: skip
    """At most `budget` rounds; comes back early when the counted stop is met or a period is found."""
    n = buffers.shape[1]
    for _ in range(budget):
        counts[:] = 0
        old, new = buffers[state[CURRENT]], buffers[1 - state[CURRENT]]
        changed = sweep(0, n, scratch, counts, old, new, state[TIME], key, bits, p, layout, offsets, targets)
        if changed < 0:
            return FAILED
        state[CURRENT] = 1 - state[CURRENT]
        state[TIME] += 1
        status = MET if meets(counts, low, high, changed, watch, whole) else 0
        if recurs(new, anchor, clock, private):
            status |= PERIODIC
        if status:
            return status
    return 0
