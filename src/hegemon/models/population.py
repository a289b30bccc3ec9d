"""Population protocols: two agents meet, both may change (Angluin et al., Distributed Computing 2006)."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.authors import declared
from hegemon.models.coins import CoinProtocol
from hegemon.models.model import POPULATION
from hegemon.models.purity import require_pure
from hegemon.models.soundness import check_functions, check_transition
from hegemon.models.words import Word, check_fields, checked

MOST_TRIED = 20_000  # interactions that are tried at most before anything runs


class PopulationProtocol(CoinProtocol):
    """Declare `class State:` and `def interact(a, b, p)`, which changes initiator `a` and responder `b`.

    With `class Coins:` it is `def interact(a, b, p, coins)`, and `coins.x` is a bit, fair or not, or a uniform number.
    """

    interact: Callable[..., Any]  # (a, b, p) -> None, or (a, b, p, coins) -> None

    coins_of_losses: ClassVar[tuple[str, ...]] = ()  # not the author's: see `unreliable`

    model = POPULATION
    functions = {"interact": "a, b, p", "output": "a, p", "label": "a, p", "highlight": "a, p"}

    def __init__(self, n: int | float, **given: Any):
        if not self.fields or not hasattr(self, "interact"):
            raise InvalidInput(
                f"{type(self).__name__} needs a `class State:` with fields and `def interact(a, b, p)`"
                f"{declared(type(self))}"
            )
        super().__init__(n, **given)
        self.coins.require_drawable()

    @property
    def compiled_values(self) -> dict[str, Any]:
        return self.values | self.coins.layout

    def meet(self, a: Any, b: Any, coin: int) -> None:
        """The interaction of two states, in place, when the coins show the value with this number.

        The arithmetic is that of machine code.
        """
        for state in (a, b):
            check_fields(state)
        self.interact(a, b, self.checked_p, *self._tossed(coin))

    def _tossed(self, coin: int) -> tuple[Any, ...]:
        return (self.coins.kind._make(map(Word, self.coins.value(coin))),) if self.coin_fields else ()

    def transition(
        self, a: Any, b: Any, coins: Mapping[str, int] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The states of two agents after their interaction; all states are mappings."""
        left, right = self.space.parse(a), self.space.parse(b)
        self.meet(left, right, self.coins.number(coins or {}))
        self.space.code(left), self.space.code(right)  # refuses values out of range
        return self.space.mapping(left), self.space.mapping(right)

    def transition_codes(self, first: int, second: int, coin: int | None = None) -> tuple[int, int]:
        """The same on codes and the number of what the coins show."""
        if coin is None:
            self.refuse_coins("what two states become is not fixed")
        a, b = self.space.namespace(first), self.space.namespace(second)
        try:
            self.meet(a, b, coin or 0)
            return self.space.code(a), self.space.code(b)
        except InvalidInput as error:
            raise InvalidInput(f"{error} ({self.shown_meeting(first, second, coin)})") from None

    def outcomes(self, first: int, second: int) -> list[tuple[int, int]]:
        """The states that two states may become, one pair for every value of the coins."""
        return [self.transition_codes(first, second, coin) for coin in range(self.coins.size)]

    def shown_meeting(self, first: int, second: int, coin: int | None = None) -> str:
        """Who meets whom, and what the coins show, in words."""
        before = [self.space.mapping_of(code) for code in (first, second)]
        shown = f", coins {self.coins.mapping(int(coin or 0))}" if self.coin_fields else ""
        return f"interaction of {before[0]} and {before[1]}{shown}"

    def refuse_coins(self, why: str) -> None:
        """Raise InvalidInput with this reason if interactions have coins."""
        if self.coin_fields:
            names = ", ".join(self.coins.names)
            raise InvalidInput(f"{self.id} tosses coins in its interactions ({names}), so {why}")

    def check_sound(self) -> None:
        """Refuse a protocol whose functions cannot be trusted: see models/soundness.py."""
        require_pure(self.interact, f"{self.id}: interact")
        self.check_interact(np.random.default_rng(0))
        check_functions(self)

    def check_interact(self, rng: np.random.Generator, samples: int = 300) -> None:
        """Try `interact` on a few hundred pairs of states, or on all if there are no more, with every value of the
        coins, or with the extreme ones and some others if there are very many."""
        size, values = self.space.size, self.coins.size
        few = size**2 <= samples
        codes = [] if few else self.space.telling_states(rng, 2 * samples)
        pairs = list(np.ndindex(size, size) if few else zip(codes[::2], codes[1::2], strict=True))
        if values * len(pairs) <= MOST_TRIED:
            situations = [(*pair, coin) for pair in pairs for coin in range(values)]
        else:
            some_of = 1 if self.space.arrays else 6  # a call takes long where loops go over arrays
            drawn = rng.integers(values, size=(len(pairs), some_of)).tolist()
            chosen = [{0, values - 1, *some} for some in drawn]
            situations = [(*pair, coin) for pair, some in zip(pairs, chosen, strict=True) for coin in sorted(some)]

        def states_of(situation: tuple[Any, ...]) -> list[Any]:
            return [checked(self.space.namespace(code)) for code in situation[:2]]

        def shown(situation: tuple[Any, ...]) -> str:
            return self.shown_meeting(*situation)

        def call(states: list[Any], situation: tuple[Any, ...]) -> None:
            return self.interact(*states, self.checked_p, *self._tossed(situation[2]))

        check_transition(self, "interact", situations, states_of, call, shown)
