"""The exact chain of the rounds model: all nodes move at once, each with its own coins.

A node's next state depends on its own state, its neighbours' and its coins, so it is computed once per local
situation; a configuration's successors are the products over all nodes, weighted by numbers of coins.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.chain import MEMORY, Chain
from hegemon.exact.configurations import ConfigurationSpace, StartCodes, require_numberable
from hegemon.exact.exploring import explore
from hegemon.graphs.topology import Topology
from hegemon.models.inputs import have_inputs
from hegemon.models.rounds import RoundsProtocol
from hegemon.runs.stories import Round

LARGEST_DENOMINATOR = 2**53  # beyond, a weight would be rounded in floating point, and then leave 64 bits
ROWS = 1 << 14  # configurations expanded at a time


@dataclass(frozen=True)
class LocalOutcomes:
    """Of one node, row by row: where its outcomes begin and how many they are, and whether one is a change; and of all
    outcomes the state and the number of coins that lead there."""

    begins: np.ndarray
    lengths: np.ndarray
    enabled: np.ndarray
    states: np.ndarray
    shares: np.ndarray

    def each(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many outcomes each of these rows has, and all of them, row after row."""
        copies = self.lengths[rows]
        place = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        return copies, np.repeat(self.begins[rows], copies) + place


class RoundConfigurations(ConfigurationSpace):
    """Arrays of states on a graph, without symmetry."""

    protocol: RoundsProtocol
    is_numbered = True  # each has a key of 64 bits

    def __init__(self, protocol: RoundsProtocol, topology: Topology):
        super().__init__(protocol, topology)
        self._situations: dict[tuple[int, tuple[int, ...], tuple[int, ...]], dict[int, int]] = {}
        if self.is_numbered:
            require_numberable(protocol, self.n * math.log2(self.q))

    @property
    def tosses(self) -> int:
        """The equally likely outcomes of the coins of one node."""
        return self.protocol.coin_values

    @property
    def arcs(self) -> int:
        """The common denominator: all coins of all nodes."""
        return self.tosses**self.n

    @property
    def width(self) -> int:
        """A rough allowance, not a bound: few nodes have several outcomes in a round."""
        return 4

    def key(self, codes: Sequence[int] | np.ndarray) -> int:
        return sum(int(code) * self.q**place for place, code in enumerate(codes))

    def keys(self, codes: np.ndarray) -> np.ndarray:
        return codes @ np.array([self.q**place for place in range(self.n)], np.int64)

    def codes(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        keys = np.asarray(keys, np.int64)
        return np.stack([keys // self.q**place % self.q for place in range(self.n)], axis=1)

    def labelled(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        return np.ones(len(keys))

    def all_keys(self) -> np.ndarray:
        keys = np.arange(self.size)
        if self.protocol.degree_fitting.names:
            fits, codes = self.protocol.degree_fitting.fits(self.topology), self.codes(keys)
            keys = keys[np.logical_and.reduce([fits[v][codes[:, v]] for v in range(self.n)])]
        return keys[have_inputs(self.protocol, self.codes(keys))] if self.protocol.inputs else keys

    def outcomes(self, me: int, neighbours: tuple[int, ...], backs: tuple[int, ...] = ()) -> dict[int, int]:
        """The states that a node may have after a round, each with the number of coins that lead there; `backs` are the
        ports of its neighbours that lead back, where there are ports."""
        situation = (me, neighbours, backs)
        if situation not in self._situations:
            protocol = self.protocol
            numbers: dict[int, int] = {}
            near = protocol.as_seen([protocol.space.namespace(code) for code in neighbours], backs)
            for coins, ways in protocol.coin_faces:
                state = protocol.space.namespace(me)
                protocol.update(state, near, protocol.coins_shown(coins), protocol.p)
                code = protocol.space.code(state)
                protocol.degree_fitting.require(state, len(near))
                numbers[code] = numbers.get(code, 0) + ways
            self._situations[situation] = numbers
        return self._situations[situation]

    def seen(self, codes: np.ndarray, node: int) -> np.ndarray:
        """What a node sees of its neighbours in each row; their order counts only where they have one."""
        near = codes[:, self.topology.neighbours(node)]
        return near if self.protocol.is_ordered else np.sort(near, axis=1)

    def local(self, codes: np.ndarray, node: int) -> "LocalOutcomes":
        """The outcomes of a node in each row."""
        distinct, which = np.unique(
            np.column_stack([codes[:, node], self.seen(codes, node)]), axis=0, return_inverse=True
        )
        backs = self.protocol.ports_back(self.topology, node)
        outcomes = [self.outcomes(row[0], tuple(row[1:]), backs) for row in distinct.tolist()]
        lengths = np.array([len(outcome) for outcome in outcomes])
        states = np.array([state for outcome in outcomes for state in outcome])
        shares = np.array([share for outcome in outcomes for share in outcome.values()])
        begins, which = np.cumsum(lengths) - lengths, which.ravel()
        enabled = np.logical_or.reduceat(states != np.repeat(distinct[:, 0], lengths), begins)
        return LocalOutcomes(begins[which], lengths[which], enabled[which], states, shares)

    def successors(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All successors of many configurations at once: the row each comes from, its codes, its weight."""
        rows, weights = np.arange(len(codes)), np.ones(len(codes), np.int64)
        after = np.empty((len(codes), 0), np.int64)
        for v in range(self.n):
            local = self.local(codes, v)
            copies, chosen = local.each(rows)
            rows, weights = np.repeat(rows, copies), np.repeat(weights, copies) * local.shares[chosen]
            after = np.column_stack([np.repeat(after, copies, axis=0), local.states[chosen]])
        return rows, after, weights

    def step(self, codes: np.ndarray, key: int, change: bool | None, memory: int = 0) -> tuple[Round, np.ndarray]:
        goal = self.codes([key])[0]
        moved = [v for v in range(self.n) if goal[v] != codes[v]]
        before, after = self.mappings(codes), self.mappings(goal)
        return Round(tuple((v, before[v], after[v]) for v in moved)), goal


def round_chain(
    space: RoundConfigurations, starts: StartCodes | None, memory: float = MEMORY, progress: Show | None = None
) -> Chain:
    """What can be reached from the given arrays of codes (None: everything), breadth-first."""
    require_countable(space, space.arcs)

    def expand(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
        rows, after, weights = space.successors(codes)
        kept = (space.outputs[after] == space.outputs[codes][rows]).all(axis=1)
        return rows, space.keys(after), (weights, weights * kept)

    reached = explore(space, starts, expand, merged, ROWS, memory, progress)
    offsets = np.searchsorted(reached.rows, np.arange(len(reached.keys) + 1)).astype(np.int64)
    weights, keeps = reached.columns
    return Chain(space, reached.keys, offsets, reached.targets, weights, keeps, reached.parents, reached.starts)


def require_countable(space: RoundConfigurations, denominator: int) -> None:
    """Refuse denominators at which weights would not be exact in floating point."""
    if denominator > LARGEST_DENOMINATOR:
        raise InvalidInput(
            f"{space.protocol.id} on {space.topology.name}: a round of {space.n} nodes with "
            f"{space.tosses:,} values of each node's coins has more than 2^53 equally likely outcomes, too many to be "
            "counted exactly; take a smaller graph or fewer coins"
        )


def merged(rows: np.ndarray, targets: np.ndarray, weights: np.ndarray, keeps: np.ndarray) -> tuple[Any, ...]:
    """Entries of one row and target added up, in the order of rows and targets."""
    order = np.lexsort((targets, rows))
    rows, targets, weights, keeps = rows[order], targets[order], weights[order], keeps[order]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(rows) != 0) | (np.diff(targets) != 0)]))
    return rows[begins], targets[begins], np.add.reduceat(weights, begins), np.add.reduceat(keeps, begins)
