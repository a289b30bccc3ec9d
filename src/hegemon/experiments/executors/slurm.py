"""Slurm, through submitit: tasks are collected and submitted as job arrays; results come back through its folder."""

from concurrent.futures import Executor, Future
from typing import Any

import submitit

from hegemon.errors import InvalidInput
from hegemon.experiments.executors.gathering import Gathering
from hegemon.experiments.executors.pool import Pool
from hegemon.models.expressions import number_or_text
from hegemon.system import require_posix

LOOK_SECONDS = {"slurm": 5.0, "local": 0.1}
SHARED = ("cluster", "folder", "name", "timeout_min", "mem_gb", "cpus_per_task", "nodes", "tasks_per_node")
HELP = "give slurm:partition=NAME,timeout_min=60,…; the names are those of submitit's AutoExecutor"


class JobLost(RuntimeError):
    """A job ended without a result: cancelled, out of time or memory, or its node failed."""


class Slurm(Pool):
    seconds = 600.0  # long tasks, since a job waits in the queue for minutes
    depth = 1
    lost = (JobLost,)

    def __init__(self, text: str, workers: int | None = None):
        require_posix("Slurm", "use the executor local")
        self._options = {}
        for part in filter(None, text.split(",")):
            name, equals, value = part.partition("=")
            if not equals or not name or not value:
                raise InvalidInput(f"the cluster option {part!r} is not understood; {HELP}")
            name = name.strip()
            plain = name in SHARED or name.startswith(("slurm_", "local_"))
            self._options[name if plain else f"slurm_{name}"] = number_or_text(value.strip())
        self._where = str(self._options.pop("cluster", "slurm"))
        self._folder = str(self._options.pop("folder", ".hegemon-jobs"))
        self._workers = workers or (2 if self._where == "local" else 100)
        if self._where == "local":
            self.seconds = 1.0
        self.name = f"submitit on {self._where}, {self._workers} jobs at a time"

    def start(self) -> Executor:
        try:
            jobs = submitit.AutoExecutor(self._folder, cluster=self._where)
            jobs.update_parameters(**{"name": "hegemon", **self._options})
        except (RuntimeError, ValueError, NameError, TypeError, OSError) as error:
            raise InvalidInput(f"Slurm cannot be used here: {error}; {HELP}") from None
        self._executor = JobArrays(jobs, LOOK_SECONDS.get(self._where, 5.0))
        return self._executor


class JobArrays(Gathering):
    """`concurrent.futures` over submitit: tasks submitted since the last poll become one job array."""

    def __init__(self, jobs: "submitit.Executor", look_seconds: float):
        self._jobs = jobs
        self._running: dict[Future[Any], Any] = {}
        super().__init__(look_seconds)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._thread.join()  # even without `wait`: the jobs are then cancelled below
        for future, job in self._running.items():
            job.cancel(check=False)
            future.cancel()

    def _look(self) -> None:
        self._send(self._gathered())
        for future, job in list(self._running.items()):
            if job.done():
                del self._running[future]
                _answer(future, job)

    def _send(self, batch: list[tuple[Any, ...]]) -> None:
        if not batch:
            return
        futures = [future for future, *_ in batch]
        try:
            with self._jobs.batch():
                jobs = [self._jobs.submit(function, *args, **kwargs) for _, function, args, kwargs in batch]
        except Exception as error:  # Slurm refused: every waiting task gets the error
            for future in futures:
                future.set_exception(InvalidInput(f"Slurm refused the jobs: {error}; {HELP}"))
            return
        self._running |= dict(zip(futures, jobs, strict=True))


def _answer(future: Future[Any], job: Any) -> None:
    try:
        future.set_result(job.result())
    except submitit.core.utils.UncompletedJobError as error:
        future.set_exception(JobLost(str(error).split("\n")[0]))
    except Exception as error:  # a task's error is that of its future
        future.set_exception(error)
