"""One iteration of a weighted ensemble, compiled: every walker makes the steps between two looks, then each cell gets
as many walkers as every other, with the weight that it had.

A walker that loses the leader begins anew at the start at once, as the process itself does, so nothing is
approximated: the weights that are lost, per step, are the rate of losses. Weights are kept as logarithms. Clone and
iteration name a random stream, so a walker's way can be followed again.
"""

from typing import Any, NamedTuple

import numpy as np

from hegemon.compute.philox import double_at, word_at
from hegemon.compute.randomness import next_index, next_pair

DONE, FAILED = 0, 1
RESAMPLING = 1 << 40  # indices of the words that move a cell's comb, beyond those of all walkers

# ruff: noqa: F821 - `pair`, `recall`, `remember`, `cell`, `interact`, `encode`, `decode`, `walk` … are bound by specialize


class WalkTables(NamedTuple):
    """What a walk reads: the start, the graph, the table of pairs (filled as they occur), outputs, and the cells'
    tables."""

    start: np.ndarray
    arcs: np.ndarray
    table: np.ndarray
    outputs: np.ndarray
    parameters: np.ndarray
    layout: np.ndarray
    scratch: np.ndarray  # two wide records
    cells: Any
    tried: np.ndarray  # the codes of the pair that met last
    look: int  # steps between two looks


class Walkers(NamedTuple):
    """Configurations, one row each, with the logarithms of their weights."""

    populations: np.ndarray
    weights: np.ndarray


class Sorting(NamedTuple):
    """Scratch for walkers in the order of their cells."""

    keys: np.ndarray  # of every walker
    slots: np.ndarray  # a hash table: which cell is here, -1 for none
    names: np.ndarray  # the key of every cell
    ends: np.ndarray  # where its walkers end, in the order of cells
    order: np.ndarray
    parents: np.ndarray  # whose clone every new walker is


class Losses(NamedTuple):
    """What was lost so far: how often, the weight (its largest part, and all of it over that), and a weighted sample
    of the meetings."""

    numbers: np.ndarray
    weight: np.ndarray
    ends: np.ndarray
    first: np.ndarray  # the walker that was the first
    rng: np.ndarray


def pair_complete(arcs, rng, n):
    return next_pair(rng, n)


def pair_arcs(arcs, rng, n):
    arc = next_index(rng, len(arcs))
    return np.int64(arcs[arc, 0]), np.int64(arcs[arc, 1])


def compute(a, b, model):
    """Both codes after a and b have met, in one number; negative if a field left its range."""
    scratch = model.scratch
    decode(a, scratch[0], model.layout)
    decode(b, scratch[1], model.layout)
    interact(scratch[0], scratch[1], model.parameters[0])
    after_a, after_b = encode(scratch[0], model.layout), encode(scratch[1], model.layout)
    if after_a < 0 or after_b < 0:
        return np.int64(-1)
    return (after_a << 31) | after_b


def recall_from_table(a, b, model):
    """The same from the table of pairs, if it is there; -1 if not."""
    entry = np.int64(model.table[a * len(model.outputs) + b]) - 1
    return ((entry >> 16) << 31) | (entry & 0xFFFF) if entry >= 0 else np.int64(-1)


def remember_in_table(a, b, model, after):
    model.table[a * len(model.outputs) + b] = 1 + (((after >> 31) << 16) | (after & 0xFFFF))


def recall_nothing(a, b, model):
    return np.int64(-1)


def remember_nothing(a, b, model, after):
    pass


def begin_stream(rng, key, time, walker):
    for word in range(4):
        rng[word] = word_at(key, time, 4 * walker + word)


def lose(losses, weight, a, b, after_a, after_b):
    """Count a loss, and keep its meeting in proportion to its weight (Chao 1982)."""
    losses.numbers[0] += 1
    if weight > losses.weight[0]:
        losses.weight[1] *= np.exp(losses.weight[0] - weight)
        losses.weight[0] = weight
    part = np.exp(weight - losses.weight[0])
    losses.weight[1] += part
    size = len(losses.ends)
    place = losses.numbers[0] - 1
    if place >= size:
        place = next_index(losses.rng, size)
        chance = (next_index(losses.rng, 1 << 30) + 0.5) / (1 << 30)
        if chance * losses.weight[1] > part * size:
            return
    losses.ends[place, 0], losses.ends[place, 1] = a, b
    losses.ends[place, 2], losses.ends[place, 3] = after_a, after_b


def walk(population, model, rng, steps, weight, losses):
    """So many steps of the process that begins anew whenever the leader is lost."""
    n = len(population)
    for _ in range(steps):
        i, j = pair(model.arcs, rng, n)
        a, b = np.int64(population[i]), np.int64(population[j])
        after = recall(a, b, model)
        if after < 0:
            model.tried[0], model.tried[1] = a, b
            after = compute(a, b, model)
            if after < 0:
                return FAILED
            remember(a, b, model, after)
        after_a, after_b = after >> 31, after & 0x7FFFFFFF
        population[i], population[j] = after_a, after_b
        if model.outputs[a] != model.outputs[after_a] or model.outputs[b] != model.outputs[after_b]:
            lose(losses, weight, a, b, after_a, after_b)
            for k in range(n):
                population[k] = model.start[k]
    return DONE


def plain(population, model, rng, steps, losses):
    """The process itself."""
    return walk(population, model, rng, steps, 0.0, losses)


def move(now, first, last, model, key, time, sorting, losses, learns):
    """Walkers from `first` to before `last` make their steps and find their cells; whether something failed."""
    rng = np.empty(4, np.uint64)
    for x in range(first, last):
        begin_stream(rng, key, time, x)
        before = losses.numbers[0]
        if walk(now.populations[x], model, rng, model.look, now.weights[x], losses) == FAILED:
            return FAILED
        if before == 0 and losses.numbers[0]:
            losses.first[0] = x
        sorting.keys[x] = cell(now.populations[x], model, now.weights[x], learns)
    return DONE


def sort(size, sorting):
    """Walkers in the order of their cells, whose number is answered."""
    slots, keys = sorting.slots, sorting.keys
    mask = len(slots) - 1
    for place in range(len(slots)):
        slots[place] = -1
    cells = 0
    for x in range(size):
        key = keys[x]
        place = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while slots[place] >= 0 and sorting.names[slots[place]] != key:
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = cells
            sorting.names[cells] = key
            sorting.ends[cells] = 0
            cells += 1
        keys[x] = slots[place]  # from here on the number of the cell
        sorting.ends[slots[place]] += 1
    total = 0
    for c in range(cells):
        total, sorting.ends[c] = total + sorting.ends[c], total
    for x in range(size):
        sorting.order[sorting.ends[keys[x]]] = x
        sorting.ends[keys[x]] += 1
    return cells


def resample(now, then, size, each, least, key, time, sorting):
    """The walkers of the next iteration: in every cell so many, or more where cells are few, with equal weights, drawn
    by a comb (systematic resampling); answers how many, and in how many cells."""
    cells = sort(size, sorting)
    each = max(1, min(max(each, least // cells), len(then.weights) // cells))
    place = begin = 0
    for c in range(cells):
        end = sorting.ends[c]
        top = -np.inf
        for k in range(begin, end):
            top = max(top, now.weights[sorting.order[k]])
        total = 0.0
        for k in range(begin, end):
            total += np.exp(now.weights[sorting.order[k]] - top)
        tooth, offset = total / each, double_at(key, time, RESAMPLING + c)
        k = begin
        passed = np.exp(now.weights[sorting.order[k]] - top)
        for number in range(each):
            while passed <= (offset + number) * tooth and k < end - 1:
                k += 1
                passed += np.exp(now.weights[sorting.order[k]] - top)
            chosen = sorting.order[k]
            for i in range(now.populations.shape[1]):
                then.populations[place, i] = now.populations[chosen, i]
            then.weights[place] = top + np.log(tooth)
            sorting.parents[place] = chosen
            place += 1
        begin = end
    return place, cells


def draw_pairs(arcs, rng, n, pairs):
    """Who meets whom, as a walk with this stream has it."""
    for k in range(len(pairs)):
        pairs[k, 0], pairs[k, 1] = pair(arcs, rng, n)
