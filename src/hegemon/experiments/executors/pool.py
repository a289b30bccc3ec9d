"""What the driver must know of a place where trials run, besides its executor; parsing of `--cluster`."""

from abc import ABC, abstractmethod
from concurrent.futures import Executor
from importlib import import_module
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.models.expressions import whole_number

KINDS = {"dask": ("Dask", "hegemon[cluster]"), "slurm": ("Slurm", "hegemon[slurm]"), "mpi": ("Ranks", "mpi4py")}
PLACES = "dask:local, dask:tcp://HOST:8786, slurm:partition=NAME, mpi"


class Pool(ABC):
    """An executor with the number of tasks it works on at a time, and how long one should take.

    `start()` makes the executor; a broken one is replaced by calling it again. `abandon()` stops at once, with
    tasks running: what is not in the store yet will be measured again.
    """

    name = ""
    seconds = 1.0  # of one task: long enough to hide the overhead of a task, short enough that losing one is cheap
    depth = 2  # tasks waiting per slot
    local_slots = 0  # workers on this machine, which share its memory
    lost: tuple[type[BaseException], ...] = ()  # errors of a worker that died; the task may not be the cause
    _workers: Any = 1
    _executor: Any

    @abstractmethod
    def start(self) -> Executor:
        """The executor; a new one if the last is broken."""

    def suited(self, in_blocks: bool) -> "Pool":
        """The pool for a study whose trials are made in blocks, or one by one."""
        return self

    def slots(self) -> int:
        """The number of tasks that are worked on at a time, at present."""
        return self._workers

    def abandon(self) -> None:
        """Stop at once."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Stop when all running tasks have ended."""
        self.abandon()


def open_pool(cluster: str | None = None, workers: int | None = None) -> Pool:
    """The pool that `--cluster` and `--workers` describe; this machine's cores by default."""
    if workers is not None:
        workers = whole_number(workers, "workers", low=1)
    if cluster is None:
        from hegemon.experiments.executors.local import Processes, Threads

        return Threads() if workers == 1 else Processes(workers)
    kind, _, rest = cluster.partition(":")
    if kind not in KINDS:
        raise InvalidInput(f"the cluster {cluster!r} is not understood; give one of {PLACES}")
    name, package = KINDS[kind]
    try:
        return getattr(import_module(f"hegemon.experiments.executors.{kind}"), name)(rest, workers)
    except ImportError as error:
        raise InvalidInput(f"--cluster {kind} needs a library ({error.name}): pip install '{package}'") from None
