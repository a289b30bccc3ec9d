"""Coins as branching: a stand-in for `random.Random` that follows a script of outcomes and has their probability.

A number drawn from a wide range is not enumerated value by value. Most protocols only test which of two such numbers is
larger; so only its place among the numbers drawn from the same range before is drawn. If k different ones
have been seen, in whatever order, they are a uniform subset of the R values given that order: a new number equals any
one of them with probability 1/R, and falls into any of the k + 1 gaps with probability (R - k)/((k + 1) R). That is
exact as long as such numbers are only compared with each other. If a number is used in any other way, it raises
NotOrdered, and the enumeration begins again with plain values.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from hegemon.errors import InvalidInput

NARROW = 12  # ranges of at most this many values are enumerated value by value
MOST_OUTCOMES = 1_000_000  # of the coins of one call
UNIT = 2**53  # random() returns k / UNIT with a uniform k
KNOWN = "randint, randrange, random, choice, choices, sample, shuffle and getrandbits"


class NotOrdered(BaseException):
    """A number drawn as a place in an order was used as a number. Authors' `except Exception` must not catch it."""


class Unenumerable(BaseException):
    """A use of the coins that has too many outcomes to be enumerated; the argument is a sentence."""


class Drawn:
    """A number of which only its place among those drawn from the same range is decided."""

    __slots__ = ("low", "high", "place")
    __class__ = property(lambda self: int)  # for isinstance; nothing takes it for a real one

    def __init__(self, low: int, high: int, place: Any):
        self.low, self.high, self.place = low, high, place

    def _difference(self, other: Any) -> int:
        if (self.low, self.high) != (other.low, other.high):
            raise NotOrdered
        return self.place - other.place

    def _number(self, other: Any) -> bool:
        return isinstance(other, int | float | Fraction)

    def __eq__(self, other: Any) -> bool:
        if type(other) is Drawn:
            return self._difference(other) == 0
        if self._number(other) and self.low <= other <= self.high and other == int(other):
            raise NotOrdered
        return False

    def __lt__(self, other: Any) -> bool:
        if type(other) is Drawn:
            return self._difference(other) < 0
        return self._decided(other, other > self.high, other <= self.low) if self._number(other) else NotImplemented

    def __le__(self, other: Any) -> bool:
        if type(other) is Drawn:
            return self._difference(other) <= 0
        return self._decided(other, other >= self.high, other < self.low) if self._number(other) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        below = self.__le__(other)
        return below if below is NotImplemented else not below

    def __ge__(self, other: Any) -> bool:
        below = self.__lt__(other)
        return below if below is NotImplemented else not below

    @staticmethod
    def _decided(other: Any, surely: bool, never: bool) -> bool:
        """The result of a comparison with an ordinary number, if the range alone decides it."""
        if not surely and not never:
            raise NotOrdered
        return surely

    def __bool__(self) -> bool:
        return self.__ne__(0)

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Uniform:
    """What `random()` returns: k / UNIT for a k in first..last of which nothing else is decided yet."""

    __slots__ = ("coins", "first", "last")
    __class__ = property(lambda self: float)  # for isinstance

    def __init__(self, coins: "ScriptedCoins"):
        self.coins, self.first, self.last = coins, 0, UNIT - 1

    def _below(self, bound: int) -> bool:
        """Whether k < bound: decided now, and remembered."""
        middle = min(max(bound, self.first), self.last + 1)
        below = self.coins.chooses((middle - self.first, self.last + 1 - middle)) == 0
        if below:
            self.last = middle - 1
        else:
            self.first = middle
        return below

    def __lt__(self, other: Any) -> bool:
        return self._below(math.ceil(Fraction(_threshold(other)) * UNIT))

    def __le__(self, other: Any) -> bool:
        return self._below(math.floor(Fraction(_threshold(other)) * UNIT) + 1)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return self > 0


def _threshold(other: Any) -> int | float | Fraction:
    if type(other) in (int, float, Fraction) or hasattr(other, "dtype"):
        return float(other) if hasattr(other, "dtype") else other
    raise Unenumerable("compares rng.random() with something that is not a plain number")


def _use_as_number(*_: object) -> Any:
    raise NotOrdered


def _use_as_real(*_: object) -> Any:
    raise Unenumerable("calculates with rng.random(), which has 2^53 outcomes; compare it, or draw rng.randrange(k)")


_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "xor",
    "or",
)
_OTHER = (
    "neg", "pos", "abs", "invert", "index", "int", "float", "complex", "round", "trunc", "floor", "ceil", "str", "repr",
    "format", "hash", "getattr",
)  # fmt: skip
for _name in [*_ARITHMETIC, *(f"r{name}" for name in _ARITHMETIC), *_OTHER]:
    setattr(Drawn, f"__{_name}__", _use_as_number)
    setattr(Uniform, f"__{_name}__", _use_as_real)
Uniform.__eq__ = Uniform.__ne__ = _use_as_real  # type: ignore[method-assign]


class ScriptedCoins:
    """One node's coins along one branch: the outcomes of the script; after its end, the first outcome of each coin."""

    def __init__(self, script: Sequence[int], drawn: dict[tuple[int, int], int], ordered: bool):
        self._script, self._ordered = script, ordered
        self.trail: list[tuple[int, int | Sequence[int]]] = []  # outcomes, each with all the weights
        self.places: dict[tuple[int, int], list[Any]] = {key: list(range(1, k + 1)) for key, k in drawn.items()}
        self.has_drawn = False

    def chooses(self, weights: int | Sequence[int]) -> int:
        """An outcome with probability proportional to its weight; an integer stands for that many equal weights."""
        place = len(self.trail)
        if place < len(self._script):
            chosen = self._script[place]
        else:
            chosen = 0 if isinstance(weights, int) else next(i for i, weight in enumerate(weights) if weight)
        self.trail.append((chosen, weights))
        return chosen

    @property
    def probability(self) -> Fraction:
        above = below = 1
        for chosen, weights in self.trail:
            if isinstance(weights, int):
                below *= weights
            else:
                above *= weights[chosen]
                below *= sum(weights)
        return Fraction(above, below)

    def next_script(self) -> list[int] | None:
        """The branch after this one; None after the last."""
        trail = list(self.trail)
        while trail:
            chosen, weights = trail.pop()
            options = range(weights) if isinstance(weights, int) else weights
            for alternative in range(chosen + 1, len(options)):
                if isinstance(weights, int) or weights[alternative]:
                    return [outcome for outcome, _ in trail] + [alternative]
        return None

    # -- what protocols call ------------------------------------------------------------------------------

    def random(self) -> Uniform:
        return Uniform(self)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> Any:
        values = range(start) if stop is None else range(start, stop, step)
        if not values:
            raise ValueError(f"empty range {values} for rng.randrange")
        if self._ordered and len(values) > NARROW and values.step == 1:
            return self._place(values[0], values[-1])
        return values[self.chooses(len(values))]

    def randint(self, a: int, b: int) -> Any:
        return self.randrange(a, b + 1)

    def getrandbits(self, k: int) -> Any:
        return self.randrange(1 << k)

    def choice(self, seq: Any) -> Any:
        return seq[self.chooses(len(seq))]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
        if cum_weights is not None:
            cum_weights = list(cum_weights)
            weights = [b - a for a, b in zip([0, *cum_weights], cum_weights, strict=False)]
        if weights is None:
            return [self.choice(population) for _ in range(k)]
        exact = [Fraction(weight) for weight in weights]
        common = math.lcm(*(weight.denominator for weight in exact))
        return [population[self.chooses([int(weight * common) for weight in exact])] for _ in range(k)]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        left = list(population)
        if counts is not None:
            left = [item for item, count in zip(left, counts, strict=True) for _ in range(count)]
        if not 0 <= k <= len(left):
            raise ValueError("Sample larger than population or is negative")
        return [left.pop(self.chooses(len(left))) for _ in range(k)]

    def shuffle(self, x: Any) -> None:
        x[:] = self.sample(x, len(x))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unenumerable(f"calls rng.{name}, and verify can enumerate {KNOWN} alone")

    def _place(self, low: int, high: int) -> Drawn:
        self.has_drawn = True
        places = self.places.setdefault((low, high), [])
        size, seen = high - low + 1, len(places)
        weights = [seen + 1 if at % 2 else size - seen for at in range(2 * seen + 1)]  # a gap, a number, a gap, …
        at = self.chooses(weights)
        if at % 2:
            return Drawn(low, high, places[at // 2])
        gap = at // 2
        if not places:
            place = Fraction(1)
        elif gap in (0, seen):
            place = Fraction(places[0] - 1 if gap == 0 else places[-1] + 1)
        else:
            place = Fraction(places[gap - 1] + places[gap]) / 2
        places.insert(gap, place)
        return Drawn(low, high, place)

    def renumbered(self, low: int, high: int, place: Any) -> int:
        """The place of a number when this call is over: 1, 2, …"""
        return bisect_left(self.places[low, high], place) + 1


def branches(call: Any, drawn: dict[tuple[int, int], int], ordered: bool) -> "Iterator[tuple[ScriptedCoins, Any]]":
    """Every outcome of a call that takes coins: (coins, result), in the order of the scripts."""
    script: list[int] | None = []
    for _ in range(MOST_OUTCOMES):
        assert script is not None
        coins = ScriptedCoins(script, drawn, ordered)
        yield coins, call(coins)
        script = coins.next_script()
        if script is None:
            return
    raise InvalidInput(
        f"one call of a node has more than {MOST_OUTCOMES:,} outcomes of its coins; take smaller parameters, or a "
        "smaller n; run simulates it"
    )
