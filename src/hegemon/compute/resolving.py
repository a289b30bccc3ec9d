"""What Numba has found out about an operation is not found out again.

For every `a + b` Numba goes through all that anybody has ever registered for `+`, twice, and words an error message for
each that does not fit: a sixth of the time that a kernel takes. Among Numba's own functions the answer depends on the
types alone.
"""

import contextlib
from typing import Any

from numba.core import types

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


@contextlib.contextmanager
def remembered():
    """For one who holds the compiler's lock: others who use Numba in this process are left alone."""
    kind: Any = types.BaseFunction
    before, kind.get_call_type = kind.get_call_type, _find_once
    try:
        yield
    finally:
        kind.get_call_type = before
