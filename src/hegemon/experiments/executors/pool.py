"""What the driver must know of a place besides its executor, and which place a text names."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor

from hegemon.errors import InvalidInput
from hegemon.models.expressions import whole_number

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

    @abstractmethod
    def start(self) -> Executor:
        """The executor; a new one if the last is broken."""

    @abstractmethod
    def slots(self) -> int:
        """How many tasks are worked on at a time, now."""

    @abstractmethod
    def abandon(self) -> None:
        """Stop at once."""

    def close(self) -> None:
        """Stop when nothing is running any more."""
        self.abandon()


def open_pool(cluster: str | None = None, workers: int | None = None) -> Pool:
    """The pool that `--cluster` and `--workers` describe; this machine's cores if nothing is said."""
    if workers is not None:
        workers = whole_number(workers, "workers", low=1)
    if cluster is None:
        from hegemon.experiments.executors.local import Processes, Thread

        return Thread() if workers == 1 else Processes(workers)
    kind, _, rest = cluster.partition(":")
    makers: dict[str, Callable[[], Pool]] = {
        "dask": lambda: _dask(rest, workers),
        "slurm": lambda: _slurm(rest, workers),
    }
    makers["mpi"] = lambda: _mpi(workers)
    if kind not in makers:
        raise InvalidInput(f"the cluster {cluster!r} is not understood; give one of {PLACES}")
    try:
        return makers[kind]()
    except ImportError as error:
        extra = {"dask": "hegemon[cluster]", "slurm": "hegemon[slurm]", "mpi": "mpi4py"}[kind]
        raise InvalidInput(f"--cluster {kind} needs a library ({error.name}): pip install '{extra}'") from None


def _dask(address: str, workers: int | None) -> Pool:
    from hegemon.experiments.executors.dask import Dask

    return Dask(address, workers)


def _slurm(options: str, workers: int | None) -> Pool:
    from hegemon.experiments.executors.slurm import Slurm

    return Slurm(options, workers)


def _mpi(workers: int | None) -> Pool:
    from hegemon.experiments.executors.mpi import Ranks

    return Ranks(workers)
