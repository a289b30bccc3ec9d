"""Numbers and parameters as texts: exact, bounded, and never code."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon import InvalidInput, Pairwise, TimeOptimal
from hegemon.models.expressions import evaluate, fraction_of, whole_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1000", 1000),
        ("1e6", 10**6),
        ("10**6", 10**6),
        ("2^20", 2**20),
        ("1_000_000", 10**6),
        ("9.007199254740993e15", 9007199254740993),  # not a double
        ("1e22", 10**22),
        ("1e23", 10**23),
        ("2^100 / 2^98", 4),
        ("10**30 / 10 + 1", 10**29 + 1),
        ("-2^2 + 5", 1),
        ("2^3^2", 512),
        ("7 // 2 * 2 + 7 % 2", 7),
        ("max(3, 2 ^ 2, 1)", 4),
        ("abs(3 − 5)", 2),
    ],
)
def test_whole_numbers_are_exact(text, value):
    assert whole_number(text, "n") == value


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9", "1e99999", "1e999999999999", "9" * 5000, "(" * 900 + "1" + ")" * 900, "-" * 1000 + "1",
        "1+" * 999 + "1", "2**-1", "1.5", "-1", "1e-400", "", " ", "inf", "nan", "True", "None", "1 2", "1,2", "1; 2",
        "__import__('os').getcwd()", "().__class__", "[1][0]", "1 if 1 else 2", "lambda: 1", "1 << 3", "0x10",
        "x", "log(0)", "sqrt(-1)", "5 % 0", "1 / 0", "0 ^ -1", "(-8) ^ 0.5", "max(1)", "log2(1, 2, 3)", "1 < 2",
        "'1'", "１", "1\x00", "\ud800", "ceil()", "ceil(1,)", "1e5e5", "1 and 1", "10^1234", "5(3)",
    ],
)  # fmt: skip
def test_what_is_no_whole_number_is_one_sentence(text):
    with pytest.raises(InvalidInput, match="n = .* is out of range; give a whole number") as caught:
        whole_number(text, "n")
    assert len(str(caught.value)) < 200


def test_no_text_is_run():
    with pytest.raises(InvalidInput, match="no function 'quit'"):
        evaluate("quit(1)", {})
    with pytest.raises(InvalidInput, match="tau"):
        TimeOptimal(n=10, tau="().__class__.__mro__")
    with pytest.raises(InvalidInput, match="digits"):
        TimeOptimal(n=10, tau="9**9**9")
    with pytest.raises(InvalidInput, match="no parameter"):
        Pairwise(n=10, k="__import__('os')")


@st.composite
def expressions(draw, depth=3):
    """A text of our grammar that is also Python, with `**` for the power."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["n", "m", *map(str, range(12)), "0.5", "2.25"]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    shape = draw(
        st.sampled_from(["({} + {})", "{} - {}", "{} * {}", "({}) // {}", "-{} % {}", "max({}, {})", "{} / {}"])
    )
    return shape.format(left, right)


@settings(max_examples=300, deadline=None)
@given(expressions(), st.integers(1, 50), st.integers(-9, 9))
def test_values_are_those_of_python(text, n, m):
    """Python is the independent reading; texts are made here, so it may evaluate them."""
    values = {"n": n, "m": m}
    try:
        expected = eval(text, {"max": max}, values)
    except ZeroDivisionError:
        with pytest.raises(InvalidInput, match="zero"):
            evaluate(text, values)
        return
    assert math.isclose(evaluate(text, values), expected, rel_tol=1e-12, abs_tol=1e-9), text


@given(st.integers(0, 10**40), st.integers(0, 30))
def test_decimals_that_are_whole_are_exact(number, shift):
    digits = str(number).rjust(shift + 1, "0")
    text = f"{digits[:-shift]}.{digits[-shift:]}e{shift}" if shift else digits
    assert whole_number(text, "n") == Fraction(number)


@given(st.fractions(max_denominator=10**30))
def test_a_fraction_is_the_one_that_is_written(number):
    assert fraction_of(number) == number == fraction_of(f" {number}")
    assert fraction_of(f"{number.numerator}e-7") == Fraction(number.numerator, 10**7)


@pytest.mark.parametrize("text", ["", "x", "1e-400", "1e400", "1e-999999999", "1E+9_9999", "9" * 301, "nan", "inf"])
def test_what_is_no_fraction_or_too_long_is_refused_before_it_is_made(text):
    with pytest.raises(ValueError):
        fraction_of(text)
