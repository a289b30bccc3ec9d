"""What a study costs beyond its trials: the store beside a bare loop, tasks through Dask, memory of a million trials.

    python -m benchmarks.sweeps [store[=TRIALS]] [workers[=TRIALS]] [dask[=TASKS]] [memory[=TRIALS]]

Times of the store are processor seconds of this process, so other work on the machine counts little; tasks per
second through Dask and the gain of a second worker are by the clock, with the processor seconds of all processes
together beside them (`chrt -r 1 python -m …` keeps other work away from the clock).
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hegemon.experiments import study_driver
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.record_files import RecordFile, encode_record, to_columns
from hegemon.experiments.study import make_study
from hegemon.experiments.sweep import read_table, run_study
from hegemon.runs.simulate import simulate

N, TRIALS, TASKS, MILLION = 100, 100_000, 5_000, 1_000_000
RECORD, REST = 1_000, 10_000  # trials of one record, and those of a million that are really made


def seconds(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def store(trials: int = TRIALS) -> None:
    """One worker in this process: the same trials in a loop over `simulate`, and through the store to the table."""
    study = make_study("pairwise", axes={"n": N}, trials=trials)
    case = study.cases[0]
    topology = case.topology()
    with tempfile.TemporaryDirectory() as folder:
        run_study(make_study("pairwise", axes={"n": N - 1}, trials=2), Path(folder) / "first", workers=1)
        begin = seconds()
        steps = 0
        for trial in range(trials):
            run = simulate(**vars(case.record) | {"graph": topology, "seed": case.seed, "trial": trial})
            steps += run.steps
        bare = seconds() - begin
        begin = seconds()
        outcome = run_study(study, Path(folder) / "second", workers=1)
        stored = seconds() - begin
        size = sum(path.stat().st_size for path in outcome.folder.root.rglob("*") if path.is_file())
    print(f"store   {trials:,} trials of pairwise, n = {N} (processor seconds)")
    print(f"        bare loop {bare:.1f}, through the store {stored:.1f}: {stored / bare:.2f} times")
    print(f"        {size / trials:.0f} bytes a trial on disk")


def workers(trials: int = 2 * TRIALS) -> None:
    """The same short trials by one worker and by two, in turn: the trials alone, and the study with its table."""
    spent: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
    alone = [0.0]
    run = study_driver.StudyDriver.run

    def timed(driver: study_driver.StudyDriver) -> None:
        begin = time.perf_counter()
        run(driver)
        alone[0] = time.perf_counter() - begin

    study_driver.StudyDriver.run = timed
    for repeat in range(4):
        for size, found in spent.items():
            with tempfile.TemporaryDirectory() as folder:
                begin, used = time.perf_counter(), seconds()
                run_study(make_study("pairwise", axes={"n": 50}, trials=trials), folder, workers=size)
                if repeat:  # the first loads libraries
                    found.append((alone[0], time.perf_counter() - begin, seconds() - used))
    study_driver.StudyDriver.run = run
    one, two = (tuple(map(min, zip(*found, strict=True))) for found in spent.values())
    print(f"workers {trials:,} trials of pairwise, n = 50: one worker, two workers (least of 3, in turn)")
    for name, first, second in zip(("trials alone", "with the table", "processor"), one, two, strict=True):
        print(f"        {name}: {first:.2f} s, {second:.2f} s: {first / second:.2f} times")


def dask(tasks: int = TASKS) -> None:
    """One trial per task, through a Dask scheduler and two workers on loopback; the first fifth is not counted."""
    study_driver.LONGEST_FIRST = study_driver.MOST_TRIALS = 1
    marks: list[tuple[int, float, float]] = []

    class Clock(study_driver.StudyListener):
        def moved(self, driver) -> None:
            if driver.measured >= tasks // 5 and (not marks or driver.measured - marks[-1][0] > tasks // 5):
                marks.append((driver.measured, time.perf_counter(), all_seconds()))

    with tempfile.TemporaryDirectory() as folder:
        study = make_study("pairwise", axes={"n": 8}, trials=tasks)
        run_study(study, folder, cluster="dask:local", workers=2, listener=Clock())
    made, wall, used = (last - first for first, last in zip(marks[0], marks[-1], strict=True))
    print(f"dask    {made:,} tasks of one trial on dask:local, 2 workers")
    print(
        f"        {made / wall:,.0f} tasks per second by the clock, with {used / wall:.2f} processors; "
        f"{1000 * used / made:.1f} ms of processor time a task, all processes together"
    )


def all_seconds() -> float:
    """Processor seconds of this process and of those that it has started and that live."""
    return sum(
        sum(int(word) for word in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
        for pid in family(os.getpid())
    ) / os.sysconf("SC_CLK_TCK")


def memory(trials: int = MILLION) -> None:
    """A million trials by the command line: the most memory of all its processes together.

    All but the last ones stand in the store already, as copies of a few measured ones: making them would take a
    quarter of an hour. The workers make the rest, and the driver reads all records and writes the whole table.
    """
    with tempfile.TemporaryDirectory() as scratch:
        sample = run_study(make_study("pairwise", axes={"n": 4}, trials=RECORD), Path(scratch) / "few", workers=1)
        rows = read_table(sample.folder, ["steps", "reached", "leaders", "engine"]).to_dict("records")
        study = make_study("pairwise", axes={"n": 4}, trials=trials)
        folder = Folder(Path(scratch) / "study")
        folder.open(study)
        file = RecordFile(folder.records)
        for first in range(0, trials - REST, RECORD):
            record = {"case": study.cases[0].key, "first": first, "count": RECORD, "columns": to_columns(rows)}
            file.append(encode_record({**record, "seconds": 1.0}))
        file.close()
        command = [str(Path(sys.executable).with_name("hegemon")), "sweep", "pairwise", "--n", "4"]
        command += ["--trials", str(trials), "--workers", "2", "--out", str(folder.root)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        most = 0
        while process.poll() is None:
            most = max(most, sum(map(proportional, family(process.pid))))
            time.sleep(0.1)
        rows_written = len(read_table(folder, ["trial"])) if folder.table.exists() else 0
    print(f"memory  a study of {trials:,} trials of pairwise, n = 4, 2 workers; its table has {rows_written:,} rows")
    print(f"        {most / 2**20:.0f} MiB at most for all processes together")


def family(pid: int) -> list[int]:
    """A process and all that came of it."""
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        for children in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            try:
                waiting += [int(child) for child in children.read_text().split()]
            except OSError:
                pass
    return found


def proportional(pid: int) -> int:
    """Bytes of a process, memory that it shares counted in part."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def main() -> None:
    parts = {"store": store, "workers": workers, "dask": dask, "memory": memory}
    for word in sys.argv[1:] or parts:
        name, _, number = word.partition("=")
        parts[name](*([int(number)] if number else []))


if __name__ == "__main__":
    main()
