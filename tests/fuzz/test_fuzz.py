"""A few hundred generated lines every time, ten thousand in `make test-full`; and a flaw would be seen."""

import pytest

from tests.fuzz.lines import Line, line
from tests.fuzz.workers import flaw, fuzz


def told(flawed) -> str:
    return "\n".join(f"{ascii(ending.line.arguments)[:300]}: {ending.flaw}" for ending in flawed)


def test_every_line_ends_well_or_in_one_sentence():
    counts, flawed = fuzz(1, range(250))
    assert not flawed, told(flawed)
    assert counts["exit 0"] > 25 and counts["exit 2"] > 50  # the lines are neither all good nor all bad
    assert counts["past the parser"] > 175, counts  # most of them try what stands behind it


@pytest.mark.full
def test_ten_thousand_lines_end_well_or_in_one_sentence():
    counts, flawed = fuzz(2, range(10_000))
    assert not flawed, f"{counts}\n{told(flawed)}"


def test_a_line_is_the_same_every_time():
    assert line(3, 5) == line(3, 5) != line(3, 6)


@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (3, "", "hegemon: something unexpected went wrong"),
        (2, "", "hegemon: one\nhegemon: two"),
        (2, "", "hegemon: " + "x" * 5000),
        (2, "half a table", "hegemon: refused"),
        (0, "", "Traceback (most recent call last):"),
        (0, "[Infinity]", ""),
        (0, "no JSON", ""),
    ],
)
def test_a_flaw_is_seen(code, out, err):
    asked = Line(["run", "pairwise", "--json"])
    assert flaw(asked, {"code": code, "out": out, "err": err})
    assert not flaw(asked, {"code": 0, "out": "[1]", "err": "… preparing, 1 s"})
    assert not flaw(asked, {"code": 2, "out": "", "err": "hegemon: refused"})
