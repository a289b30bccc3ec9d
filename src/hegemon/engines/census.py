"""The population as a multiset of states that are discovered as they occur.

A state met for the first time gets the next *slot*; what two slots become is learnt once and kept in a table
of pairs. Nothing depends on the number of possible states: memory follows the slots in use.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from hegemon.engines.meeting import Meeting, call_meeting
from hegemon.errors import InvalidInput

LARGEST_TABLE = 2048  # slots: a table of pairs takes at most 32 MiB; beyond, pairs are computed every time
FULL, OUT_OF_RANGE = -1, -2

# What two slots become, in one number: the initiator's slot, the responder's slot, and what they changed.
SLOT_BITS = 24
SLOT = (1 << SLOT_BITS) - 1
KNOWN = 1 << 48
CHANGED = 1 << 49  # the multiset is another one, or a watched agent
MARKED = 1 << 50  # a count of the stop may be another one

# `ranking` lists the slots by code: kernels draw in this order, so that no draw depends on when a state was met.
Census = namedtuple("Census", "counts codes marks ranking pairs places size gate told watch")


@njit
def slot_of(census, code, mark):
    """The slot of a state, a new one if need be; FULL if there is none left."""
    mask = len(census.places) - 1
    place = (code * -7046029254386353131 >> 20) & mask  # the golden ratio spreads consecutive codes
    while census.places[place] != 0:
        slot = np.int64(census.places[place] - 1)
        if census.codes[slot] == code:
            return slot
        place = (place + 1) & mask
    slot = census.size[0]
    if slot == len(census.codes):
        return np.int64(FULL)
    census.size[0] += 1
    census.places[place] = slot + 1
    census.codes[slot], census.marks[slot], census.counts[slot] = code, mark, 0
    rank = slot
    while rank and census.codes[census.ranking[rank - 1]] > code:
        census.ranking[rank] = census.ranking[rank - 1]
        rank -= 1
    census.ranking[rank] = slot
    return slot


@njit
def learn(census, i, j):
    """What slots i and j become; negative if there is no slot left or a field left its range."""
    call_meeting(census.gate, census.codes[i], census.codes[j])
    told = census.told
    code, mark = told[1], told[3]
    if told[0] < 0 or code < 0:
        return np.int64(OUT_OF_RANGE)
    first = slot_of(census, told[0], told[2])
    second = slot_of(census, code, mark)
    if first < 0 or second < 0:
        return np.int64(FULL)
    entry = KNOWN | (first << SLOT_BITS) | second
    marks = census.marks
    if marks[i] != marks[first] or marks[j] != marks[second]:
        entry |= MARKED
        if ((marks[i] ^ marks[first]) | (marks[j] ^ marks[second])) & census.watch[0]:
            entry |= CHANGED
    if (first != i or second != j) and (first != j or second != i):
        entry |= CHANGED  # two agents that swap their states leave the multiset as it is
    if len(census.pairs):
        census.pairs[i * len(census.codes) + j] = entry
    return entry


@njit(inline="always")
def look_up(census, pairs, i, j):
    """What slots i and j become; `pairs` is census.pairs, which the caller holds at hand."""
    entry = pairs[i * len(census.codes) + j] if len(pairs) else np.int64(0)
    return entry if entry else learn(census, i, j)


class Multiset:
    """Owns the arrays of a census: fills them from a configuration, makes room, forgets empty states."""

    def __init__(self, protocol, stop):
        self.meeting = Meeting(protocol, stop)
        self.watch = np.array([stop.watch], np.int64)

    def load(self, codes, counts, marks) -> None:
        """The states with these codes, ascending; all else is forgotten."""
        capacity = 64
        while capacity < 2 * len(codes):
            capacity *= 2
        if capacity > SLOT:
            raise InvalidInput(f"{len(codes)} different states are too many to count separately; use engine agents")
        self._fill(capacity, codes, counts, marks)

    def _fill(self, capacity: int, codes, counts, marks) -> None:
        def zeros(size):
            return np.zeros(size, np.int64)

        pairs = zeros(capacity**2 if capacity <= LARGEST_TABLE else 0)
        self.census = Census(
            zeros(capacity), zeros(capacity), zeros(capacity), zeros(capacity), pairs,
            np.zeros(4 * capacity, np.int32), zeros(1), self.meeting.gate, self.meeting.told, self.watch,
        )  # fmt: skip
        for code, mark in zip(codes.tolist(), marks.tolist(), strict=True):
            slot_of(self.census, code, mark)
        self.census.counts[: len(codes)] = counts

    def make_room(self) -> None:
        """After FULL: twice the room, unless forgetting the states that no agent is in makes enough."""
        codes, counts, marks = self.contents()
        if 4 * len(codes) <= len(self.census.codes):
            self.load(codes, counts, marks)
        else:
            self._fill(2 * len(self.census.codes), codes, counts, marks)

    def contents(self):
        """Codes, ascending, counts and marks of the states that agents are in."""
        census = self.census
        slots = census.ranking[: census.size[0]]
        slots = slots[census.counts[slots] > 0]
        return census.codes[slots], census.counts[slots], census.marks[slots]

    def explain_out_of_range(self) -> None:
        """Name the field that `interact` wrote out of its range."""
        for record in self.meeting.scratch:
            self.meeting.space.check(record)
