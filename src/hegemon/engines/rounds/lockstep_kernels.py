"""Compiled parts of lockstep: nodes with equal visible states are one class, and a round moves classes, not nodes.

A *class* is the nodes whose visible states are equal; a *kind* is the nodes of a class whose neighbours are in the same
set of classes. Nodes of one kind have the same update. As long as all kinds of a class agree on it, the class stays
together, whatever its coins and its private fields do in its nodes.
"""

from typing import NamedTuple

import numpy as np

from hegemon.compute.philox import word_at
from hegemon.engines.rounds.kernels import AGE, MET, PATIENCE, PERIODIC, TIME

APART = 8  # why `march` returned, besides the reasons in kernels.py: the next round is not made class by class
UNKNOWN, STILL, LIVELY, FAILS = range(4)  # what is known of a situation
DEPARTS = 255  # in place of a private state: the node leaves its class
WITNESS, CREDIT = 0, 1  # in `notes`

# ruff: noqa: F821 - `unpack`, `show`, `transition`, `toss`, `note`, `meets` … are bound by specialize


class Classes(NamedTuple):
    """The class of every node; of every class its visible state now and after the round, its size, a node of it, and
    where its kinds begin; of every kind, class by class, in which classes its neighbours are, and in how many."""

    of: np.ndarray
    words: np.ndarray
    later: np.ndarray
    sizes: np.ndarray
    first: np.ndarray
    begins: np.ndarray
    near: np.ndarray
    widths: np.ndarray


class Learnt(NamedTuple):
    """Situations that were tried: what is known of each, its key (own state, number of different neighbours, what these
    show), and the states that follow for every private state and all coins. Of two for one row the newer is kept."""

    known: np.ndarray
    keys: np.ndarray
    outcomes: np.ndarray


class Own(NamedTuple):
    """What the nodes of a class do not share: the private state of each by its number, before and after a round, which
    of both is the present one, and for every class, private state and coins the private state that follows."""

    places: np.ndarray
    turn: np.ndarray
    table: np.ndarray


class Work(NamedTuple):
    """Working memory: what the classes show as words, a key, what follows for a class, the marks of one state, and
    notes: the node at which the configuration differed last from the one to be recognized, and how many updates may
    still be tried before plain rounds would have been faster."""

    shown: np.ndarray
    key: np.ndarray
    outcome: np.ndarray
    marks: np.ndarray
    notes: np.ndarray


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


def sort_out(of, offsets, targets, slots, owners, sets):
    """Of every kind its class and the set of classes of its neighbours, as bits; returns how many kinds there are, -1
    if they are more than there is room for."""
    number, last = 0, len(slots) - 1
    for v in range(len(of)):
        seen = np.uint64(0)
        for arc in range(offsets[v], offsets[v + 1]):
            seen |= np.uint64(1) << np.uint64(of[targets[arc]])
        slot = np.int64(mixed(mixed(seen, 0), of[v]) & np.uint64(last))
        while slots[slot] >= 0 and (sets[slots[slot]] != seen or owners[slots[slot]] != of[v]):
            slot = (slot + 1) & last
        if slots[slot] < 0:
            if number == len(sets):
                return -1
            slots[slot] = number
            owners[number], sets[number] = of[v], seen
            number += 1
    return number


def row_of(c, kind, classes, work, rows):
    """Write the key of a kind of class c as it is now; returns the row for it. What neighbours show is sorted, so that
    many kinds have the same key."""
    key, width = work.key, classes.widths[kind]
    key[0], key[1] = classes.words[c], width
    for k in range(width):
        shown, place = work.shown[classes.near[kind, k]], k + 2
        while place > 2 and key[place - 1] > shown:
            key[place] = key[place - 1]
            place -= 1
        key[place] = shown
    code = mixed(key[0], width)
    for k in range(width):
        code = mixed(code, key[k + 2])
    return np.int64(code & np.uint64(rows - 1))


def is_in(key, keys, row):
    for k in range(key[1] + 2):
        if keys[row, k] != key[k]:
            return False
    return True


def learn(c, kind, row, classes, learnt, work, room, hidden, given):
    """Try a kind of class c with all private states and all coins; returns what was found: STILL, LIVELY or FAILS."""
    outcomes, width = learnt.outcomes, classes.widths[kind]
    for k in range(width + 2):
        learnt.keys[row, k] = work.key[k]
    for k in range(width):
        unpack(classes.words[classes.near[kind, k]], room.me[0], given.layout)
        show(room.me[0], room.near[k])
    known, place = STILL, 0
    for h in range(len(hidden.values)):
        for coins in range(hidden.cases):
            packed = transition(classes.words[c] | hidden.values[h], room, width, coins, given)
            if packed < 0:
                return FAILS
            outcomes[row, place] = packed
            place += 1
            if packed != (outcomes[row, 0] & ~hidden.private) | hidden.values[h]:
                known = LIVELY
    return known


def agree(c, classes, learnt, work, room, hidden, given):
    """Write what follows for class c into `work.outcome`: STILL or LIVELY if all its kinds agree on it, else FAILS."""
    outcome, outcomes, common = work.outcome, learnt.outcomes, UNKNOWN
    for kind in range(classes.begins[c], classes.begins[c + 1]):
        row = row_of(c, kind, classes, work, len(learnt.known))
        if learnt.known[row] == UNKNOWN or not is_in(work.key, learnt.keys, row):
            learnt.known[row] = UNKNOWN  # as it stays if an update raises
            learnt.known[row] = learn(c, kind, row, classes, learnt, work, room, hidden, given)
            work.notes[CREDIT] -= len(outcome)
        if learnt.known[row] == FAILS:
            return FAILS
        if common == UNKNOWN:
            common = learnt.known[row]
            for place in range(len(outcome)):
                outcome[place] = outcomes[row, place]
        for place in range(len(outcome)):
            if outcome[place] != outcomes[row, place]:
                return FAILS
    return common


def coins_of(v, time, coins):
    """The coins of one node in a round."""
    per_word = 64 // coins.bits if coins.bits > 0 else 1 << 62
    word = word_at(coins.key, time, v // per_word)
    return toss(word, v % per_word, v, time, coins)


def tabulate(c, classes, work, own, time, hidden, coins):
    """What class c is after the round, and what its private states become in it: all must become what its first node
    becomes, or leave."""
    private, v = hidden.private, classes.first[c]
    leading = own.places[own.turn[0], v] * hidden.cases + coins_of(v, time, coins)
    classes.later[c] = work.outcome[leading] & ~private
    for place in range(len(work.outcome)):
        stays = work.outcome[place] & ~private == classes.later[c]
        own.table[c, place] = hidden.places[work.outcome[place] & private] if stays else DEPARTS


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
    v, of = work.notes[WITNESS], classes.of
    same = (np.int64(anchor[v]) & ~private) == classes.words[of[v]]
    if same:
        for v in range(len(of)):
            if (np.int64(anchor[v]) & ~private) != classes.words[of[v]]:
                work.notes[WITNESS] = v
                same = False
                break
    if not same and clock[AGE] == clock[PATIENCE]:
        for v in range(len(of)):
            anchor[v] = classes.words[of[v]] | values[own.places[own.turn[0], v]]
        clock[AGE] = 0
        clock[PATIENCE] += 1 + clock[PATIENCE] // 8
    return same


def march(budget, classes, learnt, own, work, state, room, counts, goal, search, coins, public, hidden, given):
    """At most `budget` rounds, class by class; comes back early when the counted part of the stop is met, a period is
    found, a class does not stay together, or too much is new. A round is made completely or not at all."""
    number = len(classes.words)
    for _ in range(budget):
        if work.notes[CREDIT] < 0:
            return APART
        work.notes[CREDIT] += len(classes.of)
        for c in range(number):
            work.shown[c] = classes.words[c] & public
        lively = False
        for c in range(number):
            known = agree(c, classes, learnt, work, room, hidden, given)
            if known == FAILS:
                return APART
            lively |= known == LIVELY
            tabulate(c, classes, work, own, state[TIME], hidden, coins)
        if len(counts) > 0:
            for c in range(number):  # an error is raised before any part of the round is made
                unpack(classes.later[c], room.me[0], given.layout)
                note(room.me[0], given.p[0], work.marks, 0)
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
