"""Whether anything can still happen: proofs that a run has fallen silent, or can no longer meet its stop.

Both begin with the states that agents are in and follow every interaction that may still take place, in plain Python.
What cannot be settled within a bounded number of states stays open: a result of "never" is always proved.
"""

from collections.abc import Callable
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from hegemon.engines.engine import Engine
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop

Moves: TypeAlias = list[tuple[tuple[int, int], tuple[int, int]]]  # two codes that meet, and what they may become

MOST_COINS = 64  # values of the coins that are followed
MOST_STATES = 128  # followed at most
FIRST_PAIRS, STEPS_PER_PAIR = 500, 10_000  # tried gradually: a pair in plain Python costs as much as that many steps

SILENT = "no interaction can change anything any more, and the stop is not met"
STUCK = "the stop can no longer be met, whatever interactions follow"


# Of a protocol: what pairs of states become, for every value of the coins. All its trials share it.
_outcomes: WeakKeyDictionary[Any, dict[tuple[int, int], list[tuple[int, int]]]] = WeakKeyDictionary()


class Unsettled(Exception):
    """Too many states, too many pairs of them for now, or an interaction that fails."""


class Prospects:
    def __init__(self, protocol: PopulationProtocol, topology: Topology, stop: Stop, heartbeat: Callable[[], object]):
        self.protocol, self.topology, self.stop, self._heartbeat = protocol, topology, stop, heartbeat
        self._after = _outcomes.setdefault(protocol, {})
        self._marks: dict[int, int] = {}
        self._begin(0)

    def _begin(self, step: int) -> None:
        """Begin a question. It may try a number of pairs that depends on `step` alone, not on what was tried before."""
        self._asked: set[tuple[int, int]] = set()
        self._most_pairs = FIRST_PAIRS + step // STEPS_PER_PAIR

    def is_silent(self, engine: Engine) -> bool:
        """Whether no two agents that can meet change anything; False if that stays open."""
        self._begin(engine.step)
        occupied = engine.recent_occupancy(MOST_STATES)
        if occupied is None:
            return False
        codes, counts = occupied
        try:
            if self.topology.is_complete:
                pairs = self._meetings(dict(zip(codes.tolist(), counts.tolist(), strict=True)), set())
            else:
                pairs = self._arcs(codes, engine)
            return all(after == pair for pair in pairs for after in self._becomes(*pair))
        except Unsettled:
            return False

    def is_stuck(self, engine: Engine) -> bool:
        """Whether too few or too many agents can ever satisfy one of the stop's conditions; False if that stays open.

        An upper estimate of what can follow: any two occupied states may meet, wherever their agents are; a state
        may meet itself if at least two agents are in it, or if some interaction adds agents to it.
        """
        self._begin(engine.step)
        occupied = engine.recent_occupancy(MOST_STATES) if self.stop.conditions else None
        if occupied is None:
            return False
        held = dict(zip(*(array.tolist() for array in occupied), strict=True))
        try:
            moves = self._moves(held)
            return self._unwatched(moves) if self.stop.watch else self._unmet(held, moves)
        except Unsettled:
            return False

    # -- what can follow --------------------------------------------------------------------------------

    def _moves(self, held: dict[int, int]) -> Moves:
        """Every interaction that may ever take place from here, as (pair before, pair after)."""
        reached = dict(held)
        moves: dict[tuple[int, int], list[tuple[int, int]]] = {}
        grows: set[int] = set()
        while True:
            new = [pair for pair in self._meetings(reached, grows) if pair not in moves]
            if not new:
                return [(pair, after) for pair, outcomes in moves.items() for after in outcomes]
            for pair in new:
                moves[pair] = self._becomes(*pair)
                for after in moves[pair]:
                    for code in after:
                        reached.setdefault(code, 0)
                        if after.count(code) > pair.count(code):
                            grows.add(code)
            if len(reached) > MOST_STATES:
                raise Unsettled

    def _meetings(self, held: dict[int, int], grows: set[Any]) -> list[tuple[int, int]]:
        return [(i, j) for i in held for j in held if i != j or held[i] > 1 or i in grows]

    def _arcs(self, codes: np.ndarray, engine: Engine) -> list[tuple[int, int]]:
        """The pairs of states at the ends of arcs."""
        places = np.searchsorted(codes, self.protocol.space.encode_array(engine.configuration().agents))
        pairs = np.unique(places[self.topology.sources] * len(codes) + places[self.topology.targets])
        return [(int(codes[pair // len(codes)]), int(codes[pair % len(codes)])) for pair in pairs]

    def _becomes(self, i: int, j: int) -> list[tuple[int, int]]:
        if self.protocol.coins.size > MOST_COINS:
            raise Unsettled
        if (i, j) not in self._asked:
            if len(self._asked) >= self._most_pairs:
                raise Unsettled
            if len(self._asked) % 64 == 0:
                self._heartbeat()
            self._asked.add((i, j))
        if (i, j) not in self._after:
            try:
                self._after[i, j] = sorted(set(self.protocol.outcomes(i, j)))
            except Exception as error:  # the author's code: nothing is settled
                raise Unsettled from error
        return self._after[i, j]

    # -- what the stop needs ----------------------------------------------------------------------------

    def _mark(self, code: int) -> int:
        """Which of the stop's conditions a state satisfies, as bits."""
        if code not in self._marks:
            state, holds = self.protocol.space.namespace(code), self.protocol.holds
            try:
                self._marks[code] = sum(holds(one, state) << k for k, one in enumerate(self.stop.conditions))
            except InvalidInput:
                raise
            except Exception as error:  # the same
                raise Unsettled from error
        return self._marks[code]

    def _unwatched(self, moves: Moves) -> bool:
        """Whether no interaction changes the output of an agent."""
        changes = (self._mark(old) ^ self._mark(new) for pair, after in moves for old, new in zip(pair, after))  # noqa: B905
        return not any(change & self.stop.watch for change in changes)

    def _unmet(self, held: dict[int, int], moves: Moves) -> bool:
        """Whether in every row some count can never come into its bounds: it never grows, or never shrinks, or all
        states agree on it."""
        n, most, least = sum(held.values()), [], []  # agents come and go, but not by these moves
        states = set(held) | {code for _, after in moves for code in after}
        for k in range(len(self.stop.conditions)):
            bit = 1 << k
            now = sum(number for code, number in held.items() if self._mark(code) & bit)
            agree = {bool(self._mark(code) & bit) for code in states}
            if len(agree) == 1:
                lowest = highest = n if agree.pop() else 0
            else:
                changes = [sum(bool(self._mark(c) & bit) for c in after) for _, after in moves]
                before = [sum(bool(self._mark(c) & bit) for c in pair) for pair, _ in moves]
                lowest = 0 if any(new < old for old, new in zip(before, changes, strict=True)) else now
                highest = n if any(new > old for old, new in zip(before, changes, strict=True)) else now
            least.append(lowest)
            most.append(highest)
        return bool(((np.array(most) < self.stop.low) | (np.array(least) > self.stop.high)).any(axis=1).all())
