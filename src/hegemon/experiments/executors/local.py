"""This machine: processes, each with one thread for its kernels; or threads of this process."""

import gc
import multiprocessing
import multiprocessing.resource_tracker as resource_tracker
import os
import signal
import threading
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import numba

from hegemon.experiments import worker
from hegemon.experiments.executors.pool import Pool


class Threads(Pool):
    """Workers without a process of their own: one, or several whose trials are made in blocks.

    The kernel of a block releases the GIL and takes nearly all of the time, so threads use every core, with what
    this process has imported and compiled already.
    """

    def __init__(self, workers: int = 1):
        self._workers = self.local_slots = workers
        self.name = "one thread" if workers == 1 else f"{workers} threads"

    def start(self) -> Executor:
        worker.stopping.clear()
        self._executor = ThreadPoolExecutor(self._workers)
        return self._executor

    def abandon(self) -> None:
        worker.stopping.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        self._executor.shutdown(wait=True)


class Processes(Pool):
    """Newly spawned processes, since compiled kernels and threads do not survive a fork."""

    lost = (BrokenExecutor,)

    def __init__(self, workers: int | None = None):
        self._workers = workers or os.cpu_count() or 1
        self.name = f"{self._workers} processes"
        self.local_slots = self._workers
        self._lifeline: Connection | None = None

    def suited(self, in_blocks: bool) -> Pool:
        return Threads(self._workers) if in_blocks else self

    def start(self) -> Executor:
        self._cut()
        _track_quietly()
        context = multiprocessing.get_context("spawn")
        listening, self._lifeline = context.Pipe(duplex=False)
        threads = max(1, (os.cpu_count() or 1) // self._workers)
        self._executor = ProcessPoolExecutor(self._workers, context, _begin, (listening, threads))
        return self._executor

    def abandon(self) -> None:
        self._cut()
        for process in list((getattr(self._executor, "_processes", None) or {}).values()):
            process.kill()  # a process that is still importing does not read its pipe yet
        self._executor.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        self._executor.shutdown(wait=True)
        self._cut()

    def _cut(self) -> None:
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None


def _track_quietly() -> None:
    """Start Python's tracker of semaphores without standard error: it outlives a driver that is killed, cleans up after
    it and would fill the terminal with warnings about that."""
    if os.name != "posix":
        return  # no tracker on this system
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        resource_tracker.ensure_running()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _begin(lifeline: Any, threads: int) -> None:
    """Set up a worker, which ends when the driver's end of the pipe is closed, however the driver ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides when to stop
    gc.set_threshold(100_000)  # the same as in commands
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threading.Thread(target=_follow, args=(lifeline,), daemon=True).start()


def _follow(lifeline: Any) -> None:
    try:
        lifeline.recv()
    except (EOFError, OSError):
        pass
    os._exit(1)
