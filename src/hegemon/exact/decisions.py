"""A daemon against fair coins: a Markov decision process. The daemon chooses who acts; coins are random.

Configurations are those of a chain without symmetry, because a daemon refers to single agents. A *choice* is what the
daemon may do in a configuration: for rounds a set of enabled nodes that act at once; in a population an arc whose
meeting can change something (`adversary`), or an initiator, whose partner is drawn among its neighbours (`central`).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.chain import MEMORY, Chain
from hegemon.exact.configurations import Configurations, StartCodes
from hegemon.exact.exploring import Expansion, explore
from hegemon.exact.rounds import LARGEST_DENOMINATOR, RoundConfigurations, merged, require_countable
from hegemon.process.schedulers.daemons import Daemon
from hegemon.process.schedulers.nodes import NodeScheduler

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_PARTIES = 61  # one bit each
ROWS = 1 << 18  # configurations times choices that are expanded at a time


@dataclass(frozen=True)
class DecisionProcess:
    """Configuration i has the choices first[i]:first[i+1]; choice k leads to targets[offsets[k]:offsets[k+1]], with
    weights that add up to the denominator."""

    first: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    denominator: int

    @property
    def size(self) -> int:
        return len(self.first) - 1

    @property
    def choices(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def owners(self) -> np.ndarray:
        """The configuration of each choice."""
        return np.repeat(np.arange(self.size), np.diff(self.first))

    @cached_property
    def sources(self) -> np.ndarray:
        """The choice of each entry."""
        return np.repeat(np.arange(self.choices), np.diff(self.offsets))

    @cached_property
    def matrix(self) -> "csr_array":
        """The probabilities of each choice, in floating point."""
        from scipy.sparse import csr_array  # only here: it takes long to load

        return csr_array((self.weights / self.denominator, self.targets, self.offsets), (self.choices, self.size))


@dataclass(frozen=True)
class Decisions(DecisionProcess):
    """What a daemon may do. `chain` has the same configurations, and all possible successors of each."""

    chain: Chain
    labels: np.ndarray  # of each choice: the nodes that act, as bits; in a population the number of arc or initiator
    moves: np.ndarray  # of each choice: how many nodes act

    @cached_property
    def bits(self) -> np.ndarray:
        """Who acts in each choice, one bit for each node, arc or initiator that can."""
        if isinstance(self.chain.space, RoundConfigurations):
            return self.labels
        if (most := int(self.labels.max(initial=0))) > MOST_PARTIES:
            raise InvalidInput(f"{most + 1} pairs are too many for fair schedules; take at most {MOST_PARTIES + 1}")
        return np.left_shift(1, self.labels)

    @cached_property
    def enabled(self) -> np.ndarray:
        """Who could act in each configuration, as such bits."""
        united = np.zeros(self.size, np.int64)
        some = np.flatnonzero(np.diff(self.first))
        if len(some):
            united[some] = np.bitwise_or.reduceat(self.bits, self.first[some])
        return united

    @cached_property
    def is_certain(self) -> bool:
        """Whether the daemon alone decides what happens."""
        return self.choices == len(self.targets)

    def determined(self) -> "Decisions":
        """The same where the daemon also chooses the coins: each outcome that changes something is a choice."""
        kept = self.targets != self.owners[self.sources]
        before = np.concatenate([[0], np.cumsum(kept)])
        targets, sources = self.targets[kept], self.sources[kept]
        return Decisions(
            before[self.offsets[self.first]], np.arange(len(targets) + 1), targets, np.ones(len(targets), np.int64), 1,
            self.chain, self.labels[sources], self.moves[sources],
        )  # fmt: skip


def decide(
    space: Configurations | RoundConfigurations,
    daemon: Daemon | str,
    starts: StartCodes | None,
    memory: float = MEMORY,
    progress: Show | None = None,
) -> Decisions:
    """The decision process of a daemon from the given arrays of codes (None: everything)."""
    if isinstance(space, RoundConfigurations):
        assert isinstance(daemon, Daemon)
        expand, denominator, number = _of_nodes(space, daemon)
    else:
        expand, denominator, number = _of_pairs(space, picks_pair=daemon == "adversary")
    reached = explore(space, starts, expand, _merged, max(1, ROWS // number), memory, progress)
    labels, weights, kept = reached.columns
    fresh = np.concatenate([[True], (np.diff(reached.rows) != 0) | (np.diff(labels) != 0)])
    begins = np.flatnonzero(fresh) if len(reached.rows) else np.empty(0, np.int64)
    owners, size = reached.rows[begins], len(reached.keys)
    first = np.searchsorted(owners, np.arange(size + 1)).astype(np.int64)
    labels = labels[begins]
    acting = (
        [int(mask).bit_count() for mask in labels.tolist()]
        if isinstance(space, RoundConfigurations)
        else [1] * len(labels)
    )
    return Decisions(
        first,
        np.append(begins, len(reached.rows)),
        reached.targets,
        weights,
        denominator,
        _support(space, reached, kept),
        labels,
        np.array(acting, np.int64),
    )


def _of_nodes(space: RoundConfigurations, daemon: Daemon) -> Any:
    """The choices for rounds: all sets of enabled nodes that the daemon allows."""
    subsets = daemon.together(space.topology)
    most = max(mask.bit_count() for mask in subsets)
    denominator = space.tosses**most
    require_countable(space, denominator)
    powers = [space.q**place for place in range(space.n)]

    def expand(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        locals_ = [space.local(codes, node) for node in range(space.n)]
        able = np.zeros(len(codes), np.int64)
        for node, local in enumerate(locals_):
            able |= local.enabled.astype(np.int64) << node
        before, pieces = space.keys(codes), []
        for mask in subsets if not daemon.takes_all else np.unique(able[able > 0]).tolist():
            rows = np.flatnonzero(able == mask if daemon.takes_all else able & mask == mask)
            keys, kept = before[rows], np.ones(len(rows), bool)
            weights = np.full(len(rows), space.tosses ** (most - mask.bit_count()))
            for node in range(space.n):
                if mask >> node & 1 and len(rows):
                    local, mine = locals_[node], codes[rows, node]
                    copies, chosen = local.each(rows)
                    states, mine = local.states[chosen], np.repeat(mine, copies)
                    rows, keys = np.repeat(rows, copies), np.repeat(keys, copies) + (states - mine) * powers[node]
                    weights = np.repeat(weights, copies) * local.shares[chosen]
                    kept = np.repeat(kept, copies) & (space.outputs[states] == space.outputs[mine])
            pieces.append((rows, keys, np.full(len(rows), mask), weights, kept))
        rows, keys, labels, weights, kept = _joined(pieces)
        return rows, keys, (labels, weights, kept)

    return expand, denominator, len(subsets)


def law_chain(
    space: RoundConfigurations,
    scheduler: NodeScheduler,
    starts: StartCodes | None,
    memory: float = MEMORY,
    progress: Show | None = None,
) -> Chain:
    """The chain of a daemon that chooses at random."""
    expand, coins, number = _of_nodes(space, scheduler.daemon)
    common = scheduler.denominator(space.n)
    if (total := common * coins) > LARGEST_DENOMINATOR:
        raise InvalidInput(
            f"{space.protocol.id} on {space.topology.name} under the scheduler {scheduler}: a step has more than 2^53 "
            "equally likely outcomes, too many to be counted exactly; take a smaller graph"
        )
    laws: dict[int, dict[int, int]] = {0: {0: common}}

    def share(able: int, acting: int) -> int:
        if able not in laws:
            law = scheduler.law(able, space.topology)
            laws[able] = {mask: int(chance * common) for mask, chance in law.items()}
        return laws[able].get(acting, 0)

    def weighted(codes: np.ndarray) -> Expansion:
        rows, keys, (labels, weights, kept) = expand(codes)
        able = np.zeros(len(codes), np.int64)
        np.bitwise_or.at(able, rows, labels)
        pairs, which = np.unique(np.column_stack([able[rows], labels]), axis=0, return_inverse=True)
        weights = weights * np.array([share(*pair) for pair in pairs.tolist()], np.int64)[which.ravel()]
        idle = np.array([share(mask, 0) for mask in able.tolist()], np.int64) * coins
        rows, keys = np.append(rows, np.arange(len(codes))), np.append(keys, space.keys(codes))
        weights, kept = np.append(weights, idle), np.append(kept, np.ones(len(codes), bool))
        some = weights > 0
        return rows[some], keys[some], (weights[some], (weights * kept)[some])

    reached = explore(space, starts, weighted, merged, max(1, ROWS // number), memory, progress)
    offsets = np.searchsorted(reached.rows, np.arange(len(reached.keys) + 1)).astype(np.int64)
    weights, keeps = reached.columns
    return Chain(space, reached.keys, offsets, reached.targets, weights, keeps, reached.parents, reached.starts, total)


def _of_pairs(space: Configurations, picks_pair: bool) -> Any:
    """The choices for a population: arcs whose meeting can change something, or initiators with such an arc."""
    model, arcs = space.model, space.topology.arcs
    ends = list(zip(space.topology.sources.tolist(), space.topology.targets.tolist(), strict=True))
    table = [(i, j, coin * space.q) for coin in range(space.coins) for i, j in ends]
    degrees = space.topology.degrees.tolist()
    common = 1 if picks_pair else math.lcm(*(degree for degree in degrees if degree))

    def expand(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        before, pieces = codes @ model.powers, []
        for place, (i, j, base) in enumerate(table):
            a, b = codes[:, i], codes[:, j]
            left, right = model.first[base + a, b], model.second[base + a, b]
            keys = before + (left - a) * model.powers[i] + (right - b) * model.powers[j]
            label = place % arcs if picks_pair else i
            weight = 1 if picks_pair else common // degrees[i]
            rows = np.arange(len(codes))
            pieces.append(
                (rows, keys, np.full(len(rows), label), np.full(len(rows), weight), ~model.changes[base + a, b])
            )
        rows, keys, labels, weights, kept = _joined(pieces)
        able = np.zeros((len(codes), max(arcs, space.n)), bool)
        np.logical_or.at(able, (rows, labels), keys != before[rows])
        some = able[rows, labels]
        return rows[some], keys[some], (labels[some], weights[some], kept[some])

    return expand, common * space.coins, len(table)


def _joined(pieces: list[tuple[Any, ...]]) -> tuple[np.ndarray, ...]:
    return tuple(np.concatenate(column) for column in zip(*pieces, strict=True))


def _merged(rows: np.ndarray, targets: np.ndarray, labels: np.ndarray, weights: Any, kept: Any) -> tuple[Any, ...]:
    """Entries of one choice and target added up, in the order of rows, labels and targets."""
    if not len(rows):
        return rows, targets, labels, weights, kept
    order = np.lexsort((targets, labels, rows))
    rows, targets, labels, weights, kept = (column[order] for column in (rows, targets, labels, weights, kept))
    new = (np.diff(rows) != 0) | (np.diff(labels) != 0) | (np.diff(targets) != 0)
    begins = np.flatnonzero(np.concatenate([[True], new]))
    together = np.logical_and.reduceat(kept, begins)
    return rows[begins], targets[begins], labels[begins], np.add.reduceat(weights, begins), together


def _support(space: Any, reached: Any, kept: Any) -> Chain:
    """All possible successors under any choice; a configuration without choices stays. Weights are numbers of ways."""
    size = len(reached.keys)
    idle = np.setdiff1d(np.arange(size), reached.rows)
    rows, targets = np.concatenate([reached.rows, idle]), np.concatenate([reached.targets, idle])
    keeps = np.concatenate([kept, np.ones(len(idle), bool)])
    order = np.lexsort((targets, rows))
    rows, targets, keeps = rows[order], targets[order], keeps[order]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(rows) != 0) | (np.diff(targets) != 0)]))
    offsets = np.searchsorted(rows[begins], np.arange(size + 1)).astype(np.int64)
    weights, kept = np.diff(np.append(begins, len(rows))), np.add.reduceat(keeps.astype(np.int64), begins)
    return Chain(
        space, reached.keys, offsets, targets[begins].astype(np.int32), weights, kept, reached.parents, reached.starts
    )
