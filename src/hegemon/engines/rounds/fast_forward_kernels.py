"""Compiled parts of fast-forward: each node's private chain along a periodic path, and the first departure.

Along a fixed path of what neighbours can see, a node's private fields are a Markov chain of its own, driven
by its own coins. `stay[v, h, i]` is the probability that, over the rounds looked at, a node that begins in
private state h keeps to the path and ends in i; `leave[v, h]` that it leaves the path on the way. Both are
sums and products of nonnegative numbers only, so the rarest departure keeps its relative precision.
"""

import numpy as np

from hegemon.compute.philox import double_at

# ruff: noqa: F821 - `pack`, `unpack`, `update`, `show`, `gather` … are bound by specialize


def transition(word, me, near, degree, coins, p, layout):
    """The state that follows `word` at a node with these neighbours and coins; -1 if it is out of range."""
    unpack(word, me[0], layout)
    update(me[0], near[:degree], coins, p[0])
    clear(me[0], layout)
    return pack(me[0], layout)


def observe(
    low, high, me, near, first, old, faces, new, private, hidden, index, bits, stay, leave,
    p, layout, offsets, targets,
):  # fmt: skip
    """Follow the chains of the nodes low..high-1 through the round from `old` to `new`; row 0 of `stay` and
    `leave` belongs to the node `first`."""
    number = len(hidden)
    chance = 1.0 / (1 << bits)
    step = np.empty((number, number))
    lost = np.empty(number)
    row = np.empty(number)
    for v in range(low, high):
        degree = gather(faces, v, near, offsets, targets)
        for h in range(number):
            lost[h] = 0
            for i in range(number):
                step[h, i] = 0
            for coins in range(1 << bits):
                word = (np.int64(old[v]) & ~private) | hidden[h]
                packed = transition(word, me, near, degree, coins, p, layout)
                if (packed ^ np.int64(new[v])) & ~private:
                    lost[h] += chance
                else:
                    step[h, index[packed & private]] += chance
        for h in range(number):
            for i in range(number):
                leave[v - first, h] += stay[v - first, h, i] * lost[i]
            for j in range(number):
                row[j] = 0
                for i in range(number):
                    row[j] += stay[v - first, h, i] * step[i, j]
            for j in range(number):
                stay[v - first, h, j] = row[j]


def powers(stay, leave, v, levels, stays, leaves):
    """`stays[k]`, `leaves[k]`: the chain of node v over 2^k periods."""
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


def proceed(row, k, stays, leaves, product):
    """The distribution `row` moved on by 2^k periods; answers the probability of leaving on the way."""
    left = 0.0
    for j in range(len(row)):
        product[j] = 0
    for i in range(len(row)):
        left += row[i] * leaves[k, i]
        for j in range(len(row)):
            product[j] += row[i] * stays[k, i, j]
    return left


def first_departure(words, stay, leave, private, index, key, time, best, candidates, stays, leaves, row, product):
    """The first period, at most `best`, in which any node leaves the path, and the nodes that do so in it.

    Node v leaves at the first moment at which its probability of having left exceeds the uniform number
    double_at(key, time, v): inversion, so exactly the law of that moment.
    """
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
        powers(stay, leave, v, levels, stays, leaves)
        threshold = double_at(key, time, v)
        row[index[words[v] & private]] = 1
        survived, left = 0, 0.0
        for k in range(levels - 1, -1, -1):
            if survived + (1 << k) <= best + 1:
                more = left + proceed(row, k, stays, leaves, product)
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


def after_periods(begin, stay, leave, v, periods, row, stays, leaves, product):
    """`row`: where node v, from private state `begin`, is after whole periods on the path; answers the
    probability that it has left."""
    for h in range(len(row)):
        row[h] = 0
    row[begin] = 1
    left = 0.0
    levels = 1
    while (1 << levels) <= periods:
        levels += 1
    powers(stay, leave, v, levels, stays, leaves)
    for k in range(levels):
        if (periods >> k) & 1:
            left += proceed(row, k, stays, leaves, product)
            for h in range(len(row)):
                row[h] = product[h]
    return left


def land(
    low, high, me, near, words, old, faces, new, result, result_faces, stay, leave, periods, begun, leaving,
    private, hidden, index, bits, key, time, p, layout, offsets, targets,
):  # fmt: skip
    """The round in which the jump ends, for the nodes low..high-1: from the path's `old` to `result`.

    `leaving` nodes depart from the path's `new` in this very round, the others do not. Each node's private
    state before the round and its coins are drawn given just that. Answers whether all states are in range.
    """
    number = len(hidden)
    stays = np.empty((64, number, number))
    leaves = np.empty((64, number))
    row, product = np.empty(number), np.empty(number)
    outcome = np.empty((number, 1 << bits), np.int64)
    weight = np.empty((number, 1 << bits))
    for v in range(low, high):
        after_periods(index[words[v] & private], stay, leave, v, periods, row, stays, leaves, product)
        degree = gather(faces, v, near, offsets, targets)
        total = 0.0
        for i in range(number):
            arrived = 0.0
            for h in range(number):
                arrived += row[h] * begun[v, h, i]
            for coins in range(1 << bits):
                word = (np.int64(old[v]) & ~private) | hidden[i]
                outcome[i, coins] = transition(word, me, near, degree, coins, p, layout)
                departs = (outcome[i, coins] ^ np.int64(new[v])) & ~private != 0
                weight[i, coins] = arrived if departs == leaving[v] else 0.0
                total += weight[i, coins]
        rest = total * double_at(key, time, v)
        chosen = np.int64(-1)
        for i in range(number):
            for coins in range(1 << bits):
                if weight[i, coins] > 0 and (chosen < 0 or rest > 0):
                    chosen = outcome[i, coins]
                    rest -= weight[i, coins]
        if chosen < 0:
            return False
        result[v] = chosen
        unpack(chosen, me[0], layout)
        show(me[0], result_faces[v])
    return True
