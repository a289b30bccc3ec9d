"""Informative Trains, measured: `python -m benchmarks.trains [--out out] [--random-up-to 10000] [--up-to 100000]`.

Three tables, also written as JSON with a picture: how the time to Γ_L grows with n; the rounds against the bound
2^(3N) log n; and the bits per node against log log n. From `random`, the marked trains of the start must first count
to about 2^N. Few different states are left then, so the engine moves classes of nodes; the rounds before that, made
node by node, take most of the time, so by default only the start `all-leaders` goes up to the largest n.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import hegemon as hg
from hegemon.analysis.pictures import new_figure, save
from hegemon.models.packing import Packing

SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
FAMILIES = ("ring:{n}", "regular:{n},4", "complete:{n}", "star:{n}")
TRIALS = 20


def wall_times(random_up_to: int, up_to: int) -> list[dict]:
    rows = []
    hg.simulate(hg.Trains(64), graph="ring:64", start="all-leaders", until="rounds:2000")  # compiles everything
    hg.simulate(hg.Trains(64), graph="ring:64")
    for start, largest in (("all-leaders", up_to), ("random", random_up_to)):
        for n in (size for size in SIZES if size <= largest):
            protocol = hg.Trains(n)
            begin, worked = time.perf_counter(), time.process_time()
            run = hg.simulate(protocol, graph=f"regular:{n},4", start=start, seed=1)
            seconds = time.perf_counter() - begin
            skipped = run.measures["fast_forwarded_rounds"]
            rows.append(
                {
                    "start": start,
                    "graph": f"regular:{n},4",
                    "n": n,
                    "N": protocol.N,
                    "rounds": run.steps,
                    "made one by one": run.steps - skipped,
                    "seconds": round(seconds, 2),
                    "processor seconds": round(time.process_time() - worked, 2),
                }
            )
    return rows


def rounds_against_bound() -> list[dict]:
    rows = []
    for n in (4, 16, 64, 256):
        for family in FAMILIES:
            protocol = hg.Trains(n)
            runs = hg.run_trials(protocol, TRIALS, graph=family.format(n=n) if n > 4 else "ring:4", seed=1).runs
            rounds = np.array([run.steps for run in runs])
            bound = 2 ** (3 * protocol.N) * math.log2(n)
            rows.append(
                {
                    "graph": family.format(n=n) if n > 4 else "ring:4",
                    "n": n,
                    "N": protocol.N,
                    "reached": sum(run.reached for run in runs),
                    "mean rounds": float(rounds.mean()),
                    "largest": int(rounds.max()),
                    "2^3N log n": bound,
                    "largest / bound": float(rounds.max() / bound),
                }
            )
            if n == 4:
                break
    return rows


def bits_per_node() -> list[dict]:
    rows = []
    for exponent in (4, 8, 16, 32, 59):
        protocol = hg.Trains(2**exponent)
        N = protocol.N
        without_local_errors = 4 * (64 * N + 8 * N)  # L any wagon; F empty, or any wagon with the index before
        rows.append(
            {
                "n": f"2^{exponent}",
                "N": N,
                "states": protocol.states,
                "without local errors at most": without_local_errors,
                "bits": Packing(protocol.space, protocol.private).bits,
                "log2 log2 n": math.log2(exponent),
                "bits / log2 log2 n": Packing(protocol.space).bits / math.log2(exponent),
            }
        )
    return rows


def show(title: str, rows: list[dict]) -> None:
    table = Table(*rows[0], title=title)
    for row in rows:
        table.add_row(*(f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)


def draw(results: dict, path) -> None:
    figure, (left, right) = new_figure(2)
    for start in ("all-leaders", "random"):
        chosen = [row for row in results["wall time"] if row["start"] == start]
        left.loglog([row["n"] for row in chosen], [row["seconds"] for row in chosen], "o-", label=start)
    left.set_xlabel("n (random 4-regular graph)")
    left.set_ylabel("seconds to Γ_L")
    left.legend(frameon=False)
    chosen = results["rounds"]
    right.loglog([row["n"] for row in chosen], [row["largest"] for row in chosen], "o", label="largest of 20 runs")
    right.loglog([row["n"] for row in chosen], [row["2^3N log n"] for row in chosen], "-", label="2^3N log n")
    right.set_xlabel("n")
    right.set_ylabel("rounds to Γ_L, random start")
    right.legend(frameon=False)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Informative Trains, measured.")
    parser.add_argument("--out", default="out", help="folder for trains.json and trains.png")
    parser.add_argument("--random-up-to", type=int, default=10_000)
    parser.add_argument("--up-to", type=int, default=100_000)
    options = parser.parse_args()
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for name, title, measure in (
        ("wall time", "wall time to Γ_L", lambda: wall_times(options.random_up_to, options.up_to)),
        ("rounds", f"rounds to Γ_L from random starts, {TRIALS} runs each", rounds_against_bound),
        ("bits", "memory per node", bits_per_node),
    ):
        results[name] = measure()
        show(title, results[name])
    (folder / "trains.json").write_text(json.dumps(results, indent=1))
    draw(results, folder / "trains.png")


if __name__ == "__main__":
    main()
