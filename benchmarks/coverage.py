"""How often intervals of `hegemon holding` cover the exact value: `python -m benchmarks.coverage [TIMES [NUMBER …]]`.

On the instances of tests/experiments/holding, whose exact holding times `verify` knows, all of them or those with these
numbers; 300 times each, unless told, with the seeds 0, 1 … Asked for are 93.5 % of all together and 89 % of each. An
answer that is no estimate but `at most` has a wide interval that covers easily: the last columns tell how many are
estimates, and how often those cover.
"""

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from tests.experiments.holding.instances import INSTANCES

import hegemon as hg


class Repetition(NamedTuple):
    covers: bool
    is_estimate: bool
    factor: float  # by which the value lies above the exact one; not a number where only a bound is known


@cache
def exact(number: int) -> float:
    protocol, graph, start = INSTANCES[number]
    return hg.verify(protocol, property="holding", graph=graph, start=start).holding.from_starts[start]


def repeat(number: int, seed: int) -> Repetition:
    protocol, graph, start = INSTANCES[number]
    found = hg.holding(protocol, graph=graph, start=start, seed=seed, precision=0.5, budget=10**7, workers=1)
    low, high = found.interval
    said = found.answer.log_steps
    factor = math.nan if said is None else math.exp(said - math.log(exact(number)))
    covers = low <= exact(number) <= (math.inf if high is None else high)
    return Repetition(covers, found.kind == "estimate", factor)


def main(repetitions: int = 300, *chosen: int) -> None:
    table = Table("instance", "exact steps", "cover", "value / exact, median", "estimates", "of these cover")
    everything: list[Repetition] = []
    screen = Console(width=140)

    def add(name: str, steps: str, found: list[Repetition]) -> None:
        estimates = [one for one in found if one.is_estimate]
        covering = f"{np.mean([one.covers for one in estimates]):.1%}" if estimates else "–"
        factor = np.nanmedian([one.factor for one in found])
        share = f"{np.mean([one.covers for one in found]):.1%}"
        table.add_row(name, steps, share, f"{factor:.2f}", f"{len(estimates) / len(found):.1%}", covering)
        screen.print(f"… {name}: {share}", style="dim")

    with ProcessPoolExecutor() as pool:
        for number in chosen or range(len(INSTANCES)):
            protocol, graph, start = INSTANCES[number]
            found = list(pool.map(repeat, [number] * repetitions, range(repetitions), chunksize=5))
            everything += found
            add(f"{protocol} {graph or ''} {start}", f"{exact(number):.3g}", found)
    add("all", "", everything)
    screen.print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
