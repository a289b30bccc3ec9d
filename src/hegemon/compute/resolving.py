"""What Numba has found out about an operation is not found out again, and what a statement reads is found out quickly.

For every `a + b` Numba goes through all that anybody has ever registered for `+`, twice, and words an error message for
each that does not fit: a sixth of the time that a kernel takes. Among Numba's own functions the answer depends on the
types alone. And a dozen times for every statement it looks for variables in all that the statement holds, a tenth of
that time: most of it is places in the source.
"""

import contextlib
from typing import Any

from numba.core import ir, types

_known: dict = {}
_find = types.BaseFunction.get_call_type


def _find_once(function, context, arguments, named):
    key = function, tuple(arguments)
    if named or key not in _known:
        found = _find(function, context, arguments, named)
        # What is itself compiled from Python, with the options of whoever calls it, has a key of its own.
        if named or found is None or function.get_impl_key(found) != function.typing_key:
            return found
        _known[key] = found
    return _known[key]


def _variables(statement, held, found) -> list:
    """The variables among what a statement holds, in their order; as Numba does, but what is common first."""
    for one in held:
        kind = type(one)
        if kind is ir.Var:
            found.append(one)
        elif kind is ir.Expr:
            _variables(one, one._kws.values(), found)
        elif kind is not ir.Loc and kind is not str:
            found += statement._rec_list_vars(one)
    return found


_QUICK: tuple[tuple[Any, str, Any], ...] = (
    (types.BaseFunction, "get_call_type", _find_once),
    (ir.Stmt, "list_vars", lambda statement: _variables(statement, vars(statement).values(), [])),
    (ir.Expr, "list_vars", lambda expression: _variables(expression, expression._kws.values(), [])),
)


@contextlib.contextmanager
def remembered():
    """For one who holds the compiler's lock: others who use Numba in this process are left alone."""
    before = [getattr(kind, name) for kind, name, _ in _QUICK]
    for kind, name, quick in _QUICK:
        setattr(kind, name, quick)
    try:
        yield
    finally:
        for (kind, name, _), slow in zip(_QUICK, before, strict=True):
            setattr(kind, name, slow)
