"""Population protocols: two agents meet, both may change (Angluin et al., Distributed Computing 2006)."""

from collections.abc import Callable

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.models.purity import require_pure
from hegemon.models.soundness import check_functions, check_transition


class PopulationProtocol(Protocol):
    """Declare `class State:` and `def interact(a, b, p)`, which changes initiator `a` and responder `b`."""

    interact: Callable  # (a, b, p) -> None

    model = "population"
    functions = {
        "interact": "a, b, p", "output": "a, p", "label": "a, p", "highlight": "a, p", "danger": "agents, p",
    }  # fmt: skip

    def __init__(self, n: int, **given):
        if not self.fields or not hasattr(self, "interact"):
            raise InvalidInput(f"{type(self).__name__} needs a `class State:` with fields and `def interact(a, b, p)`")
        super().__init__(n, **given)

    def transition(self, a, b) -> tuple[dict, dict]:
        """The hand tool: two states as mappings in, the two states after their interaction out."""
        left, right = self.space.parse(a), self.space.parse(b)
        self.interact(left, right, self.p)
        self.space.code(left), self.space.code(right)  # refuses values out of range
        return self.space.mapping(left), self.space.mapping(right)

    def transition_codes(self, first: int, second: int) -> tuple[int, int]:
        """The same on codes."""
        a, b = self.space.namespace(first), self.space.namespace(second)
        try:
            self.interact(a, b, self.p)
            return self.space.code(a), self.space.code(b)
        except InvalidInput as error:
            shown = [self.space.mapping(self.space.namespace(code)) for code in (first, second)]
            raise InvalidInput(f"{error} (interaction of {shown[0]} and {shown[1]})") from None

    def check_sound(self) -> None:
        """Refuse a protocol whose functions cannot be trusted: see models/soundness.py."""
        require_pure(self.interact, f"{self.id}: interact")
        self.check_interact(np.random.default_rng(0))
        check_functions(self)

    def check_interact(self, rng, samples: int = 300) -> None:
        """Try `interact` on a few hundred pairs of states, or on all if there are no more."""
        size = self.space.size
        few = size**2 <= samples
        codes = [] if few else self.space.telling_states(rng, 2 * samples)
        pairs = np.ndindex(size, size) if few else zip(codes[::2], codes[1::2], strict=True)

        def states_of(pair):
            return [self.space.namespace(code) for code in pair]

        def shown(pair):
            first, second = (self.space.mapping(state) for state in states_of(pair))
            return f"interaction of {first} and {second}"

        def call(states, pair):
            return self.interact(*states, self.p)

        check_transition(self, "interact", pairs, states_of, call, shown)
