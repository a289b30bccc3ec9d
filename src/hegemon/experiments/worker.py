"""The work of a worker: a few trials of one case, one after the other, written to the study's folder.

A task and its result are plain values, so that any executor can transport them. A worker that can access the folder
writes its own file there; any other sends its record back. It refuses to run with code other than the driver's.
"""

import json
import math
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hegemon.engines.pacing import Pace
from hegemon.errors import InvalidInput
from hegemon.experiments.case import Case
from hegemon.experiments.names import observed_as
from hegemon.experiments.store.moments import moments_of
from hegemon.experiments.store.record_files import MOST_TRIALS, Columns, RecordFile, encode_record
from hegemon.graphs.topology import Topology
from hegemon.kept import read_kept
from hegemon.models.naming import asked_observables
from hegemon.protocols.loading import name_protocol
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.simulate import course_of, simulate
from hegemon.runs.trial import BLOCK_ENGINE, Block, Course, Trial
from hegemon.system import locked, peak_memory, user

if TYPE_CHECKING:
    from hegemon.models.configuration import Configuration
    from hegemon.process.membership import Watcher

stopping = threading.Event()  # set by a driver with workers in threads of its own process, to stop them
_files: dict[str, RecordFile] = {}
_compiled: set[Any] = set()
_seen: set[Any] = set()  # folders that this process has verified to be the driver's


def work(task: dict[str, Any]) -> dict[str, Any]:
    """Run trials `first` … of a case: at most `count`, at least one, and no more than fit into `seconds`."""
    begin = time.perf_counter()
    answer = {"key": task["key"], "first": task["first"], "done": 0, "place": None, "line": None, "error": None}
    answer["moments"], answer["alone"] = (), 0
    rows = Columns()
    try:
        prepared = prepare(task)
        begin = time.perf_counter()  # preparation is not part of a trial
        last = task["first"] + min(task["count"], MOST_TRIALS)
        for part in _parts(prepared, range(task["first"], last), begin + task["seconds"]):
            rows.add(part.columns, part.size)
            answer["alone"] += part.is_alone
    except InvalidInput as error:
        answer["error"] = str(error)
    except Exception as error:  # a case that fails is reported; the others go on
        answer["error"] = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - begin
    if rows.count:
        record = {"case": task["key"], "first": task["first"], "count": rows.count, "columns": rows.content()}
        _deliver({**record, "seconds": round(seconds, 6)}, task, answer)
        answer["done"], answer["moments"] = rows.count, astuple(moments_of(record))
    if answer["error"]:
        failed = task["first"] + rows.count
        record = {"case": task["key"], "first": failed, "count": 0, "error": answer["error"]}
        _deliver(record, task, {})
    return answer | {"seconds": seconds, "memory": peak_memory(), "worker": os.getpid()}


class TrialColumns(NamedTuple):
    """Some trials: their columns, their number, and whether this is a single trial with an engine of its own."""

    columns: dict[str, list[Any]]
    size: int
    is_alone: bool


def _parts(prepared: "Prepared", trials: range, end: float) -> Iterator[TrialColumns]:
    """Run trials in order, short ones many at a time, until the time `end`: at least one."""
    course, pace = prepared.course, Pace(prepared.amount)
    while trials:
        size = min(pace.amount, course.at_once)
        piece, trials = trials[:size], trials[size:]
        pace.start()
        block = course.block(piece)
        for part in _single(prepared, piece) if block is None else _rows(prepared, block, piece):
            yield part
            if part.is_alone and time.perf_counter() > end:
                return
        if stopping.is_set() or time.perf_counter() > end:
            return
        pace.done(len(piece))
        prepared.amount = pace.amount


def _single(prepared: "Prepared", trials: range) -> Iterator[TrialColumns]:
    for trial in trials:
        run = prepared.course(prepared.trial(trial))
        if run.interrupted:
            return
        yield _part(prepared, run)


def _rows(prepared: "Prepared", block: Block, trials: range) -> Iterator[TrialColumns]:
    """The results of a block, in the order of its trials; long trials are continued here by an engine of their own."""
    begin = 0
    for row in (*np.flatnonzero(~block.over).tolist(), len(trials)):
        if begin < row:
            yield TrialColumns(_columns(prepared, block, begin, row), row - begin, is_alone=False)
        if row < len(trials):
            run = block.go_on(row, prepared.trial(trials[row]))
            if run.interrupted:
                return
            yield _part(prepared, run)
        begin = row + 1


def _part(prepared: "Prepared", run: Run) -> TrialColumns:
    row = row_of(run) | prepared.observed(run.configuration)
    return TrialColumns({name: [value] for name, value in row.items()}, 1, is_alone=True)


def _columns(prepared: "Prepared", block: Block, begin: int, end: int) -> dict[str, list[Any]]:
    """The columns of finished trials, with the values of `row_of`."""
    columns = {block.unit: block.steps[begin:end].tolist(), "reached": block.reached[begin:end].tolist()}
    columns |= {"leaders": list(block.leaders[begin:end]), "engine": [BLOCK_ENGINE] * (end - begin)}
    if prepared.watcher:
        rows = [prepared.observed(block.final(row)) for row in range(begin, end)]
        columns |= {name: [row[name] for row in rows] for name in rows[0]}
    return columns


@dataclass
class Prepared:
    """What the tasks of a case share, also in several threads."""

    course: Course
    watcher: "Watcher | None" = None  # of what a study observes: the last configuration of each trial
    amount: int = 1  # trials that fit between two readings of the clock, as measured by the last task

    def trial(self, number: int) -> Trial:
        return Trial(number, keep=self.watcher is not None, progress=_progress)

    def observed(self, configuration: "Configuration | None") -> dict[str, Any]:
        """The observables of a trial's last configuration, as columns."""
        if self.watcher is None or configuration is None:
            return {}
        return {observed_as(name): plain(value) for name, value in self.watcher.measure(configuration).items()}


def prepared_for(record: MadeRecord) -> Prepared:
    """What makes the trials of a record, whose observables are measured at the end of each trial."""
    course: Any = course_of(record)  # refuses what the model has no observables for
    if not record.observe:
        return Prepared(course)
    course = course_of(replace(record, observe=False))
    from hegemon.process.membership import Watcher

    return Prepared(
        course, Watcher(course.protocol, asked_observables(course.protocol, record.observe), course.topology)
    )


def prepare(task: dict[str, Any]) -> Prepared:
    """The course of a task's case, made and compiled once in each process."""
    return _prepare(json.dumps(task["settings"]), task["seed"], task["key"])


def row_of(run: Run) -> dict[str, Any]:
    """What the store keeps of a run: results without configurations."""
    row = {run.unit: run.steps, "reached": run.reached, "leaders": run.leaders, "engine": run.engine}
    for name in run.measures:
        if name in row or name in ("case", "trial", "parallel_time"):
            raise InvalidInput(
                f"{run.protocol} measures {name!r}, which is a column of every table; rename the measure"
            )
    row = {**row, **run.measures}
    return {name: plain(value) for name, value in row.items()}


def plain(value: Any) -> Any:
    """The value in the form of a record: None for NaN, a string for infinity or a composite value."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, default=str)


def _progress(step: int) -> bool:
    return stopping.is_set()


@lru_cache(maxsize=4)
def _prepare(settings: str, seed: int, key: str) -> Prepared:
    case = Case(json.loads(settings), seed)
    name_protocol(str(case.settings.get("protocol")))  # the user has named it to the driver, which imported it
    if case.key != key:
        raise InvalidInput(
            "this worker has other code, other libraries or other files than the driver; install the same on both"
        )
    topology = case.topology()
    _compile(case, topology)
    return prepared_for(MadeRecord(**vars(case.record) | {"graph": topology, "seed": case.seed}))


def _compile(case: Case, topology: Topology) -> None:
    """Compile the kernels of a case: the first process on a machine compiles, the others wait for the cache."""
    record = case.record
    kind = (type(case.protocol), topology.is_complete, *(str(value) for value in record.given.values()))
    fixed = str(record.until).startswith(f"{case.protocol.time_unit}:")
    if kind in _compiled or fixed:  # a run of fixed length cannot be limited to one step
        return
    _compiled.add(kind)
    with _machine_lock():
        simulate(**vars(record) | {"graph": topology, "seed": case.seed, "max_steps": 1, "faults": ()})


@contextmanager
def _machine_lock() -> Iterator[None]:
    """A lock for one process of this user on this machine at a time; the system releases it when a process dies."""
    path = Path(tempfile.gettempdir()) / f"hegemon-compiling-{user()}.lock"
    with open(path, "a") as file, locked(file):
        yield


def _deliver(record: dict[str, Any], task: dict[str, Any], answer: dict[str, Any]) -> None:
    """Write the record into the folder, if this machine can access it; else return it with the result."""
    line = encode_record(record)
    records = Path(task["folder"]) / "records"
    if (task["folder"], task["name"]) in _seen or sees_folder(task["folder"], task["name"]):
        _seen.add((task["folder"], task["name"]))
        file = _files.setdefault(str(records), RecordFile(records))
        try:
            answer["place"] = file.append(line)
            return
        except InvalidInput as error:
            answer["unwritten"] = str(error)
    answer["line"] = line


def sees_folder(root: str, name: str) -> bool:
    try:
        return bool(read_kept(Path(root) / "study.json", "study")["folder"] == name)
    except InvalidInput:
        return False
