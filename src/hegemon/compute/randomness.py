"""The one source of randomness: a seed spawns streams; a stream is a xoshiro256++ state for compiled code.

Trial k of seed S always uses stream (S, k), whatever the number of workers. Kernels advance the four
words in place; copying them is a snapshot, and a replay from a snapshot repeats every draw.
"""

import random

import numpy as np
from numba import uint64

from hegemon.compute.border import ingredient

START, KERNEL, FAULT, GRAPH = 0, 1, 2, 3  # purposes of a trial's streams
_DOUBLE = 1.0 / (1 << 53)

drawing = ingredient(forceinline=True, _nrt=False)


def stream(seed: int, *path: int) -> np.ndarray:
    """The generator state of the stream at `path` below `seed` (trial, then purpose)."""
    return np.random.SeedSequence(seed, spawn_key=path).generate_state(4, np.uint64)


def generator(seed: int, *path: int) -> np.random.Generator:
    """A NumPy generator for set-up work (starts, graphs), on the same tree of streams as `stream`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))


def python_generator(seed: int, *path: int) -> random.Random:
    """A plain-Python generator on the same tree, for nodes that are plain Python; its integers have any size."""
    return random.Random(int.from_bytes(stream(seed, *path).tobytes(), "little"))


@drawing
def turn(s0, s1, s2, s3):
    """64 random bits, and the state after them: xoshiro256++ (Blackman and Vigna, ACM TOMS 2021).

    For loops that draw much and write to arrays: the compiler cannot know that none of these is the state, and would
    store and load it for every draw.
    """
    mixed = s0 + s3
    result = ((mixed << uint64(23)) | (mixed >> uint64(41))) + s0
    t = s1 << uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << uint64(45)) | (s3 >> uint64(19))
    return result, s0, s1, s2, s3


@drawing
def next_word(state):
    """64 random bits."""
    result, state[0], state[1], state[2], state[3] = turn(state[0], state[1], state[2], state[3])
    return result


@drawing
def next_double(state):
    """Uniform on [0, 1), 53 bits."""
    return (next_word(state) >> uint64(11)) * _DOUBLE


@drawing
def next_open_double(state):
    """Uniform on (0, 1): safe to take the logarithm of."""
    return ((next_word(state) >> uint64(11)) + 0.5) * _DOUBLE


@ingredient()
def next_below(state, bound):
    """Uniform on 0..bound-1 without bias, for any 1 <= bound < 2**63: masked rejection."""
    mask = uint64(bound - 1)
    mask |= mask >> uint64(1)
    mask |= mask >> uint64(2)
    mask |= mask >> uint64(4)
    mask |= mask >> uint64(8)
    mask |= mask >> uint64(16)
    mask |= mask >> uint64(32)
    while True:
        value = next_word(state) & mask
        if value < uint64(bound):
            return np.int64(value)


@drawing
def is_fair(product, bound):
    """Whether the upper half of a random 32-bit number times `bound` is uniform (Lemire 2019): the division is hardly
    ever needed."""
    rest = product & uint64(0xFFFFFFFF)
    return rest >= uint64(bound) or rest >= uint64(1 << 32) % uint64(bound)


@drawing
def turn_below(bound, s0, s1, s2, s3):
    """Uniform on 0..bound-1 for bound < 2**32, and the state after it."""
    while True:
        word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
        product = (word >> uint64(32)) * uint64(bound)
        if is_fair(product, bound):
            return product >> uint64(32), s0, s1, s2, s3


@drawing
def next_index(state, bound):
    """Uniform on 0..bound-1 for bound < 2**32, in one multiplication."""
    while True:
        product = (next_word(state) >> uint64(32)) * uint64(bound)
        if is_fair(product, bound):
            return np.int64(product >> uint64(32))
