"""Engine `rounds`: all nodes of a graph move at once. States are packed words in two buffers.

Large graphs are swept by one thread per core. A node's coins depend on (key, node, round) alone, so neither
the number of threads nor a replay changes anything.
"""

import copy
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from hegemon.compute.border import NumbaError
from hegemon.compute.compilation import part, specialize
from hegemon.compute.philox import word_at
from hegemon.compute.records import clearer, copier, fitter, marker, packer, updating, widened
from hegemon.engines.engine import LAST_STEP, Engine, Snapshot, within_clock
from hegemon.engines.membership import Membership
from hegemon.engines.pacing import Deadline, Pace
from hegemon.engines.refusal import refuse_compilation
from hegemon.engines.rounds import kernels
from hegemon.engines.rounds.fast_forward import Flight, Survey, can_skip
from hegemon.engines.rounds.kernels import (
    CURRENT,
    FAILED,
    MET,
    PERIODIC,
    TIME,
    Coins,
    Frame,
    Given,
    Goal,
    Room,
    Search,
    Shown,
)
from hegemon.engines.rounds.lockstep import Lockstep
from hegemon.engines.stopping import Stop
from hegemon.errors import InvalidInput, pass_interrupt
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.neighbourhoods import BACK
from hegemon.models.packing import Packing
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.state import record_type

LARGE = 40_000  # nodes and arcs: from here on a round is worth more than one thread
FIRST_CALL = 4_000_000  # nodes and arcs read before the first look at the clock


class Rounds(Engine):
    """The engine: `advance` runs up to a round, exactly to the first that meets the whole stop."""

    name = "rounds"

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return True  # a round costs as much as a look at the configuration

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
        self._face = record_type({name: self.space.dtype[name] for name in protocol.public_names}, self.space.arrays)
        ports = protocol.neighbourhood == "ports"
        self._seen = np.dtype([(BACK, np.int64), *self._face.descr]) if ports else self._face
        self._membership = Membership(protocol, stop, topology)
        self._compile(topology)
        n, size = topology.n, topology.n + topology.arcs
        self._pace = Pace(max(1, FIRST_CALL // size))
        self._divide(topology, 1 if size < LARGE else threads or os.cpu_count() or 1)
        self._buffers, self._faces = np.zeros((2, n), self.packing.dtype), np.zeros((2, n), self._face)
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

    def _compile(self, topology: Topology) -> None:
        pack, unpack, layout = packer(self.packing)
        records, ports = self.protocol.record_types, self.protocol.neighbourhood == "ports"
        show = copier(self.protocol.public_names)
        self.author: dict[str, Any] = {  # what the kernels of this engine and of fast-forward are bound to
            "pack": pack,
            "unpack": unpack,
            "clear": clearer(self.space, words=4),
            "show": show,
            "gather": part(kernels.gather_ports, records, show=show) if ports else kernels.gather,
            "fits": fitter(self.protocol.degree_fitting.source()),
            "update": updating(self.protocol.update, self.protocol.coins.names, self.protocol.coins.biased),
        }
        # As unsigned numbers, which need no look at whether an index is negative.
        graph = topology.offsets.view(np.uint64), topology.targets.view(np.uint32)
        back = topology.back if ports else np.zeros(0, np.int64)
        self.given = Given(self.protocol.compiled_p, layout, *graph, back, self.protocol.degree_fitting.limits)
        self._pack = specialize(kernels.pack_all, records, pack=pack, show=show)
        self._unpack = specialize(kernels.unpack_all, records, unpack=unpack)
        self._show = specialize(kernels.show_all, records, unpack=unpack, show=show)
        # One for every stop: it takes long to compile.
        self._sweep = specialize(kernels.sweep, records, **self.author, toss=self._toss)
        self._tally = specialize(kernels.tally, records, unpack=unpack, note=marker(self.stop.conditions))
        moved = {"sweep": self._sweep, "tally": self._tally}
        self._part_of_round = specialize(kernels.part_of_round, records, **moved)
        self._recurs = specialize(kernels.recurs)
        holds, checks = kernels.nothing_more, self._membership.whole_checks
        if checks:
            every = reduce(lambda a, b: part(kernels.both, records, first=a, second=b), checks)
            holds = part(kernels.whole_met, records, unpack=unpack, check=every)
        together = {"part_of_round": part(kernels.part_of_round, records, **moved), "holds": holds}
        together |= {"meets": part(kernels.meets), "recurs": part(kernels.recurs)}
        self._run = specialize(kernels.run, records, **together)
        agents = np.zeros(topology.n if checks else 0, self.space.dtype)
        self._shown = Shown(agents, topology.offsets, topology.targets)

    @property
    def _toss(self) -> Callable[..., Any]:
        return kernels.toss_values if self.protocol.coin_fields else kernels.toss_bits

    def _divide(self, topology: Topology, threads: int) -> None:
        """Consecutive nodes for every thread, about equally many arcs each."""
        work = topology.offsets + np.arange(topology.n + 1)
        edges = np.searchsorted(work, np.linspace(0, work[-1], threads + 1))
        self._largest_degree = int(topology.degrees.max())
        self._parts = [(int(low), int(high), self.room()) for low, high in pairwise(edges)]

    def room(self) -> Room:
        return Room(np.zeros(1, widened(self.space.dtype)), np.zeros(self._largest_degree, self._seen))

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

        Coins belong to rounds, so no coin is used twice. On the way of a jump nobody's private fields are known, and
        whoever has another configuration cannot have it from here: a jump ends at the horizon at the latest.
        """
        assert self._flight is None or self.step == self._flight.departure, "a run is reached into at its horizon"
        if step is not None:
            self._state[TIME] = step
        self.protocol.degree_fitting.require_all(configuration.agents, self.topology, self.protocol.id)
        self._pack(configuration.agents, *self.frame, self.given.layout)
        self.recount()
        self._survey = self._flight = None
        self.hopeless = ""
        self._watch_for_period()

    def configuration(self) -> Configuration:
        """During a flight, private fields are not to be relied on: what was watched does not read them."""
        if self._flight is None or self.step == self._flight.departure:
            return self.unpacked(self.words)
        return self._flight.configuration(self.step)

    def unpacked(self, words: np.ndarray) -> Configuration:
        agents = np.zeros(len(words), self.space.dtype)
        self._unpack(words, agents, self.given.layout)
        return Configuration(self.space, agents=agents)

    def last_coins(self, node: int) -> int:
        """What the coins of a node showed in the round made last."""
        bits, time = self._coins.bits, self.step - 1
        per_word = 64 // bits if bits else 1 << 62
        word = np.uint64(word_at(self.key[0], time, node // per_word))
        return int(self._toss(word, node % per_word, node, time, self._coins))

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        """During a survey or a flight: where the survey began, since all after it can be repeated from there, towards
        the same horizon."""
        path = self._survey.path if self._survey else self._flight.path if self._flight else None
        begin, words, period = (path.begin, path.first.words, path.period) if path else (self.step, self.words, 0)
        search = self._anchor.copy(), self._clock.copy()
        return self.step, begin, words.copy(), *search, period, self._skipped, self.horizon

    def restore(self, snapshot: Snapshot) -> None:
        step, begin, words, anchor, clock, period, self._skipped, self.horizon = snapshot
        self.hopeless = ""
        self.words[:] = words
        self._show(self.words, self._parts[0][2].me, self.frame.faces, self.given.layout)
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
        """At most that many; returns early when something is to be evaluated."""
        if len(self._parts) == 1:
            status = self._run(
                budget, self._buffers, self._faces, self._mark, self._state, self._parts[0][2], self._counts,
                self._goal, self._shown, self._search, self._coins, self.given,
            )  # fmt: skip
            if status == FAILED:
                self.refuse_update()
            return status
        for _ in range(budget):
            status = self._round()
            if self._recurs(self.words, self._search):
                status |= PERIODIC
            if status:
                return status
        return 0

    def _round(self) -> int:
        then = 1 - self._state[CURRENT]
        counts = np.zeros((len(self._parts), len(self._counts)), np.int64)
        new = Frame(self._buffers[then], self._faces[then])
        answers = self.spread(
            self._part_of_round, list(counts), self.frame, new, self._mark, self.step, self._coins, self.given
        )
        if min(answers) < 0:
            self.refuse_update()
        self._counts[:] = counts.sum(axis=0)
        self._state[:] = then, self.step + 1
        return self._status(int(np.bitwise_or.reduce(answers)))

    def sweep(self, old: Frame, new: Frame, time: int) -> None:
        """The round after `time`, from `old` to `new`."""
        self.spread(self._sweep, old, new, time, self._coins, self.given)

    def spread(self, kernel: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call `kernel(low, high, room, ...)` for all nodes, by all threads; a list has an item for each."""
        calls = [
            (*part, *(given[k] if isinstance(given, list) else given for given in arguments))
            for k, part in enumerate(self._parts)
        ]
        if len(calls) == 1:
            return [kernel(*calls[0])]
        return [job.result() for job in [pool().submit(kernel, *call) for call in calls]]

    def recount(self) -> int:
        """Count the stop's conditions in the present configuration; whether the first has changed at some node."""
        self._counts[:] = 0
        room = self._parts[0][2]
        return self._tally(0, len(self.words), room, self._counts, self.words, self._mark, self.given)

    @property
    def _goal(self) -> Goal:
        return Goal(self.stop.low, self.stop.high, self.stop.watch, bool(self.stop.whole))

    def _status(self, changed: int) -> int:
        meets: Callable[..., bool] = kernels.meets
        return MET if meets(self._counts, changed, self._goal) else 0

    def _whole_holds(self) -> bool:
        return not self.stop.whole or self._membership.whole_holds(self.unpacked(self.words).agents)

    def refuse_update(self, error: BaseException | None = None) -> NoReturn:
        """The present round again: find the node where `update` fails, and let plain Python say what is wrong."""
        if isinstance(error, NumbaError):
            refuse_compilation(self.protocol, "update", error)
        low, high = 0, len(self.words)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fails(low, middle) else (middle, high)
        near = self.topology.neighbours(low)
        me, *others = self.protocol.namespaces(self.unpacked(self.words[np.concatenate([[low], near])]).agents)
        shown = f"{self.space.mapping(me)} with neighbours {[self.space.mapping(other) for other in others]}"
        others = self.protocol.as_seen(others, self.protocol.ports_back(self.topology, low))
        for coins, _ in self.protocol.coin_faces:
            state, told = copy.copy(me), self.protocol.coins_in_words(coins)
            try:
                self.protocol.move(state, others, coins)
                self.space.check(state)
            except InvalidInput as problem:
                raise InvalidInput(f"{problem} (node {shown}, coins {told})") from None
            except Exception as problem:
                what = f"{type(problem).__name__}: {problem}"
                raise InvalidInput(f"{self.protocol.id}: update fails on {shown}, coins {told}: {what}") from None
        why = f": {type(error).__name__}: {error}" if error else ""
        raise InvalidInput(f"{self.protocol.id}: the compiled update fails in round {self.step + 1}{why}")

    def _fails(self, low: int, high: int) -> bool:
        try:
            new = self.new_frame()
            return not self._sweep(low, high, self.room(), self.frame, new, self.step, self._coins, self.given)
        except Exception:
            return True

    # -- fast-forward -----------------------------------------------------------------------------------

    def _watch_for_period(self) -> None:
        """Begin a new search: the next configuration to be recognized is the present one."""
        self._anchor[:] = self.words
        self._clock[:] = 0, int(self._looks_ahead)
        self._lockstep.forget()

    def _surveyed_round(self) -> int:
        """A round of the period under survey; at its end, the flight over all rounds that are like it."""
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


@cache
def pool() -> ThreadPoolExecutor:
    """Threads for large graphs, shared by all engines of the process."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="rounds")
