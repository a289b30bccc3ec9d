"""Compiled passes over all configurations of a graph, with successors recomputed from the tables each time.

Configurations are visited in the order of their keys, a range of 64-bit words of the map of representatives at a time,
so that threads share the work. Values are stored by rank: how many representatives come before.
"""

import numpy as np

from hegemon.compute.caching import inlined_kernel, kernel

WORD = 64
DONE = -1


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
def mark_representatives(first, last, size, n, q, turns, words):
    """The map of the keys that are the least among their rotations."""
    codes = np.empty(n, np.int64)
    for word in range(first, last):
        found = np.uint64(0)
        for key in range(word * WORD, min((word + 1) * WORD, size)):
            rest = key
            for place in range(n):
                codes[place] = rest % q
                rest //= q
            if smallest(key, codes, q, turns) == key:
                found |= np.uint64(1) << np.uint64(key - word * WORD)
        words[word] = found


@kernel
def list_keys(first, last, words, keys):
    """The representatives in a range of words; how many."""
    number = 0
    for word in range(first, last):
        left = words[word]
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                keys[number] = word * WORD + bit
                number += 1
    return number


@kernel
def read(key, q, codes):
    for place in range(len(codes)):
        codes[place] = key % q
        key //= q


@inlined_kernel  # as a call it takes six times as long
def target(key, arc, codes, arcs, powers, first, second, words, before, turns):
    """The rank of the configuration after an interaction along an arc."""
    i, j = arcs[arc, 0], arcs[arc, 1]
    a, b = codes[i], codes[j]
    after_a, after_b = first[a, b], second[a, b]
    codes[i], codes[j] = after_a, after_b
    after = key + (after_a - a) * powers[i] + (after_b - b) * powers[j]
    after = smallest(after, codes, first.shape[0], turns)
    codes[i], codes[j] = a, b
    return rank_of(after, words, before)


@kernel
def find_exit(first, last, model, inside, outputs_too):
    """The first representative inside from which an arc leads outside (or changes an output): key and arc."""
    arcs, powers, after_first, after_second, changes, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if not left & (np.uint64(1) << np.uint64(bit)):
                continue
            if inside[rank]:
                key = word * WORD + bit
                read(key, after_first.shape[0], codes)
                for arc in range(len(arcs)):
                    if outputs_too:
                        if changes[codes[arcs[arc, 0]], codes[arcs[arc, 1]]]:
                            return key, arc
                    elif not inside[
                        target(key, arc, codes, arcs, powers, after_first, after_second, words, before, turns)
                    ]:
                        return key, arc
            rank += 1
    return DONE, DONE


@kernel
def count_exits(first, last, model, inside):
    """From how many representatives inside some arc leads outside."""
    arcs, powers, after_first, after_second, _, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    number = 0
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                if inside[rank]:
                    read(word * WORD + bit, after_first.shape[0], codes)
                    for arc in range(len(arcs)):
                        if not inside[
                            target(
                                word * WORD + bit,
                                arc,
                                codes,
                                arcs,
                                powers,
                                after_first,
                                after_second,
                                words,
                                before,
                                turns,
                            )
                        ]:
                            number += 1
                            break
                rank += 1
    return number


@kernel
def spread(first, last, model, marked, allowed):
    """Mark every allowed representative that has a marked successor; how many were new."""
    arcs, powers, after_first, after_second, _, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    number = 0
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                if not marked[rank] and allowed[rank]:
                    read(word * WORD + bit, after_first.shape[0], codes)
                    for arc in range(len(arcs)):
                        if marked[
                            target(
                                word * WORD + bit,
                                arc,
                                codes,
                                arcs,
                                powers,
                                after_first,
                                after_second,
                                words,
                                before,
                                turns,
                            )
                        ]:
                            marked[rank] = True
                            number += 1
                            break
                rank += 1
    return number


@kernel
def sweep(first, last, backwards, model, active, cost, values, moves):
    """Gauss-Seidel in place: x = (cost + sum over the other successors) / (arcs that change); the largest change.

    What every value changed by is written to `moves`.
    """
    arcs, powers, after_first, after_second, _, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    change = 0.0
    for step in range(first, last):
        word = first + last - 1 - step if backwards else step
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                if active[rank]:
                    read(word * WORD + bit, after_first.shape[0], codes)
                    total, rest = float(cost), len(arcs)
                    for arc in range(len(arcs)):
                        other = target(
                            word * WORD + bit, arc, codes, arcs, powers, after_first, after_second, words, before, turns
                        )
                        if other == rank:
                            rest -= 1
                        else:
                            total += values[other]
                    value = total / rest
                    moves[rank] = value - values[rank]
                    change = max(change, abs(value - values[rank]))
                    values[rank] = value
                rank += 1
    return change


@kernel
def largest_residual(first, last, model, active, values):
    """The largest |1 - x + mean of x over the successors|, and the largest value."""
    arcs, powers, after_first, after_second, _, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    worst, highest = 0.0, 0.0
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                if active[rank]:
                    read(word * WORD + bit, after_first.shape[0], codes)
                    total = float(len(arcs))
                    for arc in range(len(arcs)):
                        total += (
                            values[
                                target(
                                    word * WORD + bit,
                                    arc,
                                    codes,
                                    arcs,
                                    powers,
                                    after_first,
                                    after_second,
                                    words,
                                    before,
                                    turns,
                                )
                            ]
                            - values[rank]
                        )
                    worst = max(worst, abs(total / len(arcs)))
                    highest = max(highest, values[rank])
                rank += 1
    return worst, highest


@kernel
def summed(first, last, n, q, words, before, turns, values):
    """Sum of the values over all labelled configurations of these representatives, and how many there are."""
    codes = np.empty(n, np.int64)
    total, number = 0.0, 0
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                key = word * WORD + bit
                read(key, q, codes)
                orbit, turned = 1, key
                if turns > 0:
                    for place in range(n - 1, 0, -1):
                        turned = turned * q - codes[place] * turns
                        if turned == key:
                            break
                        orbit += 1
                total += orbit * values[rank]
                number += orbit
                rank += 1
    return total, number


@kernel
def count_before(words, before):
    """How many representatives come before every word; how many there are."""
    number = 0
    for word in range(len(words)):
        before[word] = number
        number += ones(words[word])
    return number


@kernel
def push(first, last, model, level, now):
    """From every representative of this level, along arcs that change no output, to the next level; how many."""
    arcs, powers, after_first, after_second, changes, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    number = 0
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                if level[rank] == now:
                    key = word * WORD + bit
                    read(key, after_first.shape[0], codes)
                    for arc in range(len(arcs)):
                        if not changes[codes[arcs[arc, 0]], codes[arcs[arc, 1]]]:
                            other = target(
                                key, arc, codes, arcs, powers, after_first, after_second, words, before, turns
                            )
                            if level[other] < 0:
                                level[other] = now + 1
                                number += 1
                rank += 1
    return number


@kernel
def find_into(first, last, model, level, now, wanted):
    """A representative of this level from which an arc that changes no output leads to the wanted rank."""
    arcs, powers, after_first, after_second, changes, words, before, turns = model
    codes = np.empty(len(powers), np.int64)
    for word in range(first, last):
        left, rank = words[word], np.int64(before[word])
        for bit in range(WORD):
            if left & (np.uint64(1) << np.uint64(bit)):
                if level[rank] == now:
                    key = word * WORD + bit
                    read(key, after_first.shape[0], codes)
                    for arc in range(len(arcs)):
                        if not changes[codes[arcs[arc, 0]], codes[arcs[arc, 1]]]:
                            other = target(
                                key, arc, codes, arcs, powers, after_first, after_second, words, before, turns
                            )
                            if other == wanted:
                                return key
                rank += 1
    return DONE
