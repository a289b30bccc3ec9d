"""The probability of having reached a set within a number of steps: exactly where numbers stay small, else in
floating point with a bound on the error."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.exact.chain import Chain
from hegemon.exact.hitting import LARGEST_WORK, average, start_weights

EXACT_WORK = 400_000  # products of large whole numbers
ROUNDING = 2.0**-53


@dataclass(frozen=True)
class Within:
    """P(in the set at some step up to `steps`), the least over the starts, the mean over them, and from named ones.

    `error` bounds the error of each number; it is 0 where they are exact, and then `fractions` has them.
    """

    set: str
    steps: int
    worst: float
    mean: float
    from_starts: dict[str, float]
    error: float
    fractions: dict[str, Fraction] | None

    def record(self) -> dict[str, Any]:
        exact = {name: str(value) for name, value in self.fractions.items()} if self.fractions else None
        return {
            "set": self.set,
            "steps": self.steps,
            "worst": self.worst,
            "mean": self.mean,
            "from": self.from_starts,
            "error": self.error,
            "exact": exact,
        }


def reached_within(chain: Chain, name: str, inside: np.ndarray, starts: dict[str, int], steps: int) -> Within:
    """The probabilities for all starts at once, computed backwards: v_t = P v_(t-1) outside the set."""
    if chain.transitions * steps > LARGEST_WORK:
        raise InvalidInput(
            f"{steps} steps are too many to be followed on {chain.size} configurations; take fewer, or a smaller n"
        )
    if chain.transitions * max(steps, 1) <= EXACT_WORK:
        return _exactly(chain, name, inside, starts, steps)
    matrix, outside = chain.probabilities(), ~inside
    alive = outside.astype(float)
    for _ in range(steps):
        alive = (matrix @ alive) * outside
    weights = start_weights(chain)
    candidates = np.arange(chain.size) if chain.is_whole else np.array(chain.starts)
    widest = int(np.diff(chain.offsets).max(initial=1))
    return Within(
        set=name,
        steps=steps,
        worst=1 - float(alive[candidates].max()),
        mean=1 - average(weights, alive),
        from_starts={start: 1 - float(alive[index]) for start, index in starts.items()},
        error=(steps * (widest + 3) + chain.size.bit_length() + 3) * ROUNDING,  # sums of numbers >= 0, relative
        fractions=None,
    )


def _exactly(chain: Chain, name: str, inside: np.ndarray, starts: Any, steps: Any) -> Within:
    """The same with whole numbers over denominator ** steps."""
    alive = np.array([int(not is_inside) for is_inside in inside], object)
    outside = alive.copy()
    weights = chain.weights.astype(object)
    for _ in range(steps):
        alive = np.add.reduceat(weights * alive[chain.targets], chain.offsets[:-1]) * outside
    whole = chain.denominator**steps
    reached = [1 - Fraction(int(value), whole) for value in alive]
    if chain.is_whole:
        labelled = [int(value) for value in chain.labelled]
        mean = sum((k * value for k, value in zip(labelled, reached, strict=True)), Fraction(0)) / sum(labelled)
        worst = min(reached)
    else:
        begun = [reached[index] for index in chain.starts]
        mean, worst = sum(begun, Fraction(0)) / len(begun), min(begun)
    named = {start: reached[index] for start, index in starts.items()}
    return Within(
        set=name,
        steps=steps,
        worst=float(worst),
        mean=float(mean),
        from_starts={start: float(value) for start, value in named.items()},
        error=0.0,
        fractions={"worst": worst, "mean": mean} | {f"from {start}": value for start, value in named.items()},
    )
