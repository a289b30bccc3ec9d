"""The same seed gives the same numbers, whatever is moved or tidied."""

import json

import pytest

from tests.golden.cases import CASES, TABLE, plain

NUMBERS = json.loads(TABLE.read_text())


@pytest.mark.parametrize("name", CASES)
def test_the_seed_gives_these_numbers(name):
    assert plain(CASES[name]()) == NUMBERS[name]


def test_the_table_has_no_other_rows():
    assert NUMBERS.keys() == CASES.keys()
