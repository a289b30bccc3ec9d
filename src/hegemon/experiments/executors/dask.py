"""A Dask cluster: one that is running, or one of threads of this process.

Anyone who can connect to a Dask scheduler can run code in its workers. So our own has no socket at all: its scheduler
and its workers communicate inside this process. docs/clusters.md says what a shared scheduler implies.
"""

import logging
import math
import os
import time
from concurrent.futures import CancelledError, Executor
from contextlib import suppress
from typing import Any

from distributed import Client, KilledWorker, Scheduler, SpecCluster, Worker

from hegemon.errors import InvalidInput, Unfinished
from hegemon.experiments import worker
from hegemon.experiments.executors.gathering import Gathering
from hegemon.experiments.executors.pool import Pool

PATIENCE_SECONDS = 10
LOOK_SECONDS = 0.01
BUNDLE_SECONDS = 0.05  # shorter tasks are sent in bundles, since a message would cost more than the task
LARGEST_BUNDLE = 16


class Dask(Pool):
    depth = 32
    lost = (KilledWorker, CancelledError)

    def __init__(self, address: str, workers: int | None = None):
        if address != "local" and "://" not in address:
            raise InvalidInput(f"the cluster dask:{address} is not understood; give dask:local or dask:tcp://HOST:8786")
        self._address, self._workers = address, workers
        self._client: Client | None = None
        self._cluster: SpecCluster | None = None
        self._executor: Batches | None = None
        self._slots, self._looked = 0, -math.inf
        self.name = f"Dask, {address}"

    def start(self) -> Executor:
        if self._executor is None:
            worker.stopping.clear()
            self._executor = Batches(self._client or self._connect())
        return self._executor

    def _connect(self) -> Client:
        try:
            if self._address == "local":
                self._cluster = private_cluster(self._workers or os.cpu_count() or 1)
            where = self._cluster or self._address
            self._client = client = Client(where, timeout=PATIENCE_SECONDS, set_as_default=False)
            logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # the driver reports a lost scheduler
        except (OSError, ValueError, TimeoutError) as error:
            raise InvalidInput(f"there is no Dask scheduler at {self._address} ({error}); start it first") from None
        return client

    def slots(self) -> int:
        """Threads of all workers, read at most a second ago, since workers come and go."""
        client = self._client
        if client is not None and time.monotonic() - self._looked > 1:
            try:
                self._slots = sum(client.nthreads().values())
            except (OSError, ValueError, TimeoutError, CancelledError):
                self._slots = 0
            if client.status not in ("running", "connecting"):
                raise Unfinished(f"the Dask scheduler at {self._address} is gone; run the same command again to go on")
            self._looked = time.monotonic()
        return self._slots

    def abandon(self) -> None:
        """Close the client, which forgets its tasks, and a cluster of our own."""
        executor, client, cluster = self._executor, self._client, self._cluster
        self._executor = self._client = self._cluster = None
        if cluster is not None:
            worker.stopping.set()  # its threads end at their next check
        if executor is not None:
            executor.shutdown(wait=False)
        for one in (client, cluster):
            with suppress(TimeoutError, OSError):  # it ends with this process anyway
                if one is not None:
                    one.close(timeout=2)


class PrivateScheduler(Scheduler):
    def start_http_server(self, *_: object, **__: object) -> None:
        """Does nothing: Dask would serve its dashboard to every network that this machine is in."""


class PrivateWorker(Worker):
    def start_http_server(self, *_: object, **__: object) -> None:
        """Does nothing, as above."""


def private_cluster(workers: int) -> SpecCluster:
    """A scheduler and its workers, each one thread, in this process; nothing listens on any port."""
    told = {"protocol": "inproc://", "dashboard": False}
    one = {"cls": PrivateWorker, "options": told | {"nthreads": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL}}
    scheduler = {"cls": PrivateScheduler, "options": told}
    return SpecCluster(scheduler=scheduler, workers=dict.fromkeys(range(workers), one), silence_logs=logging.CRITICAL)


class Batches(Gathering):
    """`concurrent.futures` over a client: tasks submitted since the last poll go to the scheduler in one message,
    and the results since then are fetched in one. Tasks that turn out to be very short are sent in bundles."""

    def __init__(self, client: Client):
        self._client = client
        self._seconds = 1.0  # of a recent task
        self._running: dict[Any, list[Any]] = {}
        super().__init__(LOOK_SECONDS)

    def _look(self) -> None:
        self._send()
        ended = {task: future for task, future in self._running.items() if task.status != "pending"}
        for task in ended:
            del self._running[task]
        self._answer(ended)

    def _send(self) -> None:
        batch = self._gathered()
        if not batch:
            return
        size = max(1, min(LARGEST_BUNDLE, int(BUNDLE_SECONDS / self._seconds)))
        bundles = [batch[first : first + size] for first in range(0, len(batch), size)]
        calls = [[item[1:] for item in bundle] for bundle in bundles]
        futures = [[item[0] for item in bundle] for bundle in bundles]
        try:  # no retries: the driver decides about dead workers, since it knows what is in the store
            tasks = self._client.map(_call_all, calls, pure=False, retries=0)
        except Exception as error:  # the cluster may fail in any way: who waits gets the error
            for future in (one for bundle in futures for one in bundle):
                future.set_exception(error)
            return
        self._running |= dict(zip(tasks, futures, strict=True))

    def _answer(self, ended: dict[Any, list[Any]]) -> None:
        finished = [task for task in ended if task.status == "finished"]
        try:
            answers = dict(zip(finished, self._client.gather(finished), strict=True))
        except Exception:  # one of them is lost, or the client is closed: fetch each by itself
            answers = {}
        for task, futures in ended.items():
            try:
                seconds, found = answers[task] if task in answers else task.result()
            except Exception as error:  # a task's error is that of its futures
                for future in futures:
                    future.set_exception(error)
                continue
            self._seconds = max(1e-4, 0.8 * self._seconds + 0.2 * seconds / len(futures))
            for future, (answer, failure) in zip(futures, found, strict=True):
                if failure is None:
                    future.set_result(answer)
                else:
                    future.set_exception(failure)


def _call_all(calls: list[tuple[Any, ...]]) -> tuple[float, list[tuple[Any, ...]]]:
    """Runs on a worker: makes the calls in order; returns their seconds, and a result or error for each."""
    begin = time.perf_counter()
    found: list[tuple[Any, ...]] = []
    for function, args, kwargs in calls:
        try:
            found.append((function(*args, **kwargs), None))
        except Exception as error:  # a task's error travels back to its driver
            found.append((None, error))
    return time.perf_counter() - begin, found
