"""Guards the speed of every engine: `python -m benchmarks.guard`, which CI runs after the tests.

Each workload is timed in processor seconds beside a yardstick, a frozen loop that does not change with the program.
Both run in turn, several times; the fastest of each count, since other processes can only slow one down. The ratio is
compared with the one that `guard.json` has for this kind of processor. A workload that lost more than a fifth is shown;
one that lost more than a half, in two more tries too, fails. Kinds of processors differ (one divides slowly, another
has a larger cache), by up to a half from one workload to another: on a kind without a record, each workload is compared
with the typical one, the median, and only a loss of more than twice fails. `--record` writes this commit's ratios for
this kind, `--record events` that of one workload.
"""

import argparse
import json
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

import hegemon as hg
from benchmarks.majority import ApproximateMajority
from hegemon.experiments.study import make_study
from hegemon.experiments.sweep import run_study

RECORDED = Path(__file__).with_name("guard.json")
SHOWN, FAILED, FAILED_ELSEWHERE = 1.2, 1.5, 2.0  # times the recorded ratio; on a kind of processor without a record
ROUNDS, TRIES = 7, 3
Ratios = dict[str, float]


@numba.njit(cache=True)
def yardstick(rounds: int, memory: np.ndarray) -> int:
    """Arithmetic, branches and reads from memory. Never change it: recorded ratios would lose their meaning."""
    x, found = np.uint64(88172645463325252), 0
    for _ in range(rounds):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        place = x % np.uint64(len(memory))
        if memory[place] < x & np.uint64(255):
            found += 1
        memory[place] = np.uint8(x >> np.uint64(56))
    return found


def run(protocol, **options) -> Callable[[], object]:
    return lambda: hg.simulate(protocol, seed=1, **options)


def sweep() -> None:
    """A study of many short trials, through the store, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        run_study(make_study("pairwise", axes={"n": 50}, trials=4000), folder, workers=1)


def workloads() -> dict[str, Callable[[], object]]:
    """Every engine, exact chains, a holding time, a sweep and many short trials, about a tenth of a second each."""
    return {
        "agents, codes": run(hg.TimeOptimal(n=10_000), until="steps:10000000", engine="agents"),
        "agents, records": run(hg.Ring(n=2_000), until="steps:4000000", engine="agents"),
        "events": run(hg.Ring(n=6_000), start="random"),
        "batch, epochs": run(ApproximateMajority(n=10**8), until="steps:1000000000", engine="batch"),
        "batch, jumps": run(hg.Pairwise(n=3 * 10**6), engine="batch"),
        "rounds": run(hg.Herman(n=1001), until="rounds:12000", fast_forward=False, threads=1),
        "fast-forward": run(hg.Trains(n=400, N=10), graph="torus:20x20", threads=1),
        "daemon": run(hg.Herman(n=1001), until="steps:10000", scheduler="central:uniform"),
        "nodes": lambda: hg.run_trials(hg.FloodMax(n=32), 20, seed=1, engine="nodes", workers=1),
        "compiled": lambda: hg.run_trials(hg.HirschbergSinclair(n=1024), 20, seed=1, engine="compiled", workers=1),
        "contacts": run(hg.Referees(n=10**7), engine="contacts"),
        "tokens": run(hg.Walks(n=4096, mixing_time=400), graph="hypercube:12", engine="tokens"),
        "whole set, not closed": run(hg.Ring(n=300), start="safe", until="not C_PB", max_steps=10**7),
        "short trials": lambda: hg.run_trials(hg.Pairwise(n=50), 4000, seed=1, workers=1),
        "sweep": sweep,
        "verify": lambda: hg.verify(hg.Timer(n=4, s=16)),
        "first visit": lambda: hg.verify(hg.Timer(n=4, s=16), property="reached"),
        "holding": lambda: hg.holding(hg.Timer(n=3, s=3), seed=1, relative=1, budget=10**5, workers=1),
    }


def processor_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def rounds(chosen: dict[str, Callable[[], object]]) -> dict[str, list[tuple[float, float]]]:
    """Processor seconds of each workload and of the yardstick, in turn. A round takes all workloads, so that a busy
    moment, or a neighbour in the shared cache for some seconds, reaches one round of each and not all rounds of one."""
    memory = np.zeros(1 << 20, np.uint8)
    for work in [lambda: yardstick(10, memory), *chosen.values()]:
        work()  # what is compiled, or learned once for all runs, is not measured
    made: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    for _ in range(ROUNDS):
        for name, work in chosen.items():
            made[name].append((processor_seconds(work), processor_seconds(lambda: yardstick(20_000_000, memory))))
    return made


def ratio(made: list[tuple[float, float]]) -> float:
    """Processor time of a workload beside that of the yardstick: the fastest of each."""
    return min(ours for ours, _ in made) / min(rule for _, rule in made)


def samples(names: list[str]) -> dict[str, list[tuple[float, float]]]:
    known = workloads()
    return rounds({name: known[name] for name in names})


def measure(names: list[str]) -> dict[str, float]:
    return {name: ratio(made) for name, made in samples(names).items()}


def kind_of_processor() -> str:
    """Maker, family and model, as Linux has them: names are no use, since virtual machines share one."""
    about = Path("/proc/cpuinfo")
    lines = [line.partition(":") for line in about.read_text().splitlines()] if about.exists() else []
    known = {key.strip(): value.strip() for key, _, value in lines}
    parts = [known[key] for key in ("vendor_id", "cpu family", "model") if key in known]
    return " ".join(parts) or platform.machine()


class Standard(NamedTuple):
    """What this processor is judged by."""

    records: dict[str, Ratios]  # of every kind
    kind: str

    @property
    def bound(self) -> float:
        return FAILED if self.kind in self.records else FAILED_ELSEWHERE

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for record in self._records for name in record))

    @property
    def _records(self) -> list[Ratios]:
        return [self.records[self.kind]] if self.kind in self.records else list(self.records.values())

    def expected(self, ratios: Ratios) -> Ratios:
        """The recorded ratios. On a kind without a record: those of other kinds, smaller if most are smaller here (the
        yardstick is slow), and the largest of them."""
        if self.kind in self.records:
            return self.records[self.kind]
        found: Ratios = {}
        for record in self._records:
            changes = [now / record[name] for name, now in ratios.items() if name in record]
            typical = min(1.0, statistics.median(changes)) if changes else 1.0
            found |= {name: max(typical * then, found.get(name, 0.0)) for name, then in record.items()}
        return found

    def losses(self, ratios: Ratios, bound: float) -> list[str]:
        """The workloads that take more than `bound` times what is expected."""
        then = self.expected(ratios)
        return [name for name, now in ratios.items() if name in then and now > bound * then[name]]


def false_alarms(made: dict[str, list[tuple[float, float]]], standard: Standard, runs: int) -> list[int]:
    """How many of this many judgements would fail, and how many would show a loss, if each drew its rounds, with
    replacement, from those that were measured."""
    rng = random.Random(1)

    def draw(names: list[str]) -> Ratios:
        return {name: ratio(rng.choices(made[name], k=ROUNDS)) for name in names}

    judged = [judge(draw, standard) for _ in range(runs)]
    return [sum(bool(failed) for _, failed in judged), sum(bool(standard.losses(now, SHOWN)) for now, _ in judged)]


def judge(measure: Callable[[list[str]], Ratios], standard: Standard) -> tuple[Ratios, list[str]]:
    """All ratios, and the workloads that failed in every try."""
    ratios = measure(standard.names)
    suspects = standard.losses(ratios, standard.bound)
    for _ in range(TRIES - 1):
        if suspects:
            again = measure(suspects)
            ratios |= {name: min(ratios[name], now) for name, now in again.items()}
            suspects = standard.losses(ratios, standard.bound)
    return ratios, suspects


def merged(recorded: Ratios, ratios: Ratios) -> Ratios:
    """What was recorded, with these ratios, in the order of the workloads; those that are gone are left out."""
    known = recorded | {name: round(value, 4) for name, value in ratios.items()}
    return {name: known[name] for name in workloads() if name in known}


def show(ratios: Ratios, standard: Standard) -> None:
    title = "processor time beside the yardstick"
    if standard.kind not in standard.records:
        title += f"; no record of processors {standard.kind}: estimated from others"
    table = Table("workload", "ratio", "expected", "change", title=title)
    slower, expected = standard.losses(ratios, SHOWN), standard.expected(ratios)
    for name, now in ratios.items():
        then = expected.get(name)
        change = "new" if then is None else f"{now / then - 1:+.0%}" + (" slower" if name in slower else "")
        table.add_row(name, f"{now:.3f}", "–" if then is None else f"{then:.3f}", change)
    Console().print(table)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--record",
        nargs="*",
        metavar="WORKLOAD",
        help="write the ratios of this commit, of all or of these, to guard.json, for this kind of processor",
    )
    parser.add_argument("--alarms", type=int, metavar="RUNS", help="how often judgements by this machine's noise fail")
    given = parser.parse_args(arguments)
    records = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    standard = Standard(records, kind_of_processor())
    if given.record is not None:
        ratios = measure(given.record or list(workloads()))
        show(ratios, standard)
        records[standard.kind] = merged(records.get(standard.kind, {}), ratios)
        RECORDED.write_text(json.dumps(records, indent=2) + "\n")
        return 0
    if given.alarms:
        failed_runs, shown_runs = false_alarms(samples(standard.names), standard, given.alarms)
        print(
            f"of {given.alarms} judgements drawn from {ROUNDS} rounds measured here: {failed_runs} fail, "
            f"{shown_runs} show a loss"
        )
        return 0
    ratios, failed = judge(measure, standard)
    show(ratios, standard)
    for name in failed:
        times = ratios[name] / standard.expected(ratios)[name]
        print(f"{name}: {times:.2f} times the expected processor time; find the cause, or record the new ratio")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
