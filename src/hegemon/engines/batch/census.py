"""The population as a multiset of states that are discovered as they occur.

A state met for the first time gets the next *slot*; what two slots become is learnt once and kept in a table
of pairs, one for each value of the coins. Nothing depends on the number of possible states: memory follows the slots
in use.
"""

from typing import Any

import numpy as np

from hegemon.compute.bundles import addresses, bundle
from hegemon.compute.compilation import lean
from hegemon.compute.intrinsics import call_meeting
from hegemon.compute.randomness import next_below
from hegemon.engines.meeting import ADDRESSES, MARKS, RESULT, meeting_of
from hegemon.engines.refusal import refuse_interaction
from hegemon.errors import InvalidInput
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop

LARGEST_TABLE = 2048  # slots: a table of pairs takes at most 32 MiB; beyond, pairs are computed every time
FEW = 16  # states
FULL, BROKEN = -1, -2  # there is no slot left; the interaction itself fails

# What two slots become, in one number: the initiator's slot, the responder's slot, and what they changed.
SLOT_BITS = 24
SLOT = (1 << SLOT_BITS) - 1
MOST_SLOTS = 1 << SLOT_BITS
KNOWN = 1 << 48
CHANGED = 1 << 49  # the multiset changes, or what is watched of an agent
MARKED = 1 << 50  # a count of the stop may change

# head: the gate of `call_meeting`, and in its owner's words the number of slots in use, whether the first condition is
# watched, how many values the coins of an interaction have, how many slots there is room for, whether pairs are kept,
# how many conditions the stop has.
# counts, codes: of the slots. marks: for every slot and condition, whether its state satisfies it. ranked: the slots by
# code; kernels draw in this order, so that no draw depends on when a state was met first.
Census, open_census = bundle(
    "Census", head=np.int64, counts=np.int64, codes=np.int64, ranked=np.int64, marks=np.int8, pairs=np.int64,
    places=np.int32,
)  # fmt: skip
SIZE, WATCH, COINS, CAPACITY, TABLED, CONDITIONS = range(ADDRESSES, RESULT)


@lean
def home(code, mask):  # type: ignore[no-untyped-def]
    """The place at which the search for a state begins."""
    return (code * -7046029254386353131 >> 20) & mask  # the golden ratio spreads consecutive codes


@lean
def slot_of(census, code, mark):  # type: ignore[no-untyped-def]
    """The slot of a state whose marks stand in the head; a new one if the state has none, FULL if none is left."""
    head, codes, ranked, places = census.head, census.codes, census.ranked, census.places
    mask = 4 * head[CAPACITY] - 1
    place = home(code, mask)
    while places[place] != 0:
        slot = np.int64(places[place] - 1)
        if codes[slot] == code:
            return slot
        place = (place + 1) & mask
    slot = head[SIZE]
    if slot == head[CAPACITY]:
        return np.int64(FULL)
    head[SIZE] = slot + 1
    places[place] = slot + 1
    codes[slot], census.counts[slot] = code, 0
    conditions = head[CONDITIONS]
    for k in range(conditions):
        census.marks[slot * conditions + k] = head[mark + k]
    rank = slot
    while rank and codes[ranked[rank - 1]] > code:
        ranked[rank] = ranked[rank - 1]
        rank -= 1
    ranked[rank] = slot
    return slot


@lean
def learn(census, i, j, coin):  # type: ignore[no-untyped-def]
    """What slots i and j become with these coins; negative if there is no slot left or the interaction fails."""
    head = census.head
    if call_meeting(head, census.codes[i], census.codes[j], coin) < 0:
        return np.int64(BROKEN)
    first = slot_of(census, head[RESULT], MARKS)
    second = slot_of(census, head[RESULT + 1], MARKS + head[CONDITIONS])
    if first < 0 or second < 0:
        return np.int64(FULL)
    entry = KNOWN | (first << SLOT_BITS) | second
    for k in range(head[CONDITIONS]):
        if holds(census, i, k) != holds(census, first, k) or holds(census, j, k) != holds(census, second, k):
            entry |= MARKED
    if is_watched(census, entry, i, j):
        entry |= CHANGED
    if (first != i or second != j) and (first != j or second != i):
        entry |= CHANGED  # two agents that swap their states leave the multiset as it is
    if head[TABLED]:
        census.pairs[(coin * head[CAPACITY] + i) * head[CAPACITY] + j] = entry
    return entry


@lean
def look_up(census, i, j, coin):  # type: ignore[no-untyped-def]
    """What slots i and j become when their coins show the value with this number."""
    side = census.head[CAPACITY]
    entry = census.pairs[(coin * side + i) * side + j] if census.head[TABLED] else np.int64(0)
    return entry if entry else learn(census, i, j, coin)


@lean
def toss(census, rng):  # type: ignore[no-untyped-def]
    """The coins of one interaction."""
    values = census.head[COINS]
    return next_below(rng, values) if values > 1 else np.int64(0)


@lean
def can_change(census, i, j):  # type: ignore[no-untyped-def]
    """Whether slots i and j may change something, for some value of the coins: 0, 1, or FULL.

    An interaction that fails counts as a change: the run ends if it is ever drawn.
    """
    possible = np.int64(0)
    for coin in range(census.head[COINS]):
        entry = look_up(census, i, j, coin)
        if entry == FULL:
            return np.int64(FULL)
        if entry & CHANGED:  # also true of BROKEN, which is negative
            possible = np.int64(1)
    return possible


@lean
def first_of(entry):  # type: ignore[no-untyped-def]
    return (entry >> SLOT_BITS) & SLOT


@lean
def second_of(entry):  # type: ignore[no-untyped-def]
    return entry & SLOT


@lean
def holds(census, slot, k):  # type: ignore[no-untyped-def]
    """Whether this slot's state satisfies the stop's k-th condition: 1 or 0."""
    return np.int64(census.marks[slot * census.head[CONDITIONS] + k])


@lean
def change_of(census, entry, i, j, k):  # type: ignore[no-untyped-def]
    """By how much the interaction of slots i and j changes the stop's k-th count."""
    after = holds(census, first_of(entry), k) + holds(census, second_of(entry), k)
    return after - holds(census, i, k) - holds(census, j, k)


@lean
def is_watched(census, entry, i, j):  # type: ignore[no-untyped-def]
    """Whether the interaction of slots i and j changes what is watched of one of the two agents."""
    if census.head[WATCH] == 0:
        return False
    first, second = first_of(entry), second_of(entry)
    return holds(census, i, 0) != holds(census, first, 0) or holds(census, j, 0) != holds(census, second, 0)


@lean
def count_occupied(census):  # type: ignore[no-untyped-def]
    """The number of states that agents are in."""
    occupied = 0
    for slot in range(census.head[SIZE]):
        if census.counts[slot]:
            occupied += 1
    return occupied


def places_of(codes: np.ndarray, size: int) -> np.ndarray:
    """Where `slot_of` finds the states with these codes, in slots 0, 1, …: from its home on, the first free place."""
    places, mask = np.zeros(size, np.int32), size - 1
    if len(codes) <= FEW:  # then Python is faster; the bits of a home are the same without 64-bit overflow
        for slot, code in enumerate(codes.tolist()):
            place = home.py_func(code, mask)
            while places[place]:
                place = (place + 1) & mask
            places[place] = slot + 1
        return places
    slots, place = np.arange(len(codes)), home.py_func(codes, mask)
    while len(slots):
        free = places[place] == 0
        places[place[free]] = slots[free] + 1
        waiting = places[place] != slots + 1  # the place was taken, or another slot got it in this round
        slots, place = slots[waiting], (place[waiting] + 1) & mask
    return places


class Multiset:
    """Owns the arrays of a census: fills them from a configuration, makes room, forgets empty states."""

    def __init__(self, protocol: PopulationProtocol, stop: Stop):
        self._meeting = meeting_of(protocol, stop)
        self._watch, self._conditions = stop.watch, len(stop.conditions)
        self._crowded: tuple[Any, ...] | None = None  # the agents for which there was no room the last time

    def load(self, codes: np.ndarray, counts: np.ndarray, marks: np.ndarray) -> None:
        """The states with these codes, ascending; all else is forgotten."""
        capacity = 64
        while capacity < 2 * len(codes):
            capacity *= 2
        self._fill(capacity, codes, counts, marks)

    def _fill(self, capacity: int, codes: np.ndarray, counts: np.ndarray, marks: np.ndarray) -> None:
        if capacity > MOST_SLOTS:
            raise InvalidInput(
                f"{len(codes):,} different states are too many to count separately: there is room for "
                f"{MOST_SLOTS:,} states with their successors; use engine agents"
            )
        coins = self._meeting.protocol.coins.size
        tabled = coins * capacity**2 <= LARGEST_TABLE**2
        head, size = self._meeting.gate(), len(codes)
        head[SIZE:RESULT] = size, self._watch, coins, capacity, tabled, self._conditions
        rows = np.zeros((3, capacity), np.int64)
        for row, values in zip(rows, (counts, codes, np.arange(size)), strict=True):
            row[:size] = values
        known = np.zeros((capacity, self._conditions), np.int8)
        known[:size] = marks
        pairs = np.zeros(coins * capacity**2 if tabled else 0, np.int64)
        self.census = Census(head, *rows, known.ravel(), pairs, places_of(codes, 4 * capacity))
        self.addresses = addresses(self.census)

    @property
    def counts(self) -> np.ndarray:
        """How many agents are in each slot's state."""
        return self.census.counts

    @property
    def occupied(self) -> int:
        """The number of states that agents are in."""
        return int(np.count_nonzero(self.counts[: self.census.head[SIZE]]))

    @property
    def capacity(self) -> int:
        return len(self.census.counts)

    def make_room(self, error: float) -> None:
        """After FULL: forget the states that no agent is in, or double the room if that may not be enough.

        A kernel that visits all pairs at once needs more room than the occupied states. If it returns FULL again with
        the same agents, the room is doubled: to forget the same states each time would be a loop without end.
        """
        if error == BROKEN:
            first, second, coin = self.census.head[RESULT : RESULT + 3].tolist()
            cause = self._meeting.failure(first, second, coin)
            refuse_interaction(self._meeting.protocol, first, second, [coin], cause)
        codes, counts, marks = self.contents()
        again = self._crowded is not None and all(map(np.array_equal, self._crowded, (codes, counts)))
        self._crowded = codes, counts
        if 4 * len(codes) <= self.capacity and not again:
            self.load(codes, counts, marks)
        else:
            self._fill(2 * self.capacity, codes, counts, marks)

    def contents(self, counts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes, ascending, counts and marks of the states that agents are in; of other counts if given."""
        census = self.census
        counts = self.counts if counts is None else counts
        slots = census.ranked[: census.head[SIZE]]
        slots = slots[counts[slots] > 0]
        return census.codes[slots], counts[slots], census.marks.reshape(self.capacity, -1)[slots]
