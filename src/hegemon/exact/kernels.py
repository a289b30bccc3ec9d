"""Compiled exploration: from a configuration, as one integer, to all its successors with their weights.

A *key* is a configuration up to symmetry. On a complete graph it is the rank of the multiset of codes in the
combinatorial number system; elsewhere it is the array of codes read as a number to the base q, on rings the
smallest of its rotations. Protocols enter as tables only, so these functions are compiled once for all.
"""

from typing import NamedTuple

import numpy as np

from hegemon.compute.caching import kernel

EMPTY = -1


class Model(NamedTuple):
    """A protocol on a graph, as tables."""

    rotations: bool  # whether a key stands for all its rotations
    powers: np.ndarray  # of the number of states, one per place
    choose: np.ndarray  # numbers of multisets, for ranks
    first: np.ndarray  # the initiator's state after each pair
    second: np.ndarray  # the responder's
    changes: np.ndarray  # whether an output changes
    places: np.ndarray  # where the rows of each memory of the scheduler begin, and the end of the last


@kernel
def unrank(key, choose, codes):
    """The sorted codes with this rank; `choose[i, c]` is the number of (i+1)-multisets of codes below c."""
    for place in range(len(codes) - 1, -1, -1):
        low, high = 0, choose.shape[1] - 1
        while low < high:
            middle = (low + high + 1) // 2
            if choose[place, middle] <= key:
                low = middle
            else:
                high = middle - 1
        codes[place] = low
        key -= choose[place, low]


@kernel
def rank(codes, choose):
    key = np.int64(0)
    for place in range(len(codes)):
        key += choose[place, codes[place]]
    return key


@kernel
def digits(key, q, codes):
    for place in range(len(codes)):
        codes[place] = key % q
        key //= q


@kernel
def smallest_rotation(key, q, top):
    """The least key among the rotations; `top` is q**(n-1)."""
    best, turned = key, key // q + (key % q) * top
    while turned != key:
        best = min(best, turned)
        turned = turned // q + (turned % q) * top
    return best


@kernel
def replace_two(codes, first, second, after_first, after_second, fresh):
    """Sorted `codes` with one `first` and one `second` replaced, sorted again, into `fresh`."""
    length = 0
    missing_first, missing_second = True, True
    for place in range(len(codes)):
        code = codes[place]
        if missing_first and code == first:
            missing_first = False
        elif missing_second and code == second:
            missing_second = False
        else:
            fresh[length] = code
            length += 1
    for extra in (after_first, after_second):
        place = length
        while place > 0 and fresh[place - 1] > extra:
            fresh[place] = fresh[place - 1]
            place -= 1
        fresh[place] = extra
        length += 1


@kernel
def add(keys, weights, keeps, size, key, weight, keep):
    """Into a short list sorted by key, adding weights of equal keys; the new length."""
    place = size
    while place > 0 and keys[place - 1] > key:
        place -= 1
    if place > 0 and keys[place - 1] == key:
        weights[place - 1] += weight
        keeps[place - 1] += keep
        return size
    for k in range(size, place, -1):
        keys[k], weights[k], keeps[k] = keys[k - 1], weights[k - 1], keeps[k - 1]
    keys[place], weights[place], keeps[place] = key, weight, keep
    return size + 1


@kernel
def successors_of_multiset(key, model, codes, fresh, keys, weights, keeps):
    choose, after_first, after_second, changes = model.choose, model.first, model.second, model.changes
    unrank(key, choose, codes)
    n, size = len(codes), 0
    i = 0
    while i < n:
        a = codes[i]
        next_i = i
        while next_i < n and codes[next_i] == a:
            next_i += 1
        j = 0
        while j < n:
            b = codes[j]
            next_j = j
            while next_j < n and codes[next_j] == b:
                next_j += 1
            weight = (next_i - i) * (next_j - j - (1 if a == b else 0))
            if weight > 0:
                for row in range(a, after_first.shape[0], after_first.shape[1]):  # for every value of the coins
                    after_a, after_b = after_first[row, b], after_second[row, b]
                    target = key
                    if not ((after_a == a and after_b == b) or (after_a == b and after_b == a)):
                        replace_two(codes, a, b, after_a, after_b, fresh)
                        target = rank(fresh, choose)
                    size = add(keys, weights, keeps, size, target, weight, 0 if changes[row, b] else weight)
            j = next_j
        i = next_i
    return size


@kernel
def successors_of_array(key, model, arcs, codes, keys, weights, keeps):
    powers, after_first, after_second = model.powers, model.first, model.second
    q, memories = after_first.shape[1], len(model.places) - 1
    memory = key % memories
    key //= memories
    digits(key, q, codes)
    size = 0
    for k in range(model.places[memory], model.places[memory + 1]):
        i, j = arcs[k, 0], arcs[k, 1]
        a, b = codes[i], codes[j]
        row = arcs[k, 2] + a  # of the tables of one value of the coins
        target = key + (after_first[row, b] - a) * powers[i] + (after_second[row, b] - b) * powers[j]
        if model.rotations:
            target = smallest_rotation(target, q, powers[-1])
        weight = arcs[k, 3]
        target = target * memories + arcs[k, 4]
        size = add(keys, weights, keeps, size, target, weight, 0 if model.changes[row, b] else weight)
    return size


@kernel
def successors(key, model, arcs, codes, fresh, keys, weights, keeps):
    """All successors of a configuration, keys ascending; the number of them.

    `arcs` are initiator, responder, the first row of their coin, the weight and what the scheduler remembers after
    them; None on complete graphs, so that only what is needed is compiled. `weights` adds up the arcs that lead there,
    `keeps` those among them that change no agent's output.
    """
    if arcs is None:
        return successors_of_multiset(key, model, codes, fresh, keys, weights, keeps)
    return successors_of_array(key, model, arcs, codes, keys, weights, keeps)


@kernel
def expand(sources, n, width, model, arcs, lengths, keys, weights, keeps):
    """The rows of the chain for these sources, one after the other; the total number of entries."""
    codes, fresh = np.empty(n, np.int64), np.empty(n, np.int64)
    total = 0
    for row in range(len(sources)):
        rest = keys[total:], weights[total:], keeps[total:]
        lengths[row] = successors(sources[row], model, arcs, codes, fresh, *rest)
        total += lengths[row]
    return total


@kernel
def find(key, slots, known):
    """The slot of a key, or the free slot where it belongs (open addressing; the number of slots is a power of two)."""
    mask = np.uint64(len(slots) - 1)
    place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while slots[place] != EMPTY and known[slots[place]] != key:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def rehash(known, size, slots):
    for index in range(size):
        slots[find(known[index], slots, known)] = index


@kernel
def explore(
    done, size, entries, n, width, budget, model, arcs, known, slots, parents, offsets, targets, weights, keeps
):
    """Breadth-first from known[done:size], at most `budget` rows or until an array is full.

    Configurations are numbered as they are found, so row k of the chain is written when k is expanded, and
    `parents` leads back to a start along a shortest path.
    """
    codes, fresh, keys = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(width, np.int64)
    last = done + budget
    while done < min(size, last):
        if entries + width > len(targets) or size + width > len(known) or 2 * (size + width) > len(slots):
            break
        count = successors(known[done], model, arcs, codes, fresh, keys, weights[entries:], keeps[entries:])
        for k in range(count):
            place = find(keys[k], slots, known)
            if slots[place] == EMPTY:
                slots[place] = size
                known[size] = keys[k]
                parents[size] = done
                size += 1
            targets[entries + k] = slots[place]
        entries += count
        done += 1
        offsets[done] = entries
    return done, size, entries


@kernel
def add_breaks(codes, memory, visits, arcs, places, changes, ends):
    """Expected number of times that each pair of states meets in a way that changes an output, by coins."""
    for row in range(len(codes)):
        for arc in range(places[memory[row]], places[memory[row] + 1]):
            place, b = arcs[arc, 2] + codes[row, arcs[arc, 0]], codes[row, arcs[arc, 1]]
            if changes[place, b]:
                ends[place, b] += visits[row] * arcs[arc, 3]
