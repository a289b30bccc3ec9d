"""Python's `random.Random` in compiled code: the same words, so the same numbers, from the same state.

The Mersenne Twister of Matsumoto and Nishimura (ACM TOMACS 1998). A state is an array of 625 words, as `getstate()` of
a `random.Random` returns it: 624 words and the place of the next one.
"""

import random

import numpy as np
from numba import uint64

from hegemon.compute.border import ingredient
from hegemon.compute.intrinsics import require

WORDS, APART = 624, 397
MOST_BITS = 63  # of a number that is drawn: it must be a whole number of 64 bits with a sign
_DOUBLE = 1.0 / 9007199254740992.0

bare = ingredient(_nrt=False)


def words_of(rng: random.Random) -> np.ndarray:
    """The state as an array that compiled code advances."""
    return np.array(rng.getstate()[1], np.uint32)


def set_words(rng: random.Random, words: np.ndarray) -> None:
    """Let the generator go on where compiled code has ended."""
    rng.setstate((3, tuple(words.tolist()), None))


@bare
def _twisted(here, after, far):
    mixed = (uint64(here) & uint64(0x80000000)) | (uint64(after) & uint64(0x7FFFFFFF))
    return uint64(far) ^ (mixed >> uint64(1)) ^ (uint64(0x9908B0DF) if mixed & uint64(1) else uint64(0))


@bare
def _renew(state):
    for k in range(WORDS):
        state[k] = _twisted(state[k], state[(k + 1) % WORDS], state[(k + APART) % WORDS])
    state[WORDS] = 0


@bare
def next_half(state):
    """32 random bits."""
    if state[WORDS] >= WORDS:
        _renew(state)
    y = uint64(state[state[WORDS]])
    state[WORDS] += 1
    y ^= y >> uint64(11)
    y ^= (y << uint64(7)) & uint64(0x9D2C5680)
    y ^= (y << uint64(15)) & uint64(0xEFC60000)
    return (y ^ (y >> uint64(18))) & uint64(0xFFFFFFFF)


@bare
def getrandbits(state, bits):
    require(0 <= bits <= MOST_BITS)
    if bits == 0:
        return np.int64(0)
    if bits <= 32:
        return np.int64(next_half(state) >> uint64(32 - bits))
    low = next_half(state)
    return np.int64(low | (next_half(state) >> uint64(64 - bits)) << uint64(32))


@bare
def randrange(state, first, end):
    """Uniform on first..end-1."""
    width = end - first
    require(first < end and width > 0)  # it is not empty, and its width has 64 bits
    bits = 0
    while width >> bits:
        bits += 1
    while True:
        value = getrandbits(state, bits)
        if value < width:
            return first + value


@bare
def randint(state, first, last):
    """Uniform on first..last."""
    require(last < 9223372036854775807)
    return randrange(state, first, last + 1)


@bare
def uniform(state):
    """`random()`: uniform on [0, 1), 53 bits."""
    high, low = next_half(state) >> uint64(5), next_half(state) >> uint64(6)
    return (np.int64(high) * 67108864.0 + np.int64(low)) * _DOUBLE
