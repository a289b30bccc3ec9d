"""Compiled parts of the engine `rounds`: one round, many rounds, and the search for a period.

A node's state is a packed word; its *face* is a small record of the fields that neighbours read.
"""

from typing import NamedTuple

import numpy as np

from hegemon.compute.philox import coins_from, number_below, word_at
from hegemon.compute.records import within

MET, PERIODIC, FAILED = 1, 2, 4  # why a kernel returned
CURRENT, TIME = 0, 1  # in `state`: which buffer holds the configuration, and after how many rounds
AGE, PATIENCE = 0, 1  # in `clock`: rounds since the anchor was set, and when it will be set again


class Frame(NamedTuple):
    """A configuration: every node's packed state, and the fields that its neighbours read."""

    words: np.ndarray
    faces: np.ndarray


class Room(NamedTuple):
    """Working memory: one node's own record, wide so that nothing is cut off before its range is checked, and its
    neighbours' faces."""

    me: np.ndarray
    near: np.ndarray


class Given(NamedTuple):
    """What a run does not change: the parameters, how states are packed, the graph (with the ports back, where nodes
    have ports), and the ranges that depend on the degree."""

    p: np.ndarray
    layout: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray
    back: np.ndarray
    limits: np.ndarray


class Coins(NamedTuple):
    """The key of all coins, how many bits of a word a node gets in a round, and how many values they have."""

    key: int
    bits: int
    values: int


class Goal(NamedTuple):
    """The counted part of the stop; `whole`: there are also predicates."""

    low: np.ndarray
    high: np.ndarray
    watch: int
    whole: bool


class Shown(NamedTuple):
    """What whole predicates read: room for all records, and the graph."""

    agents: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray


class Search(NamedTuple):
    """For a period: the configuration to be recognized, its clock, and the bits that neighbours cannot see."""

    anchor: np.ndarray
    clock: np.ndarray
    private: int


# Loops instead of assignments to slices: those take seconds to compile.
# ruff: noqa: F821 - `pack`, `unpack`, `show`, `update`, `note`, `sweep` … are bound by specialize


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


def gather(faces, v, near, given):
    """Copy the faces of v's neighbours side by side; returns how many they are."""
    begin, end = given.offsets[v], given.offsets[v + 1]
    degree = 0
    for arc in range(begin, end):
        near[degree] = faces[given.targets[arc]]
        degree += 1
    return degree


def gather_ports(faces, v, near, given):
    """The same, each with the port that leads back."""
    begin, end = given.offsets[v], given.offsets[v + 1]
    degree = 0
    for arc in range(begin, end):
        show(faces[given.targets[arc]], near[degree])
        near[degree].back = given.back[arc]
        degree += 1
    return degree


def toss_bits(word, place, node, time, coins):
    """Fair bits: nodes share a word."""
    return coins_from(word, place, coins.bits)


def toss_values(word, place, node, time, coins):
    """Any number of equally likely values: a node has its own word, and more if it needs them."""
    return number_below(coins.values, word, coins.key, time, node)


def sweep(low, high, room, old, new, time, coins, given):
    """One round of the nodes low..high-1, from `old` to `new`; whether all their states are in range."""
    me, near, layout, bits = room.me, room.near, given.layout, coins.bits
    per_word = 64 // bits if bits > 0 else 1 << 62
    index, place = low // per_word, low % per_word
    word = word_at(coins.key, time, index)
    for v in range(low, high):
        if place == per_word:
            place = 0
            index += 1
            word = word_at(coins.key, time, index)
        drawn = toss(word, place, v, time, coins)
        place += 1
        degree = gather(old.faces, v, near, given)
        unpack(np.int64(old.words[v]), me[0], layout)
        update(me[0], near[:degree], drawn, given.p[0])
        clear(me[0], layout)
        packed = pack(me[0], layout)
        if packed < 0 or not fits(me[0], degree, given.limits):
            return False
        new.words[v] = packed
        show(me[0], new.faces[v])
    return True


def tally(low, high, room, counts, words, mark, given):
    """Count, among the nodes low..high-1, those that satisfy each condition of the stop; returns 1 if the first
    condition has changed at some node since the marks of all nodes were set, else 0, and sets them anew."""
    changed, conditions = 0, len(counts)
    if conditions == 0:
        return changed
    me = room.me
    for v in range(low, high):
        unpack(np.int64(words[v]), me[0], given.layout)
        place = v * conditions
        before = mark[place]
        note(me[0], given.p[0], mark, place)
        if mark[place] != before:
            changed = 1
        for k in range(conditions):
            counts[k] += mark[place + k]
    return changed


def part_of_round(low, high, room, counts, old, new, mark, time, coins, given):
    """`sweep`, then `tally`, whose result is returned; -1 if a state was out of range."""
    if not sweep(low, high, room, old, new, time, coins, given):
        return -1
    return tally(low, high, room, counts, new.words, mark, given)


def meets(counts, changed, goal):
    """Whether the counted part of the stop is met after a round."""
    if changed & goal.watch:
        return True
    return within(counts, goal.low, goal.high) and (goal.whole or len(counts) > 0)


def nothing_more(words, shown, given):
    """Stands for the whole predicates of a stop that has none: always true."""
    return True


def whole_met(words, shown, given):
    """Whether the whole predicates of the stop hold."""
    for v in range(len(words)):
        unpack(np.int64(words[v]), shown.agents[v], given.layout)
    return check(shown.agents, shown.offsets, shown.targets, given.p)


def both(agents, offsets, targets, parameters):
    return first(agents, offsets, targets, parameters) and second(agents, offsets, targets, parameters)


def recurs(words, search):
    """Whether the part that neighbours can see is again what it was at the anchor: Brent's search (BIT 1980).

    The anchor is set again after waits that grow by an eighth, not doubled: rounds cost more than copies, and
    a counter that wraps around at 2^N begins its period just behind a power of two.
    """
    anchor, clock, private = search.anchor, search.clock, search.private
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


def run(budget, buffers, faces, mark, state, room, counts, goal, shown, search, coins, given):
    """At most `budget` rounds; comes back early when the stop, its whole predicates included, is met or a period is
    found."""
    n = buffers.shape[1]
    for _ in range(budget):
        for k in range(len(counts)):
            counts[k] = 0
        now, then = state[CURRENT], 1 - state[CURRENT]
        old, new = Frame(buffers[now], faces[now]), Frame(buffers[then], faces[then])
        changed = part_of_round(np.int64(0), n, room, counts, old, new, mark, state[TIME], coins, given)
        if changed < 0:
            return FAILED
        state[CURRENT] = then
        state[TIME] += 1
        status = 0
        if meets(counts, changed, goal) and holds(new.words, shown, given):
            status = MET
        if recurs(new.words, search):
            status |= PERIODIC
        if status:
            return status
    return 0
