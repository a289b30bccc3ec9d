"""Populations as codes of two bytes, where all pairs of states, for each value of the coins, fit in a table.

The table is filled as pairs occur, so the kernel is compiled once for all protocols. One call of it moves one
population, for engine `agents`, or many, for trials that are made together.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean, part, specialize
from hegemon.compute.intrinsics import call_meeting
from hegemon.compute.records import within
from hegemon.engines.meeting import meeting_of
from hegemon.engines.population.draws import draws_of, move_words
from hegemon.engines.population.pairs import KNOWN, LARGEST_TABLE, MARKED, codes_in, entries, entry_of, pairs_of
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.process.membership import Membership
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.process.stopping import Stop

LIMIT, MET, FAILED = 0, 1, 2  # how a kernel ended

# ruff: noqa: F821 - in kernels, `draw`, `coin_at`, `follow` and `run` are bound by specialize


class Goal(NamedTuple):
    """The counted part of the stop: how many agents meet each condition, and the bounds of these numbers."""

    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    watch: int


def run_codes(population, chance, goal, gate, tried, table, mark, budget):  # type: ignore[no-untyped-def]
    """At most `budget` steps; returns the steps made and how they ended. Entry 0 of the table of pairs means not yet
    computed.

    Numbers are unsigned: for signed indices the compiler tests at every access whether they count from the end.
    """
    states = uint64(len(mark))
    first, second, coins = chance.first, chance.second, chance.coins
    done = 0
    while done < budget:
        size = uint64(min(chance.block, budget - done))
        move_words(chance.rng, chance.before)
        draw(population, chance, size)
        k = follow(population, first, second, coins, table, states, uint64(0), size)
        while k < size:
            i, j = uint64(first[k]), uint64(second[k])
            a, b = uint64(population[i]), uint64(population[j])
            place = (coin_at(coins, k) * states + a) * states + b
            entry = uint64(table[place])
            if entry == 0:
                tried[0], tried[1], tried[2] = first[k], second[k], coins[k]
                if call_meeting(gate, np.int64(a), np.int64(b), coins[k]) < 0:
                    return done + np.int64(k), FAILED
                entry = entry_of(gate, mark, a, b)
                table[place] = entry
            after_a, after_b = codes_in(entry)
            population[i] = after_a
            population[j] = after_b
            k += uint64(1)
            if entry & uint64(MARKED) and recount_codes(mark, a, b, after_a, after_b, goal):
                if k < size:
                    move_words(chance.before, chance.rng)
                    draw(population, chance, k)  # the later pairs are drawn again by the next call
                return done + np.int64(k), MET
            k = follow(population, first, second, coins, table, states, k, size)
        done += np.int64(size)
    return done, LIMIT


def follow_pairs(population, first, second, coins, table, states, k, size):  # type: ignore[no-untyped-def]
    """Make the drawn pairs from `k` on while their entry is known and changes nothing that the stop counts; returns the
    first other pair. All else is kept out of this loop, so that what it needs stays in registers."""
    while k < size:
        i, j = uint64(first[k]), uint64(second[k])
        place = (coin_at(coins, k) * states + uint64(population[i])) * states + uint64(population[j])
        entry = uint64(table[place])
        if entry & uint64(KNOWN | MARKED) != uint64(KNOWN):
            return k
        after_a, after_b = codes_in(entry)
        population[i] = after_a
        population[j] = after_b
        k += uint64(1)
    return k


def drawn_coin(coins, k):  # type: ignore[no-untyped-def]
    return uint64(coins[k])


def no_coin(coins, k):  # type: ignore[no-untyped-def]
    return uint64(0)


def run_each(populations, words, counts, chance, goal, gate, tried, table, mark, budget, made, ended):  # type: ignore[no-untyped-def]
    """The same for one population after the other, each with a generator and counts of its own; one that has met the
    stop stays where it is. A failure ends all."""
    for row in range(len(populations)):
        if ended[row] == MET:
            continue
        for k in range(4):
            chance.rng[k] = words[row, k]
        for k in range(len(goal.counts)):
            goal.counts[k] = counts[row, k]
        made[row], ended[row] = run(populations[row], chance, goal, gate, tried, table, mark, budget)
        for k in range(4):
            words[row, k] = chance.rng[k]
        for k in range(len(goal.counts)):
            counts[row, k] = goal.counts[k]
        if ended[row] == FAILED:
            return


def run_rows(population, words, counts, chance, goal, gate, tried, table, mark, first, every, census):  # type: ignore[no-untyped-def]
    """The same for one population that is observed: `first` steps, then `every` steps for each further row of `census`.

    A row gets the number of agents in each state. Returns the rows, the steps after the last, and how they ended.
    """
    for k in range(4):
        chance.rng[k] = words[k]
    for k in range(len(goal.counts)):
        goal.counts[k] = counts[k]
    row, done, ended, budget = 0, 0, LIMIT, first
    while ended == LIMIT and row < len(census):
        done, ended = run(population, chance, goal, gate, tried, table, mark, budget)
        if ended == LIMIT:
            for index in range(len(population)):
                census[row, population[index]] += 1
            row, done, budget = row + 1, 0, every
    for k in range(4):
        words[k] = chance.rng[k]
    for k in range(len(goal.counts)):
        counts[k] = goal.counts[k]
    return row, done, ended


@lean
def recount_codes(mark, a, b, c, d, goal):  # type: ignore[no-untyped-def]
    """As `recount` of records, for codes whose marks are known, and of which some differ."""
    counts = goal.counts
    for k in range(len(counts)):
        counts[k] += mark[c, k] + mark[d, k] - mark[a, k] - mark[b, k]
    return within(counts, goal.low, goal.high) or (
        goal.watch != 0 and (mark[a, 0] != mark[c, 0] or mark[b, 0] != mark[d, 0])
    )


@cache
def kernels_of(draw: Any, with_coins: bool) -> tuple[Any, Any]:
    """The kernel that moves one population, for other kernels to call, and the kernel that moves many."""
    coin_at = drawn_coin if with_coins else no_coin
    follow = part(follow_pairs, allocates=False, coin_at=coin_at)
    run = part(run_codes, allocates=False, draw=draw, coin_at=coin_at, follow=follow)
    return run, specialize(run_each, allocates=False, run=run)


class Codes:
    """Moves populations of codes. For one thread at a time: the kernel writes to it."""

    def __init__(self, protocol: PopulationProtocol, topology: Topology, stop: Stop, scheduler: Scheduler):
        self.space = protocol.space
        self._membership = Membership(protocol, stop)
        draw, self.chance = draws_of(scheduler, topology, protocol.coins.size, np.zeros(4, np.uint64))
        self.tried = np.zeros(3, np.int64)  # the agents whose meeting was computed last, and their coins
        self.meeting = meeting_of(protocol, stop)
        self.states, self.marks, table = pairs_of(protocol, self._membership)
        self._run, self._kernel = kernels_of(draw, protocol.coins.size > 1)
        self._given = self.meeting.gate(), self.tried, table, self.marks

    @staticmethod
    def suit(protocol: PopulationProtocol) -> bool:
        """Whether the table of pairs is small enough."""
        return entries(protocol) <= LARGEST_TABLE**2

    def of(self, configuration: Configuration) -> np.ndarray:
        row = configuration.row if configuration.space is self.space else None
        return (self.space.encode_array(configuration.agents) if row is None else row).astype(np.uint16)

    def configuration(self, population: np.ndarray) -> Configuration:
        return Configuration(self.space, row=population.copy(), states=self.states)

    def counts(self, population: np.ndarray) -> np.ndarray:
        """How many agents satisfy each of the stop's conditions."""
        if not self.marks.shape[1]:
            return np.zeros(0, np.int64)
        return self._membership.counts_from(self.marks, np.bincount(population, minlength=self.space.size))

    def run(
        self, populations: np.ndarray, words: np.ndarray, counts: np.ndarray, stop: Stop, budget: int, ended: np.ndarray
    ) -> np.ndarray:
        """Move every row of these arrays; the steps made. `ended` says which rows have met the stop, and then how each
        ended. The stop has the conditions that were given at first, perhaps with other bounds."""
        made = np.zeros(len(populations), np.int64)
        goal = Goal(np.zeros(counts.shape[1], np.int64), stop.low, stop.high, stop.watch)
        self._kernel(populations, words, counts, self.chance, goal, *self._given, budget, made, ended)
        return made

    def observe(
        self,
        population: np.ndarray,
        words: np.ndarray,
        counts: np.ndarray,
        stop: Stop,
        first: int,
        every: int,
        rows: int,
    ) -> tuple[np.ndarray, int, int]:
        """Move one population, and count its states after `first` steps and then after every `every`: the rows, how
        many steps were made after the last, and how they ended."""
        census = np.zeros((rows, self.space.size), np.int64)
        kernel = specialize(run_rows, allocates=False, run=self._run)
        goal = Goal(np.zeros(len(counts), np.int64), stop.low, stop.high, stop.watch)
        row, done, ended = kernel(population, words, counts, self.chance, goal, *self._given, first, every, census)
        return census[:row], done, ended
