"""Ranks of an MPI job: `mpiexec -n 64 python -m mpi4py.futures $(which hegemon) sweep … --cluster mpi`."""

from concurrent.futures import Executor

from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor

from hegemon.experiments.executors.pool import Pool


class Ranks(Pool):
    def __init__(self, text: str = "", workers: int | None = None):
        self._workers = workers or max(1, MPI.COMM_WORLD.Get_size() - 1)
        self.name = f"{self._workers} MPI ranks"

    def start(self) -> Executor:
        self._executor = MPIPoolExecutor(self._workers)
        return self._executor
