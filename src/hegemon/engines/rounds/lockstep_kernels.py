"""Compiled parts of lockstep: nodes that look alike are one class, and a round moves classes instead of nodes.

A *class* is the nodes whose visible states are equal; a *kind* is the nodes of a class whose neighbours are in the same
set of classes. Nodes of one kind have the same update. As long as all kinds of a class agree on it, the class stays
together, whatever its coins and its private fields do in its nodes.
"""

from typing import NamedTuple

import numpy as np

from hegemon.compute.philox import word_at
from hegemon.engines.rounds.kernels import AGE, MET, PATIENCE, PERIODIC, TIME

APART = 8  # why `march` came back, beside the reasons in kernels.py: the next round is not made class by class
UNKNOWN, STILL, LIVELY, DIVIDED = range(4)  # what is known of a class in its surroundings
DEPARTS = 255  # in place of a private state: the node leaves its class

# ruff: noqa: F821 - `unpack`, `show`, `transition`, `toss`, `note`, `meets` … are bound by specialize


class Classes(NamedTuple):
    """The class of every node; of every class its visible state now and after the round, its size, a node of it, the
    set of classes next to it, and where its kinds begin; a node of every kind, class by class."""

    of: np.ndarray
    words: np.ndarray
    later: np.ndarray
    sizes: np.ndarray
    first: np.ndarray
    near: np.ndarray
    begins: np.ndarray
    kinds: np.ndarray


class Learnt(NamedTuple):
    """What was tried before. A row belongs to a class and what it and the classes next to it show: the key, what is
    known, and the states that follow for every private state and all coins. Of two rows for one place the newer stays."""

    keys: np.ndarray
    known: np.ndarray
    outcomes: np.ndarray


class Own(NamedTuple):
    """What the nodes of a class do not share: the private state of each by its number, before and after a round, which
    of both is the present one, and for every class, private state and coins the private state that follows."""

    places: np.ndarray
    turn: np.ndarray
    table: np.ndarray


class Work(NamedTuple):
    """To work in: the key that is looked up, its row for every class, the faces of the classes, the marks of one state,
    and the node at which the configuration differed last from the one to be recognized."""

    key: np.ndarray
    rows: np.ndarray
    faces: np.ndarray
    marks: np.ndarray
    witness: np.ndarray


class Bits(NamedTuple):
    """Which bits of a word neighbours read, and which only the node itself."""

    public: int
    private: int


def mixed(number, more):
    """A hash of both."""
    result = (np.uint64(number) ^ np.uint64(more)) * np.uint64(0x9E3779B97F4A7C15)
    return result ^ (result >> np.uint64(29))


def classify(words, private, of, found, sizes, first):
    """Give every node its class; returns how many there are, -1 if they are more than there is room for."""
    slots = np.full(256, -1)
    number = 0
    for v in range(len(words)):
        visible = np.int64(words[v]) & ~private
        slot = np.int64(mixed(visible, 0) & np.uint64(255))
        while slots[slot] >= 0 and found[slots[slot]] != visible:
            slot = (slot + 1) & 255
        if slots[slot] < 0:
            if number == len(found):
                return -1
            slots[slot] = number
            found[number], sizes[number], first[number] = visible, 0, v
            number += 1
        of[v] = slots[slot]
        sizes[slots[slot]] += 1
    return number


def sort_out(of, offsets, targets, slots, kinds, sets, near):
    """A node of every kind, and the classes of its neighbours as a set of bits; for every class the union of these.
    Returns how many kinds there are, -1 if they are more than there is room for."""
    number, last = 0, len(slots) - 1
    for v in range(len(of)):
        seen = np.uint64(0)
        for arc in range(offsets[v], offsets[v + 1]):
            seen |= np.uint64(1) << np.uint64(of[targets[arc]])
        slot = np.int64(mixed(mixed(seen, 0), of[v]) & np.uint64(last))
        while slots[slot] >= 0 and (sets[slots[slot]] != seen or of[kinds[slots[slot]]] != of[v]):
            slot = (slot + 1) & last
        if slots[slot] < 0:
            if number == len(kinds):
                return -1
            slots[slot] = number
            kinds[number], sets[number] = v, seen
            near[of[v]] |= seen
            number += 1
    return number


def row_of(c, classes, key, rows, public):
    """Write the key of class c as it is now; returns the row for it."""
    key[0] = c + 1  # so that no key is that of an empty row
    code = mixed(c + 1, 0)
    for k in range(len(classes.words)):
        shown = np.int64(0)
        if k == c:
            shown = classes.words[k]
        elif (classes.near[c] >> np.uint64(k)) & np.uint64(1):
            shown = classes.words[k] & public
        key[k + 1] = shown
        code = mixed(code, shown)
    return np.int64(code & np.uint64(rows - 1))


def is_in(key, keys, row):
    for k in range(len(key)):
        if keys[row, k] != key[k]:
            return False
    return True


def learn(c, row, classes, learnt, work, room, hidden, given):
    """Try all kinds of class c, with all private states and all coins; returns what is known then."""
    outcomes, values = learnt.outcomes, hidden.cases
    for k in range(len(work.key)):
        learnt.keys[row, k] = work.key[k]
    for k in range(len(classes.words)):
        unpack(classes.words[k], room.me[0], given.layout)
        show(room.me[0], work.faces[k])
    known = STILL
    for kind in range(classes.begins[c], classes.begins[c + 1]):
        v = classes.kinds[kind]
        degree = 0
        for arc in range(given.offsets[v], given.offsets[v + 1]):
            room.near[degree] = work.faces[classes.of[given.targets[arc]]]
            degree += 1
        for h in range(len(hidden.values)):
            for coins in range(values):
                place = h * values + coins
                packed = transition(classes.words[c] | hidden.values[h], room, degree, coins, given)
                if packed < 0 or (kind > classes.begins[c] and packed != outcomes[row, place]):
                    return DIVIDED
                outcomes[row, place] = packed
                if packed != (outcomes[row, 0] & ~hidden.private) | hidden.values[h]:
                    known = LIVELY
    return known


def coins_of(v, time, coins):
    """The coins of one node in a round."""
    per_word = 64 // coins.bits if coins.bits > 0 else 1 << 62
    word = word_at(coins.key, time, v // per_word)
    return toss(word, v % per_word, v, time, coins)


def tabulate(c, classes, learnt, work, own, time, hidden, coins):
    """What class c is after the round, and what its private states become in it: all must become what its first node
    becomes, or leave."""
    values, private, row = hidden.cases, hidden.private, work.rows[c]
    v = classes.first[c]
    leading = own.places[own.turn[0], v] * values + coins_of(v, time, coins)
    classes.later[c] = learnt.outcomes[row, leading] & ~private
    for place in range(len(hidden.values) * values):
        after = learnt.outcomes[row, place]
        stays = after & ~private == classes.later[c]
        own.table[c, place] = hidden.places[after & private] if stays else DEPARTS


def draw(of, before, after, table, values, time, coins):
    """The private states of all nodes after the round; whether all nodes stay in their classes."""
    per_word = 64 // coins.bits if coins.bits > 0 else 1 << 62
    index, place = np.int64(0), np.int64(0)
    word = word_at(coins.key, time, index)
    for v in range(len(of)):
        if place == per_word:
            place = 0
            index += 1
            word = word_at(coins.key, time, index)
        then = table[of[v], before[v] * values + toss(word, place, v, time, coins)]
        place += 1
        if then == DEPARTS:
            return False
        after[v] = then
    return True


def recurs_in_step(classes, own, work, search, values):
    """As `recurs` in kernels.py, on classes."""
    anchor, clock, private = search.anchor, search.clock, search.private
    if clock[PATIENCE] == 0:
        return False
    clock[AGE] += 1
    v, of = work.witness[0], classes.of
    same = (np.int64(anchor[v]) & ~private) == classes.words[of[v]]
    if same:
        for v in range(len(of)):
            if (np.int64(anchor[v]) & ~private) != classes.words[of[v]]:
                work.witness[0] = v
                same = False
                break
    if not same and clock[AGE] == clock[PATIENCE]:
        for v in range(len(of)):
            anchor[v] = classes.words[of[v]] | values[own.places[own.turn[0], v]]
        clock[AGE] = 0
        clock[PATIENCE] += 1 + clock[PATIENCE] // 8
    return same


def march(budget, classes, learnt, own, work, state, room, counts, goal, search, coins, bits, hidden, given):
    """At most `budget` rounds, class by class; comes back early when the counted part of the stop is met, a period is
    found, or a class does not stay together. A round is made completely or not at all."""
    number, rows = len(classes.words), len(learnt.known)
    for _ in range(budget):
        lively = False
        for c in range(number):
            row = row_of(c, classes, work.key, rows, bits.public)
            if learnt.known[row] == UNKNOWN or not is_in(work.key, learnt.keys, row):
                learnt.known[row] = UNKNOWN  # as it stays if an update fails
                learnt.known[row] = learn(c, row, classes, learnt, work, room, hidden, given)
            if learnt.known[row] == DIVIDED:
                return APART
            lively |= learnt.known[row] == LIVELY
            # A later class may take the same row, so what is needed of it is copied now.
            work.rows[c] = row
            tabulate(c, classes, learnt, work, own, state[TIME], hidden, coins)
        if lively:
            turn = own.turn[0]
            before, after = own.places[turn], own.places[1 - turn]
            if not draw(classes.of, before, after, own.table, hidden.cases, state[TIME], coins):
                return APART
            own.turn[0] = 1 - turn
        for k in range(len(counts)):
            counts[k] = 0
        for c in range(number):
            classes.words[c] = classes.later[c]
            if len(counts) > 0:
                unpack(classes.words[c], room.me[0], given.layout)
                note(room.me[0], given.p[0], work.marks, 0)
            for k in range(len(counts)):
                counts[k] += work.marks[k] * classes.sizes[c]
        state[TIME] += 1
        status = MET if meets(counts, 0, goal) else 0
        if recurs_in_step(classes, own, work, search, hidden.values):
            status |= PERIODIC
        if status:
            return status
    return 0


def muster(classes, own, values, words, faces, room, layout):
    """Write down the state of every node and what neighbours read of it."""
    for v in range(len(words)):
        words[v] = classes.words[classes.of[v]] | values[own.places[own.turn[0], v]]
        unpack(np.int64(words[v]), room.me[0], layout)
        show(room.me[0], faces[v])
