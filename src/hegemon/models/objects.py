"""Population protocols whose states are not records: names, sets and trees as ordinary Python values.

Such a protocol runs in plain Python only. Features that need finitely many states (engines `batch` and `events`,
`verify`) refuse it.
"""

import copy
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hegemon.errors import InvalidInput, choose, meant
from hegemon.models.authors import authored, unchanging
from hegemon.models.coins import CoinProtocol
from hegemon.models.model import OBJECTS
from hegemon.models.purity import require_pure


class ObjectProtocol(CoinProtocol):
    """Declare `def interact(a, b, p, coins)` on agents that are objects with attributes of the author's choice.

    An attribute's value is never changed in place, only replaced (use numbers, strings, tuples, frozensets), so that
    a copy of an agent is cheap and nobody shares a change. `class Coins:` declares what an interaction draws, field
    by field and uniformly, as `x: Range(1, "S")`; `coins.x` is then such a number. A start NAME is a method
    `start_NAME(self, rng)` that returns a list of n agents; sets are made of `whole((agents, p) -> bool)`.
    """

    interact: Callable[..., Any]  # (a, b, p, coins) -> None

    model = OBJECTS
    functions = {"interact": "a, b, p, coins", "output": "a, p"}

    def __init__(self, n: int | float, **given: Any):
        if not callable(getattr(self, "interact", None)) or not callable(getattr(self, "output", None)):
            raise InvalidInput(
                f"{type(self).__name__} needs `def interact(a, b, p, coins)` and `def output(a, p)`, which returns 1 "
                "for a leader"
            )
        super().__init__(n, **given)

    def agents_of(self, name: str, rng: Any) -> list[Any]:
        """The agents of a named start."""
        if name not in self.starts:
            raise InvalidInput(f"{self.id} has no start {name!r}; {choose(self.starts)}{meant(name, self.starts)}")
        what = f"{self.id}: the start {name}"
        with unchanging(self), authored(what, "a start returns a list of n agents"):
            agents = self.starts[name](self, rng)
        if not isinstance(agents, list) or len(agents) != self.n:
            raise InvalidInput(f"{self.id}: the start {name} must return a list of n = {self.n} agents")
        return agents

    def holds(self, chosen: Any, agents: list[Any]) -> bool:
        """Whether the agents are in a set."""
        return bool(chosen.contains(agents, self.p, self.values))

    def count_leaders(self, agents: list[Any]) -> int:
        return sum(bool(self.output(a, self.p)) for a in agents)

    def check_interact(self, rng: random.Random, agents: list[Any], samples: int = 100) -> None:
        """Refuse an `interact` that fails, or that changes a value in place instead of replacing it."""
        require_pure(self.interact, f"{self.id}: interact", "its only randomness is `coins`")
        for _ in range(samples):
            first, second = rng.sample(agents, 2)
            before = copy.deepcopy((vars(first), vars(second)))
            a, b = copy.copy(first), copy.copy(second)
            with authored(f"{self.id}: interact, on two agents of the start,"):
                self.interact(a, b, self.p, self.coins.draw(rng))
            if (vars(first), vars(second)) != before:
                raise InvalidInput(
                    f"{self.id}: interact changes a value in place; give the agent a new one (a tuple or a frozenset)"
                )


def agent(**attributes: Any) -> SimpleNamespace:
    """An agent with these attributes."""
    return SimpleNamespace(**attributes)
