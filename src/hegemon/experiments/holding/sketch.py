"""What a configuration looks like, in observables that every protocol has at every n, and how rare that is.

Every state belongs to a *class* (its variant and its small fields) and has a value there: its widest field. The
*crowd* is the class that most agents belong to, and its mean value is the population's clock; both together are the
*moment*. Beside it stand the *traits*: of every class, how many agents it has (a power of two), the values of its
lowest agent, of the second, fourth, eighth … lowest, and of its highest.

The cell of a configuration is its moment and its rarest trait at that moment. So an odd agent, a small group that
lags behind, or a class that should be empty by now each have cells of their own, at every stage.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from hegemon.experiments.holding.process import Process
    from hegemon.models.state import StateSpace


SMALL = 4  # a field with at most this many values is small
KNOTS = 32  # parts of the clock
VALUES = 1024  # most values of a trait
COUNTS = 18  # powers of two, and one for zero agents
MOST_CLASSES = 24
LARGEST = 4_000_000  # entries of the table of rarities
UNSEEN = np.float32(1e9)  # rarer than any trait
NOTHING = -1e30  # the logarithm of no weight
NEGLIGIBLE = 37.0  # adding e^-37 of a weight to it changes nothing


class Sketch(NamedTuple):
    """The tables that the compiled cell reads, and scratch memory."""

    places: np.ndarray  # for every state, the index of its class and value in `numbers`
    orders: np.ndarray  # 1, 2, 4, …: the ranks of the lowest agents whose values are traits
    rarity: np.ndarray  # [moment, trait]
    seen: np.ndarray  # the logarithm of the observed weight of each, for the next rarity
    numbers: np.ndarray  # [class, value]: numbers of agents; scratch
    halves: np.ndarray  # the same for even and odd agents apart, flat: additions to two counters wait less
    sizes: np.ndarray  # agents of every class; scratch


def added(first, second):
    """The logarithm of a sum, from the logarithms of its parts."""
    high, low = max(first, second), min(first, second)
    return high if low < high - NEGLIGIBLE else high + np.log1p(np.exp(low - high))


def note(sketch, moment, trait, rarest, weight, learns):
    """Process one trait: add its weight to `seen`, and return the rarer of it and the rarest so far."""
    if learns:
        sketch.seen[moment, trait] = added(sketch.seen[moment, trait], weight)
    return trait if rarest < 0 or sketch.rarity[moment, trait] > sketch.rarity[moment, rarest] else rarest


def rarest_trait(population, sketch, weight, learns):
    """The moment of a configuration and its rarest trait; `weight` is a logarithm."""
    numbers, orders, sizes = sketch.numbers, sketch.orders, sketch.sizes
    classes, values = numbers.shape
    first, second = sketch.halves[0], sketch.halves[1]
    for place in range(len(first)):
        first[place] = second[place] = 0
    n = len(population)
    for i in range(0, n - 1, 2):
        first[sketch.places[population[i]]] += 1
        second[sketch.places[population[i + 1]]] += 1
    if n % 2:
        first[sketch.places[population[n - 1]]] += 1
    crowd, total = 0, 0
    for c in range(classes):
        sizes[c] = 0
        for v in range(values):
            numbers[c, v] = first[c * values + v] + second[c * values + v]
            sizes[c] += numbers[c, v]
        if sizes[c] > sizes[crowd]:
            crowd = c
    for v in range(values):
        total += v * numbers[crowd, v]
    moment = crowd * KNOTS + total * KNOTS // (sizes[crowd] * values)
    traits = (len(orders) + 1) * values + COUNTS
    rarest = -1
    for c in range(classes):
        size, base = sizes[c], c * traits
        power = 0
        while size >> power:
            power += 1
        rarest = note(sketch, moment, base + min(power, COUNTS - 1), rarest, weight, learns)
        if not size:
            continue
        base += COUNTS
        below, place, highest = 0, 0, 0
        for v in range(values):
            if numbers[c, v]:
                below += numbers[c, v]
                highest = v
                while place < len(orders) and orders[place] <= below:
                    rarest = note(sketch, moment, base + place * values + v, rarest, weight, learns)
                    place += 1
        rarest = note(sketch, moment, base + len(orders) * values + highest, rarest, weight, learns)
    return moment, rarest


def classes_of(space: "StateSpace", most: int = MOST_CLASSES) -> tuple[np.ndarray, np.ndarray]:
    """The class of every state and, from 0 to 1, its widest field."""
    states = space.decode_array(np.arange(space.size))
    classes, values = np.zeros(space.size, np.int64), np.zeros(space.size)
    number = 0
    for one in space.variants:
        rows = slice(one.offset, one.offset + one.size)
        widths = {name: space.bounds[name][1] - space.bounds[name][0] + 1 for name in one.free}
        widest = max(widths, key=lambda name: widths[name], default=None)
        within, size = np.zeros(one.size, np.int64), 1
        for name, width in widths.items():
            at = states[name][rows].astype(np.int64) - space.bounds[name][0]
            if name == widest and width > SMALL:
                values[rows] = at / (width - 1)
            elif width <= SMALL:
                within, size = within * width + at, size * width
        classes[rows] = number + within
        number += size
    if number <= most:
        return classes, values
    return np.concatenate([np.full(one.size, place) for place, one in enumerate(space.variants)]), values


def blank(process: "Process") -> Sketch:
    """A sketch of the process's states without any observation."""
    space, n = process.space, process.protocol.n
    classes, values = classes_of(space)
    widest = max(high - low + 1 for low, high in space.bounds.values())
    bins = max(2, min(VALUES, widest))
    orders = 2 ** np.arange(int(math.log2(n)) + 1)
    number = int(classes.max()) + 1
    while number * KNOTS * number * ((len(orders) + 1) * bins + COUNTS) > LARGEST and bins > 2:
        bins //= 2
    shape = number * KNOTS, number * ((len(orders) + 1) * bins + COUNTS)
    places = classes * bins + np.minimum((values * bins).astype(np.int64), bins - 1)
    return Sketch(
        places.astype(np.uint32), orders, np.full(shape, UNSEEN), np.full(shape, NOTHING),
        np.zeros((number, bins), np.int32), np.zeros((2, number * bins), np.int32), np.zeros(number, np.int64),
    )  # fmt: skip


def rarity_of(seen: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the observed weight of each trait."""
    return np.where(seen > NOTHING, seen.max() - seen, UNSEEN).astype(np.float32)
