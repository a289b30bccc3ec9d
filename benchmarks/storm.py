"""Side by side with Storm on the same exported chain: `python -m benchmarks.storm [NAME …]`.

Expected steps to the safe set from everywhere, by hegemon (with its proved error), by Storm at its default precision,
and by Storm's sound methods. Each in a process of its own: CPU seconds of solving, the best of three after one that is
not measured (the machine may be busy), and how much the peak of memory grows while the chain is built (or read) and
solved. Errors are relative, against hegemon. Writes a table and out/storm.json.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hegemon as hg
from hegemon.exact.exports.chains import write_chain
from hegemon.exact.hitting import hitting_times

OUT = Path("out")
CASES = {
    "timer n = 4, s = 8": lambda: hg.Timer(n=4, s=8),
    "time-optimal n = 3, r = 8": lambda: hg.TimeOptimal(n=3, r_max=8, b_max=8),
    "pairwise n = 1000": lambda: hg.Pairwise(n=1000),
    "timer n = 6, s = 8": lambda: hg.Timer(n=6, s=8),
    "time-optimal n = 3, r = 16": lambda: hg.TimeOptimal(n=3, r_max=16, b_max=16),
    "ring n = 3, N = 4": lambda: hg.Ring(n=3, N=4),
    "timer n = 4, s = 32": lambda: hg.Timer(n=4, s=32),
}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB


def best(work: Callable[[], Any], runs: int = 3) -> tuple[Any, float]:
    """What it gives, and the least CPU seconds of several runs after one that is not measured."""
    found, seconds = work(), []
    for _ in range(runs):
        begin = time.process_time()
        found = work()
        seconds.append(time.process_time() - begin)
    return found, min(seconds)


def ours(name: str, folder: str) -> dict:
    """Compile on a small case, build the chain, solve; then write the chain for Storm."""
    small = hg.verify(hg.Timer(n=2, s=1))
    hitting_times(small.chain, "safe", small.inside, {})
    before = peak()
    answer = hg.verify(CASES[name](), property="reached")
    found, seconds = best(lambda: hitting_times(answer.chain, "safe", answer.inside, {}))
    sizes = {"configurations": answer.chain.size, "transitions": answer.chain.transitions}
    row = sizes | {"seconds": seconds, "mebibytes": peak() - before, "error": found.error}
    np.save(Path(folder) / "values.npy", found.values)
    write_chain(answer.chain, "drn", Path(folder) / "chain.drn", {"safe": answer.inside}, "safe")
    return row


def storm(name: str, folder: str, sound: bool) -> dict:
    import stormpy

    before, begin = peak(), time.process_time()
    model = stormpy.build_model_from_drn(str(Path(folder) / "chain.drn"))
    read = time.process_time() - begin
    (formula,) = stormpy.parse_properties('R{"steps"}=? [F "safe"]')
    environment = stormpy.Environment()
    if sound:
        environment.solver().force_soundness = True
    checked, seconds = best(lambda: stormpy.model_checking(model, formula, environment=environment))
    values = np.array(checked.get_value_vector())
    right = np.load(Path(folder) / "values.npy")
    reached = np.isfinite(right) & (right > 0)
    error = float((np.abs(values - right)[reached] / right[reached]).max(initial=0.0))
    return {"reading": read, "seconds": seconds, "mebibytes": peak() - before, "error": error}


def apart(work, *arguments):
    """In a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> None:
    rows = []
    table = Table("chain", "configurations", "by", "CPU seconds", "ratio", "relative error", "MiB", "ratio")
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            mine = apart(ours, name, folder)
            tried = {"hegemon": mine}
            tried |= {
                "Storm, default": apart(storm, name, folder, False),
                "Storm, sound": apart(storm, name, folder, True),
            }
        for who, row in tried.items():
            rows.append({"chain": name, "by": who} | row)
            faster = row["seconds"] / max(mine["seconds"], 1e-6)
            larger = row["mebibytes"] / max(mine["mebibytes"], 1.0)
            table.add_row(
                name, f"{mine['configurations']:,}", who, f"{row['seconds']:.3f}", f"{faster:.2f}",
                f"{row['error']:.1e}", f"{row['mebibytes']:.0f}", f"{larger:.2f}",
            )  # fmt: skip
    Console(width=140).print(table)
    OUT.mkdir(exist_ok=True)
    (OUT / "storm.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
