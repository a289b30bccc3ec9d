"""Engine `rounds`: all nodes of a graph move at once. States are packed words in two buffers.

Large graphs are swept by one thread per core. A node's coins depend on (key, node, round) alone, so neither
the number of threads (`threads`) nor a replay changes anything. Its kernels are compiled in `binding`.
"""

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from hegemon.compute.failures import Undone
from hegemon.compute.philox import word_at
from hegemon.engines.engine import LAST_STEP, Engine, Snapshot, require_size, within_clock
from hegemon.engines.pacing import Deadline, Pace
from hegemon.engines.refusal import refuse_update
from hegemon.engines.rounds import kernels
from hegemon.engines.rounds.binding import RoundsKernels
from hegemon.engines.rounds.fast_forward import Flight, Survey, can_skip
from hegemon.engines.rounds.kernels import (
    CURRENT,
    FAILED,
    MET,
    PERIODIC,
    TIME,
    Coins,
    Frame,
    Goal,
    Search,
)
from hegemon.engines.rounds.lockstep import Lockstep
from hegemon.engines.rounds.threads import Shares
from hegemon.errors import InvalidInput, pass_interrupt
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.neighbourhoods import BACK
from hegemon.models.packing import Packing
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.variants import record_type
from hegemon.process.membership import Membership
from hegemon.process.stopping import Stop

FIRST_CALL = 4_000_000  # nodes and arcs read before the first reading of the clock


class Rounds(Engine):
    """The engine: `advance` runs up to a round, exactly to the first that meets the whole stop."""

    name = "rounds"
    options = ("fast_forward", "threads")

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return True  # a round costs as much as reading the configuration

    def __init__(
        self,
        protocol: RoundsProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        key: np.ndarray,
        fast_forward: bool = True,
        threads: int | None = None,
    ):
        self.protocol, self.topology, self.space, self.stop = protocol, topology, protocol.space, stop
        self.packing = Packing(self.space, protocol.private)
        self.private = self.packing.private_mask
        self.key = key  # words for coins, departures and landings
        self._skipped = 0  # rounds that fast-forward did not make
        face = record_type({name: self.space.dtype[name] for name in protocol.public_names}, self.space.arrays)
        ports = protocol.neighbourhood == "ports"
        seen = np.dtype([(BACK, np.int64), *face.descr]) if ports else face
        self._membership = Membership(protocol, stop, topology)
        self.bound = RoundsKernels(protocol, topology, stop, self.packing, self._membership)
        self.given = self.bound.given
        n = topology.n
        self._pace = Pace(max(1, FIRST_CALL // (n + topology.arcs)))
        self.shares = Shares(topology, threads, self.space.dtype, seen)
        self._buffers, self._faces = np.zeros((2, n), self.packing.dtype), np.zeros((2, n), face)
        self._state = np.zeros(2, np.int64)
        self._anchor = np.zeros(n, self.packing.dtype)
        self._clock = np.zeros(2, np.int64)
        self._mark = np.zeros(n * len(stop.conditions), np.int8)
        self._counts = np.zeros(len(stop.conditions), np.int64)
        self._search = Search(self._anchor, self._clock, self.private)
        self._coins = Coins(key[0], 64 if protocol.coin_fields else protocol.random_bits, protocol.coin_values)
        self._looks_ahead = fast_forward and can_skip(protocol, (*stop.conditions, *stop.whole))
        self._survey: Survey | None = None
        self._flight: Flight | None = None
        self._lockstep = Lockstep(self)
        self.load(configuration)

    # -- what the driver uses ---------------------------------------------------------------------------

    @property
    def step(self) -> int:
        return int(self._state[TIME])

    @property
    def words(self) -> np.ndarray:
        return self._buffers[self._state[CURRENT]]

    @property
    def frame(self) -> Frame:
        """The present configuration."""
        return Frame(self.words, self._faces[self._state[CURRENT]])

    def new_frame(self) -> Frame:
        return Frame(np.empty_like(self.words), np.empty_like(self._faces[0]))

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over a configuration and count the stop's conditions in it.

        Coins belong to rounds, so no coin is used twice. Within a jump the private fields are unknown, so `load` is not
        allowed there; every jump ends at the horizon at the latest.
        """
        assert self._flight is None or self.step == self._flight.departure, "a run is reached into at its horizon"
        require_size(self, configuration, self.topology.n)
        if step is not None:
            self._state[TIME] = step
        self.protocol.degree_fitting.require_all(configuration.agents, self.topology, self.protocol.id)
        self.bound.pack(configuration.agents, *self.frame, self.given.layout)
        self.recount()
        self._survey = self._flight = None
        self.hopeless = ""
        self._watch_for_period()

    def configuration(self) -> Configuration:
        """The present states. During a flight the private fields are not valid: no watched function reads them."""
        if self._flight is None or self.step == self._flight.departure:
            return self.unpacked(self.words)
        return self._flight.configuration(self.step)

    def unpacked(self, words: np.ndarray) -> Configuration:
        agents = np.zeros(len(words), self.space.dtype)
        self.bound.unpack(words, agents, self.given.layout)
        return Configuration(self.space, agents=agents)

    def last_coins(self, node: int) -> int:
        """What the coins of a node showed in the round made last."""
        bits, time = self._coins.bits, self.step - 1
        per_word = 64 // bits if bits else 1 << 62
        word = np.uint64(word_at(self.key[0], time, node // per_word))
        return int(self.bound.toss(word, node % per_word, node, time, self._coins))

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        """During a survey or a flight, a snapshot of where the survey began: all after it can be repeated from there,
        towards the same horizon."""
        path = self._survey.path if self._survey else self._flight.path if self._flight else None
        begin, words, period = (path.begin, path.first.words, path.period) if path else (self.step, self.words, 0)
        search = self._anchor.copy(), self._clock.copy()
        return self.step, begin, words.copy(), *search, period, self._skipped, self.horizon

    def restore(self, snapshot: Snapshot) -> None:
        step, begin, words, anchor, clock, period, self._skipped, self.horizon = snapshot
        self.hopeless = ""
        self.words[:] = words
        self.bound.show(self.words, self.shares.first.me, self.frame.faces, self.given.layout)
        self._state[TIME] = begin
        self.recount()
        self._anchor[:], self._clock[:] = anchor, clock
        self._lockstep.forget()
        self._flight, self._survey = None, Survey(self, period) if period else None
        while self.step < step:
            self.advance(step)

    def measures(self) -> dict[str, int]:
        return {"fast_forwarded_rounds": self._skipped, "bits_per_node": self.packing.bits}

    def counts_hold(self) -> bool:
        """Whether the stop, its whole predicates included, is met now."""
        return self._status(0) == MET and self._whole_holds()

    def advance(self, limit: int) -> bool:
        """Run until `step == limit` or, earlier, the stop is met; whether it is met."""
        try:
            if self.horizon is not None:
                self.horizon = min(self.horizon, LAST_STEP)
            return self._advance(within_clock(self, limit))
        except Undone as error:
            self.refuse_update(error)
        except InvalidInput:
            raise
        except Exception as error:  # in the author's `update`
            pass_interrupt(error)
            self.refuse_update(error)

    def _advance(self, limit: int) -> bool:
        deadline = Deadline()
        while self.step < limit and not deadline.is_over and not self.hopeless:
            if self._flight is not None:
                if limit < self._flight.landing:
                    self._state[TIME] = limit
                    return False
                status = self._land()
            elif self._survey is not None:
                status = self._surveyed_round()
            else:
                made = self._lockstep.rounds(limit - self.step)
                status = self._plain_rounds(limit - self.step) if made is None else made
            if status & MET and self._whole_holds():
                return True
            if status & PERIODIC:
                self._survey = Survey(self, int(self._clock[kernels.AGE]))
        return False

    # -- rounds -----------------------------------------------------------------------------------------

    def _plain_rounds(self, limit: int) -> int:
        begin = self.step
        self._pace.start()
        status = self._rounds(min(limit, self._pace.amount, self._lockstep.pause))
        self._pace.done(self.step - begin)
        return status

    def _rounds(self, budget: int) -> int:
        """Make at most `budget` rounds; returns early when something is to be evaluated."""
        if len(self.shares) == 1:
            status = self.bound.run(
                budget, self._buffers, self._faces, self._mark, self._state, self.shares.first, self._counts,
                self._goal, self.bound.shown, self._search, self._coins, self.given,
            )  # fmt: skip
            if status == FAILED:
                self.refuse_update()
            return status
        for _ in range(budget):
            status = self._round()
            if self.bound.recurs(self.words, self._search):
                status |= PERIODIC
            if status:
                return status
        return 0

    def _round(self) -> int:
        then = 1 - self._state[CURRENT]
        counts = np.zeros((len(self.shares), len(self._counts)), np.int64)
        new = Frame(self._buffers[then], self._faces[then])
        done = self.shares.spread(
            self.bound.part_of_round, list(counts), self.frame, new, self._mark, self.step, self._coins, self.given
        )
        if min(done) < 0:
            self.refuse_update()
        self._counts[:] = counts.sum(axis=0)
        self._state[:] = then, self.step + 1
        return self._status(int(np.bitwise_or.reduce(done)))

    def sweep(self, old: Frame, new: Frame, time: int) -> None:
        """The round after `time`, from `old` to `new`."""
        self.shares.spread(self.bound.sweep, old, new, time, self._coins, self.given)

    def recount(self) -> int:
        """Count the stop's conditions in the present configuration; whether the first has changed at some node."""
        self._counts[:] = 0
        everything = 0, len(self.words), self.shares.first
        return self.bound.tally(*everything, self._counts, self.words, self._mark, self.given)

    @property
    def _goal(self) -> Goal:
        return Goal(self.stop.low, self.stop.high, self.stop.watch, bool(self.stop.whole))

    def _status(self, changed: int) -> int:
        meets: Callable[..., bool] = kernels.meets
        return MET if meets(self._counts, changed, self._goal) else 0

    def _whole_holds(self) -> bool:
        return not self.stop.whole or self._membership.whole_holds(self.unpacked(self.words).agents)

    def refuse_update(self, error: BaseException | None = None) -> NoReturn:
        """Raise what is wrong with the update in the present round, at the first node at which it fails."""
        frame = self.frame

        def fails(low: int, high: int) -> bool:
            try:
                room, new = self.shares.room(), self.new_frame()
                return not self.bound.sweep(low, high, room, frame, new, self.step, self._coins, self.given)
            except Exception:  # in the author's code: this is the part that fails
                return True

        refuse_update(self.protocol, self.topology, self.unpacked(self.words), self.step, fails, error)

    # -- fast-forward -----------------------------------------------------------------------------------

    def _watch_for_period(self) -> None:
        """Begin a new search: the next configuration to be recognized is the present one."""
        self._anchor[:] = self.words
        self._clock[:] = 0, int(self._looks_ahead)
        self._lockstep.forget()

    def _surveyed_round(self) -> int:
        """Make a round of the period under survey; after its last round, plan the flight over all periods like it."""
        survey, before = self._survey, self.frame
        assert survey is not None
        status = self._round()
        if survey.follow(before, self.frame):
            self._flight = survey.plan()
            self._survey = None
            if self._flight is None:
                self._watch_for_period()
        return status

    def _land(self) -> int:
        flight, self._flight = self._flight, None
        assert flight is not None
        self._skipped += flight.landing - flight.departure
        self.words[:], self.frame.faces[:] = flight.frame
        self._state[TIME] = flight.landing
        self._watch_for_period()
        return self._status(self.recount())
