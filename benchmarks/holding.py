"""How long `timer` holds its leader: the table behind `hegemon advise`, as Python text for network/holding.py.

python -m benchmarks.holding
"""

import sys

import numpy as np

import hegemon as hg

SIZES = (64,)
RUNS = 60
ENOUGH = 5e5  # steps: larger means are left to the law


def measure(n: int) -> list[tuple[int, float]]:
    points = []
    for s in range(8, 200):
        given = {"start": "safe", "until": "broken", "seed": 1, "engine": "agents", "max_steps": 5_000_000}
        runs = hg.run_trials(hg.Timer(n=n, s=s), RUNS, **given).runs
        if not all(run.reached for run in runs):
            break
        points.append((s, float(np.mean([run.steps for run in runs]))))
        print(f"n = {n}, s = {s}: {points[-1][1]:,.0f} steps", file=sys.stderr)
        if points[-1][1] > ENOUGH:
            break
    return points


if __name__ == "__main__":
    for size in SIZES:
        print(f"    {size}: {[(s, round(mean)) for s, mean in measure(size)]},")
