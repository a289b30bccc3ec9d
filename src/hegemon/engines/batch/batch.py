"""Engine `batch`: the complete graph, the population as a multiset, many interactions at once, exactly.

Epochs (epoch.py) while interactions change much, jumps over null interactions (skipping.py) while they change
little. The length of an epoch depends on the population alone, never on the steps that are observed: to observe a
step inside an epoch, the epoch is replayed in order (order.py). So a run does not depend on what is recorded.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from hegemon.compute.bundles import addresses
from hegemon.compute.compilation import specialize
from hegemon.engines.batch.census import Multiset
from hegemon.engines.batch.epoch import Course, new_log, new_workspace, plan
from hegemon.engines.batch.kernels import NEAR, TOO_COSTLY, run_epochs
from hegemon.engines.batch.order import follow_epoch, ordered
from hegemon.engines.batch.skipping import (
    EVENT,
    LIMIT,
    LONG,
    MET,
    NOT_DRAWN,
    PER_STATE,
    SILENT,
    SWITCH,
    chance_of_change,
    new_table,
    skip,
)
from hegemon.engines.engine import Engine, Snapshot
from hegemon.engines.pacing import Deadline
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.process.membership import Membership
from hegemon.process.stopping import Stop

LARGEST_POPULATION = 2**60
LONGEST = 2**62  # steps at once
MOST_COINS = 256  # values of the coins: what each pair of states becomes is kept for every one of them
PATIENCE = 5e7  # work between two returns to the driver, in nanoseconds


class Preview(NamedTuple):
    """The run at a step of the next epoch; `rng` is the generator after the whole epoch."""

    step: int
    length: int
    met: bool
    counts: np.ndarray
    held: np.ndarray
    rng: np.ndarray


class Batch(Engine):
    """The engine. `advance` may return early, after some work: call it again."""

    name = "batch"
    as_multiset = True

    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
    ):
        if not topology.is_complete:
            raise InvalidInput(f"engine batch needs a complete graph, not {topology.name}; use events or agents")
        if protocol.n > LARGEST_POPULATION:
            raise InvalidInput(f"n = {protocol.n} is too large; engine batch takes up to 2**60 agents")
        if protocol.coins.size > MOST_COINS:
            raise InvalidInput(
                f"{protocol.id} draws one of {protocol.coins.size:,} values in an interaction; engine batch takes at "
                f"most {MOST_COINS}, use engine agents"
            )
        self.n, self.space, self.stop, self.rng = protocol.n, protocol.space, stop, rng
        self._coins = protocol.coins.size
        self._silent = False
        self.gave_up, self.affordable = False, math.inf  # whether an interaction costs more nanoseconds than it may
        self._membership = Membership(protocol, stop)
        self._multiset = Multiset(protocol, stop)
        kernels = (specialize(kernel, allocates=False) for kernel in (run_epochs, skip, follow_epoch))
        self._run_epochs, self._skip, self._follow_epoch = kernels
        self._no_log = new_log(0, 0)
        moving = (np.zeros(size, np.int64) for size in (len(stop.conditions), len(stop.conditions), 2))
        self._held = np.zeros(len(stop.conditions), np.int64)
        self._course = Course(rng, self._held, np.array([len(stop.low)]), stop.low.ravel(), stop.high.ravel(), *moving)
        self._base = 0  # the step that the census describes
        self._ahead = 0  # how far into the next epoch `step` is
        self._skipping = False
        self._pending = np.array([NOT_DRAWN])  # the wait for the next change, while skipping
        self._far = 0  # the same if it is very long
        self._drawn_far = np.zeros(1)
        self._unchecked = 0  # epochs ahead that were replayed and do not meet the stop
        self.load(configuration)

    @property
    def step(self) -> int:
        return self._base + self._ahead

    @property
    def is_silent(self) -> bool:
        return self._silent

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over a configuration and count the stop's conditions in it.

        The coins of an epoch that was entered are not used again: its beginning may have been observed.
        """
        if self._ahead:
            self._go(self._look(self._ahead))
        if step is not None:
            self._base = step
        self._pending[0], self._far = NOT_DRAWN, 0
        self._skipping = self._silent = False
        self._fill(*configuration.multiset)

    def _fill(self, codes: np.ndarray, counts: np.ndarray) -> None:
        self._unchecked = 0
        self.n = int(counts.sum())
        marks = self._membership.marks(self.space.decode_array(codes))
        self._multiset.load(codes, counts, marks)
        self._held[:] = self._membership.counts_from(marks, counts)
        self._make_workspace()

    def _make_workspace(self) -> None:
        capacity = self._multiset.capacity
        self._workspace = new_workspace(capacity, self.n)
        self._table = new_table(capacity, self._pending, self._drawn_far)

    def advance(self, limit: int) -> bool:
        """Run towards `limit`, or exactly to the first step that meets the stop; whether it is met."""
        if self._silent:
            self._base = limit
        self.gave_up = False
        deadline = Deadline()
        while self.step < limit and not deadline.is_over:
            if self._far:
                self._wait(limit)
                continue
            budget = min(limit - self._base, LONGEST)
            ended, done = self._skip_ahead(budget) if self._skipping else self._pass_epochs(budget)
            self._unchecked = 0
            if done:
                self._base, self._ahead = self._base + int(done), 0
            self._silent, self.gave_up = ended == SILENT, ended == TOO_COSTLY
            if ended < 0:
                self._make_room(ended)
            elif ended == SWITCH:
                self._skipping = not self._skipping
            elif ended == LONG:
                self._far = int(self._drawn_far[0])
            elif ended == LIMIT and not self._skipping:
                self._ahead = budget - int(done)  # into an epoch that does not meet the stop: it need not be replayed
                return False
            elif ended != LIMIT and ended != NEAR:
                return ended == MET
            elif ended == NEAR:
                there = self._look(limit - self._base)
                if there.met:
                    self._go(there)
                    return True
                if there.step < there.length:
                    self._ahead = there.step
                    return False
                self._unchecked = 1
        return False

    def _wait(self, limit: int) -> None:
        """Pass a very long wait, as far as `limit` allows."""
        passed = min(self._far, limit - self._base)
        self._base, self._far = self._base + passed, self._far - passed
        if self._far == 0:
            self._pending[0] = 0

    def _pass_epochs(self, budget: int, log: Any = None) -> tuple[int, int]:
        return self._run_epochs(
            self._multiset.addresses, addresses(self._workspace), addresses(log or self._no_log),
            addresses(self._course), self.n, budget, self._unchecked, self.affordable, PATIENCE,
        )  # fmt: skip

    def _skip_ahead(self, budget: int) -> tuple[int, int]:
        event = EVENT + PER_STATE * self._multiset.occupied
        return self._skip(
            self._multiset.addresses, addresses(self._table), addresses(self._workspace), addresses(self._course),
            self.n, budget, int(PATIENCE / event) + 1,
        )  # fmt: skip

    def _look(self, upto: int) -> Preview:
        """Replay the next epoch up to its step `upto`, or to the first step that meets the stop."""
        before = self.rng.copy()
        log, length = self._written_epoch()
        after = self.rng.copy()
        self.rng[:] = before
        counts, held = self._multiset.counts.copy(), self._held.copy()
        log, tree = ordered(log)
        step, met = self._follow_epoch(
            self._multiset.addresses, addresses(log), addresses(self._course), addresses(tree), length,
            min(upto, length),
        )  # fmt: skip
        there = Preview(int(step), length, bool(met), self._multiset.counts.copy(), self._held.copy(), after)
        self._multiset.counts[:], self._held[:] = counts, held
        return there

    def _go(self, there: Preview) -> None:
        self._base, self._ahead = self._base + there.step, 0
        self._multiset.counts[:], self._held[:], self.rng[:] = there.counts, there.held, there.rng

    def _written_epoch(self) -> tuple[Any, int]:
        """The next epoch with all that it did, and its length; the generator moves to its end."""
        rng = self.rng.copy()
        while True:
            occupied = self._multiset.occupied
            length = int(plan.py_func(occupied, self.n)[0])
            kinds = min(length, occupied**2 * self._coins) + min(length, len(self._workspace.deck))
            log = new_log(min(length, len(self._workspace.touched)), kinds)
            length = int(self._pass_epochs(0, log)[1])
            if length >= 0:
                return log, length
            self.rng[:] = rng
            self._make_room(length)

    def _make_room(self, error: int) -> None:
        self._multiset.make_room(error)
        self._make_workspace()

    def counts_hold(self) -> bool:
        return self.stop.holds(self._look(self._ahead).held if self._ahead else self._held)

    def configuration(self) -> Configuration:
        codes, counts, _ = self._multiset.contents(self._look(self._ahead).counts if self._ahead else None)
        return Configuration(self.space, codes=codes, counts=counts)

    def recent_occupancy(self, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The occupancy when the present epoch began: the epoch need not be replayed."""
        codes, counts, _ = self._multiset.contents()
        return (codes, counts) if len(codes) <= most else None

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        codes, counts, _ = self._multiset.contents()
        waits = self._pending.copy(), self._far, self._skipping, self._silent
        return self.step, self._base, codes, counts, self.rng.copy(), *waits

    def restore(self, snapshot: Snapshot) -> None:
        step, self._base, codes, counts, rng, pending, self._far, self._skipping, self._silent = snapshot
        self._ahead = step - self._base
        self.rng[:], self._pending[:] = rng, pending
        self._fill(codes, counts)


def activity(protocol: PopulationProtocol, stop: Stop, codes: np.ndarray, counts: np.ndarray) -> float:
    """The chance that an interaction changes something, in a population of these states."""
    marks = Membership(protocol, stop).marks(protocol.space.decode_array(codes))
    multiset = Multiset(protocol, stop)
    multiset.load(codes, counts, marks)
    while True:
        chance = specialize(chance_of_change, allocates=False)(multiset.addresses, len(codes), protocol.n)
        if chance >= 0:
            return chance
        multiset.make_room(chance)
