"""Keys of configurations, many at once, against their definitions."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hegemon.exact import numbering

sizes = st.tuples(st.integers(1, 4), st.integers(1, 5))  # states, agents


def turns(row: tuple) -> set[tuple]:
    return {row[k:] + row[:k] for k in range(len(row))}


def number(row: tuple, q: int) -> int:
    return sum(code * q**place for place, code in enumerate(row))


@given(sizes)
def test_arrays_up_to_rotation(size):
    q, n = size
    rows = numbering.codes_of_arrays(np.arange(q**n), q, n)
    assert {tuple(row) for row in rows.tolist()} == set(itertools.product(range(q), repeat=n))
    least = [min(number(turn, q) for turn in turns(tuple(row))) for row in rows.tolist()]
    assert [number(tuple(row), q) for row in rows.tolist()] == list(range(q**n))
    assert [numbering.smallest_rotation(key, q, n) for key in range(q**n)] == least
    middle = q**n // 2
    found = [*numbering.rotation_keys(0, middle, q, n), *numbering.rotation_keys(middle, q**n, q, n)]
    assert found == sorted(set(least))
    assert numbering.periods(rows).tolist() == [len(turns(tuple(row))) for row in rows.tolist()]
    marked = np.arange(q) % 2
    assert numbering.count_marked(rows, marked).tolist() == [sum(row) for row in (rows % 2).tolist()]


@given(sizes)
def test_multisets(size):
    q, n = size
    choose = np.array([[math.comb(code + place, place + 1) for code in range(q)] for place in range(n)], np.int64)
    expected = list(itertools.combinations_with_replacement(range(q), n))
    rows = numbering.codes_of_multisets(np.arange(len(expected)), choose)
    assert sorted(map(tuple, rows.tolist())) == expected
    assert [numbering.rank(row[::-1], choose) for row in rows] == list(range(len(expected)))
    orders = [len(set(itertools.permutations(row))) for row in rows.tolist()]
    assert numbering.orderings(rows).tolist() == orders


def test_more_orderings_than_a_float_can_count_are_infinitely_many():
    assert numbering.orderings(np.arange(200)[None, :]).tolist() == [math.inf]
