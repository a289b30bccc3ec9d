"""Engine `agents`: the population as an array, one pair of its scheduler per step.

An agent is its code in two bytes when all pairs of states, for each value of the coins, fit in a table, which is filled
as pairs occur: that kernel is compiled once for all protocols. Otherwise it is a record, and `interact` works on the
records themselves.
"""

import os
from typing import NamedTuple

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean, specialize
from hegemon.compute.intrinsics import call_meeting
from hegemon.compute.records import codec, meeting, record_functions, recounter, settler, widened
from hegemon.engines.engine import Engine, kept
from hegemon.engines.meeting import Meeting
from hegemon.engines.membership import Membership
from hegemon.engines.pacing import Pace
from hegemon.engines.population.draws import BLOCK, Chance, draws_of, move_words
from hegemon.engines.population.pairs import LARGEST_TABLE, MARKED, codes_in, entry_of, pairs_of
from hegemon.engines.refusal import refuse_interaction
from hegemon.engines.schedulers.scheduler import Scheduler
from hegemon.engines.schedulers.uniform import UNIFORM
from hegemon.engines.stopping import Stop
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import LARGEST_ARRAY, Configuration
from hegemon.models.population import PopulationProtocol

LARGEST_POPULATION = 2**32 - 1
PER_AGENT = 24  # bytes besides the record, while a start is made
LIMIT, MET, FAILED = 0, 1, 2  # how a kernel ended

# ruff: noqa: F821 - in kernels, `draw`, `meet`, `recount` … are bound by specialize


class Goal(NamedTuple):
    """The counted part of the stop: how many agents meet each condition, and how many are to."""

    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    watch: int


class Given(NamedTuple):
    """What an interaction needs: the parameters, how states are packed, and wide records to work in; and who met last,
    with which coins."""

    parameters: np.ndarray
    layout: tuple
    scratch: np.ndarray
    tried: np.ndarray


def run_records(population, chance, goal, given, budget):
    """At most `budget` steps on records; answers the steps made and how they ended.

    `interact` works on wide copies, which are stored only when every field is in its range.
    """
    p, scratch, tried = given.parameters[0], given.scratch, given.tried
    first, second, coins = chance.first, chance.second, chance.coins
    done = 0
    while done < budget:
        size = min(chance.block, budget - done)
        move_words(chance.rng, chance.before)
        draw(population, chance, size)
        for k in range(size):
            tried[0], tried[1], tried[2] = first[k], second[k], coins[k]
            a, b = population[first[k]], population[second[k]]
            copy(a, scratch[0])
            copy(b, scratch[1])
            meet(scratch[0], scratch[1], p, coins[k])
            if not settle(scratch[0], given.layout) or not settle(scratch[1], given.layout):
                return done + k, FAILED
            met = recount(a, b, scratch[0], scratch[1], p, goal)
            copy(scratch[0], a)
            copy(scratch[1], b)
            if met:
                if k + 1 < size:
                    move_words(chance.before, chance.rng)
                    draw(population, chance, k + 1)  # the others are drawn again by whoever goes on
                return done + k + 1, MET
        done += size
    return done, LIMIT


def run_codes(population, chance, goal, gate, tried, table, mark, budget):
    """The same on codes; entry 0 of the table of pairs means not yet computed.

    Numbers without a sign: for others the compiler asks at every access whether they count from the end.
    """
    states = uint64(len(mark))
    first, second, coins = chance.first, chance.second, chance.coins
    done = 0
    while done < budget:
        size = min(chance.block, budget - done)
        move_words(chance.rng, chance.before)
        draw(population, chance, size)
        k = 0
        while k < size:
            a = b = after_a = after_b = entry = uint64(0)
            while k < size and not entry & uint64(MARKED):
                i, j = uint64(first[k]), uint64(second[k])
                a, b = uint64(population[i]), uint64(population[j])
                place = (uint64(coins[k]) * states + a) * states + b
                entry = uint64(table[place])
                if entry == 0:
                    tried[0], tried[1], tried[2] = first[k], second[k], coins[k]
                    if call_meeting(gate, np.int64(a), np.int64(b), coins[k]) < 0:
                        return done + k, FAILED
                    entry = entry_of(gate, mark, a, b)
                    table[place] = entry
                after_a, after_b = codes_in(entry)
                population[i] = after_a
                population[j] = after_b
                k += 1
            if entry & uint64(MARKED) and recount_codes(mark, a, b, after_a, after_b, goal):
                if k < size:
                    move_words(chance.before, chance.rng)
                    draw(population, chance, k)
                return done + k, MET
        done += size
    return done, LIMIT


@lean
def recount_codes(mark, a, b, c, d, goal):
    """As `recount` of records, for codes whose marks are known, and of which some differ."""
    counts, satisfied = goal.counts, True
    for k in range(len(counts)):
        counts[k] += mark[c, k] + mark[d, k] - mark[a, k] - mark[b, k]
        if counts[k] < goal.low[k] or counts[k] > goal.high[k]:
            satisfied = False
    return satisfied or (goal.watch != 0 and (mark[a, 0] != mark[c, 0] or mark[b, 0] != mark[d, 0]))


def require_array(protocol: PopulationProtocol, engine: str) -> None:
    """Refuse a population that does not fit in memory as an array, with the memory that it would take."""
    size = protocol.space.dtype.itemsize
    needed = protocol.n * (size + PER_AGENT)
    if protocol.n > LARGEST_POPULATION or protocol.n * size > LARGEST_ARRAY or needed > memory():
        raise InvalidInput(
            f"n = {protocol.n} agents of {size} bytes take {needed / 1e9:,.1f} GB as an array, which is too much for "
            f"engine {engine}; take a smaller n, or engine batch on a complete graph, which keeps counts"
        )


def few_states(space, agents: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The codes of these agents' states, ascending, with their numbers; None if there are more than `most`."""
    if (
        len(np.unique(space.encode_array(agents[: 8 * most]))) > most
    ):  # what the first agents show need not be sorted out
        return None
    codes, counts = np.unique(space.encode_array(agents), return_counts=True)
    return (codes, counts) if len(codes) <= most else None


def memory() -> float:
    """What a run may take: three quarters of this machine's memory, in bytes."""
    try:
        return 0.75 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 8e9


class Agents(Engine):
    """The engine: `advance` runs up to a step, exactly to the first step that meets the stop."""

    name = "agents"
    honours: tuple[str, ...] = ("one_pair", "blind")
    step = 0

    @classmethod
    def require_room(cls, protocol: PopulationProtocol, topology: Topology) -> None:
        require_array(protocol, cls.name)

    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng,
        scheduler: Scheduler = UNIFORM,
    ):
        self.require_room(protocol, topology)
        self.protocol, self.space, self.stop, self.rng = protocol, protocol.space, stop, rng
        self._membership = Membership(protocol, stop)
        self._in_table = self.space.size**2 * protocol.coins.size <= LARGEST_TABLE**2
        draw, self._arcs = draws_of(scheduler, topology, protocol.coins.size)
        self._block = BLOCK if scheduler.memoryless else 1  # what a scheduler remembers cannot be drawn again
        self._memory = (self._arcs,) * (not scheduler.memoryless)
        self._before = np.zeros(4, np.uint64)
        self._drawn = [np.zeros(BLOCK, np.int64) for _ in range(3)]  # without coins the third stays 0
        self._tried = np.zeros(3, np.int64)  # the agents that met last, and their coins
        self._given: tuple
        if self._in_table:
            self._meeting = Meeting(protocol, stop)
            self._kernel = specialize(run_codes, allocates=False, draw=draw)
            self._states, self._marks, table = pairs_of(protocol, self._membership)
            self._given = self._meeting.gate(), self._tried, table, self._marks
        else:
            copy, _ = record_functions(self.space)
            scratch = np.zeros(2, widened(self.space.dtype))
            self._given = (Given(protocol.compiled_p, codec(self.space)[2], scratch, self._tried),)
            bound = {"meet": meeting(protocol.interact, protocol.coins.names), "recount": recounter(stop.conditions)}
            bound |= {"draw": draw, "copy": copy, "settle": settler(self.space)}
            self._kernel = specialize(run_records, protocol.record_types, allocates=False, **bound)
        self._pace = Pace(1 << 18)
        self.load(configuration)

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over a configuration and count the stop's conditions in it."""
        self.step = self.step if step is None else step
        self._silent, self._made = False, 0
        if self._in_table:
            self._population = self.space.encode_array(configuration.agents).astype(np.uint16)
            self._counts = self._membership.counts_from(
                self._marks, np.bincount(self._population, minlength=self.space.size)
            )
        else:
            self._population = configuration.agents.copy()
            self._counts = self._membership.counts(self._population)

    def advance(self, limit: int) -> bool:
        """Towards `limit`, or exactly to the first step that meets the counted stop; whether it is met."""
        if self._silent:
            self.step = limit
            return False
        chance = Chance(self._arcs, self.rng, self._before, self.protocol.coins.size, self._block, *self._drawn)
        goal = Goal(self._counts, self.stop.low, self.stop.high, self.stop.watch)
        self._pace.start()
        try:
            steps = min(limit - self.step, self._pace.amount)
            done, ended = self._kernel(self._population, chance, goal, *self._given, steps)
        except Exception as error:
            self._refuse(error)
        self._pace.done(done)
        if ended == FAILED:
            self._refuse()
        self.step += done
        self._made = done
        return ended == MET

    def last_meeting(self) -> tuple[int, int, int] | None:
        if not self._made:
            return None
        first, second, coins = (
            int(drawn[(self._made - 1) % self._block]) for drawn in self._drawn
        )  # a call begins a block
        return first, second, coins

    def _refuse(self, error=None):
        met = self._population[self._tried[:2]]
        codes = met if self._in_table else self.space.encode_array(met)
        if self._in_table and error is None:
            error = self._meeting.failure(int(codes[0]), int(codes[1]), int(self._tried[2]))
        refuse_interaction(self.protocol, *codes, [int(self._tried[2])], error)

    @property
    def held(self) -> np.ndarray:
        """How many agents meet each of the stop's conditions."""
        return self._counts

    def counts_hold(self) -> bool:
        return self.stop.holds(self._counts)

    def configuration(self) -> Configuration:
        if self._in_table:
            return Configuration(self.space, agents=self._states[self._population])
        return Configuration(self.space, agents=self._population.copy())

    def view(self) -> Configuration:
        return self.configuration() if self._in_table else Configuration(self.space, agents=self._population)

    @property
    def codes(self) -> np.ndarray | None:
        """Every agent's code, not to be written to; None where agents are kept as records."""
        return self._population if self._in_table else None

    def occupancy(self):
        """The codes of the states that agents are in, ascending, and how many are in each."""
        if not self._in_table:
            return self.configuration().multiset
        counts = np.bincount(self._population, minlength=self.space.size)
        codes = np.flatnonzero(counts)
        return codes, counts[codes]

    def recent_occupancy(self, most: int):
        return super().recent_occupancy(most) if self._in_table else few_states(self.space, self._population, most)

    @property
    def is_silent(self) -> bool:
        return self._silent

    def note_silence(self) -> None:
        self._silent = True

    def snapshot(self, into=None):
        mine = (self._population, self._counts, self.rng, *self._memory)
        return self.step, *kept(mine, into and into[1:-1]), self._silent

    def restore(self, snapshot) -> None:
        self.step, population, counts, rng, *memory, self._silent = snapshot
        self._made = 0
        if len(population) != len(self._population):  # agents have come or gone
            self._population = np.empty_like(population)
        self._population[:], self._counts[:], self.rng[:] = population, counts, rng
        for mine, kept_memory in zip(self._memory, memory, strict=True):
            mine[:] = kept_memory
