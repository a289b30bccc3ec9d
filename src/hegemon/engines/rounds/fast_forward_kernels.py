"""Compiled parts of fast-forward: each node's private chain along a periodic path, and the first departure.

Along a fixed path of what neighbours can see, a node's private fields are a Markov chain of its own, driven
by its own coins. `stay[v, h, i]` is the probability that, over the rounds considered, a node that begins in
private state h keeps to the path and ends in i; `leave[v, h]` that it leaves the path on the way. Both are
sums and products of nonnegative numbers only, so the rarest departure keeps its relative precision.
"""

from typing import NamedTuple

import numpy as np

from hegemon.compute.philox import double_at

# ruff: noqa: F821 - `pack`, `unpack`, `update`, `show`, `gather` … are bound by specialize


class Hidden(NamedTuple):
    """The part of a word that neighbours cannot see: its bits, all their values, and the place of each value; and the
    coins of a node: all values, the number of cases of each, and the number of all cases."""

    private: int
    values: np.ndarray
    places: np.ndarray
    shown: np.ndarray
    weights: np.ndarray
    cases: int


class Chains(NamedTuple):
    """Every node's private chain over some rounds of the path."""

    stay: np.ndarray
    leave: np.ndarray


class Powers(NamedTuple):
    """Room for one node's chain over 2^k periods, and for two distributions over its private states."""

    stays: np.ndarray
    leaves: np.ndarray
    row: np.ndarray
    product: np.ndarray


class Landing(NamedTuple):
    """Where a jump ends: after whole periods and a part of one, whose chains are `begun`; which nodes depart; coins."""

    periods: int
    begun: np.ndarray
    leaving: np.ndarray
    key: int
    time: int


def transition(word, room, degree, coins, given):
    """The state that follows `word` at a node with these neighbours and coins; -1 if it is out of range."""
    me = room.me
    unpack(word, me[0], given.layout)
    update(me[0], room.near[:degree], coins, given.p[0])
    clear(me[0], given.layout)
    return pack(me[0], given.layout) if fits(me[0], degree, given.limits) else np.int64(-1)


def observe(low, high, room, first, old, new, hidden, chains, given):
    """Follow the chains of the nodes low..high-1 through the round from `old` to the words `new`; row 0 of the
    chains belongs to the node `first`."""
    stay, leave, private = chains.stay, chains.leave, hidden.private
    number = len(hidden.values)
    step = np.empty((number, number))
    lost = np.empty(number)
    row = np.empty(number)
    for v in range(low, high):
        degree = gather(old.faces, v, room.near, given)
        for h in range(number):
            lost[h] = 0
            for i in range(number):
                step[h, i] = 0
            for k in range(len(hidden.shown)):
                word = (np.int64(old.words[v]) & ~private) | hidden.values[h]
                packed = transition(word, room, degree, hidden.shown[k], given)
                if (packed ^ np.int64(new[v])) & ~private:
                    lost[h] += hidden.weights[k]
                else:
                    step[h, hidden.places[packed & private]] += hidden.weights[k]
            lost[h] /= hidden.cases  # numbers of cases are whole, so each probability is rounded once
            for i in range(number):
                step[h, i] /= hidden.cases
        for h in range(number):
            for i in range(number):
                leave[v - first, h] += stay[v - first, h, i] * lost[i]
            for j in range(number):
                row[j] = 0
                for i in range(number):
                    row[j] += stay[v - first, h, i] * step[i, j]
            for j in range(number):
                stay[v - first, h, j] = row[j]


def powers(chains, v, levels, room):
    """`stays[k]`, `leaves[k]`: the chain of node v over 2^k periods."""
    stay, leave, stays, leaves = chains.stay, chains.leave, room.stays, room.leaves
    number = leave.shape[1]
    for h in range(number):
        leaves[0, h] = leave[v, h]
        for j in range(number):
            stays[0, h, j] = stay[v, h, j]
    for k in range(1, levels):
        for h in range(number):
            leaves[k, h] = leaves[k - 1, h]
            for j in range(number):
                stays[k, h, j] = 0
            for i in range(number):
                leaves[k, h] += stays[k - 1, h, i] * leaves[k - 1, i]
                for j in range(number):
                    stays[k, h, j] += stays[k - 1, h, i] * stays[k - 1, i, j]


def proceed(k, room):
    """The distribution `row` moved on by 2^k periods; returns the probability of leaving on the way."""
    stays, leaves, row, product = room.stays, room.leaves, room.row, room.product
    left = 0.0
    for j in range(len(row)):
        product[j] = 0
    for i in range(len(row)):
        left += row[i] * leaves[k, i]
        for j in range(len(row)):
            product[j] += row[i] * stays[k, i, j]
    return left


def first_departure(words, chains, hidden, key, time, best, candidates, room):
    """The first period, at most `best`, in which any node leaves the path, and the nodes that do so in it.

    Node v leaves at the first moment at which its probability of having left exceeds the uniform number
    double_at(key, time, v): inversion, so exactly the law of that moment.
    """
    leave, row, product = chains.leave, room.row, room.product
    number = leave.shape[1]
    found = 0
    for v in range(len(words)):
        may_leave = False
        for h in range(number):
            may_leave |= leave[v, h] > 0
            row[h] = 0
        if not may_leave:
            continue
        levels = 1
        while (1 << levels) <= best + 1:
            levels += 1
        powers(chains, v, levels, room)
        threshold = double_at(key, time, v)
        row[hidden.places[words[v] & hidden.private]] = 1
        survived, left = 0, 0.0
        for k in range(levels - 1, -1, -1):
            if survived + (1 << k) <= best + 1:
                more = left + proceed(k, room)
                if more <= threshold:
                    survived += 1 << k
                    left = more
                    for h in range(number):
                        row[h] = product[h]
        if survived < best:
            best = survived
            found = 0
        if survived == best:
            candidates[found] = v
            found += 1
    return best, found


def after_periods(begin, chains, v, periods, room):
    """`row`: where node v, from private state `begin`, is after whole periods on the path; returns the
    probability that it has left."""
    row, product = room.row, room.product
    for h in range(len(row)):
        row[h] = 0
    row[begin] = 1
    left = 0.0
    levels = 1
    while (1 << levels) <= periods:
        levels += 1
    powers(chains, v, levels, room)
    for k in range(levels):
        if (periods >> k) & 1:
            left += proceed(k, room)
            for h in range(len(row)):
                row[h] = product[h]
    return left


def land(low, high, room, words, old, new, result, chains, landing, hidden, given):
    """The round in which the jump ends, for the nodes low..high-1: from the path's `old` to `result`.

    `leaving` nodes depart from the path's words `new` in this very round, the others do not. Each node's private
    state before the round and its coins are drawn given just that. Returns whether all states are in range.
    """
    private, faces, me = hidden.private, len(hidden.shown), room.me
    number = len(hidden.values)
    row = np.empty(number)
    powers = Powers(np.empty((64, number, number)), np.empty((64, number)), row, np.empty(number))
    outcome = np.empty((number, faces), np.int64)
    weight = np.empty((number, faces))
    for v in range(low, high):
        after_periods(hidden.places[words[v] & private], chains, v, landing.periods, powers)
        degree = gather(old.faces, v, room.near, given)
        total = 0.0
        for i in range(number):
            arrived = 0.0
            for h in range(number):
                arrived += row[h] * landing.begun[v, h, i]
            for k in range(faces):
                word = (np.int64(old.words[v]) & ~private) | hidden.values[i]
                outcome[i, k] = transition(word, room, degree, hidden.shown[k], given)
                departs = (outcome[i, k] ^ np.int64(new[v])) & ~private != 0
                weight[i, k] = arrived * hidden.weights[k] if departs == landing.leaving[v] else 0.0
                total += weight[i, k]
        rest = total * double_at(landing.key, landing.time, v)
        chosen = np.int64(-1)
        for i in range(number):
            for k in range(faces):
                if weight[i, k] > 0 and (chosen < 0 or rest > 0):
                    chosen = outcome[i, k]
                    rest -= weight[i, k]
        if chosen < 0:
            return False
        result.words[v] = chosen
        unpack(chosen, me[0], given.layout)
        show(me[0], result.faces[v])
    return True
