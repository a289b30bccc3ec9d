"""Whole numbers as in machine code, for an author's function in plain Python: of 64 bits, or refused.

The same function runs in machine code, whose numbers end at 2^63. A result beyond is refused there
(`compute/arithmetic`), so it is refused here too: whether a run goes on must not depend on which path computes it.
"""

import os
import sys
from types import SimpleNamespace
from typing import Any

from hegemon.errors import InvalidInput

LEAST, LARGEST = -(2**63), 2**63 - 1
EXACT = 2**53  # beyond, a whole number that becomes a real one is rounded
BEYOND = "a whole number leaves 64 bits ({}); keep it between -2^63 and 2^63 - 1, for instance with % at every step"
ROUNDED = "a whole number beyond 2^53 becomes a real one ({}), which would round it; use // or smaller numbers"


class Word(int):
    """A whole number of 64 bits. Results of its arithmetic are such numbers too, or refused."""

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, int) and max(abs(int(self)), abs(int(other))) > EXACT:
            raise InvalidInput(ROUNDED.format(_place()))
        return int.__truediv__(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, int) and max(abs(int(self)), abs(int(other))) > EXACT:
            raise InvalidInput(ROUNDED.format(_place()))
        return int.__rtruediv__(self, other)

    def __lshift__(self, other: Any) -> Any:
        return _shifted(int(self), other)

    def __rlshift__(self, other: Any) -> Any:
        return _shifted(other, int(self))

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return _power(int(self), other) if modulus is None else int.__pow__(self, other, modulus)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return _power(other, int(self))


def checked(state: SimpleNamespace) -> SimpleNamespace:
    """A copy of a state whose fields are such numbers."""
    return type(state)(**{name: Word(value) for name, value in vars(state).items()})


def check_fields(state: SimpleNamespace) -> None:
    """The same in place."""
    for name, value in vars(state).items():
        setattr(state, name, Word(value))


def _place() -> str:
    """The file and line of the author's function that does the arithmetic."""
    frame: Any = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}, line {frame.f_lineno}"


def _kept(value: Any) -> Any:
    if isinstance(value, int):
        if not LEAST <= value <= LARGEST:
            raise InvalidInput(BEYOND.format(_place()))
        return Word(value)
    return value


def _shifted(value: Any, places: Any) -> Any:
    if not isinstance(value, int) or not isinstance(places, int):
        return NotImplemented
    if value and places >= 64:  # tested before shifting: the result may not fit in memory
        raise InvalidInput(BEYOND.format(_place()))
    return _kept(value << places)


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(base, int) or not isinstance(exponent, int):
        return base**exponent if isinstance(base, float) or isinstance(exponent, float) else NotImplemented
    if exponent < 0 or (abs(base) > 1 and exponent >= 64):
        raise InvalidInput(BEYOND.format(_place()))
    value = base**exponent
    return _kept(value if exponent <= 1 or value != LEAST else LARGEST + 1)


def _looked_after(name: str) -> Any:
    plain = getattr(int, name)

    def operation(self: Word, *others: Any) -> Any:
        return _kept(plain(self, *others))

    return operation


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(Word, _method, _looked_after(_method))
for _method in (
    "__neg__",
    "__abs__",
    "__rshift__",
    "__rrshift__",
    "__and__",
    "__or__",
    "__xor__",
    "__rand__",
    "__ror__",
):
    setattr(Word, _method, _looked_after(_method))
