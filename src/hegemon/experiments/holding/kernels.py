"""One iteration of a weighted ensemble, compiled: every walker makes the steps between two samples, then each cell
gets its share of walkers, with the weight that it had.

A walker that loses the leader begins anew at the start at once, as the process itself does, so nothing is
approximated: the lost weight per step is the rate of losses. Weights are kept as logarithms. Clone and
iteration name a random stream, so a walker's path can be repeated.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from hegemon.compute.philox import double_at, word_at
from hegemon.compute.randomness import next_index

DONE, FAILED = 0, 1
RESAMPLING, ROUNDING = 1 << 40, 1 << 41  # indices of the words that move a cell's comb and round its share, beyond
# those of all walkers
HEAVY = 9.0  # cells with a walker whose log weight is this close to the heaviest always keep one
GUIDED = 0.75  # the share of walkers that go where losses came from; the others go to all cells equally

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
    tried: np.ndarray  # the codes of the last pair
    bits: int  # bits of a code
    look: int  # steps between two samples


class Walkers(NamedTuple):
    """Configurations, one row each, with the logarithms of their weights."""

    populations: np.ndarray
    weights: np.ndarray


class Sorting(NamedTuple):
    """Scratch for walkers in the order of their cells."""

    keys: np.ndarray  # the cell of every walker
    slots: np.ndarray  # a hash table of cells, -1 for an empty slot
    names: np.ndarray  # the key of every cell
    ends: np.ndarray  # where its walkers end, in the order of cells
    order: np.ndarray
    shares: np.ndarray  # the mean number of walkers that every cell should get
    numbers: np.ndarray  # the number that it gets
    lost: np.ndarray  # the logarithm of the weight that every walker lost since the last sample
    parents: np.ndarray  # the walker that every new walker was cloned from


class Losses(NamedTuple):
    """What was lost so far: how often, the weight (its largest part, and all of it over that), a weighted sample of the
    meetings, and the steps at which the first ones happened."""

    numbers: np.ndarray
    weight: np.ndarray
    ends: np.ndarray
    first: np.ndarray  # the first walker to lose its leader
    times: np.ndarray
    clock: np.ndarray  # steps so far
    rng: np.ndarray


def compute(a, b, model):
    """What two codes become, in one number: both codes, a bit that it is known, and one that an output changes. 0 if a
    field left its range."""
    scratch, outputs, bits = model.scratch, model.outputs, uint64(model.bits)
    decode(np.int64(a), scratch[0], model.layout)
    decode(np.int64(b), scratch[1], model.layout)
    interact(scratch[0], scratch[1], model.parameters[0])
    after_a, after_b = encode(scratch[0], model.layout), encode(scratch[1], model.layout)
    if after_a < 0 or after_b < 0:
        return uint64(0)
    flags = uint64(1)
    if outputs[a] != outputs[after_a] or outputs[b] != outputs[after_b]:
        flags |= uint64(2)
    return (((flags << bits) | uint64(after_a)) << bits) | uint64(after_b)


def recall_from_table(a, b, model):
    """The same from the table of pairs, if it is there; 0 if not."""
    return uint64(model.table[a * uint64(len(model.outputs)) + b])


def remember_in_table(a, b, model, entry):
    model.table[a * uint64(len(model.outputs)) + b] = entry


def recall_nothing(a, b, model):
    return uint64(0)


def remember_nothing(a, b, model, entry):
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
    """Make that many steps of the process, which begins again at the start whenever the leader is lost."""
    n, bits = len(population), uint64(model.bits)
    code, changes = (uint64(1) << bits) - uint64(1), uint64(2) << (bits + bits)
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for step in range(steps):
        i, j, s0, s1, s2, s3 = pair(model.arcs, n, s0, s1, s2, s3)
        a, b = uint64(population[i]), uint64(population[j])
        entry = recall(a, b, model)
        if entry == 0:
            model.tried[0], model.tried[1] = a, b
            entry = compute(a, b, model)
            if entry == 0:
                return FAILED
            remember(a, b, model, entry)
        after_a, after_b = (entry >> bits) & code, entry & code
        population[i], population[j] = after_a, after_b
        if entry & changes:
            lose(losses, weight, a, b, after_a, after_b)
            if losses.numbers[0] <= len(losses.times):
                losses.times[losses.numbers[0] - 1] = losses.clock[0] + step + 1
            for k in range(n):
                population[k] = model.start[k]
    losses.clock[0] += steps
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return DONE


def scatter(population, model, rng, before, gap, populations, losses):
    """Configurations of the process itself, `gap` steps apart, after `before` steps."""
    failed = walk(population, model, rng, before, 0.0, losses)
    for x in range(len(populations)):
        failed = failed or walk(population, model, rng, gap, 0.0, losses)
        for i in range(len(population)):
            populations[x, i] = population[i]
    return failed


def move(now, first, last, model, key, time, sorting, losses, learns):
    """Walkers from `first` to before `last` make their steps and find their cells; whether something failed."""
    rng = np.empty(4, np.uint64)
    for x in range(first, last):
        begin_stream(rng, key, time, x)
        before = losses.numbers[0]
        if walk(now.populations[x], model, rng, model.look, now.weights[x], losses) == FAILED:
            return FAILED
        lost = losses.numbers[0] - before
        sorting.lost[x] = now.weights[x] + np.log(lost) if lost else -np.inf
        if before == 0 and lost:
            losses.first[0] = x
        sorting.keys[x] = cell(now.populations[x], model, now.weights[x], learns)
    return DONE


def sort(size, sorting):
    """Walkers in the order of their cells, whose number is returned."""
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


def divide(now, size, each, least, most, merits, key, time, sorting):
    """Into cells, and how many walkers each is to have: most where the pilot's losses came from, some everywhere.

    A share is rounded by chance. A share below one is a roulette: the cell keeps a walker that often, with so much more
    weight, unless it is among the heaviest. So the weight of every set of configurations is kept on average.
    """
    cells = sort(size, sorting)
    whole, sum_ = min(max(each * cells, least), most), 0.0
    if len(merits):
        for c in range(cells):
            sum_ += merits[sorting.names[c]]
    top = -np.inf
    for x in range(size):
        top = max(top, now.weights[x])
    total = begin = 0
    for c in range(cells):
        share = whole / cells
        if sum_ > 0.0:
            share = (1.0 - GUIDED) * share + GUIDED * whole * merits[sorting.names[c]] / sum_
        heavy = False
        for k in range(begin, sorting.ends[c]):
            heavy = heavy or now.weights[sorting.order[k]] > top - HEAVY
        share = max(share, 1.0) if heavy else share
        sorting.shares[c] = share
        sorting.numbers[c] = np.int64(share + double_at(key, time, ROUNDING + c))
        total += sorting.numbers[c]
        begin = sorting.ends[c]
    return total, cells


def deal(now, then, cells, key, time, sorting):
    """The walkers of the next iteration, drawn cell by cell by a comb (systematic resampling), with equal weights in a
    cell."""
    place = begin = 0
    for c in range(cells):
        end, number = sorting.ends[c], sorting.numbers[c]
        if number:
            top = -np.inf
            for k in range(begin, end):
                top = max(top, now.weights[sorting.order[k]])
            total = 0.0
            for k in range(begin, end):
                total += np.exp(now.weights[sorting.order[k]] - top)
            tooth, offset = total / number, double_at(key, time, RESAMPLING + c)
            weight = top + np.log(tooth) - np.log(min(sorting.shares[c], 1.0))
            k = begin
            passed = np.exp(now.weights[sorting.order[k]] - top)
            for one in range(number):
                while passed <= (offset + one) * tooth and k < end - 1:
                    k += 1
                    passed += np.exp(now.weights[sorting.order[k]] - top)
                chosen = sorting.order[k]
                for i in range(now.populations.shape[1]):
                    then.populations[place, i] = now.populations[chosen, i]
                then.weights[place] = weight
                sorting.parents[place] = chosen
                place += 1
        begin = end


def draw_pairs(arcs, rng, n, pairs):
    """The pairs that meet in a walk with this stream."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for k in range(len(pairs)):
        pairs[k, 0], pairs[k, 1], s0, s1, s2, s3 = pair(arcs, n, s0, s1, s2, s3)
