"""Parameters of a protocol: numbers and strings from a short list, validated in one place."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon import doors
from hegemon.errors import InvalidInput, meant, shown
from hegemon.models.expressions import evaluate
from hegemon.models.grammar import short

BOUND = doors.scalar | doors.none
WORDS = doors.several(doors.text)
LARGEST = 2**62  # of a parameter: compiled code reads it as a signed number of 64 bits


@dataclass(frozen=True)
class Parameter:
    """`default`, `low` and `high` may be expressions over `n` and the parameters declared before this one.

    Numbers are whole unless `real`. With `choices`, only these strings are allowed, or a number too if there
    are bounds. A default of None means that the parameter may be left out.
    """

    default: int | float | str | None
    low: int | str | None = None
    high: int | str | None = None
    help: str = ""
    choices: tuple[str, ...] = ()
    real: bool = False

    def __post_init__(self) -> None:
        doors.require_fields(
            self,
            default=doors.scalar | doors.none,
            low=BOUND,
            high=BOUND,
            help=doors.text,
            choices=WORDS,
            real=doors.switch,
        )

    @property
    def takes_numbers(self) -> bool:
        return not self.choices or self.low is not None or self.high is not None

    def allowed(self, values: Mapping[str, Any]) -> str:
        texts = "one of " + ", ".join(self.choices) if self.choices else ""
        if not self.takes_numbers:
            return texts
        return f"{texts}, or {self._numbers(values)}" if texts else self._numbers(values)

    def _numbers(self, values: Any) -> str:
        kind = "a number" if self.real else "a whole number"
        low = None if self.low is None else evaluate(self.low, values)
        high = None if self.high is None else evaluate(self.high, values)
        source = f" ({self.low})" if isinstance(self.low, str) else ""
        if low is not None and high is not None:
            return f"{kind} in {_figure(low)}..{_figure(high)}"
        if low is not None:
            return f"{kind} >= {_figure(low)}{source}"
        return kind if high is None else f"{kind} <= {_figure(high)}"

    def resolve(self, name: str, given: Any, values: Mapping[str, Any], owner: str) -> Any:
        """The validated value: what was given (a number, a text over the other parameters) or the default."""
        value = self.default if given is None else given
        if value is None:
            return value
        if isinstance(value, bool) or not isinstance(value, int | np.integer | float | str):
            raise InvalidInput(f"{owner}: {name} = {shown(value)} is not a number; give {self.allowed(values)}")
        if value in self.choices:
            return value
        if not self.takes_numbers:
            raise InvalidInput(
                f"{owner}: {name} = {shown(value)} is not allowed; choose {self.allowed(values)}"
                f"{meant(str(value), self.choices)}"
            )
        if isinstance(value, str):
            try:
                value = evaluate(value, values)
            except InvalidInput as error:
                raise InvalidInput(f"{owner}: {name} = {short(value)}: {error}; give {self.allowed(values)}") from None
        if isinstance(value, int | np.integer) and abs(int(value)) >= LARGEST:
            raise InvalidInput(f"{owner}: {name} = {short(value)} is beyond 2^62, the largest number that can be used")
        if not math.isfinite(value):
            raise InvalidInput(f"{owner}: {name} = {value} is out of range; it must be {self.allowed(values)}")
        too_low = self.low is not None and value < evaluate(self.low, values)
        too_high = self.high is not None and value > evaluate(self.high, values)
        if (not self.real and value != int(value)) or too_low or too_high:
            raise InvalidInput(f"{owner}: {name} = {short(value)} is out of range; it must be {self.allowed(values)}")
        return float(value) if self.real else int(value)


class Chosen(int):
    """A word among the choices of a parameter, as functions of states read it: its place, as in machine code.

    In plain Python it also equals its word, so that what is not compiled (labels, starts) compares it with that.
    """

    word: str | None

    def __new__(cls, word: str | None, choices: tuple[str, ...]) -> "Chosen":
        made = super().__new__(cls, -1 if word is None else choices.index(word))
        made.word = word
        return made

    def __eq__(self, other: object) -> bool:
        return self.word == other if isinstance(other, str) or other is None else int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


def _figure(bound: int | float) -> str:
    return short(bound) if isinstance(bound, int) else f"{bound:g}"
