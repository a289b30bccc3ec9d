"""Words drawn ahead are the words that would have been drawn one by one."""

import numpy as np
import pytest

from hegemon.compute.ahead import HALF, begin, finish, take, take_below, take_index, words_ahead
from hegemon.compute.border import ingredient
from hegemon.compute.randomness import next_below, next_index, next_word, stream

BOUNDS = 5, 3 << 30, (1 << 31) + 1  # the last is rejected in half of all cases


@ingredient()
def draw_ahead(ahead, rng, bound, sample):
    at = begin(ahead, rng)
    for k in range(len(sample)):
        sample[k, 0], at = take(ahead, rng, at)
        sample[k, 1], at = take_index(ahead, rng, at, bound)
        sample[k, 2], at = take_below(ahead, rng, at, bound)
    finish(ahead, rng, at)


@ingredient()
def draw_singly(rng, bound, sample):
    for k in range(len(sample)):
        sample[k, 0] = next_word(rng)
        sample[k, 1] = next_index(rng, bound)
        sample[k, 2] = next_below(rng, bound)


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_numbers_and_the_generator_are_the_same(bound):
    ahead, one, other = words_ahead(), stream(1), stream(1)
    for size in (0, 1, HALF // 3, HALF, 5 * HALF, 2):
        drawn, expected = np.zeros((size, 3), np.uint64), np.zeros((size, 3), np.uint64)
        draw_ahead(ahead, one, bound, drawn)
        draw_singly(other, bound, expected)
        assert (drawn == expected).all()
        assert (one == other).all()
