"""The one source of randomness: a seed spawns streams; a stream is a xoshiro256++ state for compiled code.

Trial k of seed S always uses stream (S, k), whatever the number of workers. Kernels advance the four
words in place; copying them is a snapshot, and a replay from a snapshot repeats every draw.
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import uint64
from numpy.random.bit_generator import ISpawnableSeedSequence

from hegemon.compute.border import ingredient

START, KERNEL, FAULT, GRAPH = 0, 1, 2, 3  # purposes of a trial's streams
FEW = 16  # streams: made one by one they take less time
_DOUBLE = 1.0 / (1 << 53)

drawing = ingredient(forceinline=True, _nrt=False)


def stream(seed: int, *path: int) -> np.ndarray:
    """The generator state of the stream at `path` below `seed` (trial, then purpose)."""
    return np.random.SeedSequence(seed, spawn_key=path).generate_state(4, np.uint64)


def generator(seed: int, *path: int) -> np.random.Generator:
    """A NumPy generator for set-up work (starts, graphs), on the same tree of streams as `stream`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))


def streams(seed: int, trials: range, purpose: int) -> np.ndarray:
    """The streams of many trials, one in a row: the hash of NumPy's SeedSequence, calculated for all rows at once."""
    if len(trials) < FEW or trials[-1] >> 32:  # a trial number of two words is hashed differently
        return np.array([stream(seed, trial, purpose) for trial in trials])
    words = _words(seed)
    words += [0] * (4 - len(words))
    numbers = np.fromiter(trials, np.uint32, len(trials))
    content = [*(np.full(len(trials), word, np.uint32) for word in words), numbers, np.full_like(numbers, purpose)]
    scramble = _Scramble(0x43B0D7E5, 0x931E8875)
    pool = [scramble(word) for word in content[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = _mixed(pool[target], scramble(pool[source]))
    for word in content[4:]:
        pool = [_mixed(old, scramble(word)) for old in pool]
    scramble = _Scramble(0x8B51F9DD, 0x58F38DED)
    return np.stack([scramble(pool[k % 4]) for k in range(8)], axis=1).view(np.uint64)


def generators(seed: int, trials: range, purpose: int) -> Iterator[np.random.Generator]:
    """`generator(seed, trial, purpose)` for many trials."""
    for trial, words in zip(trials, streams(seed, trials, purpose), strict=True):
        yield np.random.Generator(np.random.PCG64(_Sown(words, seed, (trial, purpose))))


class _Sown(ISpawnableSeedSequence):
    """A SeedSequence whose first words are known; a request for more words is passed to a real one."""

    def __init__(self, words: np.ndarray, seed: int, path: tuple[int, ...]):
        self._words, self._place = words, (seed, path)
        self._real: np.random.SeedSequence | None = None

    @property
    def is_used(self) -> bool:
        """Whether more than the first words were requested."""
        return self._real is not None

    def _sequence(self) -> np.random.SeedSequence:
        if self._real is None:
            self._real = np.random.SeedSequence(self._place[0], spawn_key=self._place[1])
        return self._real

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        is_known = n_words == 4 and dtype == np.uint64
        return self._words if is_known else self._sequence().generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> list[Any]:
        return self._sequence().spawn(n_children)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._sequence(), name)


class _Scramble:
    """The hash of one word after the other, of many sequences side by side."""

    def __init__(self, first: int, factor: int):
        self._now, self._factor = first, factor

    def __call__(self, words: np.ndarray) -> np.ndarray:
        words = words ^ np.uint32(self._now)
        self._now = self._now * self._factor & 0xFFFFFFFF
        words *= np.uint32(self._now)
        return words ^ (words >> np.uint32(16))


def _mixed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    words: np.ndarray = first * np.uint32(0xCA01F9DD) - second * np.uint32(0x4973F715)
    return words ^ (words >> np.uint32(16))


def _words(number: int) -> list[int]:
    """A number in words of 32 bits, the lowest first."""
    return [number & 0xFFFFFFFF, *(_words(number >> 32) if number >> 32 else [])]


def python_generator(seed: int, *path: int) -> random.Random:
    """A plain-Python generator on the same tree, for nodes that are plain Python; its integers have any size."""
    return random.Random(int.from_bytes(stream(seed, *path).tobytes(), "little"))


@drawing
def turn(s0, s1, s2, s3):  # type: ignore[no-untyped-def]
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
def next_word(state):  # type: ignore[no-untyped-def]
    """64 random bits."""
    result, state[0], state[1], state[2], state[3] = turn(state[0], state[1], state[2], state[3])
    return result


@drawing
def next_double(state):  # type: ignore[no-untyped-def]
    """Uniform on [0, 1), 53 bits."""
    return (next_word(state) >> uint64(11)) * _DOUBLE


@drawing
def open_double(word):  # type: ignore[no-untyped-def]
    """Uniform on (0, 1), from 64 random bits: safe to take the logarithm of."""
    return ((word >> uint64(11)) + 0.5) * _DOUBLE


@drawing
def next_open_double(state):  # type: ignore[no-untyped-def]
    """The same from the next word."""
    return open_double(next_word(state))


@drawing
def mask_of(bound):  # type: ignore[no-untyped-def]
    """All bits that numbers below this bound have."""
    mask = uint64(bound - 1)
    mask |= mask >> uint64(1)
    mask |= mask >> uint64(2)
    mask |= mask >> uint64(4)
    mask |= mask >> uint64(8)
    mask |= mask >> uint64(16)
    return mask | mask >> uint64(32)


@ingredient()
def next_below(state, bound):  # type: ignore[no-untyped-def]
    """Uniform on 0..bound-1 without bias, for any 1 <= bound < 2**63: masked rejection."""
    mask = mask_of(bound)
    while True:
        value = next_word(state) & mask
        if value < uint64(bound):
            return np.int64(value)


@drawing
def is_fair(product, bound):  # type: ignore[no-untyped-def]
    """Whether the upper half of a random 32-bit number times `bound` is uniform (Lemire 2019): the division is hardly
    ever needed."""
    rest = product & uint64(0xFFFFFFFF)
    return rest >= uint64(bound) or rest >= uint64(1 << 32) % uint64(bound)


@drawing
def turn_below(bound, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """Uniform on 0..bound-1 for bound < 2**32, and the state after it."""
    while True:
        word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
        product = (word >> uint64(32)) * uint64(bound)
        if is_fair(product, bound):
            return product >> uint64(32), s0, s1, s2, s3


@drawing
def next_index(state, bound):  # type: ignore[no-untyped-def]
    """Uniform on 0..bound-1 for bound < 2**32, in one multiplication."""
    while True:
        product = (next_word(state) >> uint64(32)) * uint64(bound)
        if is_fair(product, bound):
            return np.int64(product >> uint64(32))
