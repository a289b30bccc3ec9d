"""`--where`: a grammar of comparisons, and nothing that runs."""

import pandas
import pytest

from hegemon.errors import InvalidInput
from hegemon.experiments.filters import choose_rows

TABLE = pandas.DataFrame(
    {"n": [10, 20, 30, 40], "start": ["a", "b", "a", "c"], "reached": [True, False, True, True], "x": [0.5, -1, 2, 3]}
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("n >= 20", [20, 30, 40]),
        ("start == 'a' and n > 10", [30]),
        ("start == 'a' or x < -0.5", [10, 20, 30]),
        ("not (start == 'a')", [20, 40]),
        ("10 < n <= 30", [20, 30]),
        ("start in ('b', 'c')", [20, 40]),
        ("start not in ['b', 'c']", [10, 30]),
        ("reached", [10, 30, 40]),
        ("reached == false", [20]),
        ("start != 'a'", [20, 40]),
    ],
)
def test_rows(text, rows):
    assert list(choose_rows(TABLE, text)["n"]) == rows


@pytest.mark.parametrize(
    "text",
    ["", "n", "n >", "nothing == 1", "n == m", "__import__('os').system('true')", "n.size > 1", "(lambda: 1)() == n",
     "n ** 9**9 > 1", "[n for n in n]", "@n", "start < 3", "n in start", "1 == 1", "n if n else n", "(" * 400,
     "n == 1" + " " * 2000, "f'{n}' == 'a'"],
)  # fmt: skip
def test_anything_else_is_one_sentence(text):
    with pytest.raises(InvalidInput) as caught:
        choose_rows(TABLE, text)
    assert "\n" not in str(caught.value)
