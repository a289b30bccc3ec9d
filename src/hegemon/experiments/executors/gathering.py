"""What Dask and Slurm share: a thread polls, and sends the tasks that came since its last poll together."""

import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class Gathering(Executor, ABC):
    """`concurrent.futures` over a remote queue; the thread calls `_look` every `look_seconds`."""

    def __init__(self, look_seconds: float):
        self._look_seconds = look_seconds
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._unanswered: set[Future[Any]] = set()
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._failure:
            raise self._failure
        future: Future[Any] = Future()
        self._unanswered.add(future)
        future.add_done_callback(self._unanswered.discard)
        self._waiting.put((future, function, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        while wait and not cancel_futures and self._unanswered:
            time.sleep(self._look_seconds)
        self._ended.set()
        if wait:
            self._thread.join()

    def _serve(self) -> None:
        try:
            while not self._ended.wait(self._look_seconds):
                self._look()
        except BaseException as error:  # nobody waits forever for a thread that has ended
            self._failure = error
            for future in list(self._unanswered):
                future.set_exception(error)

    def _gathered(self) -> list[tuple[Any, ...]]:
        """What was submitted since the last poll: future, function, arguments."""
        batch = []
        while not self._waiting.empty():
            batch.append(self._waiting.get())
        return batch

    @abstractmethod
    def _look(self) -> None:
        """Send the collected tasks, and set the results of those that have ended."""
