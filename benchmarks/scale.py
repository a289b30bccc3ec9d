"""How fast the engines are, beside ppsim and batss: `python -m benchmarks.scale`.

Made by `python -m benchmarks.scale`, on one core, in processor seconds. The peers live in an environment of their own.
Every tool is warm: it is imported, compiled and has made one run. Every run begins with a new protocol or simulation,
and of as many runs for every tool the fastest counts; short comparisons are made three times, in turn. The set-up (all
that comes before the first interaction) is measured apart from the run, and ratios under "+ set-up" include it. Every
tool makes the same number of interactions; `benchmarks/peers.py` explains how time is equalized. The share of undecided
agents at the end shows that every tool did the same work. batss 1.0.4 contains only its engine for chemical reaction
networks, which is made for few species.
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
from hegemon.runs.trajectory import Trajectory

PEERS = Path(".venv-peers")
PEER_SCRIPT = Path(__file__).with_name("peers.py")
TIME = 10  # parallel time of the comparison
TURNS, SHORT = 3, 10**5  # of comparisons among so many agents or fewer
SIZES = {
    "hegemon": [10**k for k in range(3, 13)],
    "batss": [10**k for k in range(3, 10)],
    "ppsim": [10**k for k in range(3, 9)],
}
TIMER_SIZES = [10**k for k in range(3, 6)]
PATIENCE, SHORT_PATIENCE = 400, 100  # seconds given to one measurement of a peer; to one with a table of pairs


def runs_at(n: int) -> int:
    """How many runs every tool makes, after the first: short ones are repeated more often."""
    return max(1, min(20, 10**7 // n))


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


def own_seconds(make, n: int, runs: int | None = None, **options) -> tuple[float, float, object]:
    """Processor seconds of our set-up and of the run that follows it, each with a new protocol, and the run."""
    made: list[tuple[float, float]] = []
    inside = 0.0

    def clocked(trajectory, *given, **named):
        nonlocal inside
        begin = time.process_time()
        try:
            return drive(trajectory, *given, **named)
        finally:
            inside += time.process_time() - begin

    drive, Trajectory.run = Trajectory.run, clocked  # type: ignore[method-assign]
    try:
        for _ in range(1 + (runs or runs_at(n))):
            inside, begin = 0.0, time.process_time()
            run = hg.simulate(make(n), seed=1, **options)
            made.append((time.process_time() - begin - inside, inside))
    finally:
        Trajectory.run = drive  # type: ignore[method-assign]
    return min(start for start, _ in made[1:]), min(seconds for _, seconds in made[1:]), run


def measure_majority(tool: str, n: int) -> dict | None:
    """Ten units of parallel time of approximate majority."""
    if tool == "hegemon":
        start, seconds, run = own_seconds(ApproximateMajority, n, until=f"steps:{TIME * n}")
        codes, counts = run.configuration.multiset
        found = {"ABU"[code]: int(count) for code, count in zip(codes, counts, strict=True)}
    else:
        first = n * 51 // 100
        counts = {"A": first, "B": n - first}
        answer = ask_peer(peer=tool, work="majority", counts=counts, time=TIME, runs=runs_at(n))
        if answer is None:
            return None
        start, seconds, found = answer["start_seconds"], answer["seconds"], answer["counts"]
    rate, shared = TIME * n / seconds, shares(found, n)
    return {
        "tool": tool, "n": n, "seconds": seconds, "start_seconds": start, "interactions_per_second": rate,
        "shares": shared,
    }  # fmt: skip


def ask_table(tool: str, protocol, path: Path, n: int, units: float) -> dict:
    """What a peer measures of a protocol of ours, which it is given as a table; nothing if it fails."""
    if not path.exists():
        codes = range(protocol.states)
        np.save(path, [[protocol.transition_codes(i, j) for j in codes] for i in codes])
    codes, counts = protocol.initial("no-leader", None).multiset
    start = {str(code): int(count) for code, count in zip(codes, counts, strict=True)}
    request = {"peer": tool, "work": "table", "counts": start, "time": units, "table": [str(path)], "runs": runs_at(n)}
    answer = ask_peer(SHORT_PATIENCE, **request) or {}
    answer.pop("counts", None)
    return answer


def compare_timer(folder: Path) -> list[dict]:
    """Ten units of parallel time of `timer` with s = 100, which has 202 states, without a leader at the start."""
    rows, path = [], folder / "timer.npy"

    def make(n):
        return hg.Timer(n=n, s=100)

    for n in TIMER_SIZES:
        start, seconds, _ = own_seconds(make, n, start="no-leader", until=f"steps:{TIME * n}")
        rows.append({"tool": "hegemon", "n": n, "seconds": seconds, "start_seconds": start})
        for tool in ("batss", "ppsim"):
            answer = ask_table(tool, make(n), path, n, TIME)
            rows += [{"tool": tool, "n": n, **answer}] if answer else []
            print(f"timer with 202 states, n = {n:.0e}, {tool}: " + (f"{answer['seconds']:.3g} s" if answer else "–"))
    path.unlink(missing_ok=True)
    return rows


def compare_majority() -> list[dict]:
    """Every tool at every size; of short comparisons the fastest of several turns counts."""
    rows = []
    for n in SIZES["hegemon"]:
        found: dict[str, dict] = {}
        for turn in range(TURNS if n <= SHORT else 1):
            for tool in SIZES:
                row = measure_majority(tool, n) if n in SIZES[tool] else None
                if row is None:
                    continue
                kept = found.setdefault(tool, row)
                kept |= {cost: min(kept[cost], row[cost]) for cost in ("seconds", "start_seconds")}
                kept["interactions_per_second"] = TIME * n / kept["seconds"]
                print(f"approximate majority, n = {n:.0e}, {tool}, turn {turn + 1}: {row['seconds']:.3g} s")
        rows += found.values()
    return rows


def ratio(rows, n: int, tool: str, set_up: bool = False, other_n: int | None = None) -> float | None:
    """How many times as fast hegemon is, per interaction, with or without the set-up."""
    cost = {
        (row["tool"], row["n"]): (row["seconds"] + (row["start_seconds"] if set_up else 0)) / row["n"] for row in rows
    }
    other = cost.get((tool, other_n or n))
    return other / cost["hegemon", n] if other else None


def compare_tables(folder: Path) -> list[dict]:
    """`time-optimal` among a million agents with timers so short that the peers can hold its table of pairs."""
    rows, n = [], 10**6
    path = folder / "table.npy"
    for timer in (4, 16, 120):

        def make(n, timer=timer):
            return hg.TimeOptimal(n=n, r_max=timer, r_mid=timer * 3 // 4, b_max=timer)

        protocol = make(n)
        start, seconds, _ = own_seconds(make, n, start="no-leader", until=f"steps:{n}")
        rows.append({"tool": "hegemon", "states": protocol.states, "seconds": seconds, "start_seconds": start})
        for tool in ("batss", "ppsim"):
            answer = ask_table(tool, protocol, path, n, 1)
            rows.append({"tool": tool, "states": protocol.states, **answer})
            started = f"{answer['start_seconds']:.3g} s to start" if answer else "no answer"
            print(f"time-optimal with {protocol.states} states, {tool}: {started}")
        path.unlink(missing_ok=True)
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

    def beside(n, tool, least, other_n=None, set_up=False):
        value = ratio(rows, n, tool, set_up, other_n)
        beside = f"{tool}" if other_n is None else f"hegemon at n = {other_n:.0e}"
        work = f"approximate majority, {TIME} parallel time, n = {n:.0e}{', with set-up' if set_up else ''}"
        promise, measured = f"≥ {least} × {beside}", f"{value:.3g} ×" if value else "no answer"
        return target(work, promise, measured, value and value >= least)

    if rows:
        for tool in ("batss", "ppsim"):
            for n in (10**3, 10**4, 10**5):
                yield beside(n, tool, 3)
                yield beside(n, tool, 5, set_up=True)
        yield beside(10**6, "batss", 4)
        yield beside(10**8, "batss", 25)
        yield beside(10**8, "ppsim", 300)
        yield beside(10**12, "hegemon", 80, 10**8)

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


def side_by_side(rows, last: str = "") -> tuple[list[str], list[list[str]]]:
    """Columns and cells of a comparison: what each tool costs at each n, and how many times as fast hegemon is."""
    found = {(row["tool"], row["n"]): row for row in rows}
    cells = []
    for n in sorted({row["n"] for row in rows}):
        here = [found.get((tool, n)) for tool in SIZES]
        costs = (f"{row['start_seconds']:.2g} + {row['seconds']:.2g}" if row else "–" for row in here)
        ratios = (ratio(rows, n, tool, set_up) for tool in ("batss", "ppsim") for set_up in (False, True))
        cells.append([f"{n:.0e}", *costs, *(f"{value:.3g}" if value else "–" for value in ratios)])
        if last:
            cells[-1].append(", ".join(f"{row['shares']['U']:.2g}" if row else "–" for row in here))
    tools = (f"{tool}, s" for tool in SIZES)
    columns = ["n", *tools, "× batss", "+ set-up", "× ppsim", "+ set-up", *([last] if last else [])]
    return columns, cells


def as_tables(rows, timers, tables, promises) -> list[tuple]:
    """Everything for people: title, columns and cells of each table."""
    shown = [
        (f"Approximate majority, {TIME} units of parallel time: set-up + run", *side_by_side(rows, "share of U")),
        (f"`timer` with 202 states, {TIME} units of parallel time: set-up + run", *side_by_side(timers)),
    ]
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
    timers = [] if arguments.without_peers else compare_timer(arguments.out)
    tables = [] if arguments.without_peers else compare_tables(arguments.out)
    promises = list(targets(rows))
    shown = as_tables(rows, timers, tables, promises)
    for table in shown:
        print_table(*table)
    if rows:
        draw(rows, arguments.out / "scale.png")
    content = {"majority": rows, "timer": timers, "time_optimal_in_the_peers": tables, "promises": promises}
    (arguments.out / "scale.json").write_text(json.dumps(content, indent=1))
    (arguments.out / "scale.md").write_text(markdown(shown))
    print(f"written: scale.json, scale.md{', scale.png' if rows else ''} in {arguments.out}")


if __name__ == "__main__":
    main()
