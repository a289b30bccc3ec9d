"""An importance that is derived: the exact chance of a loss among a few agents, in observables that exist at every n.

The exact chain of the same protocol with three to five agents says how long a leader is held from every configuration.
What is missing there to the time from the start is the chance that this configuration loses its leader before it is
as good as new. Its mean over all configurations with one trait at one moment (`sketch`), each as often as it is
visited, is carried over to n agents: a configuration is as dangerous as the most dangerous of its traits.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from hegemon.compute.compilation import part, specialize
from hegemon.errors import InvalidInput
from hegemon.exact.holding import visits
from hegemon.exact.verification import verify
from hegemon.experiments.holding import sketch
from hegemon.experiments.holding.process import Process

SIZES = 5, 4, 3  # agents, the largest first whose configurations are few enough
MOST_CONFIGURATIONS = 200_000
FACTORS = 4  # levels for every factor of e of the chance
START = "safe"


def small(protocol):
    """The same protocol with few agents; parameters that are not at their defaults are kept."""
    values, given = {"n": protocol.n}, {}
    for name, declaration in protocol.parameter_declarations.items():
        value = protocol.values[name]
        if value != declaration.resolve(name, None, values, protocol.id):
            given[name] = value
        values[name] = value
    if START not in protocol.starts:
        raise InvalidInput(f"{protocol.id} has no start named {START!r}, from which an importance could be derived")
    sizes = [n for n in SIZES if n >= protocol.smallest_n]
    for n in sizes:
        one = type(protocol)(n, **given)
        if math.comb(n + one.space.size - 1, n) <= MOST_CONFIGURATIONS:
            return one
    if not sizes:
        raise InvalidInput(
            f"{protocol.id} needs {protocol.smallest_n} agents, and an importance is derived from at most {SIZES[0]}; "
            "take rarity or surprise"
        )
    raise InvalidInput(
        f"{protocol.id} with {one.space.size} states has more than {MOST_CONFIGURATIONS:,} configurations of {n} "
        "agents: too many to derive an importance from; take rarity or surprise"
    )


def chances(protocol) -> tuple[sketch.Sketch, np.ndarray, np.ndarray]:
    """Of few agents: how they are sketched, the mean chance of a loss and the visits, by moment and trait."""
    kind: Any = type(protocol)
    return _chances(kind, tuple(sorted(protocol.values.items())))


@cache
def _chances(kind: Any, values: tuple) -> tuple[sketch.Sketch, np.ndarray, np.ndarray]:
    protocol = kind(**{name: value for name, value in values if value is not None})
    answer = verify(protocol, graph=f"complete:{protocol.n}", start=START, property="holding")
    chain, times, begin = answer.case.chain, answer.holding.values, answer.case.starts[START]
    if not math.isfinite(times[begin]):
        raise InvalidInput(f"{protocol.id} with {protocol.n} agents never loses its leader: nothing can be derived")
    active = np.isfinite(times)
    often = visits(chain, begin, active)
    tables = sketch.blank(Process(protocol, f"complete:{protocol.n}", START))
    trait = part(sketch.rarest_trait, allocates=False, note=part(sketch.gather, allocates=False))
    add = specialize(sketch.sum_up, allocates=False, rarest_trait=trait)

    def summed(numbers: np.ndarray) -> np.ndarray:
        tables.seen[:] = 0.0
        add(chain.codes[rows], tables, numbers[rows])
        return tables.seen.copy()

    rows = np.flatnonzero(active & (often > 0))
    chance, weight = summed(often * (1 - times / times[begin])), summed(often)
    least = 1 / times[begin]
    mean = np.divide(chance, weight, out=np.full(chance.shape, least), where=weight > 0)
    return tables, np.clip(mean, least, 1), weight


def levels(process: Process) -> np.ndarray:
    """The level of every trait at every moment of the process: the logarithm of its chance."""
    few, chance, weight = chances(small(process.protocol))
    tables = sketch.blank(process)
    moments, number = tables.rarity.shape[0], tables.numbers.shape[0]
    if number != few.numbers.shape[0]:
        raise InvalidInput(f"{process.protocol.id} has other classes of agents at few agents: nothing can be derived")
    level = FACTORS * np.log(chance / chance.min())
    level = level[_nearest(weight.sum(axis=1).reshape(number, -1) > 0).ravel()].reshape(moments, number, -1)
    counts, values = np.split(level, [sketch.COUNTS], axis=2)
    values = values.reshape(moments, number, len(few.orders) + 1, -1)
    bins = tables.numbers.shape[1]
    values = values[..., (np.arange(bins) * values.shape[-1]) // bins]
    found = np.zeros((moments, number, (len(tables.orders) + 1) * bins + sketch.COUNTS))
    found[:, :, :2] = counts[:, :, :2]  # none, and one agent: the same at every n
    places = found[:, :, sketch.COUNTS :].reshape(moments, number, len(tables.orders) + 1, bins)
    places[:, :, :2], places[:, :, -1] = values[:, :, :2], values[:, :, -1]  # the two lowest, and the highest
    found[:, :, sketch.COUNTS :] = places.reshape(moments, number, -1)
    return found.reshape(moments, -1).astype(np.float32)


def _nearest(seen: np.ndarray) -> np.ndarray:
    """For every [class, knot of the clock] the place of the nearest knot of that class that was seen."""
    places = np.arange(seen.size).reshape(seen.shape)
    for row, ours in zip(seen, places, strict=True):
        known = np.flatnonzero(row)
        if len(known):
            ours[:] = ours[known[np.argmin(np.abs(np.arange(len(row))[:, None] - known), axis=1)]]
    return places
