"""Compiled parts of the engine `rounds`: one round, many rounds, and the search for a period.

A node's state is a packed word; its *face* is a small record of the fields that neighbours read. `me` and
`near` are room for one node's own record, which is wide so that nothing is cut off before its range is checked,
and for its neighbours' faces.
"""

import numpy as np

from hegemon.compute.philox import coins_from, word_at

MET, PERIODIC, FAILED = 1, 2, 4  # why a kernel came back
CURRENT, TIME = 0, 1  # in `state`: which buffer holds the configuration, and how many rounds it is old
AGE, PATIENCE = 0, 1  # in `clock`: rounds since the anchor was set, and when it will be set again

# Loops instead of assignments to slices: those take seconds to compile.
# ruff: noqa: F821 - `pack`, `unpack`, `show`, `update`, `marks_of`, `sweep` … are bound by specialize


def pack_all(records, words, faces, layout):
    for v in range(len(words)):
        words[v] = pack(records[v], layout)
        show(records[v], faces[v])


def unpack_all(words, records, layout):
    for v in range(len(words)):
        unpack(np.int64(words[v]), records[v], layout)


def show_all(words, me, faces, layout):
    for v in range(len(words)):
        unpack(np.int64(words[v]), me[0], layout)
        show(me[0], faces[v])


def gather(faces, v, near, offsets, targets):
    """Copy the faces of v's neighbours side by side; answers how many they are."""
    begin, end = offsets[v], offsets[v + 1]
    degree = 0
    for arc in range(begin, end):
        near[degree] = faces[targets[arc]]
        degree += 1
    return degree


def sweep(low, high, me, near, old, faces, new, new_faces, time, key, bits, p, layout, offsets, targets):
    """One round of the nodes low..high-1, from `old` to `new`; whether all their states are in range."""
    per_word = 64 // bits if bits > 0 else 1 << 62
    index, place = low // per_word, low % per_word
    word = word_at(key, time, index)
    for v in range(low, high):
        if place == per_word:
            place = 0
            index += 1
            word = word_at(key, time, index)
        coins = coins_from(word, place, bits)
        place += 1
        degree = gather(faces, v, near, offsets, targets)
        unpack(np.int64(old[v]), me[0], layout)
        update(me[0], near[:degree], coins, p[0])
        clear(me[0], layout)
        packed = pack(me[0], layout)
        if packed < 0:
            return False
        new[v] = packed
        show(me[0], new_faces[v])
    return True


def tally(low, high, me, counts, words, mark, p, layout):
    """Count, among the nodes low..high-1, those that satisfy each condition of the stop; answers, as bits,
    which conditions have changed at some node since its `mark` was set, and sets the marks anew."""
    changed = 0
    if len(counts) == 0:
        return changed
    for v in range(low, high):
        unpack(np.int64(words[v]), me[0], layout)
        now = marks_of(me[0], p[0])
        changed |= now ^ mark[v]
        mark[v] = now
        for k in range(len(counts)):
            counts[k] += (now >> k) & 1
    return changed


def part_of_round(
    low, high, me, near, counts, old, faces, new, new_faces, mark, time, key, bits, p, layout, offsets, targets
):
    """`sweep`, then `tally`, which answers; -1 if a state was out of range."""
    if not sweep(low, high, me, near, old, faces, new, new_faces, time, key, bits, p, layout, offsets, targets):
        return -1
    return tally(low, high, me, counts, new, mark, p, layout)


def meets(counts, low, high, changed, watch, whole):
    """Whether the counted part of the stop is met after a round; `whole`: there are predicates besides."""
    if changed & watch:
        return True
    for k in range(len(counts)):
        if counts[k] < low[k] or counts[k] > high[k]:
            return False
    return whole or len(counts) > 0


def nothing_more(words, agents, parameters, layout, offsets, targets):
    """The whole predicates of a stop that has none."""
    return True


def whole_met(words, agents, parameters, layout, offsets, targets):
    """Whether the whole predicates of the stop hold; `agents` is room for all records."""
    for v in range(len(words)):
        unpack(np.int64(words[v]), agents[v], layout)
    return check(agents, offsets, targets, parameters)


def both(agents, offsets, targets, parameters):
    return first(agents, offsets, targets, parameters) and second(agents, offsets, targets, parameters)


def recurs(words, anchor, clock, private):
    """Brent's search (BIT 1980): has the part that neighbours can see come back to what it was at the anchor?

    The anchor is set again after waits that grow by an eighth, not doubled: rounds cost more than copies, and
    a counter that wraps around at 2^N begins its period just behind a power of two.
    """
    if clock[PATIENCE] == 0:
        return False
    clock[AGE] += 1
    same = True
    for v in range(len(words)):
        if (words[v] ^ anchor[v]) & ~private:
            same = False
            break
    if not same and clock[AGE] == clock[PATIENCE]:
        for v in range(len(words)):
            anchor[v] = words[v]
        clock[AGE] = 0
        clock[PATIENCE] += 1 + clock[PATIENCE] // 8
    return same


def run(
    budget, buffers, faces, mark, state, me, near, agents, graph, counts, low, high, watch, whole, anchor, clock,
    private, key, bits, p, layout, offsets, targets,
):  # fmt: skip
    """At most `budget` rounds; comes back early when the stop, its whole predicates included, is met or a period is
    found. `graph` is what the predicates are shown."""
    n = buffers.shape[1]
    for _ in range(budget):
        for k in range(len(counts)):
            counts[k] = 0
        now, then = state[CURRENT], 1 - state[CURRENT]
        changed = part_of_round(
            0, n, me, near, counts, buffers[now], faces[now], buffers[then], faces[then], mark, state[TIME],
            key, bits, p, layout, offsets, targets,
        )  # fmt: skip
        if changed < 0:
            return FAILED
        state[CURRENT] = then
        state[TIME] += 1
        status = 0
        if meets(counts, low, high, changed, watch, whole) and holds(buffers[then], agents, p, layout, *graph):
            status = MET
        if recurs(buffers[then], anchor, clock, private):
            status |= PERIODIC
        if status:
            return status
    return 0
