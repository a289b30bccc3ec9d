"""Engine `batch`: the complete graph, the population as a multiset, many interactions at once, exactly.

Epochs (epoch.py) while interactions change much, jumps over null interactions (skipping.py) while they change
little. The lengths of epochs depend on the population alone, never on where somebody wants to look: a look into
an epoch replays it in order (order.py). So a run does not depend on what is recorded.
"""

import math

import numpy as np

from hegemon.engines.census import COUNT, FULL, SIZE, Multiset, count_occupied
from hegemon.engines.compilation import lean, specialize
from hegemon.engines.epoch import CARD, COLLISION, COUNTS, DRAW, EFFECTIVE, SAVED, WATCHED, epoch, new_desk, new_log
from hegemon.engines.membership import Membership
from hegemon.engines.order import could_meet, derived, ordered, walk
from hegemon.engines.skipping import BUSY, EVENT, LIMIT, MET, NOT_DRAWN, PER_STATE, SILENT, SWITCH, copy, skip
from hegemon.errors import InvalidInput
from hegemon.models.configuration import Configuration

NEAR = 5  # how a kernel ended: the stop may be met within the next epoch
LARGEST_POPULATION = 2**60
TOUCHED, DECK = 1 << 19, 1 << 20  # the agents that an epoch may list
PATIENCE = 2e8  # work between two looks at progress, in nanoseconds
POSITIONS, ORDER = 1, 2  # purposes of the streams behind an epoch's order


@lean
def plan(occupied, n):
    """How long an epoch should be, and what an interaction then costs.

    An epoch of k sqrt(n) steps has about 2 k^2 collisions; the rest costs the same for every length if states
    are matched by rows, or a card per interaction if they are few agents each.
    """
    fixed = 300.0 + 2 * occupied * DRAW
    rows = fixed + occupied * occupied * DRAW
    root = math.sqrt(n)
    by_cards = CARD + math.sqrt(8 * COLLISION * fixed) / root
    by_rows = math.sqrt(8 * COLLISION * rows) / root
    setup = rows if by_rows < by_cards else fixed
    return max(1, np.int64(root * math.sqrt(setup / (2 * COLLISION)))), min(by_rows, by_cards)


@lean
def restore(census, desk, size):
    """The population as it was saved when there were `size` slots."""
    copy(desk.table[SAVED], census.states[COUNT], size)
    for slot in range(size, census.states.shape[1]):
        census.states[COUNT, slot] = 0


def run_epochs(census, desk, log, rng, n, budget, held, low, high, tally, unchecked, patience):
    """Whole epochs that fit in `budget` steps; how it ended, and the steps made.

    An epoch in which the stop may be met is undone (NEAR); the first `unchecked` ones are not examined.
    """
    done = np.int64(0)
    kept = np.empty(4, np.uint64)
    conditions = len(held)
    while True:
        occupied = count_occupied(census)
        length, cost = plan(occupied, n)
        if length > budget - done and unchecked == 0:
            return LIMIT, done
        size = census.head[SIZE]
        copy(census.states[COUNT], desk.table[SAVED], size)
        copy(rng, kept, 4)
        made = epoch(census, desk, log, rng, n, length, tally)
        if made < 0:
            restore(census, desk, size)
            copy(kept, rng, 4)
            return made, done
        grown, shrunk = tally[COUNTS : COUNTS + conditions], tally[COUNTS + conditions :]
        if unchecked == 0 and could_meet(held, low, high, grown, shrunk, tally[WATCHED] > 0):
            restore(census, desk, size)
            copy(kept, rng, 4)
            return NEAR, done
        unchecked = max(0, unchecked - 1)
        for k in range(conditions):
            held[k] += grown[k] - shrunk[k]
        done += made
        patience -= cost * made
        if tally[EFFECTIVE] * (EVENT + PER_STATE * occupied) < 0.5 * cost * made:
            return SWITCH, done
        if patience < 0:
            return BUSY, done


def write_epoch(census, desk, log, rng, n, tally):
    """The next epoch written down; its length, or a negative error. The population stays as it was."""
    size = census.head[SIZE]
    copy(census.states[COUNT], desk.table[SAVED], size)
    length, _ = plan(count_occupied(census), n)
    made = epoch(census, desk, log, rng, n, length, tally)
    restore(census, desk, size)
    return made


class Batch:
    """The engine: `advance` runs up to a step, exactly to the first step that meets the stop."""

    name = "batch"
    as_multiset = True

    def __init__(self, protocol, topology, configuration, stop, rng):
        if not topology.is_complete:
            raise InvalidInput(f"engine batch needs a complete graph, not {topology.name}; use events or agents")
        if protocol.n > LARGEST_POPULATION:
            raise InvalidInput(f"n = {protocol.n} is too large; engine batch takes up to 2**60 agents")
        self.n, self.space, self.stop, self.rng = protocol.n, protocol.space, stop, rng
        self._membership = Membership(protocol, stop)
        self._multiset = Multiset(protocol, stop)
        self._run_epochs, self._skip = specialize(run_epochs), specialize(skip)
        self._no_log = new_log(0, 0, np.zeros(4, np.uint64))
        self._tally = np.zeros(COUNTS + 2 * len(stop.conditions), np.int64)
        self._base = 0  # the step that the census describes
        self._ahead = 0  # how far into the next epoch `step` is
        self._pending = np.array([NOT_DRAWN])
        self.stride = max(64, 4 * self.n)  # steps between two looks at a whole predicate
        self.load(configuration)

    @property
    def step(self) -> int:
        return self._base + self._ahead

    def load(self, configuration: Configuration) -> None:
        """Take over a configuration and count the stop's conditions in it."""
        codes, counts = configuration.multiset
        self._base, self._ahead = self.step, 0
        self._pending[0] = NOT_DRAWN
        self._skipping = self.silent = False
        self._fill(codes, counts)

    def _fill(self, codes, counts) -> None:
        marks = self._membership.marks(self.space.decode_array(codes))
        self._multiset.load(codes, counts, marks)
        self._held = self._membership.counts_from(marks, counts)
        self._new_desk()

    def _new_desk(self) -> None:
        capacity = self._multiset.capacity
        self._desk = new_desk(capacity, TOUCHED, DECK)
        side = min(capacity, 1024)
        self._table = [np.zeros(size, kind) for size, kind in (
            (side, np.int64), (capacity, np.int64), (side**2, np.int8), (side, np.int64))]  # fmt: skip

    def advance(self, limit: int) -> bool:
        """Run towards step `limit`, or exactly to the first that meets the stop; whether it is met.

        May return early, after some work, with neither.
        """
        unchecked = 0
        while self.step < limit:
            budget = min(limit - self._base, 2**62)
            census, limits = self._multiset.census, (self._held, self.stop.low, self.stop.high)
            if self._skipping:
                ended, done = self._skip_to(census, budget, limits)
            else:
                given = census, self._desk, self._no_log, self.rng, self.n, budget, *limits, self._tally
                ended, done = self._run_epochs(*given, unchecked, PATIENCE)
                unchecked = 0
            if done:
                self._base, self._ahead = self._base + int(done), 0
            if ended == MET:
                return True
            if ended in (BUSY, SILENT):
                self.silent = ended == SILENT
                return False
            if ended < 0:
                self._make_room(ended)
            elif ended == SWITCH:
                self._skipping = not self._skipping
            elif not self._skipping:
                length, step, met = self._look_ahead(budget)
                if met:
                    return True
                if step < length:
                    self._ahead = step
                    return False
                unchecked = 1
        return False

    def _skip_to(self, census, budget, limits):
        occupied = len(self._multiset.contents()[0])
        dense = plan(occupied, self.n)[1] / (EVENT + PER_STATE * occupied)
        patience = int(PATIENCE / (EVENT + PER_STATE * occupied)) + 1
        return self._skip(census, *self._table, self.rng, self.n, self._pending, budget, *limits, dense, patience)

    def _look_ahead(self, upto: int):
        """Look into the next epoch as far as `upto`: its length, the step reached, whether the stop is met there.

        If it is, the population becomes that of this step; otherwise nothing changes.
        """
        before, rng, held = self._multiset.counts.copy(), self.rng.copy(), self._held.copy()
        length, step, met = self._walk(upto, self.stop.low, self.stop.high)
        if met:
            self._base, self._ahead = self._base + step, 0
        else:
            self._multiset.counts[:], self.rng[:], self._held[:] = before, rng, held
        return length, step, met

    def _walk(self, upto: int, low, high):
        """Walk into the next epoch; the population, the counts and the generator move along."""
        before = self.rng.copy()
        log, length = self._written_epoch()
        while length < 0:
            self.rng[:] = before
            self._make_room(length)
            log, length = self._written_epoch()
        step, met = specialize(walk)(
            self._multiset.census, *ordered(log), derived(before, ORDER), length, min(upto, length),
            self._held, low, high,
        )  # fmt: skip
        return length, int(step), bool(met)

    def _written_epoch(self):
        occupied = len(self._multiset.contents()[0])
        length, _ = plan(occupied, self.n)
        kinds = min(length, occupied**2) + min(length, DECK)
        log = new_log(TOUCHED, kinds, derived(self.rng, POSITIONS))
        census = self._multiset.census
        return log, int(specialize(write_epoch)(census, self._desk, log, self.rng, self.n, self._tally))

    def _make_room(self, error) -> None:
        if error != FULL:
            self._multiset.explain_out_of_range()
        self._multiset.make_room()
        self._new_desk()

    def counts_hold(self) -> bool:
        if self._ahead == 0:
            return self.stop.holds(self._held)
        codes, counts = self.configuration().multiset
        return self.stop.holds(self._membership.counts(self.space.decode_array(codes), counts))

    def configuration(self) -> Configuration:
        if self._ahead == 0:
            codes, counts, _ = self._multiset.contents()
            return Configuration(self.space, codes=codes, counts=counts)
        here = self.snapshot()
        self._walk(self._ahead, np.ones_like(self.stop.low), np.zeros_like(self.stop.high))  # meets no stop
        codes, counts, _ = self._multiset.contents()
        self.restore(here)
        return Configuration(self.space, codes=codes, counts=counts)

    def snapshot(self):
        codes, counts, _ = self._multiset.contents()
        return self.step, self._base, codes, counts, self.rng.copy(), self._pending.copy(), self._skipping, self.silent

    def restore(self, snapshot) -> None:
        step, self._base, codes, counts, rng, pending, self._skipping, self.silent = snapshot
        self._ahead = step - self._base
        self.rng[:], self._pending[:] = rng, pending
        self._fill(codes, counts)
