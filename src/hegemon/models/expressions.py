"""Bounds and defaults that depend on parameters are written as short arithmetic texts: "2*m", "ceil(log2(n))".

`^` is the power, as in `n^0.4`; whole numbers stay exact at any size.
"""

import math
from functools import cache

from hegemon.errors import InvalidInput

FUNCTIONS = {
    "ceil": math.ceil,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
}


def evaluate(expression, values):
    """The value of a bound: a plain number, or a text over the parameters in `values`."""
    if not isinstance(expression, str):
        return expression
    try:
        return eval(expression.replace("^", "**"), {"__builtins__": {}}, {**FUNCTIONS, **values})
    except Exception as error:
        known = ", ".join(values) or "none"
        raise InvalidInput(
            f"the expression {expression!r} cannot be evaluated ({error}); it may use the parameters {known}"
        ) from None


@cache
def function_of(text: str):
    """`(a, p) -> text` as its author would have written it; the same text gives the same function, which is
    compiled once."""
    scope: dict = {}
    exec(f"def value(a, p):\n    return {text}", scope)
    return scope["value"]


def whole_number(text, what: str, low: int = 0) -> int:
    """A whole number as people write it: 1000, 1e6, 10**6, 2^20, 1_000_000."""
    try:
        value = evaluate(str(text), {})
        if isinstance(value, bool) or value != int(value) or value < low:
            raise ValueError
        return int(value)
    except (InvalidInput, TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{what} = {text} is out of range; give a whole number >= {low}, such as 1000 or 1e6"
        ) from None
