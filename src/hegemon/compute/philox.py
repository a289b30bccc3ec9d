"""Random words by counting: Philox4x32-10 (Salmon et al., SC 2011).

The word of (key, time, index) needs no state, so every node's coins of every round are the same whatever
the number of threads, and a round can be replayed at will.
"""

import numpy as np
from numba import uint64

from hegemon.compute.border import ingredient

_LOW = np.uint64(0xFFFFFFFF)
_DOUBLE = 1.0 / (1 << 53)


@ingredient()
def philox(c0, c1, c2, c3, k0, k1):
    """Ten rounds on a counter of four 32-bit numbers under a key of two (all held in 64 bits)."""
    for _ in range(10):
        first = uint64(0xD2511F53) * c0
        second = uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (second >> uint64(32)) ^ c1 ^ k0,
            second & _LOW,
            (first >> uint64(32)) ^ c3 ^ k1,
            first & _LOW,
        )
        k0 = (k0 + uint64(0x9E3779B9)) & _LOW
        k1 = (k1 + uint64(0xBB67AE85)) & _LOW
    return c0, c1, c2, c3


@ingredient()
def word_at(key, time, index):
    """64 random bits."""
    key, time, index = uint64(key), uint64(time), uint64(index)
    c0, c1, _, _ = philox(
        time & _LOW, time >> uint64(32), index & _LOW, index >> uint64(32), key & _LOW, key >> uint64(32)
    )
    return (c1 << uint64(32)) | c0


@ingredient()
def double_at(key, time, index):
    """Uniform on (0, 1)."""
    return ((word_at(key, time, index) >> uint64(11)) + 0.5) * _DOUBLE


@ingredient()
def number_below(values, word, key, time, index):
    """Uniform on 0..values-1, from `word`, which is that of (key, time, index), an index below 2^32.

    The last 2^64 mod `values` words would make the law uneven; if `word` is one of them, another word is drawn.
    """
    values, word = uint64(values), uint64(word)
    excess = (uint64(0xFFFFFFFFFFFFFFFF) % values + uint64(1)) % values
    again = uint64(0)
    while word > uint64(0xFFFFFFFFFFFFFFFF) - excess:
        again += uint64(1)
        word = uint64(word_at(key, time, uint64(index) + (again << uint64(32))))
    return np.int64(word % values)


@ingredient()
def coins_from(word, place, bits):
    """The `place`-th group of `bits` bits of a word, as a whole number."""
    if bits == 0:
        return 0
    return np.int64((uint64(word) >> uint64(place * bits)) & ((uint64(1) << uint64(bits)) - uint64(1)))
