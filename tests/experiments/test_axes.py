"""How a study's axes are written, crossed and refused."""

import pytest

from hegemon.errors import InvalidInput
from hegemon.experiments.axes import combine, parse_axis, read_cases, split


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1e2..1e5:log", [100, 1000, 10_000, 100_000]),
        ("64..512:x2", [64, 128, 256, 512]),
        ("10..50:+20", [10, 30, 50]),
        ("2..5", [2, 3, 4, 5]),
        ("5, 10..30:+10", [5, 10, 20, 30]),
        ("10..1000:x3", [10, 30, 90, 270, 810]),
        ("1e6", [1_000_000]),
    ],
)
def test_sizes(text, values):
    assert parse_axis("n", text) == values and all(type(value) is int for value in parse_axis("n", text))


def test_other_axes():
    assert parse_axis("start", "random,no-leader") == ["random", "no-leader"]
    assert parse_axis("x", "0.5,1,n/2") == [0.5, 1, "n/2"]
    assert parse_axis("x", "0.1..0.4:+0.1") == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert parse_axis("tau", [1, 2]) == [1, 2] and parse_axis("tau", 3) == [3]
    assert split("min(n, 3), 'a,b', 7") == ["min(n, 3)", "'a,b'", "7"]


@pytest.mark.parametrize(
    "text", ["", "1,,2", "5..1", "1..9:x1", "0..9:log", "1..9:+0", "1..9:y", "1..x:log", "7,7", "1e1..1e300:x1.00001"]
)
def test_bad_axes_are_refused(text):
    with pytest.raises(InvalidInput):
        parse_axis("tau", text)


def test_grids_zips_and_tables():
    axes = {"n": [10, 20], "tau": [1, 2], "start": ["a"]}
    assert [(case["n"], case["tau"]) for case in combine(axes)] == [(10, 1), (10, 2), (20, 1), (20, 2)]
    assert [(case["n"], case["tau"]) for case in combine(axes, [("n", "tau")])] == [(10, 1), (20, 2)]
    table = [{"n": 5, "tau": 1}, {"n": 6}]
    assert combine({"start": ["a", "b"]}, [], table)[-1] == {"n": 6, "start": "b"}
    for zipped in ([("n", "start")], [("n", "nothing")], [("n", "tau"), ("tau",)]):
        with pytest.raises(InvalidInput):
            combine(axes, zipped)
    with pytest.raises(InvalidInput, match="both an axis"):
        combine({"n": [1]}, [], table)
    with pytest.raises(InvalidInput, match="cases"):
        combine({"a": list(range(1000)), "b": list(range(1000))})


def test_a_table_of_cases(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("n,tau,start\n100,1,random\n200,,no-leader\n")
    assert read_cases(path) == [{"n": 100, "tau": 1, "start": "random"}, {"n": 200, "start": "no-leader"}]
    for text in ("n,tau\n1\n", "n\n1,2\n", "n\n", ""):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            read_cases(path)
    with pytest.raises(InvalidInput):
        read_cases(tmp_path / "nothing.csv")
