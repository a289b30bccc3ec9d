"""A configuration in a few observables that exist for every protocol and every n, and importance as a table over them.

The *crowd* is the class of agents (variant of the state) that most belong to, and the mean of its widest field, the
population's clock. Every agent has a *kind*: its class, its small fields, and where its widest field stands: relative
to the crowd's mean in the crowd's own class, absolute elsewhere. A kind is occupied by one agent, a few, many, or
most. The importance is the largest entry, over the occupied kinds, of a table that is piecewise linear in the clock:

    importance = max over kinds k of table[crowd's class, k, how many](clock).

That is enough to say "one elector is left while the others' timers are down to r_mid", for n = 3 as for n = 10^4.
"""

from typing import NamedTuple

import numpy as np

SMALL = 4  # a field with at most so many values is small
KNOTS = 17
PLACES = 3  # below, near, above the crowd; or a third of the range
NEAR = 0.125  # of the range
MANY = 4  # classes of counts: one, a few, more than a tenth, more than half
LARGEST = 2048  # kinds


class Sketch(NamedTuple):
    """What the compiled importance reads, and scratch."""

    variant: np.ndarray  # of every state
    main: np.ndarray  # its widest field, from 0 to 1
    kind: np.ndarray
    table: np.ndarray  # [crowd's class, kind, how many, knot]
    numbers: np.ndarray  # how many agents are in each kind: scratch
    sums: np.ndarray  # agents and sum of main of each class: scratch
    log: np.ndarray  # rows of how many for each kind, at looks
    clocks: np.ndarray  # [class, clock, tag] of those rows
    logged: np.ndarray  # how many rows there are, how many looks there were, and that every so many are logged


def see(population, sketch):
    """The crowd's class and clock; `numbers` says how many agents each kind has."""
    for v in range(len(sketch.sums)):
        sketch.sums[v, 0] = sketch.sums[v, 1] = 0.0
    for k in range(len(sketch.numbers)):
        sketch.numbers[k] = 0
    for i in range(len(population)):
        code = population[i]
        sketch.sums[sketch.variant[code], 0] += 1.0
        sketch.sums[sketch.variant[code], 1] += sketch.main[code]
    crowd = 0
    for v in range(1, len(sketch.sums)):
        if sketch.sums[v, 0] > sketch.sums[crowd, 0]:
            crowd = v
    clock = sketch.sums[crowd, 1] / sketch.sums[crowd, 0]
    for i in range(len(population)):
        code = population[i]
        main = sketch.main[code]
        if sketch.variant[code] == crowd:
            place = 0 if main < clock - NEAR else 2 if main > clock + NEAR else 1
        else:
            place = min(int(main * PLACES), PLACES - 1)
        sketch.numbers[sketch.kind[code] * PLACES + place] += 1
    return crowd, clock


def how_many(number, n):
    """0: none, then MANY classes."""
    if number == 0:
        return 0
    if number == 1:
        return 1
    return 4 if 2 * number > n else 3 if 10 * number > n else 2


def sketched(population, model):
    """The importance; while `logged` is not full, what was seen is written down."""
    sketch = model.tables
    n = len(population)
    crowd, clock = see(population, sketch)
    knot = min(int(clock * (KNOTS - 1)), KNOTS - 2)
    part = clock * (KNOTS - 1) - knot
    row = sketch.logged[0]
    log = row < len(sketch.clocks) and sketch.logged[1] % sketch.logged[2] == 0
    sketch.logged[1] += 1
    if log:
        sketch.clocks[row, 0], sketch.clocks[row, 1], sketch.clocks[row, 2] = crowd, clock, model.tag[0]
        sketch.logged[0] += 1
    best = -np.inf
    for k in range(len(sketch.numbers)):
        number = sketch.numbers[k]
        many = how_many(number, n)
        if log:
            sketch.log[row, k] = many
        if number:
            value = (1 - part) * sketch.table[crowd, k, many - 1, knot]
            value += part * sketch.table[crowd, k, many - 1, knot + 1]
            if value > best:
                best = value
    return best


def kinds_of(space) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Class, widest field and kind of every state, and the number of kinds."""
    codes = np.arange(space.size)
    states = space.decode_array(codes)
    variant, main, kind = (
        np.zeros(space.size, np.int16),
        np.zeros(space.size, np.float32),
        np.zeros(space.size, np.int64),
    )
    number = 0
    for place, one in enumerate(space.variants):
        rows = slice(one.offset, one.offset + one.size)
        variant[rows] = place
        widths = {name: space.bounds[name][1] - space.bounds[name][0] + 1 for name in one.free}
        widest = max(widths, key=lambda name: widths[name], default=None)
        within = np.zeros(one.size, np.int64)
        size = 1
        for name, width in widths.items():
            low = space.bounds[name][0]
            values = states[name][rows].astype(np.int64) - low
            if name == widest and width > SMALL:
                main[rows] = values / (width - 1)
                continue
            parts = width if width <= SMALL else PLACES
            within = within * parts + values * parts // width
            size *= parts
        kind[rows] = number + within
        number += size
    return variant, main, kind, number


def blank(process, rows: int = 0) -> Sketch:
    """A sketch of the process's states with an empty table."""
    variant, main, kind, number = kinds_of(process.space)
    if number * PLACES > LARGEST:  # too many small fields: let classes alone be kinds
        kind, number = variant.astype(np.int64), int(variant.max()) + 1
    kinds = number * PLACES
    classes = len(process.space.variants)
    return Sketch(
        variant, main, kind, np.zeros((classes, kinds, MANY, KNOTS)), np.zeros(kinds, np.int64),
        np.zeros((classes, 2)), np.zeros((rows, kinds), np.int8), np.zeros((rows, 3)), np.array([0, 0, 1]),
    )  # fmt: skip


def spread(sketch: Sketch, log: np.ndarray, clocks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weight of the logged looks on every entry of a table, shared between the two knots nearby."""
    total = np.zeros(sketch.table.shape)
    position = clocks[:, 1] * (KNOTS - 1)
    knot = np.minimum(position.astype(np.int64), KNOTS - 2)
    part = position - knot
    crowd = clocks[:, 0].astype(np.int64)
    for k in range(log.shape[1]):
        rows = np.flatnonzero(log[:, k])
        many = log[rows, k].astype(np.int64) - 1
        of_kind = total[:, k]
        for knots, share in ((knot[rows], 1 - part[rows]), (knot[rows] + 1, part[rows])):
            flat = np.ravel_multi_index((crowd[rows], many, knots), of_kind.shape)
            of_kind += np.bincount(flat, weights[rows] * share, minlength=of_kind.size).reshape(of_kind.shape)
    return total


def continued(line: np.ndarray, known: np.ndarray, slope: float) -> np.ndarray:
    """A line over the knots, continued beyond the known ones by the slope of the last few, or a given one.

    With a negative slope it goes on level."""
    places = np.flatnonzero(known)
    result = np.interp(np.arange(len(line)), places, line[places])
    for end, step in ((places[0], -1), (places[-1], 1)):
        near = places[:3] if step < 0 else places[-3:]
        rise = max(slope, 0.0)
        if len(near) > 1 and slope >= 0:
            rise = max(0.0, step * float(np.polyfit(near, line[near], 1)[0]))
        beyond = np.arange(end + step, -1 if step < 0 else len(line), step)
        result[beyond] = line[end] + rise * np.arange(1, len(beyond) + 1)
    return result
