"""The exact chain of the rounds model: all nodes move at once, each with its own coins.

A node's next state depends on its own state, its neighbours' and its coins, so it is computed once per local
situation; a configuration's successors are the products over all nodes, weighted by numbers of coins.
"""

import math

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.exact.chain import MEMORY, PER_CONFIGURATION, PER_ENTRY, Chain, require_memory
from hegemon.exact.configurations import ConfigurationSpace, require_numberable
from hegemon.graphs.topology import Topology
from hegemon.models.inputs import have_inputs
from hegemon.models.rounds import RoundsProtocol
from hegemon.runs.stories import Round

LARGEST_DENOMINATOR = 2**53  # beyond, a weight would be rounded in floating point, and then leave 64 bits
ROWS = 1 << 14  # configurations expanded at a time


class RoundConfigurations(ConfigurationSpace):
    """Arrays of states on a graph, without symmetry."""

    protocol: RoundsProtocol
    is_numbered = True  # each has a key of 64 bits

    def __init__(self, protocol, topology: Topology):
        super().__init__(protocol, topology)
        self._situations: dict = {}
        if self.is_numbered:
            require_numberable(protocol, self.n * math.log2(self.q))

    @property
    def arcs(self) -> int:
        """The common denominator: all coins of all nodes."""
        return 1 << (self.protocol.random_bits * self.n)

    @property
    def width(self) -> int:
        """Few nodes have a choice in a round: an allowance, not a bound."""
        return 4

    def key(self, codes) -> int:
        return sum(int(code) * self.q**place for place, code in enumerate(codes))

    def keys(self, codes: np.ndarray) -> np.ndarray:
        return codes @ np.array([self.q**place for place in range(self.n)], np.int64)

    def codes(self, keys) -> np.ndarray:
        keys = np.asarray(keys, np.int64)
        return np.stack([keys // self.q**place % self.q for place in range(self.n)], axis=1)

    def labelled(self, keys) -> np.ndarray:
        return np.ones(len(keys))

    def all_keys(self) -> np.ndarray:
        keys = np.arange(self.size)
        return keys[have_inputs(self.protocol, self.codes(keys))] if self.protocol.inputs else keys

    def outcomes(self, me: int, neighbours: tuple[int, ...]) -> dict[int, int]:
        """The states that a node may have after a round, each with the number of coins that lead there."""
        situation = (me, neighbours)
        if situation not in self._situations:
            protocol = self.protocol
            found: dict[int, int] = {}
            near = [protocol.space.namespace(code) for code in neighbours]
            for coins in range(1 << protocol.random_bits):
                state = protocol.space.namespace(me)
                protocol.update(state, near, coins, protocol.p)
                code = protocol.space.code(state)
                found[code] = found.get(code, 0) + 1
            self._situations[situation] = found
        return self._situations[situation]

    def seen(self, codes: np.ndarray, node: int) -> np.ndarray:
        """What a node sees of its neighbours in each row; their order counts only where they have one."""
        near = codes[:, self.topology.neighbours(node)]
        return near if self.protocol.oriented else np.sort(near, axis=1)

    def successors(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All successors of many configurations at once: the row each comes from, its codes, its weight."""
        rows, weights = np.arange(len(codes)), np.ones(len(codes), np.int64)
        after = np.empty((len(codes), 0), np.int64)
        for v in range(self.n):
            local = np.column_stack([codes[:, v], self.seen(codes, v)])
            distinct, which = np.unique(local, axis=0, return_inverse=True)
            found = [self.outcomes(row[0], tuple(row[1:])) for row in distinct.tolist()]
            lengths = np.array([len(outcome) for outcome in found])
            begins = np.cumsum(lengths) - lengths
            states = np.array([state for outcome in found for state in outcome])
            shares = np.array([share for outcome in found for share in outcome.values()])
            mine = which.ravel()[rows]
            copies = lengths[mine]
            place = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
            chosen = np.repeat(begins[mine], copies) + place
            rows, weights = np.repeat(rows, copies), np.repeat(weights, copies) * shares[chosen]
            after = np.column_stack([np.repeat(after, copies, axis=0), states[chosen]])
        return rows, after, weights

    def step(self, codes, key: int, change: bool | None) -> tuple[Round, np.ndarray]:
        goal = self.codes([key])[0]
        moved = [v for v in range(self.n) if goal[v] != codes[v]]
        before, after = self.mappings(codes), self.mappings(goal)
        return Round(tuple((v, before[v], after[v]) for v in moved)), goal


def round_chain(space: RoundConfigurations, starts, memory: float = MEMORY, progress=None) -> Chain:
    """What can be reached from the given arrays of codes (None: everything), breadth-first."""
    if starts is None:
        needed = space.size * (PER_CONFIGURATION + 8 * space.n + space.width * PER_ENTRY)
        require_memory(space, needed, memory, "the chain of all configurations", space.size)
        known = space.all_keys()
    else:
        known = np.unique([space.key(codes) for codes in starts])
    if space.arcs > LARGEST_DENOMINATOR:
        raise InvalidInput(
            f"{space.protocol.id} on {space.topology.name}: a round of {space.n} nodes with "
            f"random_bits = {space.protocol.random_bits} has more than 2^53 equally likely outcomes, too many to be "
            "counted exactly; take a smaller graph or fewer random_bits"
        )
    parents = [np.full(len(known), -1)]
    first = len(known)
    order = np.argsort(known)  # positions of the known keys, ascending by key
    columns: list[tuple] = []
    done = entries = 0
    while done < len(known):
        part = known[done : done + ROWS]
        rows, after, weights = space.successors(space.codes(part))
        kept = (space.outputs[after] == space.outputs[space.codes(part)][rows]).all(axis=1)
        keys = space.keys(after)
        if starts is not None:
            fresh, where = np.unique(keys, return_index=True)
            place = np.searchsorted(known, fresh, sorter=order)
            is_new = (place == len(known)) | (known[order[np.minimum(place, len(known) - 1)]] != fresh)
            new = np.flatnonzero(is_new)
            new = new[np.argsort(where[new], kind="stable")]
            known = np.concatenate([known, fresh[new]])
            parents.append(done + rows[where[new]])
            order = np.argsort(known, kind="stable")
        targets = order[np.searchsorted(known, keys, sorter=order)]
        columns.append(_merged(rows + done, targets, weights, weights * kept))
        done += len(part)
        entries += len(keys)
        needed = len(known) * PER_CONFIGURATION + entries * PER_ENTRY
        require_memory(
            space, needed, memory, f"the part of the chain found so far ({len(known)} configurations)", len(known)
        )
        if progress:
            progress("exploring", done, len(known))
    rows, targets, weights, keeps = (np.concatenate(column) for column in zip(*columns, strict=True))
    offsets = np.searchsorted(rows, np.arange(len(known) + 1)).astype(np.int64)
    return Chain(
        space, known, offsets, targets.astype(np.int32), weights, keeps,
        None if starts is None else np.concatenate(parents).astype(np.int32),
        () if starts is None else tuple(range(first)),
    )  # fmt: skip


def _merged(rows, targets, weights, keeps):
    """Entries of one row and target added up, in the order of rows and targets."""
    order = np.lexsort((targets, rows))
    rows, targets, weights, keeps = rows[order], targets[order], weights[order], keeps[order]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(rows) != 0) | (np.diff(targets) != 0)]))
    return rows[begins], targets[begins], np.add.reduceat(weights, begins), np.add.reduceat(keeps, begins)
