"""How fast the engines are, beside ppsim and batss: `python -m benchmarks.scale`.

Made by `python -m benchmarks.scale`, on one core, after compilation. The peers live in an environment of their own.
Every tool makes the same number of interactions; `benchmarks/peers.py` says how time is equalized, and the share of
undecided agents that every tool ends with shows that the work was the same.
"""

import argparse
import json
import subprocess
import sys
import time
from functools import partial
from operator import itemgetter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

import hegemon as hg
from benchmarks.majority import ApproximateMajority

PEERS = Path(".venv-peers")
PEER_SCRIPT = Path(__file__).with_name("peers.py")
TIME = 10  # parallel time of the comparison
SIZES = {
    "hegemon": [10**k for k in range(3, 13)],
    "batss": [10**k for k in range(3, 10)],
    "ppsim": [10**k for k in range(3, 9)],
}
PATIENCE, SHORT_PATIENCE = 400, 100  # seconds given to one measurement of a peer; to one with a table of pairs


def peer_python() -> Path:
    """The interpreter of the peers' environment, which is made if it is not there."""
    python = PEERS / "bin" / "python"
    ready = PEERS / "installed"
    if not ready.exists():
        print(f"installing ppsim and batss in {PEERS}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "ppsim>=1,<2", "batss>=1,<2"], check=True)
        ready.touch()
    return python


def ask_peer(patience: float = PATIENCE, **request) -> dict | None:
    """What a peer answers to one request; None if it fails or takes too long."""
    try:
        answer = subprocess.run(
            [peer_python(), PEER_SCRIPT], input=json.dumps(request), capture_output=True, text=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(answer.stdout.splitlines()[-1]) if answer.returncode == 0 else None


def timed(protocol, **options) -> tuple[float, object]:
    begin = time.perf_counter()
    run = hg.simulate(protocol, seed=1, **options)
    return time.perf_counter() - begin, run


def best(measure, seconds_of, longest: float = 5.0):
    """The fastest of three measurements, or the only one if it is long: others can only slow a run down."""
    results = [measure()]
    while results[0] is not None and len(results) < 3 and seconds_of(results[0]) < longest:
        results.append(measure())
    return min(results, key=lambda result: seconds_of(result) if result else 0.0)


def shares(counts: dict, n: int) -> dict:
    return {opinion: counts.get(opinion, 0) / n for opinion in "ABU"}


def measure_majority(tool: str, n: int) -> dict | None:
    """Ten units of parallel time of approximate majority."""
    if tool == "hegemon":
        seconds, run = best(partial(timed, ApproximateMajority(n=n), until=f"steps:{TIME * n}"), itemgetter(0))
        codes, counts = run.configuration.multiset
        found = {"ABU"[code]: int(count) for code, count in zip(codes, counts, strict=True)}
    else:
        first = n * 51 // 100
        request = {"peer": tool, "work": "majority", "counts": {"A": first, "B": n - first}, "time": TIME}
        answer = best(partial(ask_peer, **request), itemgetter("seconds"))
        if answer is None:
            return None
        seconds, found = answer["seconds"], answer["counts"]
    rate = TIME * n / seconds
    return {"tool": tool, "n": n, "seconds": seconds, "interactions_per_second": rate, "shares": shares(found, n)}


def compare_majority() -> list[dict]:
    timed(ApproximateMajority(n=10**6), until="steps:10000000")  # compile
    rows = []
    for n in SIZES["hegemon"]:
        for tool in SIZES:
            if n in SIZES[tool]:
                row = measure_majority(tool, n)
                print(f"approximate majority, n = {n:.0e}, {tool}: " + (f"{row['seconds']:.3g} s" if row else "failed"))
                rows += [row] if row else []
    return rows


def majority_ratio(rows, n: int, tool: str, other_n: int | None = None) -> float | None:
    rates = {(row["tool"], row["n"]): row["interactions_per_second"] for row in rows}
    other = rates.get((tool, other_n or n))
    return rates["hegemon", n] / other if other else None


def compare_tables(folder: Path) -> list[dict]:
    """`time-optimal` among a million agents with timers so short that the peers can hold its table of pairs."""
    rows, n = [], 10**6
    path = folder / "table.npy"
    for timer in (4, 16, 120):
        protocol = hg.TimeOptimal(n=n, r_max=timer, r_mid=timer * 3 // 4, b_max=timer)
        size = protocol.states
        started, _ = timed(protocol, start="no-leader", until="steps:1")
        seconds, _ = timed(protocol, start="no-leader", until=f"steps:{n}")
        rows.append({"tool": "hegemon", "states": size, "seconds": seconds, "start_seconds": started})
        np.save(path, [[protocol.transition_codes(i, j) for j in range(size)] for i in range(size)])
        codes, counts = protocol.initial("no-leader", None).multiset
        start = {str(code): int(count) for code, count in zip(codes, counts, strict=True)}
        for tool in ("batss", "ppsim"):
            request = {"peer": tool, "work": "table", "counts": start, "time": 1, "table": [str(path)]}
            answer = ask_peer(SHORT_PATIENCE, **request) or {}
            answer.pop("counts", None)
            rows.append({"tool": tool, "states": size, **answer})
            started = f"{answer['start_seconds']:.3g} s to start" if answer else "no answer"
            print(f"time-optimal with {size} states, {tool}: {started}")
    path.unlink()
    return rows


def started_within(protocol_arguments: list[str]) -> float:
    """Seconds from the command to the end of a run of one step, everything included."""
    command = [sys.executable, "-c", "from hegemon.cli.main import main; main()", "run", *protocol_arguments]
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run([*command, "--until", "steps:1", "--json"], check=True, capture_output=True)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def targets(rows) -> list[dict]:
    """What the project promises, and what was measured here."""

    def target(work, promise, measured, kept, **facts):
        print(f"{work}: {measured}")
        return {"work": work, "promise": promise, "measured": measured, "kept": bool(kept), **facts}

    def ratio(n, tool, least, other_n=None):
        value = majority_ratio(rows, n, tool, other_n)
        beside = f"{tool}" if other_n is None else f"hegemon at n = {other_n:.0e}"
        work = f"approximate majority, {TIME} parallel time, n = {n:.0e}"
        promise, measured = f"≥ {least} × {beside}", f"{value:.3g} ×" if value else "no answer"
        return target(work, promise, measured, value and value >= least)

    if rows:
        yield ratio(10**6, "batss", 4)
        yield ratio(10**8, "batss", 25)
        yield ratio(10**8, "ppsim", 300)
        yield ratio(10**12, "hegemon", 80, 10**8)

    n = 2**50
    epidemic = hg.Epidemic(n=n, top=3)
    timed(epidemic, start="random", until=f"steps:{10**9}")
    seconds, run = timed(epidemic, start="random", until=f"steps:{n}")
    yield target(
        "2^50 interactions among 2^50 agents, epidemic of 4 values", "< 200 s", f"{seconds:.3g} s", seconds < 200,
        seconds=seconds, engine=run.engine,
    )  # fmt: skip

    timed(hg.Pairwise(n=10**6))
    seconds, run = best(partial(timed, hg.Pairwise(n=10**9)), itemgetter(0))
    yield target(
        "pairwise to one leader, n = 1e9", "< 5 s", f"{seconds:.3g} s", seconds < 5, steps=run.steps, engine=run.engine
    )

    timed(hg.Ring(n=2 * 10**4))  # compile both engines that such a run uses
    for n, allowed in ((10**5, 3), (10**6, 30)):
        seconds, run = timed(hg.Ring(n=n))
        yield target(
            f"ring, N = n = {n:.0e}, random start to S_RL", f"< {allowed} s", f"{seconds:.3g} s",
            run.reached and seconds < allowed, steps=run.steps, engine=run.engine,
        )  # fmt: skip

    timed(hg.TimeOptimal(n=10**5), start="no-leader")
    seconds, run = timed(hg.TimeOptimal(n=10**8), start="no-leader")
    rate = run.steps / seconds
    yield target(
        "time-optimal, τ = 1, n = 1e8, no-leader start to the safe set", "≥ 5e7 interactions/s", f"{rate:.3g} /s",
        run.reached and rate >= 5e7, steps=run.steps, seconds=seconds, engine=run.engine,
    )  # fmt: skip

    busy = {"graph": "torus:100x100", "start": "no-leader", "until": "steps:20000000"}  # every arc stays active
    times = {}
    for engine in ("agents", "events", "auto"):
        timed(hg.Timer(n=10**4), engine=engine, **{**busy, "until": "steps:1000"})
        times[engine], run = best(partial(timed, hg.Timer(n=10**4), engine=engine, **busy), itemgetter(0))
    ratio_of_auto = times["auto"] / times["agents"]
    yield target(
        "timer on a torus, all arcs active: the automatic choice", "≤ 2 × the time of agents",
        f"{ratio_of_auto:.3g} × ({run.engine}); events {times['events'] / times['agents']:.3g} ×", ratio_of_auto <= 2,
    )  # fmt: skip

    protocol = hg.TimeOptimal(n=10**8, tau=32)
    seconds = started_within(["time-optimal", "--n", "1e8", "--set", "tau=32", "--start", "no-leader"])
    yield target(
        f"time-optimal with {protocol.states:,} states, from the command to the end of one step", "< 2 s",
        f"{seconds:.3g} s", seconds < 2, states=protocol.states,
    )  # fmt: skip


def draw(rows, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    styles = {"hegemon": ("#1f4e8c", "o"), "batss": ("#c0562b", "s"), "ppsim": ("#6b8f3a", "^")}
    for tool, (colour, mark) in styles.items():
        points = [(row["n"], row["interactions_per_second"]) for row in rows if row["tool"] == tool]
        if points:
            axes.loglog(*zip(*points, strict=True), color=colour, marker=mark)
            axes.annotate(tool, points[-1], xytext=(6, 0), textcoords="offset points", color=colour, va="center")
    axes.set_xlabel("agents n")
    axes.set_ylabel("interactions per second")
    axes.set_title(f"Approximate majority, {TIME} units of parallel time, one core", loc="left")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def as_tables(rows, tables, promises) -> list[tuple]:
    """Everything for people: title, columns and cells of each table."""
    found = {(row["tool"], row["n"]): row for row in rows}
    cells = []
    for n in SIZES["hegemon"] if rows else ():
        here = [found.get((tool, n)) for tool in SIZES]
        ratios = (majority_ratio(rows, n, tool) for tool in ("batss", "ppsim"))
        undecided = ", ".join(f"{row['shares']['U']:.2g}" if row else "–" for row in here)
        rates = (f"{row['interactions_per_second']:.3g}" if row else "–" for row in here)
        cells.append([f"{n:.0e}", *rates, *(f"{ratio:.3g}" if ratio else "–" for ratio in ratios), undecided])
    columns = ["n", *(f"{tool} /s" for tool in SIZES), "× batss", "× ppsim", "share of U afterwards, in this order"]
    shown = [(f"Approximate majority, {TIME} units of parallel time", columns, cells)]
    cells = [
        [f"{row['states']:,}", row["tool"]]
        + [
            f"{row[name]:.3g}" if name in row else f"none after {SHORT_PATIENCE} s"
            for name in ("start_seconds", "seconds")
        ]
        for row in tables
    ]
    columns = ["states", "tool", "seconds to start", "seconds to run"]
    shown.append(("`time-optimal`, 1e6 agents, one unit of parallel time", columns, cells))
    cells = [[row["work"], row["promise"], row["measured"], "yes" if row["kept"] else "no"] for row in promises]
    shown.append(("What the project promises", ["work", "promise", "measured", "kept"], cells))
    return [table for table in shown if table[2]]


def print_table(title, columns, cells) -> None:
    table = Table(*columns, title=title)
    for row in cells:
        table.add_row(*row)
    Console(width=140).print(table)


def markdown(shown) -> str:
    lines = ["# Interactions per second", "", __doc__.split("\n\n", 1)[1].strip(), ""]
    for title, columns, cells in shown:
        lines += [f"## {title}", ""]
        lines += [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *cells)] + [""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-peers", action="store_true", help="measure hegemon's own promises alone")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder to write into")
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)
    rows = [] if arguments.without_peers else compare_majority()
    tables = [] if arguments.without_peers else compare_tables(arguments.out)
    promises = list(targets(rows))
    shown = as_tables(rows, tables, promises)
    for table in shown:
        print_table(*table)
    if rows:
        draw(rows, arguments.out / "scale.png")
    content = {"majority": rows, "time_optimal_in_the_peers": tables, "promises": promises}
    (arguments.out / "scale.json").write_text(json.dumps(content, indent=1))
    (arguments.out / "scale.md").write_text(markdown(shown))
    print(f"written: scale.json, scale.md{', scale.png' if rows else ''} in {arguments.out}")


if __name__ == "__main__":
    main()
