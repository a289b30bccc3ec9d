"""How exact chains grow: configurations, transitions and seconds, by `python -m benchmarks.verify`.

Writes a table, out/verify.json and out/verify.png. Each family stops when its next member would take too long.
"""

import json
import resource
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from rich.console import Console
from rich.table import Table

import hegemon as hg
from hegemon.exact.chain import estimate, whole_chain
from hegemon.exact.configurations import Configurations
from hegemon.runs.setting import topology_for

OUT = Path("out")
LONGEST = 20.0  # seconds: a family goes on while its last member took less

FAMILIES = {
    "ring, n = 2": [hg.Ring(n=2, N=N) for N in (2, 3, 4, 6, 8)],
    "ring, n = 3": [hg.Ring(n=3, N=N) for N in (3, 4, 5)],
    "timer, n = 4": [hg.Timer(n=4, s=s) for s in (4, 8, 16, 32)],
    "timer, s = 4": [hg.Timer(n=n, s=4) for n in (2, 4, 6, 8, 10)],
    "time-optimal, n = 3": [hg.TimeOptimal(n=3, r_max=r, b_max=r) for r in (2, 4, 8, 16)],
    "time-optimal, n = 4": [hg.TimeOptimal(n=4, r_max=r, b_max=r) for r in (2, 4, 8)],
    "pairwise": [hg.Pairwise(n=n) for n in (10, 100, 1000)],
}


def measure(protocol) -> dict:
    """The chain alone, then all answers."""
    space = Configurations(protocol, topology_for(protocol))
    begin = time.perf_counter()
    chain = whole_chain(space)
    explored = time.perf_counter() - begin
    answer = hg.verify(protocol)
    return {
        "protocol": protocol.id,
        "n": protocol.n,
        "parameters": protocol.parameters,
        "states": protocol.states,
        "configurations": chain.size,
        "labelled": space.labelled_size,
        "transitions": chain.transitions,
        "estimated_gib": estimate(space).gib,
        "explore_seconds": explored,
        "answer_seconds": answer.seconds,
        "worst_steps": answer.hitting.record()["worst"],
        "relative_error": answer.hitting.error,
    }


def main() -> None:
    for smallest in FAMILIES.values():  # compile before the clock runs
        measure(smallest[0])
    rows = []
    table = Table("family", "n", "states", "configurations", "transitions", "explored in", "answered in", "worst steps")
    for family, protocols in FAMILIES.items():
        for protocol in protocols:
            row = measure(protocol) | {"family": family}
            rows.append(row)
            worst = "–" if row["worst_steps"] is None else f"{row['worst_steps']:,.6g}"
            table.add_row(
                family, str(row["n"]), f"{row['states']:,}", f"{row['configurations']:,}", f"{row['transitions']:,}",
                f"{row['explore_seconds']:.2f} s", f"{row['answer_seconds']:.2f} s", worst,
            )  # fmt: skip
            if row["answer_seconds"] > LONGEST:
                break
    Console(width=140).print(table)
    OUT.mkdir(exist_ok=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30
    (OUT / "verify.json").write_text(json.dumps({"rows": rows, "peak_gib": peak}, indent=1) + "\n")
    draw(rows, OUT / "verify.png")
    Console().print(f"written: {OUT}/verify.json and {OUT}/verify.png (peak memory {peak:.2f} GiB)")


def draw(rows: list[dict], path: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for axis, column, title in zip(
        axes, ("explore_seconds", "answer_seconds"), ("building the chain", "all answers"), strict=True
    ):
        for family in dict.fromkeys(row["family"] for row in rows):
            mine = [row for row in rows if row["family"] == family]
            axis.loglog([row["configurations"] for row in mine], [row[column] for row in mine], "o-", label=family)
        axis.set(xlabel="configurations up to symmetry", ylabel="seconds", title=title)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
