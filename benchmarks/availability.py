"""Which protocol is best where: availability over the rate of faults and n; `python -m benchmarks.availability`.

Eight runs a point start safe and last 2000 units of parallel time each, or 1000 faults if that is longer; a fault gives
a random agent a random state. Writes docs/availability.png and prints the table of docs/worlds.md: means with 95 %
intervals (Student's).
"""

import sys

import numpy as np

import hegemon as hg
from hegemon.analysis import pictures
from hegemon.analysis.statistics import interval_of_moments

PROTOCOLS = ("timer", "time-optimal", "gossip-identity")
SIZES = (16, 64, 256)
RATES = ("1e-4", "3e-4", "1e-3", "3e-3", "1e-2")
UNITS, FAULTS, RUNS = 2000, 1000, 8


def measured(name: str, n: int, rate: str) -> np.ndarray:
    """Of every run the share of steps with exactly one leader; 0 if there never was one."""
    steps = max(UNITS * n, round(FAULTS / float(rate)))
    asked = {"rates": [f"corrupt={rate}"], "start": "safe", "until": f"steps:{steps}", "availability": True}
    asked["seed"] = RATES.index(rate)  # the same coins would bring the same faults at every rate
    runs = hg.run_trials(hg.CATALOGUE[name](n=n), RUNS, **asked, workers=1).runs
    return np.array([run.measures["availability"] or 0.0 for run in runs])


def summary(shares: np.ndarray) -> tuple[float, float, float]:
    """Mean, and how far its interval reaches below and above it, within 0 and 1."""
    mean = float(shares.mean())
    low, high = interval_of_moments(len(shares), mean, float(shares.std(ddof=1)), symmetric=True)
    return mean, mean - max(0.0, low), min(1.0, high) - mean


def main() -> int:
    found = {
        (name, n): [summary(measured(name, n, rate)) for rate in RATES] for name in PROTOCOLS for n in SIZES
    }  # fmt: skip
    print(f"| protocol | n | {' | '.join(RATES)} |\n| --- | --- | {' | '.join('---' for _ in RATES)} |")
    for (name, n), row in found.items():
        cells = (f"{mean:.3f} ± {max(below, above):.3f}" for mean, below, above in row)
        print(f"| {name} | {n} | {' | '.join(cells)} |")
    figure, axes = pictures.new_figure(len(SIZES), 4.2, 3.6)
    for axis, n in zip(axes, SIZES, strict=True):
        for name, colour in zip(PROTOCOLS, pictures.COLOURS, strict=False):
            means, below, above = zip(*found[name, n], strict=True)
            axis.errorbar(
                [float(rate) for rate in RATES], means, [below, above], fmt="o-", color=colour, capsize=3, label=name
            )
        pictures.logarithmic(axis, "x")
        axis.set(title=f"n = {n}", xlabel="rate of faults", ylabel="availability", ylim=(0, 1.02))
        pictures.legend_below(axis, 3)
    pictures.save(figure, "docs/availability.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
