"""Bounds and defaults that depend on parameters are written as short arithmetic texts: "2*m", "ceil(log2(n))"."""

import math

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
        return eval(expression, {"__builtins__": {}}, {**FUNCTIONS, **values})
    except Exception as error:
        known = ", ".join(values) or "none"
        raise InvalidInput(
            f"the expression {expression!r} cannot be evaluated ({error}); it may use the parameters {known}"
        ) from None
