"""How often intervals of `hegemon holding` cover the exact value: `python -m benchmarks.coverage [TIMES [FAMILY …]]`.

On the processes of tests/experiments/holding/zoo.py, all families or those whose names contain one of these words; 100
times each, unless given, with the seeds 0, 1 … Every case has one line: how many answers are estimates, how often these
cover, and how often all answers do. The exit code is 1 if the estimates of a family cover significantly less often than
95 % (at the level of 0.1 %), or any answer of a case with an infinite holding time is an estimate.
"""

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import binom
from tests.experiments.holding.zoo import FAMILIES, covers, exact, measured

LEVEL = 0.001


class Repetition(NamedTuple):
    covers: bool
    is_estimate: bool
    factor: float  # by which the value lies above the exact one; not a number where only a bound is known


def repeat(family: str, number: int, seed: int) -> Repetition:
    case = FAMILIES[family][number]
    found, truth = measured(case, seed), exact(case)
    said = found.answer.log_steps
    factor = math.nan if said is None else math.exp(said - math.log(truth))
    return Repetition(covers(found, truth), found.kind == "estimate", factor)


def too_rarely(found: list[Repetition]) -> bool:
    """Whether estimates cover less often than they say."""
    estimates = [one.covers for one in found if one.is_estimate]
    return bool(binom.cdf(sum(estimates), len(estimates), 0.95) < LEVEL)


def main(repetitions: int = 100, *words: str) -> int:
    table = Table("family", "case", "exact steps", "value / exact, median", "estimates", "of these cover", "all cover")
    screen, bad = Console(width=150), []

    def add(family: str, name: str, steps: str, found: list[Repetition]) -> None:
        estimates = [one.covers for one in found if one.is_estimate]
        covering = f"{np.mean(estimates):.1%}" if estimates else "–"
        factors = [one.factor for one in found if math.isfinite(one.factor)]
        factor = f"{np.median(factors):.2f}" if factors else "–"
        share = f"{np.mean([one.covers for one in found]):.1%}"
        table.add_row(family, name, steps, factor, f"{len(estimates) / len(found):.0%}", covering, share)
        screen.print(f"… {family} {name}: {len(estimates)} estimates, {covering} cover", style="dim")

    with ProcessPoolExecutor() as pool:
        for family, cases in FAMILIES.items():
            if words and not any(word in family for word in words):
                continue
            everything: list[Repetition] = []
            for number, case in enumerate(cases):
                given = [family] * repetitions, [number] * repetitions, range(repetitions)
                found = list(pool.map(repeat, *given, chunksize=5))
                everything += found
                add(family, str(case), f"{exact(case):.3g}", found)
            add(family, "all", "", everything)
            if too_rarely(everything):
                bad.append(family)
    screen.print(table)
    if bad:
        screen.print(f"estimates cover less often than 95 %: {', '.join(bad)}")
    return int(bool(bad))


if __name__ == "__main__":
    times, *words = sys.argv[1:] or ["100"]
    sys.exit(main(int(times), *words))
