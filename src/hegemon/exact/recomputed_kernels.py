"""Compiled passes over all configurations of a graph, with successors recomputed from the tables each time.

Configurations are visited in the order of their keys, a range of 64-bit words of the map of representatives at a time,
so that threads share the work. Values are stored by rank: how many representatives come before.
"""

from typing import NamedTuple

import numpy as np

from hegemon.compute.caching import inlined_kernel, kernel

WORD = 64
DONE = -1


class Ranked(NamedTuple):
    """A protocol on a graph, as tables, and the map of its representatives."""

    arcs: np.ndarray  # initiator and responder
    powers: np.ndarray  # of the number of states, one per place
    after_first: np.ndarray  # the initiator's state after each pair
    after_second: np.ndarray  # the responder's
    changes: np.ndarray  # whether an output changes
    words: np.ndarray  # one bit per key: whether it is a representative
    before: np.ndarray  # how many representatives come before each word
    turns: int  # q**n - 1, or 0 where rotations are distinguished


@kernel
def ones(word):
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def rank_of(key, words, before):
    word, bit = key >> 6, key & 63
    below = words[word] & ((np.uint64(1) << np.uint64(bit)) - np.uint64(1))
    return before[word] + ones(below)


@kernel
def smallest(key, codes, q, turns):
    """The least key among the rotations of an array of codes; `turns` is q**n - 1, or 0 without rotations."""
    best = turned = key
    if turns > 0:
        for place in range(len(codes) - 1, 0, -1):
            turned = turned * q - codes[place] * turns
            best = min(best, turned)
    return best


@kernel
def digits(key, q, codes):  # as in `kernels`: a cached kernel calls nothing of another file
    for place in range(len(codes)):
        codes[place] = key % q
        key //= q


@kernel
def mark_representatives(first, last, size, n, q, turns, words):
    """The map of the keys that are the least among their rotations."""
    codes = np.empty(n, np.int64)
    for word in range(first, last):
        marks = np.uint64(0)
        for key in range(word * WORD, min((word + 1) * WORD, size)):
            digits(key, q, codes)
            if smallest(key, codes, q, turns) == key:
                marks |= np.uint64(1) << np.uint64(key - word * WORD)
        words[word] = marks


@kernel
def count_before(words, before):
    """How many representatives come before every word; how many there are."""
    number = 0
    for word in range(len(words)):
        before[word] = number
        number += ones(words[word])
    return number


@kernel
def representatives(first, last, words):
    """The keys of the representatives in a range of words; their ranks follow each other."""
    number = 0
    for word in range(first, last):
        number += ones(words[word])
    keys = np.empty(number, np.int64)
    place = 0
    for word in range(first, last):
        left = words[word]
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                keys[place] = word * WORD + bit
                place += 1
    return keys


@inlined_kernel  # as a function call it takes six times as long
def target(key, arc, codes, model):
    """The rank of the configuration after an interaction along an arc."""
    i, j = model.arcs[arc, 0], model.arcs[arc, 1]
    a, b = codes[i], codes[j]
    after_a, after_b = model.after_first[a, b], model.after_second[a, b]
    codes[i], codes[j] = after_a, after_b
    after = key + (after_a - a) * model.powers[i] + (after_b - b) * model.powers[j]
    after = smallest(after, codes, model.after_first.shape[0], model.turns)
    codes[i], codes[j] = a, b
    return rank_of(after, model.words, model.before)


@inlined_kernel
def changes_output(arc, codes, model):
    return model.changes[codes[model.arcs[arc, 0]], codes[model.arcs[arc, 1]]]


@kernel
def find_exit(first, last, model, inside, outputs_too):
    """The first representative inside from which an arc leads outside (or changes an output): key and arc."""
    codes = np.empty(len(model.powers), np.int64)
    rank = np.int64(model.before[first])
    for key in representatives(first, last, model.words):
        if inside[rank]:
            digits(key, model.after_first.shape[0], codes)
            for arc in range(len(model.arcs)):
                if outputs_too:
                    if changes_output(arc, codes, model):
                        return key, arc
                elif not inside[target(key, arc, codes, model)]:
                    return key, arc
        rank += 1
    return DONE, DONE


@kernel
def count_exits(first, last, model, inside):
    """From how many representatives inside some arc leads outside."""
    codes = np.empty(len(model.powers), np.int64)
    rank, number = np.int64(model.before[first]), 0
    for key in representatives(first, last, model.words):
        if inside[rank]:
            digits(key, model.after_first.shape[0], codes)
            for arc in range(len(model.arcs)):
                if not inside[target(key, arc, codes, model)]:
                    number += 1
                    break
        rank += 1
    return number


@kernel
def spread(first, last, model, marked, allowed):
    """Mark every allowed representative that has a marked successor; how many were new."""
    codes = np.empty(len(model.powers), np.int64)
    rank, number = np.int64(model.before[first]), 0
    for key in representatives(first, last, model.words):
        if not marked[rank] and allowed[rank]:
            digits(key, model.after_first.shape[0], codes)
            for arc in range(len(model.arcs)):
                if marked[target(key, arc, codes, model)]:
                    marked[rank] = True
                    number += 1
                    break
        rank += 1
    return number


@kernel
def sweep(first, last, backwards, model, active, cost, values, moves, frozen, low):
    """Gauss-Seidel in place: x = (cost + sum over the other successors) / (arcs that change); the largest change.

    What every value changed by is written to `moves`. Other ranges are swept at the same time: their values, from rank
    `low` on, are read from `frozen`, as they were before, so that no result depends on which thread is faster.
    """
    codes = np.empty(len(model.powers), np.int64)
    keys = representatives(first, last, model.words)
    begin, high, change = np.int64(model.before[first]), low + len(frozen), 0.0
    for step in range(len(keys)):
        place = len(keys) - 1 - step if backwards else step
        key, rank = keys[place], model.before[first] + place
        if active[rank]:
            digits(key, model.after_first.shape[0], codes)
            total, rest = float(cost), len(model.arcs)
            for arc in range(len(model.arcs)):
                after = target(key, arc, codes, model)
                if after == rank:
                    rest -= 1
                elif low <= after < high and not begin <= after < begin + len(keys):
                    total += frozen[after - low]
                else:
                    total += values[after]
            value = total / rest
            moves[rank] = value - values[rank]
            change = max(change, abs(value - values[rank]))
            values[rank] = value
    return change


@kernel
def largest_residual(first, last, model, active, values):
    """The largest |1 - x + mean of x over the successors|, and the largest value."""
    codes = np.empty(len(model.powers), np.int64)
    rank, worst, highest = np.int64(model.before[first]), 0.0, 0.0
    for key in representatives(first, last, model.words):
        if active[rank]:
            digits(key, model.after_first.shape[0], codes)
            total = float(len(model.arcs))
            for arc in range(len(model.arcs)):
                total += values[target(key, arc, codes, model)] - values[rank]
            worst = max(worst, abs(total / len(model.arcs)))
            highest = max(highest, values[rank])
        rank += 1
    return worst, highest


@kernel
def summed(first, last, model, values):
    """Sum of the values over all labelled configurations of these representatives, and how many there are."""
    q, codes = model.after_first.shape[0], np.empty(len(model.powers), np.int64)
    rank, total, number = np.int64(model.before[first]), 0.0, 0
    for key in representatives(first, last, model.words):
        digits(key, q, codes)
        orbit, turned = 1, key
        if model.turns > 0:
            for place in range(len(codes) - 1, 0, -1):
                turned = turned * q - codes[place] * model.turns
                if turned == key:
                    break
                orbit += 1
        total += orbit * values[rank]
        number += orbit
        rank += 1
    return total, number


@kernel
def push(first, last, model, level, now):
    """From every representative of this level, along arcs that change no output, to the next level; how many."""
    codes = np.empty(len(model.powers), np.int64)
    rank, number = np.int64(model.before[first]), 0
    for key in representatives(first, last, model.words):
        if level[rank] == now:
            digits(key, model.after_first.shape[0], codes)
            for arc in range(len(model.arcs)):
                if not changes_output(arc, codes, model):
                    after = target(key, arc, codes, model)
                    if level[after] < 0:
                        level[after] = now + 1
                        number += 1
        rank += 1
    return number


@kernel
def find_into(first, last, model, level, now, wanted):
    """A representative of this level from which an arc that changes no output leads to the wanted rank."""
    codes = np.empty(len(model.powers), np.int64)
    rank = np.int64(model.before[first])
    for key in representatives(first, last, model.words):
        if level[rank] == now:
            digits(key, model.after_first.shape[0], codes)
            for arc in range(len(model.arcs)):
                if not changes_output(arc, codes, model) and target(key, arc, codes, model) == wanted:
                    return key
        rank += 1
    return DONE
