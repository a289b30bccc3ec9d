"""Bounds and defaults that depend on parameters are written as arithmetic expressions: "2*m", "ceil(log2(n))".

`^` is the power, as in `n^0.4`; whole numbers stay exact. The strings are parsed by `grammar` and evaluated here,
never by Python itself.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, shown
from hegemon.models import grammar
from hegemon.models.grammar import (
    LARGEST_NUMBER,
    Call,
    Comparison,
    Name,
    Number,
    Operation,
    Tree,
    short,
    too_large,
)

FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {  # with the fewest and the most arguments
    "ceil": (math.ceil, 1, 1),
    "floor": (math.floor, 1, 1),
    "log": (math.log, 1, 2),
    "log2": (math.log2, 1, 1),
    "sqrt": (math.sqrt, 1, 1),
    "min": (min, 2, 100),
    "max": (max, 2, 100),
    "abs": (abs, 1, 1),
    "round": (round, 1, 1),
}

LONGEST_VALUE = 300  # characters of a number, or of a parameter's value
MOST_BITS = 1000  # of a numerator or denominator: as a float such a fraction is neither 0 nor infinite

parse = lru_cache(maxsize=4096)(grammar.parse)


def evaluate(expression: Any, values: Mapping[str, Any]) -> Any:
    """The value of a bound: a plain number, or a text over the parameters in `values`."""
    if not isinstance(expression, str):
        return expression
    try:
        return value_of(parse(expression), values)
    except (ArithmeticError, ValueError) as error:
        known = ", ".join(values) or "none"
        raise InvalidInput(
            f"the expression {shown(expression)} cannot be evaluated ({error}); it may use the parameters {known}"
        ) from None


def value_of(tree: Tree, values: Mapping[str, Any]) -> int | float:
    """The value of an arithmetic tree."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        if tree.name not in values:
            raise InvalidInput(f"there is no parameter {tree.name!r}")
        return _number(values[tree.name], tree.name)
    if isinstance(tree, Operation):
        return calculate(tree.operator, *(value_of(operand, values) for operand in tree.operands))
    if isinstance(tree, Call):
        if tree.function not in FUNCTIONS:
            raise InvalidInput(f"there is no function {tree.function!r}; there are {', '.join(FUNCTIONS)}")
        function, fewest, most = FUNCTIONS[tree.function]
        if not fewest <= len(tree.operands) <= most:
            raise InvalidInput(f"{tree.function} takes {fewest} number{'s' if most > 1 else ''} or more")
        return _bounded(function(*(value_of(operand, values) for operand in tree.operands)), tree.function)
    what = "a comparison" if isinstance(tree, Comparison) else "text or logic"
    raise InvalidInput(f"it has {what} where a number belongs")


def calculate(symbol: str, left: int | float, right: int | float | None = None) -> int | float:
    """One operation. Quotients of whole numbers stay whole where they can, so that nothing is rounded silently."""
    if right is None:
        return -left
    whole = isinstance(left, int) and isinstance(right, int)
    if symbol in ("/", "//", "%") and right == 0:
        raise ZeroDivisionError("division by zero")
    if symbol == "/" and whole and left % right == 0:
        return left // right
    if symbol == "^":
        return _power(left, right)
    return _bounded(OPERATIONS[symbol](left, right), symbol)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


def _power(base: int | float, exponent: int | float) -> int | float:
    if base == 0 and exponent < 0:
        raise ZeroDivisionError("0 has no negative power")
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if abs(base) > 1 and abs(base).bit_length() * exponent > LARGEST_NUMBER + abs(base).bit_length():
            raise too_large(f"{base}^{exponent}")
        return _bounded(base**exponent, "^")
    result = float(base) ** float(exponent)
    if isinstance(result, complex):
        raise ValueError(f"{base}^{exponent} is not a real number")
    return _bounded(result, "^")


def _bounded(value: int | float, what: str) -> int | float:
    if isinstance(value, int):
        if value.bit_length() > LARGEST_NUMBER:
            raise too_large(f"the result of {what}")
    elif not math.isfinite(value):
        raise OverflowError(f"the result of {what} is not finite")
    return value


def _number(value: Any, name: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        try:
            float(value)  # what stands for every n in a proof says why it is no number
        except InvalidInput:
            raise
        except (TypeError, ValueError):
            pass
        raise InvalidInput(f"{name} = {value!r} is not a number")
    return int(value) if isinstance(value, int | np.integer) else float(value)


def fraction_of(text: Any) -> Fraction:
    """The fraction that a text such as 0.1, 1e-4 or 1/3 is, without rounding; ValueError if it is none or has too many
    digits. That is tested before the fraction is made: 1e-999999999 would fill the memory."""
    written = str(text)
    if len(written) > LONGEST_VALUE or re.search(r"[eE][+-]?[\d_]{5}", written):
        raise ValueError("too many digits")
    found = Fraction(written)
    if max(abs(found.numerator), found.denominator).bit_length() > MOST_BITS:
        raise ValueError("too many digits")
    return found


def number_or_text(text: str) -> int | float | str:
    """A number if the text is one; any other text unchanged."""
    for kind in (int, float) if len(text) <= LONGEST_VALUE else ():
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


def assignments(texts: Iterable[str] | None) -> dict[str, int | float | str]:
    """Strings such as `tau=2` as a dictionary; numbers become numbers, other values stay strings."""
    values: dict[str, int | float | str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InvalidInput(f"--set {text!r} is not understood; write --set name=value, for example --set tau=2")
        if key.strip() in values:
            raise InvalidInput(f"--set gives {key.strip()} twice; give it once")
        if len(value) > LONGEST_VALUE:
            raise InvalidInput(f"the value {value[:20]}… has {len(value)} characters; give at most {LONGEST_VALUE}")
        values[key.strip()] = number_or_text(value.strip())
    return values


def whole_number(text: Any, what: str, low: int = 0, high: int | None = None) -> int:
    """A whole number as people write it: 1000, 1e6, 10**6, 2^20, 1_000_000."""
    try:
        value = evaluate(str(text), {})
        if value != int(value) or value < low or (high is not None and value > high):
            raise ValueError
        return int(value)
    except ValueError:  # InvalidInput is one
        allowed = f"a whole number >= {low}" if high is None else f"a whole number in {low}..{high}"
        raise InvalidInput(f"{what} = {short(text)} is out of range; give {allowed}, such as 1000 or 1e6") from None
