"""The table behind `hegemon advise`: how long protocols hold their leader, and how fast they converge.

python -m benchmarks.holding                 measures what CASES name and the table lacks: hours, one row at a time
python -m benchmarks.holding FILE.json …     takes what `hegemon holding … --json` printed, and measures convergence
"""

import json
import math
import sys

import numpy as np

import hegemon as hg
from hegemon.analysis import pictures
from hegemon.experiments.holding.advice import TABLE
from hegemon.experiments.holding.proved import log10_holding_of_timer
from hegemon.kept import read_kept, write_kept

PROTOCOLS = {"time-optimal": hg.TimeOptimal, "timer": hg.Timer}
CASES = [
    *(hg.TimeOptimal(n=n) for n in (3, 4, 10, 30, 100, 1000)),
    *(hg.TimeOptimal(n=n, tau=2) for n in (3, 10)),
    *(hg.Timer(n=n, s=s) for n, s in ((10, 10), (10, 20), (10, 40), (100, 10), (100, 14), (100, 20), (1000, 14))),
]
PROVED = [
    hg.Timer(n=n, s=share * n)
    for n, share in (
        *((10, share) for share in (16, 24, 40)),
        *((n, share) for n in (30, 100, 1000) for share in (24, 36, 48)),
        (100, 96),
    )
]
MOST_EXACT = 4  # agents, up to which holding is computed
TRIALS = 20
PATIENCE = 100_000  # units of parallel time


def convergence(protocol) -> float:
    """The mean parallel time to the safe set, from the slower of two starts."""
    means = []
    for start in ("random", "no-leader"):
        runs = hg.run_trials(protocol, TRIALS, start=start, seed=1, max_steps=PATIENCE * protocol.n).runs
        if not all(run.reached for run in runs):
            raise SystemExit(f"{protocol}: not safe within {PATIENCE:,} units of parallel time from {start}: no row")
        means.append(float(np.mean([run.parallel_time for run in runs])))
    return max(means)


def row(protocol, kind: str, log10: dict) -> dict:
    """One row: parallel times, holding as logarithms to base 10."""
    shift = math.log10(protocol.n)
    holding, low, high = (
        None if value is None else value - shift for value in (log10["steps"], log10["low"], log10["high"])
    )
    return {
        "protocol": protocol.id, "n": protocol.n, "parameters": protocol.parameters, "states": protocol.states,
        "kind": kind, "holding": holding, "low": low, "high": high,
        "convergence": convergence(protocol), "trials": TRIALS,
    }  # fmt: skip


def measured(protocol) -> dict:
    if protocol.n <= MOST_EXACT:
        value = math.log10(hg.verify(protocol, start="safe", property="holding").holding.from_starts["safe"])
        return row(protocol, "exact", {"steps": value, "low": value, "high": value})
    return taken(hg.holding(protocol, relative=0.4, seed=1).record())


def proved(protocol) -> dict:
    low = log10_holding_of_timer(protocol.n, protocol.s) + math.log10(protocol.n)
    return row(protocol, "proved", {"steps": None, "low": low, "high": None})


def taken(record: dict) -> dict:
    if record["kind"] != "estimate" or record["graph"] != f"complete:{record['n']}" or record["start"] != "safe":
        raise SystemExit(
            f"{record['protocol']} at n = {record['n']}: {record['kind']} from {record['start']} is no row"
        )
    protocol = PROTOCOLS[record["protocol"]](n=record["n"], **record["parameters"])
    return row(protocol, "estimate", record["log10"])


def draw() -> None:
    """Convergence and holding of time-optimal with its default constants, over n."""
    rows = [one for one in read_kept(TABLE, "measured") if one["protocol"] == "time-optimal"]
    rows = [one for one in rows if one["parameters"]["tau"] == 1]
    sizes = [one["n"] for one in rows]
    figure, (axis,) = pictures.new_figure(1)
    held = [10 ** one["holding"] for one in rows]
    ends = [[abs(10 ** one["holding"] - 10 ** one[end]) for one in rows] for end in ("low", "high")]
    axis.errorbar(sizes, held, ends, fmt="o-", color=pictures.COLOURS[0], capsize=3, label="holding, from safe")
    converged = [one["convergence"] for one in rows]
    axis.plot(sizes, converged, "s--", color=pictures.COLOURS[1], label="convergence, from the slower of two starts")
    for direction in "xy":
        pictures.logarithmic(axis, direction)
    axis.set(xlabel="n", ylabel="parallel time", title="time-optimal, τ = 1, default constants")
    pictures.legend_below(axis, 1)
    pictures.save(figure, "docs/holding.png")


def main(files: list[str]) -> None:
    if files == ["plot"]:
        return draw()
    rows = read_kept(TABLE, "measured") if TABLE.exists() else []

    def keep(new: dict) -> None:
        same = ("protocol", "n", "parameters")
        rows[:] = [old for old in rows if any(old[name] != new[name] for name in same)] + [new]
        rows.sort(key=lambda one: (one["protocol"], one["n"], one["low"]))
        write_kept(TABLE, "measured", rows, indent=1)
        print(f"{new['protocol']} {new['n']} {new['parameters']}: 10^{new['low']:.3f}", flush=True)

    for file in files:
        with open(file) as content:
            keep(taken(json.load(content)))
    if not files:
        known = {(one["protocol"], one["n"], str(one["parameters"])) for one in rows}
        for make, protocols in ((proved, PROVED), (measured, CASES)):
            for protocol in protocols:
                if (protocol.id, protocol.n, str(protocol.parameters)) not in known:
                    keep(make(protocol))


if __name__ == "__main__":
    main(sys.argv[1:])
