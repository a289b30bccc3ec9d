"""How the defaults of `time-optimal` were chosen: convergence and holding over a grid of r_max, r_mid, b_max.

    python -m benchmarks.constants [--trials 40] [--sizes 100,1000,10000] [--out docs]

For every choice of the constants: the mean parallel time from `no-leader` (everybody must wait for a timeout)
to the safe set, over log2 n, and how many runs from `barely-safe` lost their leader within a horizon of
min(200 n^2, 5e7) steps. The paper wants all three constants "sufficiently large", and larger is slower: good
defaults are the fastest choice that never lost the leader, with a margin.
"""

import argparse
import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
from rich.progress import track

import hegemon as hg

R_MAX = (2, 3, 4, 6, 8, 12)  # in units of m
R_MID = (0.5, 0.75, 0.875)  # in units of r_max
B_MAX = (0.5, 1.0)  # in units of r_max


def measure(n: int, r: float, mid: float, b: float, trials: int) -> dict:
    m = math.ceil(math.log2(n))
    r_max = int(r * m)
    protocol = hg.TimeOptimal(n=n, r_max=r_max, r_mid=max(1, int(mid * r_max)), b_max=max(1, int(b * r_max)))
    converging = hg.run_trials(protocol, trials, seed=1, start="no-leader", max_steps=500 * n * m).runs
    horizon = min(200 * n * n, 50_000_000)
    holding = hg.run_trials(protocol, trials, seed=2, start="barely-safe", until="broken", max_steps=horizon).runs
    return {
        "n": n,
        "r_max / m": r,
        "r_mid / r_max": mid,
        "b_max / r_max": b,
        "states": protocol.states,
        "converged": sum(run.reached for run in converging),
        "parallel time / log2 n": round(float(np.mean([run.steps for run in converging]) / n / math.log2(n)), 2),
        "lost the leader": sum(run.reached for run in holding),
        "trials": trials,
        "horizon (parallel time)": horizon // n,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--trials", type=int, default=20)
    arguments.add_argument("--sizes", default="100,1000,10000")
    arguments.add_argument("--out", default="docs")
    options = arguments.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    grid = list(itertools.product(sizes, R_MAX, R_MID, B_MAX))
    rows = [measure(*point, options.trials) for point in track(grid, "measuring")]
    table = pd.DataFrame(rows)
    path = Path(options.out) / "constants.csv"
    path.parent.mkdir(exist_ok=True)
    table.to_csv(path, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
