"""The exact Markov chain: every configuration, or every one that can be reached, and all transitions.

Probabilities are integers over one denominator, the number of arcs (times that of the values of the coins). `keeps`
is the part of each weight that changes no agent's output, which is what holding the same leader is about.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact import kernels
from hegemon.exact.configurations import Configurations, ConfigurationSpace, StartCodes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GIB = 2**30
MEMORY = 4.0  # GiB, by default
SORTED = 100_000  # arcs that are reversed without SciPy
PER_CONFIGURATION = 150  # bytes: keys, offsets, solutions, components
PER_ENTRY = 40  # bytes: target, weight and keep, the equations of one component, and the ways to a loss
ROWS = 1 << 16  # rows that one thread expands at a time
LARGE = 100_000  # configurations; larger chains store numbers in the narrowest types, for which kernels are compiled
LARGEST_CHAIN = 2**31 - 1
LARGE_TABLE = 1000  # states: ten megabytes


@dataclass(frozen=True)
class Estimate:
    """The size and memory of a chain, known before any of it is built."""

    configurations: int
    entries: int
    bytes: int

    @property
    def gib(self) -> float:
        return self.bytes / GIB


def estimate(space: ConfigurationSpace) -> Estimate:
    """An upper bound: every configuration, each with as many successors as there can be."""
    entries = space.size * space.width
    table = 10 * space.q**2 * space.coins
    size = table + space.size * (PER_CONFIGURATION + 8 * space.n) + entries * PER_ENTRY
    return Estimate(space.size, entries, size)


def require_memory(space: ConfigurationSpace, needed: float, memory: float, what: str, size: int) -> None:
    """Refuse, before it is made, a chain of this size that needs that many bytes."""
    of = f"{space.protocol.id} with n = {space.n} on {space.topology.name}"
    if size > LARGEST_CHAIN:
        raise InvalidInput(
            f"{what} of {of} has {size:,} configurations, and at most 2^31 - 1 can be numbered; take a smaller n, "
            "smaller parameters or a fixed start"
        )
    if needed > memory * GIB:
        raise InvalidInput(
            f"{what} of {of} would take about {needed / GIB:.3g} GiB, more than the {memory:g} GiB allowed; "
            "raise the memory (--memory), or take a smaller n, smaller parameters or a fixed start"
        )


@dataclass(frozen=True)
class Chain:
    """Row i holds the successors of configuration i: targets[offsets[i]:offsets[i+1]], weights, keeps."""

    space: ConfigurationSpace
    keys: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    keeps: np.ndarray
    parents: np.ndarray | None = None  # towards a start; None: every configuration is one
    starts: tuple[int, ...] = ()
    total: int | None = None  # the sum of the weights of a row, where a law of a scheduler or daemon decides who acts

    @property
    def size(self) -> int:
        return len(self.keys)

    @property
    def labelled_size(self) -> int | None:
        """How many arrays of agents the configurations stand for; None where that is beyond floating point."""
        total = self.labelled.sum()
        return int(total) if np.isfinite(total) else None

    @property
    def is_whole(self) -> bool:
        return self.parents is None

    @property
    def transitions(self) -> int:
        return len(self.targets)

    @property
    def denominator(self) -> int:
        return self.total or self.space.arcs

    @property
    def codes(self) -> np.ndarray:
        """The representative array of codes of every configuration, made anew: several times as large as the chain
        where there are many agents."""
        return self.codes_at(slice(None))

    def codes_at(self, places: slice | Sequence[int] | np.ndarray) -> np.ndarray:
        """The representative arrays of codes of some configurations."""
        return self.space.codes(self.keys[places])

    @property
    def blocks(self) -> Iterator[slice]:
        """All configurations in blocks, so that few codes are in memory at a time."""
        return (slice(first, first + ROWS) for first in range(0, self.size, ROWS))

    @property
    def labelled(self) -> np.ndarray:
        """How many arrays of agents each configuration stands for."""
        number = np.empty(self.size)
        for block in self.blocks:
            number[block] = self.space.labelled(self.keys[block])
        return number

    def probabilities(self) -> "csr_array":
        """The transition matrix in floating point."""
        return matrix(self.weights / self.denominator, self.targets, self.offsets)

    def index(self, codes: Sequence[int] | np.ndarray) -> int | None:
        """Where the configuration with these codes is; None if it was not reached."""
        places = np.flatnonzero(self.keys == self.space.key(codes))
        return int(places[0]) if len(places) else None


def matrix(values: np.ndarray, targets: np.ndarray, offsets: np.ndarray) -> "csr_array":
    """A square sparse matrix from its rows."""
    from scipy.sparse import csr_array  # only here: it takes as long to load as a whole small chain to compute

    return csr_array((values, targets, offsets), (len(offsets) - 1,) * 2)


def transposed(offsets: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the reversed arcs: offsets, and sources in ascending order."""
    if len(targets) > SORTED:  # counting is faster than sorting
        columns = matrix(np.ones(len(targets), np.int8), targets, offsets).tocsc()
        return columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
    sources = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    before = np.zeros(len(offsets), np.int64)
    np.cumsum(np.bincount(targets, minlength=len(offsets) - 1), out=before[1:])
    return before, sources[np.argsort(targets, kind="stable")]


def whole_chain(space: Configurations, memory: float = MEMORY, progress: Show | None = None) -> Chain:
    """Every configuration: the chain that self-stabilization quantifies over."""
    require_memory(space, estimate(space).bytes, memory, "the chain of all configurations", space.size)
    model, keys = space.model, space.all_keys()
    arcs = None if space.multiset else space.arc_table
    is_large = len(keys) > LARGE
    weight = narrowest(space.arcs) if is_large else np.dtype(np.int32)
    room = len(keys) * space.width  # most of it is never written
    offsets = np.zeros(len(keys) + 1, narrowest(room, np.int32) if is_large else np.int64)
    targets, weights, keeps = np.empty(room, np.int32), np.empty(room, weight), np.empty(room, weight)

    def expand(first: int) -> tuple[Any, ...]:
        sources = keys[first : first + ROWS]
        room = len(sources) * space.width + space.width
        lengths = np.empty(len(sources), np.int64)
        keys_after, weights, keeps = np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
        total = kernels.expand(sources, space.n, space.width, model, arcs, lengths, keys_after, weights, keeps)
        targets = (
            _places(keys, keys_after[:total], space) if space.rotations or space.protocol.inputs else keys_after[:total]
        )
        return lengths, targets.astype(np.int32), weights[:total].astype(weight), keeps[:total].astype(weight)

    done = entries = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for lengths, *columns in pool.map(expand, range(0, len(keys), ROWS)):
            last = entries + len(columns[0])
            for whole, part in zip((targets, weights, keeps), columns, strict=True):
                whole[entries:last] = part
            np.cumsum(lengths, out=lengths)
            offsets[done + 1 : done + 1 + len(lengths)] = entries + lengths
            done, entries = done + len(lengths), last
            if progress:
                progress("exploring", done, len(keys))
    for array in (targets, weights, keeps):
        array.resize(entries, refcheck=False)
    return Chain(space, keys.astype(narrowest(keys[-1], np.int32)), offsets, targets, weights, keeps)


def narrowest(largest: int, least: type[np.signedinteger] = np.int8) -> np.dtype:
    """The smallest signed type, from `least` on, in which this number fits."""
    return np.promote_types(np.min_scalar_type(-int(largest) - 1), least)


def _places(keys: np.ndarray, sought: np.ndarray, space: Configurations) -> np.ndarray:
    """Where the keys are that were found."""
    places = np.searchsorted(keys, sought)
    if space.protocol.inputs and not np.array_equal(keys[np.minimum(places, len(keys) - 1)], sought):
        raise InvalidInput(f"{space.protocol.id}: an interaction changes an input, which must never change")
    return places


def reachable_chain(
    space: Configurations, starts: StartCodes, memory: float = MEMORY, progress: Show | None = None
) -> Chain:
    """What can be reached from the given arrays of codes, numbered breadth-first."""
    if space.q > LARGE_TABLE:  # this table is made before exploring begins
        require_memory(space, 10 * space.q**2 * space.coins, memory, "the table of all pairs of states", len(starts))
    model, arcs = space.model, None if space.multiset else space.arc_table
    keys = list(dict.fromkeys(space.key(codes) for codes in starts))
    done, size, entries = 0, len(keys), 0
    room, entry_room = 1024 + space.width + size, 4096 + space.width
    known, parents = np.empty(room, np.int64), np.full(room, kernels.EMPTY, np.int32)
    known[:size] = keys
    offsets = np.zeros(room + 1, np.int64)
    targets, weights, keeps = (np.empty(entry_room, np.int32) for _ in range(3))
    slots = np.full(4096, kernels.EMPTY, np.int32)
    kernels.rehash(known, size, slots)
    while done < size:
        before = done
        done, size, entries = kernels.explore(
            done, size, entries, space.n, space.width, 1 << 18, model, arcs, known, slots, parents, offsets, targets,
            weights, keeps,
        )  # fmt: skip
        if progress:
            progress("exploring", done, size)
        if done > before and done < size and done - before == 1 << 18:
            continue
        needed = 10 * space.q**2 * space.coins + size * (PER_CONFIGURATION + 8 * space.n) + entries * PER_ENTRY
        what = f"the part of the chain found so far ({size} configurations)"
        require_memory(space, 2 * needed if done < size else needed, memory, what, size)
        if size + space.width > len(known):
            known, parents, offsets = (_doubled(array, space.width) for array in (known, parents, offsets))
        if entries + space.width > len(targets):
            targets, weights, keeps = (_doubled(array, space.width) for array in (targets, weights, keeps))
        if 2 * (size + space.width) > len(slots):
            slots = np.full(1 << (4 * (size + space.width)).bit_length(), kernels.EMPTY, np.int32)
            kernels.rehash(known, size, slots)
    return Chain(
        space, known[:size], offsets[: size + 1], targets[:entries], weights[:entries], keeps[:entries],
        parents[:size], tuple(range(len(keys))),
    )  # fmt: skip


def _doubled(array: np.ndarray, extra: int) -> np.ndarray:
    larger = np.full(2 * len(array) + extra, kernels.EMPTY, array.dtype)
    larger[: len(array)] = array
    return larger
