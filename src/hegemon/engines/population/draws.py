"""Who meets next: blocks of random pairs for engine `agents`, whose agents are prefetched meanwhile.

Without coins the generator's state stays in registers for a whole block; with coins every pair is followed by its own.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hegemon.compute.compilation import lean, part
from hegemon.compute.intrinsics import prefetch
from hegemon.compute.randomness import next_below
from hegemon.graphs.topology import Topology
from hegemon.process.schedulers.scheduler import Scheduler

# ruff: noqa: F821 - `pair`, a scheduler's, is bound by part

BLOCK = 32  # pairs drawn ahead, so that their agents are on the way from memory when their turn comes


class Chance(NamedTuple):
    """What meetings are drawn from: the arcs (none: all pairs), the generator, what it was before the last draws, and
    how many values the coins have; how many are drawn ahead, and room for their agents and coins."""

    arcs: np.ndarray
    rng: np.ndarray
    before: np.ndarray
    values: int
    block: int
    first: np.ndarray
    second: np.ndarray
    coins: np.ndarray


@lean
def move_words(source, target):  # type: ignore[no-untyped-def]
    """Whole-array assignment would compile error messages into a kernel."""
    for k in range(4):
        target[k] = source[k]


def draw_pairs(population, chance, size):  # type: ignore[no-untyped-def]
    """The next pairs; the generator's words stay in registers meanwhile."""
    arcs, n, rng, first, second = chance.arcs, len(population), chance.rng, chance.first, chance.second
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for k in range(size):
        i, j, s0, s1, s2, s3 = pair(arcs, n, s0, s1, s2, s3)
        first[k], second[k] = i, j
        prefetch(population, i)
        prefetch(population, j)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


def draw_pairs_with_coins(population, chance, size):  # type: ignore[no-untyped-def]
    arcs, n, rng, first, second = chance.arcs, len(population), chance.rng, chance.first, chance.second
    for k in range(size):
        i, j, rng[0], rng[1], rng[2], rng[3] = pair(arcs, n, rng[0], rng[1], rng[2], rng[3])
        first[k], second[k] = i, j
        chance.coins[k] = next_below(rng, chance.values)
        prefetch(population, i)
        prefetch(population, j)


def draws_of(scheduler: Scheduler, topology: Topology, coins: int, rng: np.ndarray) -> tuple[Any, Chance]:
    """The function that draws, and what it draws from."""
    pair, arcs = scheduler.compiled(topology)
    block = BLOCK if scheduler.memoryless else 1  # what a scheduler remembers cannot be drawn again
    room = np.zeros((3, BLOCK), np.int64)  # without coins the third row stays 0
    return _drawing(pair, coins > 1), Chance(arcs, rng, np.zeros(4, np.uint64), coins, block, *room)


@cache
def _drawing(pair: Any, with_coins: bool) -> Any:
    return part(draw_pairs_with_coins if with_coins else draw_pairs, allocates=False, pair=pair)
