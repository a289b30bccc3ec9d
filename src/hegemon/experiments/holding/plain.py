"""Plain runs: a lower bound of the holding time, and which configurations are usual.

A plain run needs no cells, no weights and no settling, so it is used to check the methods that do. Its holding times
give a lower bound of their mean whatever their law is: a gambler who stakes the share x of the capital on "the next
time is longer than m on average" multiplies the capital by 1 + x (T/m - 1), which has a mean of at most 1 if m is at
least the true mean. So the capital ever reaches 40 with probability at most 1/40 (Ville), and an m against which it
does is too small. A time that is censored at the end of the run counts with its observed length, which can only reduce
the capital. No such upper bound exists: a mode that is entered rarely and left late may make the mean as large as one
likes.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hegemon.compute.randomness import stream
from hegemon.experiments.holding.process import Crowd, no_losses

RUNS = 8
MOST_RUNS_WITHOUT = 2  # a usual value may be missing in this many plain runs
SAMPLES = 256, 1024  # sampled configurations of a run: least and most
CELLS = 10**6  # approximate number of agents in the samples of a run
MOST_TIMES = 4096  # holding times of a run that are kept
STAKES = 2.0 ** -np.arange(13)
RISK = 0.025
CONTRADICTION = 0.001  # plain runs contradict an interval below this probability
MOST_CODES = 4096  # up to this number, states are distinguished one by one
KNOTS = 4  # parts of the range of the crowd's mean value


@dataclass(frozen=True)
class Plain:
    """Steps and losses of all runs together, the lower bound of the mean, and what is usual."""

    steps: int
    losses: int
    log_low: float  # with 97.5 % confidence, for any law of the holding time
    states: list[int]  # classes of states that nearly all runs have seen late
    moments: list[int]  # the same for moments: the class and mean value of most agents

    def record(self) -> dict[str, Any]:
        return asdict(self)

    def contradicts(self, log_low: float, log_high: float) -> bool:
        """Whether all mean holding times in the interval make this number of losses nearly impossible.

        Losses of a process that has settled are nearly independent of each other: their number is Poisson's.
        """
        from scipy.stats import poisson

        most, fewest = (math.exp(min(math.log(self.steps) - end, 700.0)) for end in (log_low, log_high))
        too_few = float(poisson.cdf(self.losses, fewest)) < CONTRADICTION
        return too_few or float(poisson.sf(self.losses - 1, most)) < CONTRADICTION


def survey(crowd: Crowd, key: np.uint64, steps: int) -> Plain:
    """Independent plain runs from the start, this many steps in all; what is usual is seen in their second halves."""
    n = crowd.process.protocol.n
    samples = int(np.clip(CELLS // n, *SAMPLES))
    gap = max(1, steps // RUNS // (2 * samples))
    times, losses, done = [], 0, 0
    states, moments = [], []
    populations = np.empty((samples, n), crowd.process.kind)
    for run in range(RUNS):
        lost = no_losses(1, stream(int(key), run, 1), MOST_TIMES)
        crowd.scatter(stream(int(key), run, 0), samples * gap, gap, populations, lost)
        number, length = int(lost.numbers[0]), int(lost.clock[0])
        ends = [*lost.times[:number].tolist(), *([length] if number <= MOST_TIMES else [])]
        times.append(np.diff([0, *ends]))
        losses, done = losses + number, done + length
        keys = crowd.moved(populations, 0, key, run)
        states.append(np.unique(kinds_of_states(crowd)[populations]))
        moments.append(np.unique(coarse_moments(crowd, keys)))
    return Plain(done, losses, math.log(lower_bound(np.concatenate(times))), _usual(states), _usual(moments))


def _usual(seen: list[np.ndarray]) -> list[int]:
    what, runs = np.unique(np.concatenate(seen), return_counts=True)
    return what[runs >= len(seen) - MOST_RUNS_WITHOUT].tolist()


def kinds_of_states(crowd: Crowd) -> np.ndarray:
    """By code: the state itself; or its place in the sketch, where there are very many states."""
    size = crowd.process.space.size
    return np.arange(size) if size <= MOST_CODES else crowd.model.cells.places


def coarse_moments(crowd: Crowd, keys: np.ndarray) -> np.ndarray:
    """Of cells: the class that most agents belong to, and roughly the mean of its widest field."""
    return crowd.importance.moments(crowd.model.cells, keys, KNOTS)


def lower_bound(times: np.ndarray, risk: float = RISK) -> float:
    """What the mean of independent times exceeds with this risk, whatever their law is; the last may be censored."""
    times = np.sort(times[times > 0])

    def broke(mean: float) -> bool:
        """Whether a mean this small makes the gambler rich."""
        capital = [np.log1p(stake * (times / mean - 1)).sum() for stake in STAKES]
        return np.logaddexp.reduce(capital) - math.log(len(STAKES)) >= -math.log(risk)

    low, high = math.log(times.min() * risk / len(STAKES)), math.log(times.sum())
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if broke(math.exp(middle)) else (low, middle)
    return math.exp(low)
