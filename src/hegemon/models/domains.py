"""What a variable of a state may hold: a finite domain, present in every state or only in some classes."""

import dataclasses
from dataclasses import dataclass

from hegemon.errors import InvalidInput
from hegemon.models.expressions import evaluate


@dataclass(frozen=True)
class Domain:
    """Consecutive integers `low..high`; either bound may be a text over the parameters.

    `names` gives the values of a Choice their names; `condition` says in which classes of agents the
    variable exists, as (variable, value name) pairs.
    """

    low: int | str = 0
    high: int | str = 1
    names: tuple[str, ...] = ()
    condition: tuple[tuple[str, str | int], ...] = ()

    def when(self, **condition) -> "Domain":
        """The same domain for a variable that only exists where other variables have the given values."""
        return dataclasses.replace(self, condition=tuple(condition.items()))

    def bounds(self, values) -> tuple[int, int]:
        low, high = evaluate(self.low, values), evaluate(self.high, values)
        return int(low), int(high)

    def describe(self, values) -> str:
        low, high = self.bounds(values)
        return "{" + ", ".join(self.names) + "}" if self.names else f"{low}..{high}"

    def index(self, value):
        """A name of a Choice as its integer; every other value unchanged."""
        if isinstance(value, str) and value in self.names:
            return self.names.index(value)
        return value

    def label(self, value: int):
        return self.names[value] if self.names else value


Bit = Domain(0, 1)


def Range(low, high) -> Domain:  # noqa: N802 - reads as a type in `timer: Range(0, "s")`
    return Domain(low, high)


def Choice(*names: str) -> Domain:  # noqa: N802
    if len(names) < 2 or len(set(names)) < len(names):
        raise InvalidInput(f"Choice{names} needs at least two different names")
    return Domain(0, len(names) - 1, tuple(names))
