"""Quantiles of the steps to a set, decided exactly where floating point cannot tell a tie from a near miss."""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hegemon.errors import InvalidInput

if TYPE_CHECKING:
    from hegemon.exact.chain import Chain


class Viewpoint(NamedTuple):
    """Which starts a distribution is of: their mean, with these weights, or the worst of those that have one."""

    weights: np.ndarray
    is_worst: bool = False

    def of(self, alive: np.ndarray) -> float:
        """The probability not to have reached the set, where it is known from every configuration."""
        if self.is_worst:
            return float(alive.max(initial=0.0, where=self.weights > 0))
        return float((self.weights * alive).sum())  # by NumPy: the last digits of BLAS depend on its threads

    def exactly(self, alive: list[int], whole: int) -> Fraction:
        """The same in whole numbers over `whole`."""
        if self.is_worst:
            return Fraction(max(alive[index] for index in np.flatnonzero(self.weights > 0)), whole)
        shares = [(Fraction(float(weight)), index) for index, weight in enumerate(self.weights) if weight > 0]
        return sum((share * alive[index] for share, index in shares), Fraction(0)) / (
            sum(share for share, _ in shares) * whole
        )


LONGEST = 10**9  # steps
LARGEST_EXACT_WORK = 5_000_000  # products of whole numbers while one survival probability is computed exactly
ROUNDING = float(np.finfo(float).eps)


def relative_rounding(chain: "Chain", steps: int | np.ndarray) -> float | np.ndarray:
    """A bound on the relative error of the survival after that many steps: only positive terms are added."""
    widest = int(np.diff(chain.offsets).max()) if chain.size else 1
    return (steps * (widest + 3) + chain.size + 3) * ROUNDING


def least_step(chain: "Chain", inside: np.ndarray, survival: np.ndarray, view: Viewpoint, level: float) -> int:
    """The least t with P(reached within t steps) >= level, for the decimal that `level` is written as."""
    left = 1 - Fraction(repr(float(level)))
    rounding = relative_rounding(chain, np.arange(len(survival)))
    surely = int(np.argmax(survival * (1 + rounding) <= float(left) * (1 - ROUNDING)))
    perhaps = int(np.argmax(survival * (1 - rounding) <= float(left) * (1 + ROUNDING)))
    for step in range(perhaps, surely):
        if exact_survival(chain, inside, view, step, level) <= left:
            return step
    return surely


def beyond_doubt(chain: "Chain", level: float) -> Callable[..., Any]:
    """A function of a row: whether every survival in it is below 1 - level despite rounding, so that one may stop.

    Rounding grows with the steps, and the steps with the work, which is bounded: LONGEST is far beyond it.
    """
    left = float(1 - Fraction(repr(float(level)))) * (1 - ROUNDING) / (1 + relative_rounding(chain, LONGEST))
    return lambda row: max(row) <= left


def exact_survival(chain: "Chain", inside: np.ndarray, view: Viewpoint, steps: int, level: float) -> Fraction:
    """P(not yet inside after that many steps) in whole numbers: all probabilities have one common denominator."""
    if chain.transitions * steps > LARGEST_EXACT_WORK:
        raise InvalidInput(
            f"P(reached within {steps} steps) is too close to the quantile {level:g} to be distinguished from a tie on "
            f"{chain.size} configurations; ask for a level a little above or below, or take smaller parameters"
        )
    alive = [0 if there else 1 for there in inside.tolist()]
    targets, arcs, offsets = chain.targets.tolist(), chain.weights.tolist(), chain.offsets.tolist()
    outside = [index for index, there in enumerate(alive) if there]
    for _ in range(steps):
        after = [0] * len(alive)
        for index in outside:
            begin, end = offsets[index], offsets[index + 1]
            after[index] = sum(arcs[k] * alive[targets[k]] for k in range(begin, end) if alive[targets[k]])
        alive = after
    return view.exactly(alive, chain.denominator**steps)
