"""How often the intervals of `hegemon holding` cover the exact value: `python -m benchmarks.coverage [repetitions]`.

On the instances of tests/experiments/holding, whose exact holding times `verify` knows; 300 repetitions of each, unless
told. Asked for are 93.5 % of all together and 89 % of each.
"""

import math
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from rich.console import Console
from rich.table import Table
from tests.experiments.holding.instances import INSTANCES

import hegemon as hg


def covers(number: int, seed: int) -> tuple[bool, float]:
    """Whether the interval covers, and by what factor the value lies above the exact one."""
    protocol, graph, start = INSTANCES[number]
    given = {"graph": graph, "start": start}
    truth = hg.verify(protocol, property="holding", **given).holding.from_starts[start]
    found = hg.holding(protocol, seed=seed, precision=0.5, budget=10**7, workers=1, **given)
    low, high = found.interval
    return low <= truth <= (math.inf if high is None else high), math.exp(found.answer.log_steps) / truth


def main(repetitions: int = 300) -> None:
    table = Table("instance", "cover", "value / exact, median")
    shares = []
    with ProcessPoolExecutor() as pool:
        for number, (protocol, graph, start) in enumerate(INSTANCES):
            found = list(pool.map(covers, [number] * repetitions, range(repetitions), chunksize=10))
            shares.append(np.mean([one for one, _ in found]))
            ratio = np.median([ratio for _, ratio in found])
            table.add_row(f"{protocol} {graph or ''} {start}", f"{shares[-1]:.1%}", f"{ratio:.2f}")
    table.add_row("all", f"{np.mean(shares):.1%}", "")
    Console().print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
