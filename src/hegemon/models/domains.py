"""What a variable of a state may hold: a finite domain, present in every state or only in some classes."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, shown
from hegemon.models.arrays import LONGEST
from hegemon.models.expressions import evaluate


@dataclass(frozen=True)
class Domain:
    """Consecutive integers `low..high`; either bound may be a text over the parameters.

    `chance` is the probability of 1 of a coin that need not be fair. `names` gives the values of a Choice their names;
    `condition` says in which classes of agents the
    variable exists: each other variable with the values of which it has one. `length` makes it an array of that many
    elements, each with this domain.
    """

    low: int | str = 0
    high: int | str = 1
    names: tuple[str, ...] = ()
    condition: tuple[tuple[str, tuple[str | int, ...]], ...] = ()
    chance: str | float | Fraction | None = None
    length: int | str | None = None

    def when(self, **condition: str | int | Iterable[str | int]) -> "Domain":
        """The same domain for a variable that only exists where other variables have the given values.

        `when(phase="EL")` asks for one value, `when(epoch=(2, 3))` for one of several.
        """
        listed = tuple((name, _listed(name, value)) for name, value in condition.items())
        return dataclasses.replace(self, condition=listed)

    @property
    def existence(self) -> str:
        """In which states the variable exists, in words."""
        parts = [f"{name} = {' or '.join(map(str, values))}" for name, values in self.condition]
        return ", ".join(parts) or "every state"

    def bounds(self, values: Mapping[str, Any]) -> tuple[int, int]:
        low, high = evaluate(self.low, values), evaluate(self.high, values)
        for bound in (low, high):
            if isinstance(bound, bool) or not isinstance(bound, int | float | np.number) or not math.isfinite(bound):
                raise InvalidInput(f"{bound!r} is no bound of a range; give a number, or a text over the parameters")
        return math.ceil(low), math.floor(high)

    def elements(self, values: Mapping[str, Any]) -> int:
        """How many elements an array has."""
        length = evaluate(self.length, values)
        whole = isinstance(length, int | float | np.number) and not isinstance(length, bool) and length == int(length)
        if not whole or not 1 <= length <= LONGEST:
            raise InvalidInput(f"an array of {length} elements; give a whole number in 1..{LONGEST}")
        return int(length)

    def describe(self, values: Mapping[str, Any]) -> str:
        low, high = self.bounds(values)
        if self.length is not None:
            return f"{self.elements(values)} times {low}..{high}"
        if self.chance is not None:
            return f"{low}..{high}, 1 with probability {simplest(evaluate(self.chance, values))}"
        return "{" + ", ".join(self.names) + "}" if self.names else f"{low}..{high}"

    def index(self, value: Any) -> Any:
        """A name of a Choice as its integer; every other value unchanged."""
        if isinstance(value, str) and value in self.names:
            return self.names.index(value)
        return value

    def label(self, value: int) -> str | int:
        return self.names[value] if self.names else value


Bit = Domain(0, 1)


def Coin(probability: str | float | Fraction) -> Domain:  # noqa: N802 - reads as a type in `heads: Coin("1/3")`
    """In `class Coins:`, a bit that is 1 with this probability, which may be an expression over the parameters."""
    return Domain(0, 1, chance=probability)


def Range(low: int | str, high: int | str) -> Domain:  # noqa: N802 - reads as a type in `timer: Range(0, "s")`
    return Domain(low, high)


def Choice(*names: str) -> Domain:  # noqa: N802
    if len(names) < 2 or len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(f"Choice{names} needs at least two different names, as strings")
    return Domain(0, len(names) - 1, tuple(names))


def Array(length: int | str, domain: Domain) -> Domain:  # noqa: N802
    """An array of numbers, `clock: Array(39, Range(0, 156))`; the length may be an expression over the parameters."""
    if not isinstance(domain, Domain) or domain.names or domain.chance is not None or domain.length is not None:
        raise InvalidInput("an Array has elements that are Bit or Range(low, high), such as Array(39, Range(0, 156))")
    if isinstance(length, bool) or not isinstance(length, int | str):
        raise InvalidInput(f"Array({shown(length)}, …) needs its length: a whole number, or a text over the parameters")
    return dataclasses.replace(domain, length=length)


def _listed(name: str, value: str | int | Iterable[str | int]) -> tuple[str | int, ...]:
    values = (value,) if isinstance(value, str | int) else tuple(value)
    if not values or not all(isinstance(item, str | int) for item in values):
        raise InvalidInput(f"when({name}={value!r}) needs a value or several, such as when({name}=(1, 2))")
    return tuple(dict.fromkeys(values))


def simplest(number: Any) -> Fraction:
    """A number as a fraction: for a float the simplest one that rounds to it, so that 0.1 is 1/10 and 1/3 a third."""
    if not isinstance(number, float):
        return Fraction(number)
    near = Fraction(number).limit_denominator(10**6)
    return near if float(near) == number else Fraction(repr(number))
