"""Population protocols: two agents meet, both may change (Angluin et al., Distributed Computing 2006)."""

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol


class PopulationProtocol(Protocol):
    """Declare `class State:` and `def interact(a, b, p)`, which changes initiator `a` and responder `b`."""

    model = "population"
    functions = ("interact", "output")
    _is_sound = False

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
        self.interact(a, b, self.p)
        return self.space.code(a), self.space.code(b)

    def require_sound(self) -> None:
        """Try `interact` on a few hundred pairs of states, or all if there are no more; see check_interact."""
        if not self._is_sound:
            self.check_interact(np.random.default_rng(0))
            self._is_sound = True

    def check_interact(self, rng, samples: int = 300) -> None:
        """Refuse an `interact` that fails, leaves a range or reads what a state does not have."""
        size = self.space.size
        few = size**2 <= samples
        for first, second in np.ndindex(size, size) if few else rng.integers(size, size=(samples, 2)):
            a, b = self.space.namespace(first), self.space.namespace(second)
            before = self.space.mapping(a), self.space.mapping(b)
            try:
                self.interact(a, b, self.p)
                after = self.space.code(a), self.space.code(b)
                other = [self.space.namespace(code) for code in (first, second)]
                for state, code in zip(other, (first, second), strict=True):
                    self.scramble_absent(state, self.space.mapping(self.space.namespace(code)))
                self.interact(other[0], other[1], self.p)
                again = self.space.code(other[0]), self.space.code(other[1])
            except InvalidInput as error:
                raise InvalidInput(f"{error} (interaction of {before[0]} and {before[1]})") from None
            except Exception as error:
                raise InvalidInput(
                    f"{self.id}: interact fails on {before[0]} and {before[1]}: {type(error).__name__}: {error}"
                ) from None
            if after != again:
                raise InvalidInput(
                    f"{self.id}: interact of {before[0]} and {before[1]} reads a field that the state does not have"
                )
