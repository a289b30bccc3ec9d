"""Many runs from one seed, spread over threads; the kernels hold no lock, so threads use every core."""

import itertools
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass

from hegemon.errors import InvalidInput
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import simulate


@dataclass(frozen=True)
class Trials:
    """The finished runs in the order of their trials; `interrupted` when not all of them were."""

    runs: list[Run]
    wall_seconds: float
    interrupted: bool


def run_trials(
    protocol,
    trials: int,
    *,
    seed: int = 0,
    first: int = 0,
    graph=None,
    workers: int | None = None,
    report: Callable | None = None,
    **options,
) -> Trials:
    """Trials `first`, `first` + 1, …: trial k uses the streams of (seed, k) alone, so neither the number of
    workers nor the order matters, and a batch can be continued by the next one.

    `report(finished, steps)` is called about ten times a second. An interrupt from the keyboard stops the
    running trials and keeps the finished ones.
    """
    if trials < 1:
        raise InvalidInput(f"trials = {trials} is out of range; ask for at least 1")
    begin = time.perf_counter()
    graph = topology_for(protocol, graph, seed)
    cancel = threading.Event()
    steps = {}

    def one(trial: int) -> Run:
        def progress(step: int) -> bool:
            steps[trial] = step
            return cancel.is_set()

        return simulate(protocol, graph=graph, seed=seed, trial=trial, progress=progress, **options)

    finished: dict[int, Run] = {}
    waiting = {}
    upcoming = iter(range(first, first + trials))
    threads = workers or os.cpu_count() or 1
    pool = ThreadPoolExecutor(threads)
    try:
        while True:
            for trial in itertools.islice(upcoming, 4 * threads - len(waiting)):
                waiting[trial] = pool.submit(one, trial)
            if not waiting:
                break
            wait(waiting.values(), timeout=0.1, return_when=FIRST_COMPLETED)
            _collect(waiting, finished)
            if report:
                report(len(finished), sum(steps.values()))
    except KeyboardInterrupt:
        pass
    finally:
        cancel.set()
        pool.shutdown(wait=True, cancel_futures=True)
    _collect(waiting, finished)
    runs = [finished[t] for t in sorted(finished) if not finished[t].interrupted]
    return Trials(runs, time.perf_counter() - begin, len(runs) < trials)


def _collect(waiting: dict, finished: dict) -> None:
    """Move the trials that are done from one dictionary to the other."""
    for trial in [trial for trial, future in waiting.items() if future.done()]:
        future = waiting.pop(trial)
        if not future.cancelled():
            finished[trial] = future.result()
