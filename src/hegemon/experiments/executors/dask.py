"""A Dask cluster: one that is running, or one of processes on this machine."""

import math
import os
import time
from concurrent.futures import CancelledError, Executor
from contextlib import suppress

from distributed import Client, KilledWorker, LocalCluster

from hegemon.errors import InvalidInput
from hegemon.experiments.executors.pool import Pool

PATIENCE_SECONDS = 10


class Dask(Pool):
    depth = 4
    lost = (KilledWorker, CancelledError)

    def __init__(self, address: str, workers: int | None = None):
        if address != "local" and "://" not in address:
            raise InvalidInput(f"the cluster dask:{address} is not understood; give dask:local or dask:tcp://HOST:8786")
        self._address, self._workers = address, workers
        self._client: Client | None = None
        self._cluster: LocalCluster | None = None
        self._slots, self._looked = 0, -math.inf
        self.name = f"Dask, {address}"

    def start(self) -> Executor:
        client = self._client or self._connect()
        # What a task says about a dead worker is for the driver to judge, who knows what is in the store.
        return client.get_executor(pure=False, retries=0)

    def _connect(self) -> Client:
        try:
            if self._address == "local":
                count = self._workers or os.cpu_count() or 1
                self._cluster = LocalCluster(count, threads_per_worker=1, dashboard_address=None)
            where = self._cluster or self._address
            self._client = client = Client(where, timeout=PATIENCE_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InvalidInput(f"there is no Dask scheduler at {self._address} ({error}); start it first") from None
        return client

    def slots(self) -> int:
        """Threads of all workers, as of a second ago: workers come and go."""
        client = self._client
        if client is not None and time.monotonic() - self._looked > 1:
            try:
                self._slots = sum(client.nthreads().values())
            except (OSError, ValueError, TimeoutError, CancelledError):
                self._slots = 0
            if client.status not in ("running", "connecting"):
                raise InvalidInput(
                    f"the Dask scheduler at {self._address} is gone; run the same command again to go on"
                )
            self._looked = time.monotonic()
        return self._slots

    def abandon(self) -> None:
        """Close the client, which forgets its tasks; a cluster of our own goes with it."""
        client, cluster, self._client, self._cluster = self._client, self._cluster, None, None
        for one in (client, cluster):
            with suppress(TimeoutError, OSError):  # it goes with this process in any case
                if one is not None:
                    one.close(timeout=2)
