"""Before a study starts: the number of trials and their cost, estimated from a few that are made and kept."""

import math
import threading
import time
from dataclasses import dataclass
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.experiments import worker
from hegemon.experiments.case import Case
from hegemon.experiments.costs import Costs
from hegemon.experiments.store.folder import Folder
from hegemon.files import written
from hegemon.system import memory_available, peak_memory

SECONDS = 3.0  # for the whole probe, without compilation
SLOW = 0.02  # seconds: a slower first trial may include preparation, so another one is made
LONGER, LONGEST = 0.01, 20.0  # the probe of a long study may take this share of its time, and this many seconds
BLOCK, BLOCK_SECONDS = 64, 0.005  # short trials that are tried together, and for how long
MOST_ALONE = 1 / 16  # the share of trials that an engine had to continue, up to which a study counts as made in blocks
FRESH = 250_000_000  # bytes: more than a new worker uses before its first trial
BYTES_PER_TRIAL = 200  # on disk, in records and table together; a generous estimate


@dataclass(frozen=True)
class StudyEstimate:
    """`seconds` of work by one worker, None if unknown; `memory` of one worker in bytes; whether the trials of all
    cases are so short that they are made `in_blocks`."""

    cases: int
    trials: int
    seconds: float | None
    memory: int
    in_blocks: bool = False


def probe(folder: Folder, waiting: list[tuple[Case, str]], goals: Any, slots: int) -> StudyEstimate:
    """Make one trial, or some short ones, of as many cases as a short time allows, small ones first, and extrapolate
    in n."""
    missing = {key: (goal := goals.goal(key, folder)) - folder.done[key].count(goal) for _, key in waiting}
    trials = sum(missing.values())
    require_disk(folder, trials)
    for case, _ in waiting:
        require_memory(least_memory(case), slots)
    told = {key: folder.seconds_per_trial(key) for _, key in waiting}  # from earlier commands
    cost = {key: seconds for key, seconds in told.items() if seconds is not None}
    before = memory = peak_memory()
    spent = 0.0
    in_blocks = 0  # number of cases
    for case, key in sorted(waiting, key=lambda item: item[0].protocol.n):
        left = max(SECONDS, min(LONGER * (_total(waiting, cost, missing) or 0), LONGEST)) - spent
        if left <= 0:
            break
        seconds, done, alone = math.inf, 0, 0
        for _ in range(2):
            gap = folder.done[key].gap(goals.goal(key, folder))
            if gap is None:
                break  # another driver on this folder has made it meanwhile
            count = min(BLOCK, gap[1] - gap[0]) if seconds < SLOW else 1
            answer, seconds = _some_trials(folder, case, key, gap[0], count, left)
            left, spent = left - seconds, spent + seconds
            memory = max(memory, answer["memory"])
            if answer["done"]:
                if told[key] is None:
                    cost[key] = min(answer["seconds"] / answer["done"], cost.get(key, math.inf))
                done, alone = done + answer["done"], alone + answer["alone"]
                folder.refresh()
            if not answer["done"] or left <= 0:
                break
        in_blocks += 0 < done >= alone / MOST_ALONE
    memory += min(before, FRESH) - before  # memory that this process used before does not count: workers start fresh
    require_memory(memory, slots)
    return StudyEstimate(len(waiting), trials, _total(waiting, cost, missing), memory, in_blocks == len(waiting))


def _total(waiting: Any, cost: dict[str, float], missing: dict[str, int]) -> float | None:
    """Estimated seconds of all missing trials; None if unknown."""
    costs = Costs((case, cost[key]) for case, key in waiting if key in cost)
    each = [costs.of(case) for case, _ in waiting]
    if not cost or None in each:
        return None
    return sum((seconds or 0) * missing[key] for seconds, (_, key) in zip(each, waiting, strict=True))


def _some_trials(
    folder: Folder, case: Case, key: str, first: int, count: int, seconds: float
) -> tuple[dict[str, Any], float]:
    """Make the first missing trial, or a few; stopped if it takes too long."""
    task = {
        "folder": str(folder.root.resolve()), "name": folder.name, "settings": case.settings,
        "seed": case.study_seed, "key": key, "first": first, "count": count,
        "seconds": BLOCK_SECONDS if count > 1 else 0.0,
    }  # fmt: skip
    try:
        worker.prepare(task)
    except Exception:
        pass  # the worker reports the error
    worker.stopping.clear()
    alarm = threading.Timer(seconds, worker.stopping.set)
    alarm.start()
    begin = time.perf_counter()
    try:
        return worker.work(task), time.perf_counter() - begin
    finally:
        alarm.cancel()
        worker.stopping.clear()


def require_disk(folder: Folder, trials: int) -> None:
    if trials * BYTES_PER_TRIAL > folder.bytes_free():
        raise InvalidInput(
            f"{trials:,} trials need about {written(trials * BYTES_PER_TRIAL)} and {folder.root} has "
            f"{written(folder.bytes_free())}; ask for fewer or give an --out with more room"
        )


def require_memory(memory: int, slots: int) -> None:
    """Refuse a study that needs more memory than this machine's workers have together."""
    available = memory_available()
    if available and memory * slots > available:
        fewer = f"give --workers {available // memory}" if memory <= available else "give a smaller n or more memory"
        raise InvalidInput(
            f"{slots} workers need about {written(memory * slots)} of memory and {written(available)} are free; {fewer}"
        )


def least_memory(case: Case) -> int:
    """Bytes that a trial needs at least: every agent's state, and the arcs of its graph where they are stored."""
    protocol, graph = case.protocol, case.graph or case.protocol.topology
    spread_out = graph.split(":")[0] != "complete"
    if not spread_out and case.record.engine != "agents":
        return 0
    state = protocol.space.dtype.itemsize if protocol.fields else 0
    return protocol.n * (state + (16 if spread_out else 0))
