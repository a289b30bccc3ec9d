"""Interactions per second of engine `agents`: `python -m benchmarks.agents`."""

import time

from rich.console import Console
from rich.table import Table

import hegemon as hg

WORK = [
    (hg.TimeOptimal, 10**3, 100_000_000, 5e7),
    (hg.TimeOptimal, 10**6, 60_000_000, 2.5e7),
    (hg.Timer, 10**4, 40_000_000, None),
    (hg.Ring, 10**4, 40_000_000, None),
]


def rate(protocol, steps: int) -> float:
    """After compilation, the best of three: other processes can only slow a run down."""
    hg.simulate(protocol, until="steps:1000")
    best = 0.0
    for trial in range(3):
        begin = time.perf_counter()
        hg.simulate(protocol, seed=1, trial=trial, until=f"steps:{steps}", engine="agents")
        best = max(best, steps / (time.perf_counter() - begin))
    return best


def main() -> None:
    table = Table("protocol", "n", "states", "interactions/s", "target", title="engine agents, one core")
    for make, n, steps, target in WORK:
        protocol = make(n=n)
        row = [protocol.id, f"{n:,}", f"{protocol.states:,}", f"{rate(protocol, steps):.3g}"]
        table.add_row(*row, f"{target:.2g}" if target else "–")
    Console().print(table)


if __name__ == "__main__":
    main()
