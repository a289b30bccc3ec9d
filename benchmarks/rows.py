"""Single figures of docs/scale.md, in processor seconds beside what is asked: `python -m benchmarks.rows [NAME …]`.

Every figure is the best of a few runs after one that compiles. Writes out/rows.json.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import hegemon as hg
from hegemon.graphs.families import parse

OUT = Path("out")


def best(work: Callable[[], object], runs: int = 3) -> tuple[float, object]:
    """The least processor seconds of several runs, after one that is not measured, and what the last one gave."""
    found = work()
    seconds = []
    for _ in range(runs):
        begin = time.process_time()
        found = work()
        seconds.append(time.process_time() - begin)
    return min(seconds), found


def ring() -> tuple[str, str]:
    hg.simulate(hg.Ring(n=20_000), seed=1)
    seconds, run = best(lambda: hg.simulate(hg.Ring(n=10**5), seed=1))
    return f"{seconds:.2f} s ({run.steps:,} steps)", "≤ 1.9 s, won below 1 s"


def ring_command() -> tuple[str, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", "from hegemon.cli.main import main; main()", "run", "ring", "--n", "1e6", "--json"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{seconds:.1f} s", "≤ 23 s, won below 10 s"


def rate(protocol, **options) -> str:
    seconds, run = best(lambda: hg.simulate(protocol, seed=1, **options))
    return f"{run.steps / seconds:.2g} steps/s"


def whole_set() -> tuple[str, str]:
    return rate(hg.Ring(n=300), start="safe", until="not C_PB", max_steps=10**7), "≥ 1e7 steps/s"


def whole_set_where_much_changes() -> tuple[str, str]:
    return rate(hg.Ring(n=300), start="random", until="safe and not C_PB", max_steps=10**6), "≥ 1e7 steps/s"


def either() -> tuple[str, str]:
    one = rate(hg.Timer(n=300), until="count(leader == 1) >= 299", max_steps=10**7)
    both = rate(hg.Timer(n=300), until="count(leader == 1) >= 299 or count(leader == 1) == 0", max_steps=10**7)
    return f"{both}, the first part alone {one}", "as fast as the first part"


def observing() -> tuple[str, str]:
    every = {"until": "steps:2000000", "every": 100}
    seconds, _ = best(lambda: hg.simulate(hg.Pairwise(n=1000), seed=1, **every))
    return f"{seconds / 20_001 * 1000:.4f} ms a row", "≤ 0.01 ms"


def short_trials() -> tuple[str, str]:
    seconds, _ = best(lambda: hg.run_trials(hg.Pairwise(n=50), 10_000, seed=1, workers=1))
    return f"{seconds * 10:.1f} s for 1e5 trials, from 1e4", "< 5 s"


def verify_timer() -> tuple[str, str]:
    hg.verify(hg.Timer(n=4, s=20))  # compiles for large chains
    found = []
    for s in (8, 16, 32):
        before = resident()
        size = hg.verify(hg.Timer(n=4, s=s)).chain.size
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
        seconds, _ = best(lambda s=s: hg.verify(hg.Timer(n=4, s=s)).ok, 1)
        bytes_each = f", {grown / size:.0f} bytes" if s == 32 else ""  # of small chains the rest of the process decides
        found.append(f"s = {s}: {seconds:.2f} s, {1e6 * seconds / size:.1f} µs{bytes_each} a configuration")
    return "; ".join(found), "linear in configurations, ≤ 100 bytes"


def resident() -> int:
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def messages() -> tuple[str, str]:
    """A user's protocol of plain fields, whole runs with their set-up, on engine `compiled` and on `nodes`."""
    found = []
    work = {
        "flood-max, regular:20000,8": (hg.FloodMax(n=20_000, diameter=40), "regular:20000,8"),
        "hirschberg-sinclair, n = 20,000": (hg.HirschbergSinclair(n=20_000), "oriented-ring:20000"),
    }
    for name, (protocol, spec) in work.items():
        graph = parse(spec, None, np.random.default_rng(1))
        for engine, runs in (("compiled", 3), ("nodes", 1)):
            made = lambda engine=engine: hg.simulate(protocol, graph=graph, seed=1, engine=engine)  # noqa: B023, E731
            seconds, run = best(made, runs)
            found.append(f"{name}, {engine}: {run.measures['messages'] / seconds:.2g} messages/s")
    return "; ".join(found), "≥ 5e6 messages/s"


ROWS = {
    "ring, n = N = 1e5, to S_RL, in process": ring,
    "`run ring --n 1e6`, whole command": ring_command,
    "a whole set that is not closed, n = 300, from `safe`": whole_set,
    "the same from `random`, where most steps change something": whole_set_where_much_changes,
    "`A or B` of counts, n = 300": either,
    "observing every 100 steps": observing,
    "1e5 trials of pairwise, n = 50, one core": short_trials,
    "`verify timer --n 4`": verify_timer,
    "messages of declared fields": messages,
}


def main() -> None:
    table, rows = Table("work", "measured", "asked", title="processor time, one core"), []
    chosen = {
        work: measure for work, measure in ROWS.items() if measure.__name__ in (sys.argv[1:] or [measure.__name__])
    }
    for work, measure in chosen.items():
        measured, asked = measure()
        print(f"{work}: {measured} (asked: {asked})", flush=True)
        table.add_row(work, measured, asked)
        rows.append({"work": work, "measured": measured, "asked": asked})
    Console(width=140).print(table)
    OUT.mkdir(exist_ok=True)
    (OUT / "rows.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
