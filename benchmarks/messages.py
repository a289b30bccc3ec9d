"""Message passing at scale: `python -m benchmarks.messages` writes a table, JSON and pictures into `out/`.

How long the largest elections take and how much memory, how the messages of `referees` grow, how it compares
with the classical algorithms, and what a budget of messages does to it. A few minutes.
"""

import json
import resource
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import hegemon as hg
from hegemon.experiments.budgets import budget_points, draw_budget

FOLDER = Path("out")
LARGEST = [
    ("referees, n = 10^10, one trial", hg.Referees, 10**10, None, 1, 30),
    ("referees, n = 10^6, 1,000 trials", hg.Referees, 10**6, None, 1000, 60),
    ("walks on regular:100000,8, one trial", hg.Walks, 10**5, "regular:100000,8", 1, 60),
]
SIZES = [100, 300, 1000, 3000, 10**4, 3 * 10**4, 10**5, 10**6, 10**7, 10**8, 10**9]
EXPONENTS = [k / 20 for k in range(2, 20)]


def largest() -> list[dict]:
    """The elections that the project promises a time for. Memory is the process's peak until then."""
    hg.simulate(hg.Referees(n=100))  # compile first
    hg.simulate(hg.Walks(n=100))
    rows = []
    for name, make, n, graph, trials, seconds in LARGEST:
        begin = time.perf_counter()
        runs = hg.run_trials(make(n=n), trials, seed=1, graph=graph).runs
        rows.append(
            {
                "election": name,
                "seconds": round(time.perf_counter() - begin, 2),
                "allowed_seconds": seconds,
                "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
                "one_leader": sum(run.reached for run in runs) / trials,
                "messages": sum(run.measures["messages"] for run in runs) / trials,
            }
        )
    return rows


def print_rows(title: str, rows: list[dict]) -> None:
    table = Table(*(name.replace("_", " ") for name in rows[0]), title=title, title_justify="left")
    for row in rows:
        table.add_row(*(f"{value:,.4g}" if isinstance(value, float) else f"{value}" for value in row.values()))
    Console(width=160).print(table)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    elections = largest()
    print_rows("the largest elections", elections)
    comparison = hg.compare_messages(SIZES)
    shown = [{name: row[name] for name in comparison.columns} for row in comparison.rows]
    print_rows("messages and rounds on complete graphs", shown)
    comparison.plot().save(FOLDER / "messages_comparison.png")
    sweeps = [
        list(budget_points(n, EXPONENTS, trials=100, candidates=candidates))
        for candidates in (1, None)
        for n in (10**4, 10**6, 10**8)
    ]
    draw_budget([row for rows in sweeps for row in rows], FOLDER / "messages_lower_bound.png")
    content = {"largest": elections, "comparison": comparison.rows, "lower_bound": sweeps}
    (FOLDER / "messages.json").write_text(json.dumps(content, indent=1))
    print(f"written: {FOLDER}/messages.json, messages_comparison.png, messages_lower_bound.png")


if __name__ == "__main__":
    main()
