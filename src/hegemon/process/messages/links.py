"""Links that are not synchronous: how long messages take, whether they overtake each other, are lost or doubled.

A message that is sent at time t arrives at t plus its delay. Time is measured in rounds: round r lasts from r-1 to r, a
node that wakes up in round r begins at r-1, and with a delay of 1 everything arrives as in the synchronous model.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from hegemon.errors import InvalidInput, meant
from hegemon.models.expressions import fraction_of
from hegemon.models.grammar import short

ORDERS = ("fifo", "any")
LONGEST = 10**9  # rounds that one message may take


class Sending(Protocol):
    """What a delay may depend on: the coins of the links, the time, and how many messages each node has sent."""

    chance: random.Random
    time: float
    busy: dict[int, int]
    busiest: int


class Delay:
    """The law of one message's delay: `of(engine, v, w, message)` draws from `engine.chance`."""

    name: ClassVar[str] = ""

    def of(self, engine: Sending, v: int, w: int, message: Any) -> float:
        raise NotImplementedError


@dataclass(frozen=True)
class UniformDelay(Delay):
    """A whole number of rounds in low..high."""

    low: int
    high: int
    name = "uniform"

    def __str__(self) -> str:
        return f"uniform:{self.low}..{self.high}"

    def of(self, engine: Sending, v: int, w: int, message: Any) -> float:
        return engine.chance.randint(self.low, self.high)


@dataclass(frozen=True)
class ExponentialDelay(Delay):
    """Any positive number, with this mean."""

    mean: Fraction
    name = "exponential"

    def __str__(self) -> str:
        return f"exponential:{self.mean}"

    def of(self, engine: Sending, v: int, w: int, message: Any) -> float:
        return -float(self.mean) * math.log(1.0 - engine.chance.random()) or math.ulp(0.0)


@dataclass(frozen=True)
class AdversaryDelay(Delay):
    """A greedy adversary: a message takes `bound` rounds if its sender has sent the most messages so far, else 1."""

    bound: int
    name = "adversary"

    def __str__(self) -> str:
        return f"adversary:{self.bound}"

    def of(self, engine: Sending, v: int, w: int, message: Any) -> float:
        return self.bound if engine.busy[v] == engine.busiest else 1


@dataclass(frozen=True)
class OwnDelay(Delay):
    """A function of the time, the sender, the receiver and the message."""

    function: Callable[..., Any]
    name = "function"

    def __str__(self) -> str:
        return getattr(self.function, "__name__", "a function")

    def of(self, engine: Sending, v: int, w: int, message: Any) -> float:
        found = self.function(engine.time, v, w, message)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= LONGEST:
            raise InvalidInput(f"the delay {found!r} of {self} is out of range; it must be above 0, at most {LONGEST}")
        return found


def _number(text: str, read: Callable[..., Any]) -> Any:
    try:
        return read(text)
    except (ValueError, ZeroDivisionError):
        return None


def _uniform(text: str) -> UniformDelay | None:
    low, _, high = text.partition("..")
    numbers = _number(low, int), _number(high, int)
    return UniformDelay(*numbers) if None not in numbers and 1 <= numbers[0] <= numbers[1] <= LONGEST else None


def _exponential(text: str) -> ExponentialDelay | None:
    mean = _number(text, fraction_of)
    return ExponentialDelay(mean) if mean is not None and 0 < mean <= LONGEST else None


def _adversary(text: str) -> AdversaryDelay | None:
    bound = _number(text, int)
    return AdversaryDelay(bound) if bound is not None and 1 <= bound <= LONGEST else None


FORMS = {
    "uniform": (_uniform, "uniform:LOW..HIGH with whole numbers of rounds, such as uniform:1..5"),
    "exponential": (_exponential, "exponential:MEAN with a positive number of rounds, such as exponential:2.5"),
    "adversary": (_adversary, "adversary:BOUND with a whole number of rounds, such as adversary:5"),
}


def read_delay(given: Any) -> Delay | None:
    """None for synchronous rounds, a text such as `uniform:1..5`, or a function."""
    if given is None or isinstance(given, Delay):
        return given
    if callable(given):
        return OwnDelay(given)
    name, _, text = str(given).partition(":")
    if name not in FORMS:
        known = ", ".join(form for _, form in FORMS.values())
        raise InvalidInput(f"the delay {short(given)} is not known; choose {known}{meant(name, FORMS)}")
    read, form = FORMS[name]
    if (found := read(text)) is None:
        raise InvalidInput(f"the delay {short(given)} is out of range; write {form}, at most {LONGEST:,}")
    return found


def read_order(given: Any) -> str:
    if given not in ORDERS:
        raise InvalidInput(
            f"order {short(given)} is not known; choose {' or '.join(ORDERS)}{meant(str(given), ORDERS)}"
        )
    return str(given)


def happens(chance: Fraction, coins: random.Random) -> bool:
    """True with exactly this probability; draws nothing if it is 0."""
    return bool(chance) and coins.randrange(chance.denominator) < chance.numerator
