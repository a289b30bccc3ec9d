"""Which protocol is best where: availability over the rate of faults and n; `python -m benchmarks.availability`.

Every run starts safe and lasts 2000 units of parallel time, or 2000 faults if that is longer; a fault gives a random
agent a random state. Writes docs/availability.png and prints the table of docs/worlds.md.
"""

import sys

import hegemon as hg
from hegemon.analysis import pictures

PROTOCOLS = ("timer", "time-optimal", "gossip-identity")
SIZES = (16, 64, 256)
RATES = ("1e-4", "3e-4", "1e-3", "3e-3", "1e-2")
UNITS, FAULTS = 2000, 2000


def measured(name: str, n: int, rate: str) -> float:
    """The share of steps with exactly one leader; 0 if there never was one."""
    steps = max(UNITS * n, round(FAULTS / float(rate)))
    asked = {"rates": [f"corrupt={rate}"], "start": "safe", "until": f"steps:{steps}", "availability": True}
    asked["trial"] = RATES.index(rate)  # the same coins would bring the same faults at every rate
    run = hg.simulate(hg.CATALOGUE[name](n=n), **asked)
    return run.measures["availability"] or 0.0


def main() -> int:
    found = {(name, n): [measured(name, n, rate) for rate in RATES] for name in PROTOCOLS for n in SIZES}
    print(f"| protocol | n | {' | '.join(RATES)} |\n| --- | --- | {' | '.join('---' for _ in RATES)} |")
    for (name, n), row in found.items():
        print(f"| {name} | {n} | {' | '.join(f'{one:.4f}' for one in row)} |")
    figure, axes = pictures.new_figure(len(SIZES), 4.2, 3.6)
    for axis, n in zip(axes, SIZES, strict=True):
        for name, colour in zip(PROTOCOLS, pictures.COLOURS, strict=False):
            axis.plot([float(rate) for rate in RATES], found[name, n], "o-", color=colour, label=name)
        pictures.logarithmic(axis, "x")
        axis.set(title=f"n = {n}", xlabel="rate of faults", ylabel="availability", ylim=(0, 1.02))
        pictures.legend_below(axis, 3)
    pictures.save(figure, "docs/availability.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
