"""Chains too large to be stored: all configurations of a graph, their successors recomputed whenever they are needed.

Kept are one bit per key (which are representatives), one byte per representative for each set, one double for the
expected steps, and by how much they last moved: about 40 bytes per configuration instead of several hundred. Passes
over all configurations are shared by all cores, in an order that does not depend on their number. Expected steps are
iterated in place; they are proved by the residual at the end, exactly as for stored chains (see solving.py), so a file
of earlier values is only a better first approximation.
"""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from hegemon import files
from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact import recomputed_kernels as kernels
from hegemon.exact.chain import GIB
from hegemon.exact.configurations import Configurations
from hegemon.exact.containment import contains_rows, contains_turned_rows, named_set
from hegemon.exact.solving import REQUIRED, ROUNDING, unreliable
from hegemon.exact.sweeping import Direction, Extrapolation
from hegemon.kept import read_kept_arrays, write_kept_arrays

PER_KEY = 0.25  # bytes: the map of representatives, and how many come before each word of it
PER_CONFIGURATION = 40  # bytes: values, sets, levels, the last moves of the values
WORDS = 1 << 12  # of the map, that one thread visits at a time
TOGETHER = 16  # ranges that are swept at the same time, on any number of cores: digits must not depend on that
MOST_PASSES = 20_000
PRECISE = 1e-9  # change in one pass at which iteration ends; the residual is smaller still
KIND = "checkpoint of values"
SAVED_EVERY = 60.0  # seconds: an interrupt loses at most this much, and one pass
LARGEST_SIZE = 2**31 - 1


def recomputed_bytes(space: Configurations) -> float:
    return space.labelled_size * PER_KEY + space.size * PER_CONFIGURATION + 10 * space.q**2


def can_be_recomputed(space: Configurations, memory: float) -> bool:
    plain = space.scheduler.even and not space.multiset and space.coins == 1 and not space.protocol.inputs
    return plain and space.size <= LARGEST_SIZE and recomputed_bytes(space) <= memory * GIB


class RecomputedChain:
    """Every configuration of a protocol on a graph, by rank."""

    is_whole = True
    starts: tuple[int, ...] = ()

    def __init__(self, space: Configurations, progress: Show | None = None):
        self.space, self.progress = space, progress
        self.threads = os.cpu_count() or 1
        turns = space.labelled_size - 1 if space.rotations else 0
        self.words = np.zeros((space.labelled_size + kernels.WORD - 1) // kernels.WORD, np.uint64)
        self.before = np.zeros(len(self.words), np.int32)
        sizes = space.labelled_size, space.n, space.q, turns
        self.each("representatives", lambda a, b: kernels.mark_representatives(a, b, *sizes, self.words))
        self.size = int(kernels.count_before(self.words, self.before))
        assert self.size == space.size
        tables = space.model
        self.model = kernels.Ranked(
            space.arc_table, tables.powers, tables.first, tables.second, tables.changes, self.words, self.before, turns
        )

    @property
    def labelled_size(self) -> int:
        return self.space.labelled_size

    @property
    def transitions(self) -> int:
        """The number of transitions, counted by arcs: arcs with the same target are not merged."""
        return self.size * self.space.arcs

    @property
    def denominator(self) -> int:
        return self.space.arcs

    def each(
        self, stage: str, work: Callable[..., Any], backwards: bool = False, prepare: Callable[..., Any] | None = None
    ) -> list[Any]:
        """Call `work(first, last)` for ranges of words, on all cores, in the order of the keys or in reverse.

        With `prepare`, only TOGETHER ranges at a time, after `prepare(first, last)` for all of them.
        """
        ranges = [(at, min(at + WORDS, len(self.words))) for at in range(0, len(self.words), WORDS)]
        ranges = ranges[::-1] if backwards else ranges
        many = TOGETHER if prepare else len(ranges)
        results: list[Any] = []
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for at in range(0, len(ranges), many):
                    part = ranges[at : at + many]
                    if prepare:
                        prepare(min(part)[0], max(part)[1])
                    for result in pool.map(lambda ends: work(*ends), part):
                        results.append(result)
                        if self.progress:
                            self.progress(stage, len(results), len(ranges))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return results

    def index(self, codes: Sequence[int] | np.ndarray) -> int:
        return int(kernels.rank_of(self.space.key(codes), self.words, self.before))

    def key_at(self, rank: int) -> int:
        """The representative of this rank."""
        word = int(np.searchsorted(self.before, rank, side="right")) - 1
        return int(kernels.representatives(word, word + 1, self.words)[rank - self.before[word]])

    def codes_at(self, rank: int) -> np.ndarray:
        return self.space.codes([self.key_at(rank)])[0]

    def members(self, name: str) -> np.ndarray:
        """Which representatives are in a set; on rings, that all their rotations agree."""
        protocol, topology, chosen = self.space.protocol, self.space.topology, named_set(self.space.protocol, name)
        inside = np.zeros(self.size, bool)
        turned = self.space.rotations and chosen.whole

        def fill(first: int, last: int) -> None:
            codes = self.space.codes(kernels.representatives(first, last, self.words))
            part = contains_turned_rows(protocol, chosen, codes) if turned else (
                contains_rows(protocol, chosen, codes, topology)
            )  # fmt: skip
            inside[self.before[first] : self.before[first] + len(codes)] = part

        fill(0, min(WORDS, len(self.words)))  # first by itself, so that predicates are compiled once
        self.each(f"membership in {name}", fill)
        return inside

    def members_by_count(self, marked: np.ndarray, number: int) -> np.ndarray:
        """Which representatives have exactly that many agents in marked states."""
        inside = np.zeros(self.size, bool)

        def fill(first: int, last: int) -> None:
            codes = self.space.codes(kernels.representatives(first, last, self.words))
            inside[self.before[first] : self.before[first] + len(codes)] = marked[codes].sum(axis=1) == number

        self.each("leaders", fill)
        return inside

    def exit_from(self, inside: np.ndarray, outputs: bool = False) -> tuple[int, int] | None:
        """A representative (its key) and an arc that leads out of the set, or changes an output."""
        stage = "outputs" if outputs else "closure"
        exits = self.each(stage, lambda a, b: kernels.find_exit(a, b, self.model, inside, outputs))
        return next((exit for exit in exits if exit[0] != kernels.DONE), None)

    def exits(self, inside: np.ndarray) -> int:
        return sum(self.each("closure", lambda a, b: kernels.count_exits(a, b, self.model, inside)))

    def backwards_from(self, marked: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """All allowed configurations from which a marked one can be reached, and the marked ones."""
        reaching, new, passes = marked.copy(), 1, 0
        while new:
            passes += 1
            stage = f"who can reach it, pass {passes}"
            against = passes % 2 == 0
            new = sum(self.each(stage, lambda a, b: kernels.spread(a, b, self.model, reaching, allowed), against))
        return reaching

    def levels_from(self, inside: np.ndarray) -> np.ndarray:
        """How many steps without a change of output lead from the set to each configuration; -1: none do."""
        level = np.where(inside, 0, -1).astype(np.int32)
        now, new = 0, 1
        while new:
            stage = f"what follows the set, step {now + 1}"
            new = sum(self.each(stage, lambda a, b, now=now: kernels.push(a, b, self.model, level, now)))
            now += 1
        return level

    def way_from_set(self, level: np.ndarray, key: int) -> list[int]:
        """The keys along a shortest path from the set to a configuration, found backwards."""
        path = [key]
        rank = int(kernels.rank_of(key, self.words, self.before))
        for now in range(int(level[rank]) - 1, -1, -1):
            wanted = int(kernels.rank_of(path[-1], self.words, self.before))
            before = self.each("the way back", lambda a, b: kernels.find_into(a, b, self.model, level, now, wanted))  # noqa: B023
            path.append(next(key for key in before if key != kernels.DONE))
        return path[::-1]

    def expected_steps(
        self, active: np.ndarray, checkpoint: str | Path | None = None, name: str = "safe"
    ) -> tuple[np.ndarray, float]:
        """Expected steps until the active configurations are left, and a proved bound on the relative error."""
        store = KeptValues(self, checkpoint, name) if checkpoint else None
        values = store.values() if store else np.zeros(self.size)
        values[~active] = 0.0
        self._iterate(values, active, self.denominator, store)
        residuals = self.each("residual", lambda a, b: kernels.largest_residual(a, b, self.model, active, values))
        residual, highest = (max(column, default=0.0) for column in zip(*residuals, strict=True))
        error = residual + 8 * ROUNDING * (1 + 2 * highest)  # a dozen roundings of numbers of this size
        if not error < REQUIRED:
            raise unreliable(error, f"after at most {MOST_PASSES:,} passes over {self.size:,} configurations")
        return values, error / (1 - error) + ROUNDING

    def reach_probability(self, inside: np.ndarray, able: np.ndarray) -> np.ndarray:
        values = inside.astype(float)
        self._iterate(values, able & ~inside, 0, None)
        return values

    def _iterate(self, values: np.ndarray, active: np.ndarray, cost: Any, store: Any) -> None:
        precise = PRECISE if cost else 0.0  # for probabilities the residual is no bound: iterate to the last digits
        saved, best, order, leap = time.monotonic(), np.inf, Direction(), Extrapolation(self.size)
        for number in range(1, MOST_PASSES):
            stage = f"expected steps, pass {number} (last change {best:.1e})"
            best = self._sweep(stage, order.backwards, active, cost, values, leap.moves)
            if best <= precise or best <= 4 * ROUNDING * float(values.max(initial=0.0)):
                return
            if order.learn(best):
                leap.learn(best, values)
            if store and time.monotonic() - saved > SAVED_EVERY:
                store.save(values)
                saved = time.monotonic()

    def _sweep(
        self, stage: str, backwards: bool, active: np.ndarray, cost: Any, values: np.ndarray, moves: Any
    ) -> float:
        """Make one pass; returns the largest change of a value."""
        low, frozen = 0, values

        def freeze(first: int, last: int) -> None:
            nonlocal low, frozen
            low = int(self.before[first])
            frozen = values[low : self.before[last] if last < len(self.words) else self.size].copy()

        def work(first: int, last: int) -> float:
            return kernels.sweep(first, last, backwards, self.model, active, cost, values, moves, frozen, low)

        return max(self.each(stage, work, backwards, freeze), default=0.0)

    def mean(self, values: np.ndarray) -> float:
        """The mean over all labelled configurations, with equal weights."""
        sums = self.each("mean", lambda a, b: kernels.summed(a, b, self.model, values))
        total, number = (sum(column) for column in zip(*sums, strict=True))
        assert number == self.labelled_size
        return total / number


class KeptValues:
    """Values on disk between runs. A file of another question is refused; its values are only a first approximation."""

    def __init__(self, chain: RecomputedChain, path: str | Path, name: str):
        self.chain, self.path = chain, files.reserve(path)
        files.discard_unfinished(path)
        space = chain.space
        problem = f"{space.protocol.id} {space.protocol.values} {space.topology.name} {space.symmetry} {name}"
        model = chain.model
        tables = model.arcs, model.powers, model.after_first, model.after_second, model.changes
        content = problem.encode() + b"".join(np.ascontiguousarray(table).tobytes() for table in tables)
        self.digest = hashlib.sha256(content).hexdigest()

    def values(self) -> np.ndarray:
        if not self.path.exists():
            return np.zeros(self.chain.size)
        stored = read_kept_arrays(self.path, KIND)
        question, values = bytes(stored.get("question", b"")), stored.get("values", np.empty(0))
        if question != self.digest.encode() or values.shape != (self.chain.size,) or values.dtype != np.float64:
            raise InvalidInput(f"{self.path} is a checkpoint of another question; remove it or give another file")
        return np.where(np.isfinite(values) & (values >= 0), values, 0.0)

    def save(self, values: np.ndarray) -> None:
        question = np.frombuffer(self.digest.encode(), np.uint8)
        write_kept_arrays(self.path, KIND, {"question": question, "values": values})
