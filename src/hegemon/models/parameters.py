"""What a protocol may be told: whole numbers (and texts from a short list), validated in one place."""

from dataclasses import dataclass

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.expressions import evaluate


@dataclass(frozen=True)
class Parameter:
    """`default`, `low` and `high` may be texts over `n` and the parameters declared before this one."""

    default: int | str
    low: int | str | None = None
    high: int | str | None = None
    help: str = ""
    choices: tuple[str, ...] = ()

    def allowed(self, values) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        low = None if self.low is None else evaluate(self.low, values)
        high = None if self.high is None else evaluate(self.high, values)
        source = f" ({self.low})" if isinstance(self.low, str) else ""
        if low is not None and high is not None:
            return f"a whole number in {low:g}..{high:g}"
        if low is not None:
            return f"a whole number >= {low:g}{source}"
        return "a whole number" if high is None else f"a whole number <= {high:g}"

    def resolve(self, name, given, values, owner):
        """The validated value: what was given (a number, a text over the other parameters) or the default."""
        value = self.default if given is None else given
        if self.choices:
            if value not in self.choices:
                raise InvalidInput(f"{owner}: {name} = {value!r} is not allowed; choose {self.allowed(values)}")
            return value
        if isinstance(value, str):
            try:
                value = evaluate(value, values)
            except InvalidInput as error:
                raise InvalidInput(f"{owner}: {name} = {value}: {error}; give {self.allowed(values)}") from None
        if isinstance(value, bool) or not isinstance(value, int | np.integer | float):
            raise InvalidInput(f"{owner}: {name} = {value!r} is not a number; give {self.allowed(values)}")
        too_low = self.low is not None and value < evaluate(self.low, values)
        too_high = self.high is not None and value > evaluate(self.high, values)
        if value != int(value) or too_low or too_high:
            raise InvalidInput(f"{owner}: {name} = {value} is out of range; it must be {self.allowed(values)}")
        return int(value)
