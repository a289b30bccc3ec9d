"""Random words that are drawn ahead of their use: a kernel that knows the next ones can prefetch what they need.

Between `begin` and `finish` the generator is ahead of what was taken. `finish` leaves it as if every word had been
drawn when it was taken.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64

from hegemon.compute.compilation import lean
from hegemon.compute.randomness import drawing, is_fair, mask_of, turn

HALF = 64  # words: while one half is taken, the other is known
MASK = 2 * HALF - 1


class Ahead(NamedTuple):
    """Both halves of the words, and the generator before each of them."""

    words: np.ndarray
    before: np.ndarray


def words_ahead() -> Ahead:
    return Ahead(np.zeros(2 * HALF, np.uint64), np.zeros((2, 4), np.uint64))


@lean
def _fill(ahead, rng, half):  # type: ignore[no-untyped-def]
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    before, words = ahead.before, ahead.words
    before[half, 0], before[half, 1], before[half, 2], before[half, 3] = s0, s1, s2, s3
    for k in range(half * HALF, (half + 1) * HALF):
        words[k], s0, s1, s2, s3 = turn(s0, s1, s2, s3)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


@lean
def begin(ahead, rng):  # type: ignore[no-untyped-def]
    """Draw both halves; returns the place of the first word."""
    _fill(ahead, rng, 0)
    _fill(ahead, rng, 1)
    return 0


@drawing
def take(ahead, rng, at):  # type: ignore[no-untyped-def]
    """The word at this place, and the next place."""
    word = ahead.words[uint64(at)]
    at = (at + 1) & MASK
    if at & (HALF - 1) == 0:
        _fill(ahead, rng, 1 - at // HALF)
    return word, at


@lean
def finish(ahead, rng, at):  # type: ignore[no-untyped-def]
    """Give back the words from this place on."""
    half = at // HALF
    s0, s1, s2, s3 = ahead.before[half, 0], ahead.before[half, 1], ahead.before[half, 2], ahead.before[half, 3]
    for _ in range(at % HALF):
        _, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


@drawing
def take_index(ahead, rng, at, bound):  # type: ignore[no-untyped-def]
    """As `next_index`, and the next place."""
    while True:
        word, at = take(ahead, rng, at)
        product = (word >> uint64(32)) * uint64(bound)
        if is_fair(product, bound):
            return product >> uint64(32), at


@lean
def take_below(ahead, rng, at, bound):  # type: ignore[no-untyped-def]
    """As `next_below`, and the next place."""
    mask = mask_of(bound)
    while True:
        word, at = take(ahead, rng, at)
        if word & mask < uint64(bound):
            return np.int64(word & mask), at
