"""Random words by counting: the published test vectors, and that words of neighbouring counters are unrelated."""

import numpy as np
import pytest
from scipy import stats

from hegemon.compute.philox import coins_from, double_at, philox, word_at


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # from the test vectors of Salmon et al.'s Random123
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox(counter, key, expected):
    assert list(philox(*(np.uint64(number) for number in counter + key))) == expected


def test_words_differ_in_every_argument():
    key = np.uint64(7)
    words = {int(word_at(key, time, index)) for time in range(100) for index in range(100)}
    assert len(words) == 10_000
    assert word_at(np.uint64(8), 3, 4) != word_at(key, 3, 4) != word_at(key, 4, 3)


def test_coins_are_uniform_over_nodes_and_over_rounds():
    key = np.uint64(2024)
    words = [np.uint64(word_at(key, time, 0)) for time in range(2000)]
    coins = np.array([[coins_from(word, place, 2) for place in range(32)] for word in words])
    assert stats.chisquare(np.bincount(coins.ravel(), minlength=4)).pvalue > 1e-3
    pairs = 4 * coins[:, :-1] + coins[:, 1:]  # nodes side by side
    assert stats.chisquare(np.bincount(pairs.ravel(), minlength=16)).pvalue > 1e-3
    pairs = 4 * coins[:-1] + coins[1:]  # rounds one after the other
    assert stats.chisquare(np.bincount(pairs.ravel(), minlength=16)).pvalue > 1e-3


def test_doubles_are_uniform():
    numbers = [double_at(np.uint64(1), 5, index) for index in range(5000)]
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3


def test_no_coins():
    assert coins_from(np.uint64(0xFFFF), 0, 0) == 0
