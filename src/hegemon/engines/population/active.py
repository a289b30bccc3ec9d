"""The kernels of engine `events`: which arcs are active, and what happens on them.

What the next events need is prefetched: the words of the generator are drawn ahead, and determine which arcs will be
drawn as long as the number of active arcs stays about the same.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64

from hegemon.compute.ahead import MASK, begin, finish, take, take_below, take_index
from hegemon.compute.compilation import lean
from hegemon.compute.intrinsics import blank, prefetch
from hegemon.compute.waiting import FOREVER, null_rate, null_run
from hegemon.engines.population.codes import FAILED, LIMIT, MET
from hegemon.engines.watching import holds_now

FAR, MIDDLE, NEAR = 9, 5, 2  # events: how far ahead memory is prefetched
RATES = 1 << 10
# The clock: the step, the step of the next event (-1: not drawn), how many arcs are active, the arc tried last, and
# how many events there were.
STEP, NEXT, ACTIVE, TRIED, EVENTS = range(5)
SOURCE, TARGET, PLACE = range(3)  # the columns of a row

# ruff: noqa: F821 - in kernels, `meet`, `recount`, `copy`, `same`, `settle`, `react` … are bound


class Rules(NamedTuple):
    """What an interaction needs: the parameters, how states are packed, the number of values of the coins, what wide
    records look like, and the gate to the stop's whole predicates."""

    parameters: np.ndarray
    layout: np.ndarray
    values: int
    wide: np.ndarray
    whole: np.ndarray


class Arcs(NamedTuple):
    """A row for every arc: its two ends, and where it is among the active ones (-1: nowhere); the active ones; the
    arcs at each node, where these begin, and how many they are if all nodes have equally many (0: they differ)."""

    rows: np.ndarray
    active: np.ndarray
    incident: np.ndarray
    first: np.ndarray
    degree: int


class Rates(NamedTuple):
    """The rates of waiting for some numbers of active arcs, each at the number modulo their size."""

    numbers: np.ndarray
    rates: np.ndarray


def react(a, b, c, d, coin, rules):  # type: ignore[no-untyped-def]
    """What a and b become, in the wide records c and d."""
    copy(a, c)
    copy(b, d)
    meet(c, d, rules.parameters[0], coin)


def changes(a, b, rules):  # type: ignore[no-untyped-def]
    """Whether any value of the coins changes something. A state out of range counts: it ends the run if it is drawn."""
    c, d = blank(rules.wide), blank(rules.wide)
    for coin in range(rules.values):
        react(a, b, c, d, coin, rules)
        clear(c, rules.layout)
        clear(d, rules.layout)
        if not (same(a, c) and same(b, d)):
            return True
    return False


def find_active(population, rules, arcs, clock):  # type: ignore[no-untyped-def]
    """Try every arc on copies, and list those that may change something."""
    clock[ACTIVE] = 0
    for arc in range(len(arcs.rows)):
        clock[TRIED] = arc
        a, b = population[arcs.rows[arc, SOURCE]], population[arcs.rows[arc, TARGET]]
        arcs.rows[arc, PLACE] = -1
        if changes(a, b, rules):
            arcs.rows[arc, PLACE] = clock[ACTIVE]
            arcs.active[clock[ACTIVE]] = arc
            clock[ACTIVE] += 1


@lean
def begin_of(arcs, node):  # type: ignore[no-untyped-def]
    """Where the arcs at a node begin."""
    return uint64(node) * uint64(arcs.degree) if arcs.degree else uint64(arcs.first[uint64(node)])


@lean
def soon(arcs, words, place, number):  # type: ignore[no-untyped-def]
    """The arc that the word at this place will draw, unless the active ones change too much before."""
    return uint64(arcs.active[((words[place & MASK] >> uint64(32)) * uint64(number)) >> uint64(32)])


@lean
def foretell(population, arcs, words, at, stride, number):  # type: ignore[no-untyped-def]
    """Prefetch what the next events will need, in the order in which one address leads to another."""
    prefetch(arcs.rows, np.int64(soon(arcs, words, at + FAR * stride + 1, number)))
    arc = soon(arcs, words, at + MIDDLE * stride + 1, number)
    source, target = arcs.rows[arc, SOURCE], arcs.rows[arc, TARGET]
    prefetch(population, np.int64(source))
    prefetch(population, np.int64(target))
    prefetch(arcs.incident, np.int64(begin_of(arcs, source)))
    prefetch(arcs.incident, np.int64(begin_of(arcs, target)))
    arc = soon(arcs, words, at + NEAR * stride + 1, number)
    source, target = arcs.rows[arc, SOURCE], arcs.rows[arc, TARGET]
    prefetch(arcs.rows, np.int64(arcs.incident[begin_of(arcs, source + 1) - uint64(1)]))
    prefetch(arcs.rows, np.int64(arcs.incident[begin_of(arcs, target)]))


def run_events(population, rules, arcs, clock, rng, ahead, rates, goal, limit, dense, work):  # type: ignore[no-untyped-def]
    """At most `work` events up to the step `limit`, or until more than `dense` arcs are active; how it ended."""
    p, values = rules.parameters[0], rules.values
    rows, active, incident, words = arcs.rows, arcs.active, arcs.incident, ahead.words
    was_a, was_b, now_a, now_b = blank(rules.wide), blank(rules.wide), blank(rules.wide), blank(rules.wide)
    # In variables of their own: the compiler cannot know that no write to the population changes the clock.
    step, next_event, number = clock[STEP], clock[NEXT], clock[ACTIVE]
    ended, events = LIMIT, 0
    stride = 3 if values > 1 else 2
    at = begin(ahead, rng)
    while events < work:
        if next_event < 0:
            if number == 0:  # nothing will ever change again: return before jumping to the limit
                step = step if events else limit
                break
            known = uint64(number & (RATES - 1))
            if rates.numbers[known] != number:
                rates.numbers[known], rates.rates[known] = number, null_rate(number / len(rows))
            wait = np.int64(0)
            if number < len(rows):
                word, at = take(ahead, rng, at)
                wait = null_run(word, number / len(rows), rates.rates[known])
            next_event = step + wait + 1 if wait < FOREVER - step - 1 else FOREVER
        if next_event > limit:
            step = limit
            break
        step, next_event = next_event, np.int64(-1)
        index, at = take_index(ahead, rng, at, number)
        event, coin = uint64(active[index]), 0
        if values > 1:
            coin, at = take_below(ahead, rng, at, values)
        foretell(population, arcs, words, at, stride, number)
        events += 1
        i, j = uint64(rows[event, SOURCE]), uint64(rows[event, TARGET])
        a, b = population[i], population[j]
        copy(a, was_a)
        copy(b, was_b)
        clock[TRIED] = event
        react(was_a, was_b, now_a, now_b, coin, rules)
        if not (settle(now_a, rules.layout) and settle(now_b, rules.layout)):
            ended = FAILED
            break
        first_changed, second_changed = not same(was_a, now_a), not same(was_b, now_b)
        copy(now_a, a)
        copy(now_b, b)
        for side in range(2):
            if not (first_changed if side == 0 else second_changed):
                continue
            node = i if side == 0 else j
            for index in range(begin_of(arcs, node), begin_of(arcs, node + uint64(1))):
                arc = uint64(incident[index])
                if arc == event and side == 1 and first_changed:
                    continue  # done when side was 0
                c, d = population[uint64(rows[arc, SOURCE])], population[uint64(rows[arc, TARGET])]
                clock[TRIED] = arc
                active_now = changes(c, d, rules)
                place = rows[arc, PLACE]
                if active_now and place < 0:
                    rows[arc, PLACE] = number
                    active[uint64(number)] = arc
                    number += 1
                elif not active_now and place >= 0:
                    number -= 1
                    last = active[uint64(number)]
                    active[uint64(place)] = last
                    rows[uint64(last), PLACE] = place
                    rows[arc, PLACE] = -1
        if recount(was_a, was_b, now_a, now_b, p, goal) and holds_now(rules.whole, len(population)):
            ended = MET
            break
        if number > dense:
            break
    finish(ahead, rng, at)
    clock[STEP], clock[NEXT], clock[ACTIVE] = step, next_event, number
    clock[EVENTS] += events
    return ended
