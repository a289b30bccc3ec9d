"""Coins: what an interaction, or a node in a round, draws, declared field by field in `class Coins:`.

All fields are independent and uniform, or coins of a rational probability, so that what is drawn is one of
finitely many equally likely values, which are numbered 0, 1, … (the first field varies fastest). A coin of probability
k/d counts as d of them, -k … d - k - 1, and shows 1 for those below 0. A protocol without coins has one such value.
"""

import random
from collections import namedtuple
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from hegemon.errors import InvalidInput
from hegemon.models.domains import simplest
from hegemon.models.expressions import evaluate
from hegemon.models.fields import Field, declared_fields
from hegemon.models.protocol import Protocol
from hegemon.models.shared import shared_property

LARGEST_COINS = 2**62
MOST_FACES = 1 << 16  # that are tried one by one


class CoinSpace:
    """The values that the coins may have, `size` of them."""

    def __init__(self, fields: tuple[Field, ...], values: Mapping[str, Any], owner: str):
        self.owner = owner
        self.names = tuple(field.name for field in fields)
        self.biased = tuple(field.name for field in fields if field.domain.chance is not None)
        self.bounds = [_bounds(field, values, owner) for field in fields]
        self.kind: Any = namedtuple("Coins", self.names)  # type: ignore[misc]
        self.size = 1
        for name, (low, high) in zip(self.names, self.bounds, strict=True):
            if high < low:
                raise InvalidInput(f"{owner}: the coin {name} has no value, its range is {low}..{high}")
            self.size *= high - low + 1

    def require_drawable(self) -> None:
        if self.size > LARGEST_COINS:
            raise InvalidInput(f"{self.owner}: its coins have {self.size:.2e} values, more than 2**62")

    @property
    def layout(self) -> dict[str, int]:
        """The bounds as numbers that compiled code finds among the parameters."""
        found = {}
        for name, (low, high) in zip(self.names, self.bounds, strict=True):
            found[f"_low_{name}"], found[f"_size_{name}"] = low, high - low + 1
        return found

    def value(self, number: int) -> Any:
        """The coins with this number."""
        shown = []
        for low, high in self.bounds:
            number, digit = divmod(number, high - low + 1)
            shown.append(low + digit)
        return self._shown(shown)

    def _shown(self, drawn: list[int]) -> Any:
        pairs = zip(self.names, drawn, strict=True)
        return self.kind(*[int(value < 0) if name in self.biased else value for name, value in pairs])

    def number(self, shown: Mapping[str, int]) -> int:
        """The number of the coins that show this."""
        if set(shown) != set(self.names):
            raise InvalidInput(f"{self.owner}: the coins are {', '.join(self.names) or 'none'}, not {shown}")
        number = 0
        for name, (low, high) in reversed(list(zip(self.names, self.bounds, strict=True))):
            value = shown[name]
            if name in self.biased and value in (0, 1):
                value = low if value == 1 else high  # the first or last of those that show it
                if (value < 0) != bool(shown[name]):
                    raise InvalidInput(f"{self.owner}: the coin {name} never shows {shown[name]}")
            if type(value) is not int or not low <= value <= high:
                allowed = "0..1" if name in self.biased else f"{low}..{high}"
                raise InvalidInput(f"{self.owner}: the coin {name} = {shown[name]!r} is not one of {allowed}")
            number = number * (high - low + 1) + value - low
        return number

    @cached_property
    def faces(self) -> dict[Any, tuple[int, int]]:
        """All that the coins may show: the first number that shows it, and how many of the numbers do."""
        number = 1
        for name, (low, high) in zip(self.names, self.bounds, strict=True):
            number *= 2 if name in self.biased else high - low + 1
        if number > MOST_FACES:
            raise InvalidInput(
                f"{self.owner}: its coins show one of {number:,} values, and at most {MOST_FACES:,} can be tried"
            )
        found: dict[tuple[Any, ...], tuple[int, int]] = {(): (0, 1)}
        place = 1
        for name, (low, high) in zip(self.names, self.bounds, strict=True):
            digits = [(1, 0, -low), (0, -low, high + 1)] if name in self.biased else []
            digits = digits or [(value, value - low, 1) for value in range(low, high + 1)]
            found = {
                (*shown, value): (first + digit * place, weight * ways)
                for value, digit, ways in digits
                for shown, (first, weight) in found.items()
                if ways
            }
            place *= high - low + 1
        return {self.kind(*shown): counted for shown, counted in found.items()}

    def mapping(self, number: int) -> dict[str, int]:
        return self.value(number)._asdict()

    def draw(self, rng: random.Random) -> Any:
        """Draw the coins of one interaction, in plain Python."""
        return self._shown([rng.randint(low, high) for low, high in self.bounds])


def _bounds(field: Field, values: Mapping[str, Any], owner: str) -> tuple[int, int]:
    """The first and last of the values of a coin."""
    if field.domain.chance is None:
        return field.domain.bounds(values)
    chance = simplest(evaluate(field.domain.chance, values))
    if not 0 <= chance <= 1:
        raise InvalidInput(f"{owner}: the coin {field.name} has probability {chance}; it must be in 0..1")
    return -chance.numerator, chance.denominator - chance.numerator - 1


class CoinProtocol(Protocol):
    """A protocol that may draw coins: `class Coins:` with fields `heads: Bit`, `x: Range(1, "S")`."""

    coin_fields: ClassVar[tuple[Field, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "Coins" in vars(cls):
            cls.coin_fields = declared_fields(vars(cls)["Coins"], cls.__name__, "Coins")
            if "interact" in cls.functions:
                cls.functions = {**cls.functions, "interact": "a, b, p, coins"}
            for field in cls.coin_fields:
                if field.name.startswith("_"):
                    raise InvalidInput(f"{cls.__name__}: a coin cannot be named {field.name!r}; rename it")
                if field.domain.names or field.domain.condition or field.default is not None:
                    raise InvalidInput(
                        f"{cls.__name__}.Coins.{field.name} must be a plain Bit, Range or Coin(probability), "
                        "drawn every time"
                    )
        super().__init_subclass__(**kwargs)

    @shared_property
    def coins(self) -> CoinSpace:
        return CoinSpace(self.coin_fields, self.values, self.id)
