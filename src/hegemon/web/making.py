"""Another run for a page, made in a thread, since its graph may take long: meanwhile the page shows the present one."""

import threading
from collections.abc import Generator

from hegemon.errors import InvalidInput
from hegemon.runs.record import RunRecord
from hegemon.web.session import SLICE, Session


class Maker:
    """Makes one session at a time. One that is given up is still made to its end, and then forgotten."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def make(self, record: RunRecord) -> Generator[None, None, Session]:
        """The session of the record; a jump, whose slices wait for the thread."""
        if self._thread is not None and self._thread.is_alive():
            raise InvalidInput("the run that was given up is still being made; wait until that has ended")
        ends: list[Session | Exception] = []

        def make() -> None:
            try:
                ends.append(Session(**vars(record)))
            except Exception as error:  # the error is the answer, and is raised by who asked
                ends.append(error)

        self._thread = threading.Thread(target=make, daemon=True)
        self._thread.start()
        while self._thread.is_alive():
            self._thread.join(SLICE)
            if self._thread.is_alive():
                yield
        if isinstance(ends[0], Exception):
            raise ends[0]
        return ends[0]
