"""Engine `events`: any graph, jumping over every interaction that changes nothing.

An arc is *active* if an interaction along it would change a state. The engine keeps the set of active arcs;
the number of steps until one of them is chosen is geometric, and each is equally likely. Only the arcs at an
agent that changed have to be looked at again.
"""

from functools import cache

import numpy as np
from numba import uint64

from hegemon.engines.agents import recount
from hegemon.engines.compilation import codec, functions, marks, specialize
from hegemon.engines.membership import Membership
from hegemon.engines.prefetch import prefetch
from hegemon.engines.randomness import next_index, next_word
from hegemon.engines.skipping import BUSY, LIMIT, MET, NOT_DRAWN, SILENT, SWITCH
from hegemon.engines.waiting import FOREVER, null_run
from hegemon.models.configuration import Configuration

AHEAD = 16  # events: how far ahead memory is asked for
PATIENCE = 2_000_000  # events between two looks at progress
LONGEST = 2**62  # steps at once

SOURCE, TARGET = 0, 1

# ruff: noqa: F821 - in kernels, `interact`, `marks_of`, `differ`, `is_active` and `look_again` are bound


def would_change(population, i, j, scratch, layout, p):
    """Whether the interaction of agents i and j would change either of them."""
    scratch[0] = population[i]
    scratch[1] = population[j]
    interact(scratch[0], scratch[1], p)
    return differ(scratch[0], population[i], layout) or differ(scratch[1], population[j], layout)


def update(population, arcs, begins, incident, active, where, number, v, but, scratch, layout, p):
    """Look again at the arcs that begin or end at v, not at `but`; the number of active arcs afterwards."""
    for k in range(begins[v], begins[v + 1]):
        arc = np.int64(incident[k])
        i, j = arcs[arc, SOURCE], arcs[arc, TARGET]
        if i == but or j == but:
            continue
        now = is_active(population, i, j, scratch, layout, p)
        place = where[arc]
        if now and place < 0:
            active[number] = arc
            where[arc] = number
            number += 1
        elif not now and place >= 0:
            number -= 1
            last = active[number]
            active[place] = last
            where[last] = place
            where[arc] = -1
    return number


def find_active(population, arcs, active, where, scratch, layout, parameters):
    """Fill the set of active arcs; their number."""
    number = 0
    for arc in range(len(arcs)):
        where[arc] = -1
        if is_active(population, arcs[arc, SOURCE], arcs[arc, TARGET], scratch, layout, parameters[0]):
            active[number] = arc
            where[arc] = number
            number += 1
    return number


def count_arcs(population, arcs, scratch, layout, parameters):
    """The number of active arcs."""
    number = 0
    for arc in range(len(arcs)):
        number += is_active(population, arcs[arc, SOURCE], arcs[arc, TARGET], scratch, layout, parameters[0])
    return number


def run_events(
    population, arcs, begins, incident, active, where, size, scratch, layout, parameters, rng, scout, foretold,
    pending, counts, low, high, watch, budget, dense, patience,
):  # fmt: skip
    """Jump from change to change, for `budget` steps or until the stop is met; how it ended and the steps made.

    `scout` is a copy of the generator that runs ahead. What it foretells (approximately, since the set of active
    arcs changes on the way) is asked for in time: `foretold` holds what is known of the next events.
    """
    p = parameters[0]
    for k in range(4):
        scout[k] = rng[k]
    for _ in range(2 * AHEAD):
        next_word(scout)
    for k in range(AHEAD):
        foretold[k] = 0
    done = np.int64(0)
    all_arcs = float(len(arcs))
    while True:
        number = size[0]
        if number == 0:
            return SILENT, done
        if pending[0] == NOT_DRAWN:
            if number > dense:
                return SWITCH, done
            if patience == 0:
                return BUSY, done
            pending[0] = null_run(rng, number / all_arcs)
        if pending[0] >= budget - done:
            # A wait too long to be known is forgotten: waiting has no memory.
            pending[0] = NOT_DRAWN if pending[0] == FOREVER else pending[0] - (budget - done)
            return LIMIT, budget
        done += pending[0] + 1
        pending[0] = NOT_DRAWN
        patience -= 1
        arc = np.int64(active[next_index(rng, number)])

        next_word(scout)
        k = patience % AHEAD
        foretold[k] = np.int64(((next_word(scout) >> uint64(32)) * uint64(number)) >> uint64(32))
        prefetch(active, foretold[k])
        k = (patience + AHEAD // 4) % AHEAD
        foretold[k] = active[min(foretold[k], number - 1)]
        prefetch(where, foretold[k])
        prefetch(arcs, foretold[k])
        k = (patience + AHEAD // 2) % AHEAD
        foretold[k] = arcs[foretold[k], SOURCE]
        prefetch(population, foretold[k])
        prefetch(begins, foretold[k])
        k = (patience + 3 * AHEAD // 4) % AHEAD
        prefetch(incident, begins[foretold[k]])

        i, j = np.int64(arcs[arc, SOURCE]), np.int64(arcs[arc, TARGET])
        a, b = population[i], population[j]
        before_a, before_b = marks_of(a, p), marks_of(b, p)
        scratch[2] = a
        scratch[3] = b
        interact(a, b, p)
        after_a, after_b = marks_of(a, p), marks_of(b, p)
        but = np.int64(-1)
        if differ(a, scratch[2], layout):
            number = look_again(population, arcs, begins, incident, active, where, number, i, but, scratch, layout, p)
            but = i
        if differ(b, scratch[3], layout):
            number = look_again(population, arcs, begins, incident, active, where, number, j, but, scratch, layout, p)
        size[0] = number
        if before_a != after_a or before_b != after_b:
            if recount(before_a, before_b, after_a, after_b, counts, low, high, watch):
                return MET, done


class Events:
    """The engine: `advance` runs up to a step, exactly to the first step that meets the stop."""

    name = "events"
    as_multiset = False

    def __init__(self, protocol, topology, configuration, stop, rng):
        self.protocol, self.space, self.stop, self.rng = protocol, protocol.space, stop, rng
        self.step, self.silent = 0, False
        self.gave_up, self.dense = False, topology.arcs  # whether more arcs are active than should be
        self._membership = Membership(protocol, stop)
        self._arcs, self._begins, self._incident = incidence(topology)
        self._active, self._where = (np.empty(topology.arcs, np.int32) for _ in range(2))
        self._size, self._pending = np.zeros(1, np.int64), np.array([NOT_DRAWN])
        self._scratch, self._scout = np.zeros(4, self.space.dtype), np.empty(4, np.uint64)
        self._foretold = np.zeros(AHEAD, np.int64)
        bound, self._layout = comparison(protocol)
        records = protocol.record_types
        is_active = specialize(would_change, records, allocates=False, **bound)
        self._find_active = specialize(find_active, records, allocates=False, is_active=is_active)
        look_again = specialize(update, records, allocates=False, is_active=is_active)
        bound |= {"marks_of": marks(stop.conditions), "recount": recount, "look_again": look_again}
        self._run = specialize(run_events, records, allocates=False, **bound)
        self.stride = max(64, 4 * protocol.n)  # steps between two looks at a whole predicate
        self.load(configuration)

    def load(self, configuration: Configuration) -> None:
        """Take over a configuration, count the stop's conditions in it and find the active arcs."""
        self._population = configuration.agents.copy()
        self._counts = self._membership.counts(self._population)
        self._pending[0], self.silent = NOT_DRAWN, False
        self._size[0] = self._find_active(
            self._population, self._arcs, self._active, self._where, self._scratch, self._layout,
            self.protocol.compiled_p,
        )  # fmt: skip

    def advance(self, limit: int) -> bool:
        """Run towards step `limit`, or exactly to the first that meets the stop; whether it is met.

        May return earlier, after some work, with neither.
        """
        if self.silent:
            self.step = limit
            return False
        ended, done = self._run(
            self._population, self._arcs, self._begins, self._incident, self._active, self._where, self._size,
            self._scratch, self._layout, self.protocol.compiled_p, self.rng, self._scout, self._foretold, self._pending,
            self._counts, self.stop.low, self.stop.high, self.stop.watch, min(limit - self.step, LONGEST),
            self.dense, PATIENCE,
        )  # fmt: skip
        self.step += int(done)
        self.silent, self.gave_up = ended == SILENT, ended == SWITCH
        return ended == MET

    def counts_hold(self) -> bool:
        return self.stop.holds(self._counts)

    def configuration(self) -> Configuration:
        return Configuration(self.space, agents=self._population.copy())

    def snapshot(self):
        active = self._active[: self._size[0]].copy()
        arrays = self._population, self._counts, self.rng, self._pending
        return self.step, self.silent, active, *(array.copy() for array in arrays)

    def restore(self, snapshot) -> None:
        self.step, self.silent, active, self._population[:], self._counts[:], self.rng[:], self._pending[:] = snapshot
        self._size[0] = len(active)
        self._active[: len(active)] = active
        self._where[:] = -1
        self._where[active] = np.arange(len(active))


def incidence(topology):
    """The arcs as pairs, and for every node the arcs that begin or end at it."""
    arcs = np.stack([topology.sources, topology.targets], axis=1)
    ends = arcs.T.ravel()
    order = np.argsort(ends, kind="stable") % topology.arcs
    begins = np.zeros(topology.n + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=topology.n), out=begins[1:])
    return arcs, begins, order.astype(np.int32)


def comparison(protocol):
    """What `would_change` needs: `interact`, and `differ(a, b, layout)`, whether two records are different states
    (fields that a state lacks do not count), and the layout."""
    space = protocol.space
    encode, _, layout = codec(space)
    if space.discriminators:
        differ = _by_code(encode)
    else:
        test = " or ".join(f"a.{name} != b.{name}" for name in space.names)
        (differ,) = functions(f"def differ(a, b, layout):\n    return {test}\n", "differ")
    return {"interact": protocol.interact, "differ": differ}, layout


@cache
def _by_code(encode):
    def differ(a, b, layout):
        return encode(a, layout) != encode(b, layout)

    return differ


def count_active(protocol, topology, configuration) -> int:
    """The number of active arcs of a configuration."""
    bound, layout = comparison(protocol)
    is_active = specialize(would_change, protocol.record_types, allocates=False, **bound)
    count = specialize(count_arcs, protocol.record_types, allocates=False, is_active=is_active)
    arcs = np.stack([topology.sources, topology.targets], axis=1)
    scratch = np.zeros(2, protocol.space.dtype)
    return count(configuration.agents, arcs, scratch, layout, protocol.compiled_p)
