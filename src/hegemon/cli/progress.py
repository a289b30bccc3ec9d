"""What a command is doing, on the error stream: a bar on a terminal, elsewhere a line every few seconds."""

import sys
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

FIRST = 1.0  # seconds of silence before a word is said
EVERY = 5.0  # seconds between two lines where nobody looks at a terminal
READY = {"rich.console", "rich.table"}


class Progress:
    """`show(stage, done, total)` as often as one likes; `with` ends it. Silence of a second is explained too."""

    def __init__(self, stage: str = "preparing (compiled code is kept for the next time)", quiet: bool = False):
        self._quiet = quiet
        self._stage, self._done = stage, 0
        self._total: int | None = None
        self._begin = self._last = self._stage_begin = time.monotonic()
        self._ended = threading.Event()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            self._begin_bar()
        else:
            self._last = self._begin - EVERY + FIRST
            threading.Thread(target=self._speak, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._bar:
            self._bar.stop()

    def show(self, stage: str, done: int = 0, total: int | None = None) -> None:
        if stage != self._stage:
            self._stage_begin = time.monotonic()
        self._stage, self._done, self._total = stage, done, total
        if self._bar:
            self._bar.update(self._task, description=stage, completed=done, total=total or None)

    def _begin_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        text, passed, left = TextColumn("{task.description}", markup=False), TimeElapsedColumn(), TimeRemainingColumn()
        columns = text, BarColumn(), MofNCompleteColumn(), passed, TextColumn("left"), left
        self._bar = bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._stage, total=None)
        bar.start()

    def _left(self, now: float) -> str:
        """The rest of this stage, at the speed so far."""
        if not self._total or not 0 < self._done <= self._total:
            return ""
        seconds = max(0.0, now - self._stage_begin) * (self._total - self._done) / self._done
        return f", about {seconds:.0f} s left" if seconds < 100 else f", about {seconds / 60:.0f} min left"

    def _speak(self) -> None:
        while not self._ended.wait(0.2):
            now = time.monotonic()
            if now - self._last >= EVERY:
                self._last = now
                if not sys.modules.keys() >= READY:  # an interrupt leaves no time to load what prints the tables
                    for name in READY:
                        import_module(name)
                if self._quiet:
                    return
                count = f" {self._done:,} of {self._total:,}" if self._total else f" {self._done:,}" * bool(self._done)
                try:
                    took = f"{now - self._begin:.0f} s{self._left(now)}"
                    print(f"… {self._stage}{count}, {took}", file=sys.stderr, flush=True)
                except (OSError, ValueError):
                    return
