"""Who meets next: blocks of random pairs for engine `agents`, whose agents are asked for from memory meanwhile.

Without coins the generator's state stays in registers for a whole block; with coins every pair is followed by its own.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean
from hegemon.compute.prefetch import prefetch
from hegemon.compute.randomness import is_fair, next_below, next_index, next_pair, pair_of, products_of, turn

BLOCK = 32  # pairs drawn ahead, so that their agents are on the way from memory when their turn comes


class Chance(NamedTuple):
    """What meetings are drawn from: the arcs (none: all pairs), the generator, what it was before the last draws, and
    how many values the coins have; and room for the agents and coins of the next ones."""

    arcs: np.ndarray
    rng: np.ndarray
    before: np.ndarray
    values: int
    first: np.ndarray
    second: np.ndarray
    coins: np.ndarray


@lean
def move_words(source, target):
    """Whole-array assignment would compile error messages into a kernel."""
    for k in range(4):
        target[k] = source[k]


@lean
def draw_complete(population, chance, size):
    """The next pairs on the complete graph."""
    n, rng, first, second = len(population), chance.rng, chance.first, chance.second
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for k in range(size):
        while True:
            word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
            high, low = products_of(word, n)
            if is_fair(high, n) and is_fair(low, n - 1):
                break
        i, j = pair_of(high, low)
        first[k], second[k] = i, j
        prefetch(population, i)
        prefetch(population, j)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


@lean
def draw_arcs(population, chance, size):
    """The next pairs on a graph, whose arcs hold their initiator and their responder."""
    arcs, rng, first, second = chance.arcs, chance.rng, chance.first, chance.second
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for k in range(size):
        while True:
            word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
            product = (word >> uint64(32)) * uint64(len(arcs))
            if is_fair(product, len(arcs)):
                break
        arc = product >> uint64(32)
        first[k], second[k] = arcs[arc, 0], arcs[arc, 1]
        prefetch(population, first[k])
        prefetch(population, second[k])
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


@lean
def draw_complete_with_coins(population, chance, size):
    first, second = chance.first, chance.second
    for k in range(size):
        first[k], second[k] = next_pair(chance.rng, len(population))
        chance.coins[k] = next_below(chance.rng, chance.values)
        prefetch(population, first[k])
        prefetch(population, second[k])


@lean
def draw_arcs_with_coins(population, chance, size):
    arcs, first, second = chance.arcs, chance.first, chance.second
    for k in range(size):
        arc = next_index(chance.rng, len(arcs))
        first[k], second[k] = arcs[arc, 0], arcs[arc, 1]
        chance.coins[k] = next_below(chance.rng, chance.values)
        prefetch(population, first[k])
        prefetch(population, second[k])


def draws_of(topology, coins: int):
    """The function that draws, and the arcs that it needs."""
    if topology.is_complete:
        return draw_complete_with_coins if coins > 1 else draw_complete, np.empty((0, 2), np.int32)
    arcs = np.stack([topology.sources, topology.targets], axis=1)
    return draw_arcs_with_coins if coins > 1 else draw_arcs, arcs
