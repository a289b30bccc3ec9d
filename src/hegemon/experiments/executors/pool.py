"""What the driver must know of a place besides its executor, and which place a text names."""

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

    `start()` makes the executor; a broken one is replaced by calling it again. `abandon()` stops at once, whatever
    is running: what is not in the store yet will be measured again.
    """

    name = ""
    seconds = 1.0  # of one task: long enough to hide the cost of handing it out, short enough to lose it
    depth = 2  # tasks waiting per slot
    local_slots = 0  # workers on this very machine, whose memory they share
    lost: tuple[type[BaseException], ...] = ()  # the worker died with the task: not the task's fault, perhaps
    _workers: Any = 1
    _executor: Any

    @abstractmethod
    def start(self) -> Executor:
        """The executor; a new one if the last is broken."""

    def suited(self, in_blocks: bool) -> "Pool":
        """The pool for this study: its trials are made in blocks, or each by itself."""
        return self

    def slots(self) -> int:
        """How many tasks are worked on at a time, now."""
        return self._workers

    def abandon(self) -> None:
        """Stop at once."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Stop when nothing is running any more."""
        self.abandon()


def open_pool(cluster: str | None = None, workers: int | None = None) -> Pool:
    """The pool that `--cluster` and `--workers` describe; this machine's cores if nothing is said."""
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
