"""How long until a set is reached: expected steps from everywhere, and the distribution."""

import csv
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hegemon import files
from hegemon.errors import InvalidInput
from hegemon.exact.chain import Chain, matrix
from hegemon.exact.findings import ways_into
from hegemon.exact.quantiles import Viewpoint, beyond_doubt, least_step
from hegemon.exact.solving import LinearSystem
from hegemon.exact.traces import trace
from hegemon.runs.stories import Trace

if TYPE_CHECKING:
    from hegemon.exact.verification import Verification

LARGEST_WORK = 4e10  # matrix entries read while a distribution is computed step by step
MOST_STEPS = 20_000_000  # of a distribution: eight bytes a step and view


@dataclass(frozen=True)
class HittingTimes:
    """Expected steps to a set; infinite where it is not reached with probability 1."""

    set: str
    values: np.ndarray
    error: float
    worst: float
    worst_start: Trace
    mean: float
    from_starts: dict[str, float]
    probability: float = 1.0  # of reaching the set at all, mean over the starts
    quantiles: dict[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        return {
            "set": self.set,
            "worst": finite(self.worst),
            "worst_start": self.worst_start.configuration,
            "mean": finite(self.mean),
            "from": {name: finite(value) for name, value in self.from_starts.items()},
            "probability": self.probability,
            "relative_error": self.error,
            "quantiles": self.quantiles,
        }


def finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def first_largest(values: np.ndarray, error: float) -> int:
    """The index of the largest value; among values equal within their relative error, the first."""
    return int(np.argmax(values >= values.max() * (1 - 2 * error)))


def first_smallest(values: np.ndarray, error: float) -> int:
    return int(np.argmax(values <= values.min() * (1 + 2 * error)))


def average(weights: np.ndarray, values: np.ndarray) -> float:
    """The weighted sum, by NumPy: the last digits of BLAS depend on its threads."""
    return float((weights * values).sum())


def start_weights(chain: Chain) -> np.ndarray:
    """The weights of `mean`: every array of agents alike, or the given starts alike."""
    if chain.is_whole:
        weights = chain.labelled
        total = weights.sum()
        if not np.isfinite(total):
            return chain.space.shares(chain.keys)
        weights /= total
        return weights
    weights = np.zeros(chain.size)
    weights[list(chain.starts)] = 1 / len(chain.starts)
    return weights


def hitting_times(chain: Chain, name: str, inside: np.ndarray, starts: dict[str, int]) -> HittingTimes:
    """Exact expected steps from everywhere."""
    able, sure, parts = ways_into(chain, inside)
    rows = chain.offsets, chain.targets, chain.weights, chain.denominator
    solution = LinearSystem(*rows, sure & ~inside, parts=parts).expected_steps()
    del parts
    values = solution.values
    values[~sure] = np.inf
    weights = start_weights(chain)
    candidates: slice | np.ndarray = slice(None) if chain.is_whole else np.flatnonzero(weights > 0)
    worst = first_largest(values[candidates], solution.error)
    worst = worst if isinstance(candidates, slice) else int(candidates[worst])
    with np.errstate(invalid="ignore"):
        mean = average(weights[candidates], values[candidates])
    return HittingTimes(
        set=name,
        values=values,
        error=solution.error,
        worst=float(values[candidates].max()),
        worst_start=trace(chain, [worst]),
        mean=mean,
        from_starts={start: float(values[index]) for start, index in starts.items()},
        probability=1.0 if sure[candidates].all() else average(weights, reach_probability(chain, inside, able)),
    )


def reach_probability(chain: Chain, inside: np.ndarray, able: np.ndarray) -> np.ndarray:
    """The probability of ever being in the set, from everywhere."""
    system = LinearSystem(chain.offsets, chain.targets, chain.weights, chain.denominator, able & ~inside)
    into = matrix(chain.weights, chain.targets, chain.offsets) @ inside.astype(float)
    return system.refined(into * (able & ~inside))[0] + inside


def survival(
    chain: Chain, inside: np.ndarray, views: dict[str, Viewpoint], enough: Callable[..., Any], steps: int | None = None
) -> np.ndarray:
    """P(not yet inside after t steps), t = 0, 1, …, in every view.

    All starts are followed at once by stepping backwards: v_t = P v_(t-1). Stops when `enough(row)`.
    """
    outside = ~inside
    matrix = chain.probabilities()
    alive = outside.astype(float)
    rows, step = array("d"), 0
    while True:
        row = [view.of(alive) for view in views.values()]
        rows.extend(row)
        if enough(row) or step == steps:
            return np.frombuffer(rows).reshape(-1, len(views))
        step += 1
        if step * chain.transitions > LARGEST_WORK or step > MOST_STEPS:
            raise InvalidInput(
                f"the distribution reaches beyond {step} steps, too far to be followed on {chain.size} "
                "configurations; ask for smaller quantiles, or take smaller parameters"
            )
        alive = (matrix @ alive) * outside


def views_of(chain: Chain, times: HittingTimes, starts: dict[str, int]) -> dict[str, Viewpoint]:
    """The starts that a distribution is shown for: their mean, at every step the worst of them, and the named ones.

    A named start from which the set is not reached with probability 1 is left out.
    """

    def single(index: int) -> Viewpoint:
        weights = np.zeros(chain.size)
        weights[index] = 1.0
        return Viewpoint(weights)

    weights = start_weights(chain)
    named = {name: single(index) for name, index in starts.items() if np.isfinite(times.values[index])}
    anywhere = np.ones(chain.size) if chain.is_whole else weights
    return {"mean": Viewpoint(weights), "worst": Viewpoint(anywhere, is_worst=True)} | named


def quantiles(
    chain: Chain, inside: np.ndarray, times: HittingTimes, starts: dict[str, int], levels: Sequence[float]
) -> dict[str, dict[str, int]]:
    """The least t with P(reached within t steps) >= level, for each view and level."""
    for level in levels:
        if not 0 < level < 1:
            raise InvalidInput(f"the quantile {level} is out of range; give numbers between 0 and 1, such as 0.5")
    if not np.isfinite(times.worst):
        raise InvalidInput(f"{times.set} is not reached with probability 1, so its steps have no quantiles")
    views = views_of(chain, times, starts)
    table = survival(chain, inside, views, beyond_doubt(chain, max(levels)))
    if chain.is_whole:
        views["mean"] = Viewpoint(chain.labelled)  # whole numbers, so that ties are decided exactly
    return {
        view: {repr(float(level)): least_step(chain, inside, table[:, column], starts_of, level) for level in levels}
        for column, (view, starts_of) in enumerate(views.items())
    }


def write_distribution(answer: "Verification", path: str | Path) -> Path:
    """P(not yet reached) after every step, until at most one in 10^9 is left; a column for each view."""
    times, case = cast(HittingTimes, answer.hitting), answer.case
    if not np.isfinite(times.worst):
        raise InvalidInput(f"{times.set} is not reached with probability 1, so its distribution has no end")
    views = views_of(case.chain, times, case.starts)
    table = survival(case.chain, answer.inside, views, lambda row: max(row) <= 1e-9)
    with files.publish(path) as file:
        writer = csv.writer(file)
        writer.writerow(["step", *views])
        writer.writerows([step, *row] for step, row in enumerate(table.tolist()))
    return Path(path)
