"""The compiled walk: a configuration moves until the leader is lost, or its importance leaves a band.

The importance is looked at every `look` steps, and the leader at every step. The states that are kept are always
seen at a look, so the walk from look to look is a Markov chain of its own and nothing is approximated. All kernels
work in slices of `budget` steps and go on where they were, so that an interrupt is answered at once.
"""

from typing import Any, NamedTuple

import numpy as np

from hegemon.compute.philox import word_at
from hegemon.compute.randomness import next_index, next_pair

BUDGET, ROSE, FELL, LOST, FAILED = 0, 1, 2, 3, 4  # how a walk ended

# ruff: noqa: F821 - `pair`, `recall`, `remember`, `importance`, `interact`, `encode`, `decode`, `walk` … are bound by specialize


class WalkTables(NamedTuple):
    """What a walk reads: the graph, the table of pairs (filled as they occur), the outputs, the importance's tables."""

    arcs: np.ndarray
    table: np.ndarray
    outputs: np.ndarray
    parameters: np.ndarray
    layout: np.ndarray
    scratch: np.ndarray  # two wide records
    tables: Any  # what the importance reads
    tag: np.ndarray  # the clone under way, for an importance that keeps a log
    look: int


class Entries(NamedTuple):
    """Configurations in which walks begin, one row each: codes, importance, and the last meeting if it was a loss."""

    populations: np.ndarray
    values: np.ndarray
    ends: np.ndarray


class Clock(NamedTuple):
    """Where a walk is: integers in `at` (see the kernels), the four words of its stream in `rng`."""

    at: np.ndarray
    rng: np.ndarray
    last: np.ndarray  # the codes of the pair whose meeting lost the leader: two before, two after


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


def draw_pairs(arcs, rng, n, pairs):
    """Who meets whom, as a walk with this stream has it."""
    for k in range(len(pairs)):
        pairs[k, 0], pairs[k, 1] = pair(arcs, rng, n)


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


def walk(population, model, clock, low, high, budget):
    """From a look until importance >= high (ROSE), <= low (FELL), or the loss of the leader; in slices.

    at[0] steps of the whole walk, at[1] steps since the last look. Answers how it ended and the importance then.
    """
    at, rng, n = clock.at, clock.rng, len(population)
    for _ in range(budget):
        i, j = pair(model.arcs, rng, n)
        a, b = np.int64(population[i]), np.int64(population[j])
        after = recall(a, b, model)
        if after < 0:
            clock.last[0], clock.last[1] = a, b
            after = compute(a, b, model)
            if after < 0:
                return FAILED, 0.0
            remember(a, b, model, after)
        after_a, after_b = after >> 31, after & 0x7FFFFFFF
        population[i], population[j] = after_a, after_b
        at[0] += 1
        at[1] += 1
        if model.outputs[a] != model.outputs[after_a] or model.outputs[b] != model.outputs[after_b]:
            clock.last[0], clock.last[1], clock.last[2], clock.last[3] = a, b, after_a, after_b
            at[1] = 0
            return LOST, np.inf
        if at[1] == model.look:
            at[1] = 0
            value = importance(population, model)
            if value >= high:
                return ROSE, value
            if value <= low:
                return FELL, value
    return BUDGET, 0.0


def steady(population, start, model, clock, low, high, until, entries, budget):
    """The process that begins anew at `start` whenever the leader is lost, up to step `until`.

    Inside, it waits for importance >= high, which is an *entry*; outside, for importance <= low. A loss inside is an
    entry of infinite importance. A uniform sample of all entries is kept.
    at[2] is 1 outside, at[3] counts entries, at[4] losses. Answers whether something failed.
    """
    at = clock.at
    while budget > 0 and at[0] < until:
        before = at[0]
        below, above = (low, np.inf) if at[2] else (-np.inf, high)
        ended, value = walk(population, model, clock, below, above, min(budget, until - at[0]))
        budget -= at[0] - before
        if ended == FAILED:
            return True
        if ended == FELL:
            at[2] = 0
        if ended in (ROSE, LOST) and not at[2]:
            at[3] += 1
            place = at[3] - 1
            if at[3] > len(entries.values):
                place = next_index(clock.rng, at[3])
            if place < len(entries.values):
                keep(entries, place, population, value, clock)
            at[2] = 1
        if ended == LOST:
            at[4] += 1
            at[2] = 0
            copy(start, population)
    return False


def copy(source, target):
    for i in range(len(target)):
        target[i] = source[i]


def survey(population, start, model, clock, values, budget):
    """The importance at every look of the same process: at[3] looks so far, at[4] losses; whether it failed."""
    at = clock.at
    while budget > 0 and at[3] < len(values):
        before = at[0]
        ended, value = walk(population, model, clock, -np.inf, -np.inf, budget)
        budget -= at[0] - before
        if ended == FAILED:
            return True
        if ended == ROSE:
            values[at[3]] = value
            at[3] += 1
        if ended == LOST:
            at[4] += 1
            copy(start, population)
    return False


def begin_clone(population, model, clock, key, number, before, size):
    """Clone at[2] of a stage: its own stream (key, number, clone), and the entry that it is a copy of."""
    at = clock.at
    for word in range(4):
        clock.rng[word] = word_at(key, number, 5 * at[2] + word)
    chosen = np.int64(word_at(key, number, 5 * at[2] + 4) % np.uint64(size))
    model.tag[0] = at[2]
    at[0] = at[1] = 0
    for i in range(len(population)):
        population[i] = before.populations[chosen, i]
    return chosen


def stage(population, model, clock, low, high, key, number, before, size, after, parents, budget):
    """Clones of the first `size` entries: each walks until importance >= high, or <= low, or the loss.

    Those that rise, or lose the leader, are the entries of the next stage; `parents` says whose clones they are,
    which clones, and after how many steps. at[2] the clone, at[3] how many rose, at[4] 1 + the parent of the clone
    under way, at[6] all steps.
    Answers whether something failed.
    """
    at = clock.at
    while at[2] < len(parents) and budget > 0:
        if not at[4]:
            at[4] = 1 + begin_clone(population, model, clock, key, number, before, size)
        chosen, steps = at[4] - 1, at[0]
        ended, value = ROSE, before.values[chosen]
        if steps > 0 or value < high:  # otherwise it has jumped over this level already
            ended, value = walk(population, model, clock, low, high, budget)
            at[6] += at[0] - steps
            budget -= at[0] - steps
            if ended == FAILED:
                return True
            if ended == BUDGET:
                return False
        elif value == np.inf:
            for part in range(4):
                clock.last[part] = before.ends[chosen, part]
        budget -= 1
        if ended != FELL:
            keep(after, at[3], population, value, clock)
            parents[at[3], 0], parents[at[3], 1], parents[at[3], 2] = chosen, at[2], at[0]
            at[3] += 1
        at[2] += 1
        at[4] = 0
    return False


def keep(entries, place, population, value, clock):
    for i in range(len(population)):  # loops: assigning a row compiles a hundred times longer
        entries.populations[place, i] = population[i]
    for part in range(4):
        entries.ends[place, part] = clock.last[part]
    entries.values[place] = value


def heights(population, model, clock, low, key, number, before, size, highest, budget):
    """The largest importance that each clone sees before it falls; infinite if it loses the leader."""
    at = clock.at
    while at[2] < len(highest) and budget > 0:
        if not at[4]:
            at[4] = 1 + begin_clone(population, model, clock, key, number, before, size)
            highest[at[2]] = before.values[at[4] - 1]
        steps = at[0]
        ended = LOST
        if highest[at[2]] < np.inf:
            above = np.nextafter(highest[at[2]], np.inf)
            ended, value = walk(population, model, clock, low, above, budget)
            if ended in (ROSE, LOST):
                highest[at[2]] = value
        at[6] += at[0] - steps
        budget -= 1 + at[0] - steps
        if ended == FAILED:
            return True
        if ended == BUDGET:
            return False
        if ended != ROSE:
            at[2] += 1
            at[4] = 0
    return False
