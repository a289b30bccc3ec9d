"""Many runs from one seed, spread over threads; the kernels release the GIL, so threads use every core."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hegemon import display
from hegemon.analysis import pictures
from hegemon.analysis.statistics import summarize_runs
from hegemon.engines.pacing import Pace
from hegemon.errors import InvalidInput
from hegemon.runs.doors import takes
from hegemon.runs.record import MOST_ROWS, TrialsRecord
from hegemon.runs.run import Run, plot_runs
from hegemon.runs.simulate import course_of
from hegemon.runs.trial import Course, Trial

if TYPE_CHECKING:
    import pandas

ROWS_OF_ALL = 4 * MOST_ROWS  # rows recorded by all trials together, besides those of the first
GRACE = 0.3  # seconds within which running trials must end after an interrupt


@dataclass(frozen=True)
class Trials:
    """The finished runs in the order of their trials; `interrupted` when not all of them were."""

    runs: list[Run]
    wall_seconds: float
    interrupted: bool

    @property
    def frame(self) -> "pandas.DataFrame":
        """One row per trial, with the columns of the JSON output."""
        import pandas

        return pandas.DataFrame([run.record() for run in self.runs])

    @property
    def summary(self) -> dict[str, Any]:
        """Means, medians and intervals, as `hegemon run` prints them."""
        return summarize_runs(self.runs)

    def plot(self, ax: Any = None) -> pictures.Picture:
        """Medians with bands of what was watched, and when the trials met the stop. With `ax`, axes of Matplotlib, the
        first panel is drawn there."""
        return plot_runs(self.runs, ax)

    def __str__(self) -> str:
        if not self.runs:
            return "no trial was finished"
        first = self.runs[0]
        return display.plain(f"{first.protocol}, n = {first.n:,}: {len(self.runs):,} trials", self._facts())

    def _facts(self) -> dict[str, Any]:
        """The summary as names and numbers."""
        content: dict[str, Any] = {"engine": self.runs[0].engine, "seed": str(self.runs[0].seed)}
        for name, value in self.summary.items():
            inner = value if isinstance(value, dict) else {"": value}
            shown = {key: item for key, item in inner.items() if item is not None}
            content |= {f"{name} {key}".replace("_", " ").strip(): interval(item) for key, item in shown.items()}
        return content

    def _repr_html_(self) -> str:
        if not self.runs:
            return display.heading("no trial was finished")
        first = self.runs[0]
        content = {"n": first.n, **self._facts()}
        drawn = pictures.as_html(self.plot()) if len(self.runs) > 1 or first.watched is not None else ""
        rows = display.table([run.record() for run in self.runs])
        return display.heading(first.protocol) + display.facts(content) + drawn + rows


def interval(value: Any) -> Any:
    """A pair of numbers as one text; anything else as it is."""
    return " to ".join(display.figure(one) for one in value) if isinstance(value, list) else value


@takes(TrialsRecord)
def run_trials(asked: TrialsRecord) -> Trials:
    """Run a protocol many times: `run_trials(hegemon.Pairwise(n=100), 1000, seed=1).runs`.

    Trials `first`, `first` + 1, …: trial k uses the streams of (seed, k) alone, so neither the number of `workers`
    (threads; by default one per core) nor the order matters, and a batch can be continued by the next one. The graph
    is the same in all of them.

    An interrupt from the keyboard stops the running trials and keeps the finished ones. Results are kept, not
    configurations: where a run ended is kept for the first trial alone, unless `keep_all`.
    """
    protocol, trials, first, workers, report = asked.protocol, asked.trials, asked.first, asked.workers, asked.report
    if asked.checkpoint is not None and trials != 1:
        raise InvalidInput("a checkpoint keeps one run; ask for one trial")
    begin = time.perf_counter()
    course = course_of(asked)
    rows, cancel = max(1000, ROWS_OF_ALL // trials), threading.Event()

    def details(trial: int, progress: Callable[[int], object]) -> Trial:
        is_first = trial == first
        return Trial(trial, asked.keep_all or is_first, MOST_ROWS if is_first else rows, progress)

    size = min(workers or os.cpu_count() or 1, trials)
    team = _Team(course, details, range(first, first + trials), size, cancel)
    try:
        with display.notebook_progress() as shown:
            if shown and not report:
                report = lambda finished, _: shown(f"{protocol.id}: trials", finished, trials)  # noqa: E731
            while team.is_busy(0.1):
                if report:
                    report(len(team.finished), team.steps)
            if report:
                report(len(team.finished), team.steps)
    except KeyboardInterrupt:
        pass
    finally:
        cancel.set()
    deadline = time.perf_counter() + GRACE
    while team.is_busy(0.02) and time.perf_counter() < deadline:
        pass
    finished = dict(team.finished)
    runs = [finished[t] for t in sorted(finished) if not finished[t].interrupted]
    return Trials(runs, time.perf_counter() - begin, len(runs) < trials)


class _Team:
    """Threads that make trials until none are left or the caller cancels: one by one, or short ones many at a time.

    They are daemons, so an interrupt does not wait for the compiler. Each thread stores its own results, so
    no interrupt can separate a trial from its record.
    """

    def __init__(
        self, course: Course, details: Callable[..., Trial], trials: range, size: int, cancel: threading.Event
    ):
        self.finished: dict[int, Run] = {}
        self._course, self._details, self._trials, self._cancel = course, details, trials, cancel
        self._rest: list[tuple[int, Callable[[], Run]]] = []  # long trials, whose first steps are made
        self._running: dict[int, int] = {}  # their present steps
        self._done, self._lock = 0, threading.Lock()
        self._errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._work, daemon=True, name=f"trials-{k}") for k in range(size)]
        for thread in self._threads:
            thread.start()

    @property
    def steps(self) -> int:
        """The steps made by all trials so far."""
        return self._done + sum(self._running.values())

    def _work(self) -> None:
        try:
            self._make_trials()
        except BaseException as error:  # whatever ends a thread is raised where trials are waited for
            self._errors.append(error)

    def _make_trials(self) -> None:
        pace = Pace(1)
        while (task := self._next(min(pace.amount, self._course.at_once))) is not None:
            if isinstance(task, range):
                pace.start()
                made = self._course.many([self._details(k, self._progress(k)) for k in task])
                pace.done(len(task))
                self._take(task, made)
            else:
                trial, go_on = task
                self._take([trial], [go_on()])

    def _next(self, most: int) -> "range | tuple[int, Callable[[], Run]] | None":
        """A long trial to continue, or the next trials: fewer towards the end, so that threads end together."""
        with self._lock:
            if self._cancel.is_set() or self._errors:
                return None
            if self._rest:
                return self._rest.pop()
            size = max(1, min(most, len(self._trials) // (2 * len(self._threads))))
            task, self._trials = self._trials[:size], self._trials[size:]
            return task or None

    def _progress(self, trial: int) -> Callable[[int], bool]:
        def progress(step: int) -> bool:
            self._running[trial] = step
            return self._cancel.is_set()

        return progress

    def _take(self, trials: Sequence[int], made: "Sequence[Run | Callable[[], Run]]") -> None:
        runs = {trial: run for trial, run in zip(trials, made, strict=True) if isinstance(run, Run)}
        self.finished |= runs
        with self._lock:
            for trial in trials:
                self._running.pop(trial, None)
            self._done += sum(run.steps for run in runs.values())
            self._rest += [(trial, one) for trial, one in zip(trials, made, strict=True) if not isinstance(one, Run)]

    def is_busy(self, patience: float) -> bool:
        """Wait a little; returns whether trials are still running. The error of a trial is raised here."""
        busy = next((thread for thread in self._threads if thread.is_alive()), None)
        if busy is not None:
            busy.join(patience)
        if self._errors and isinstance(self._errors[0], KeyboardInterrupt):  # interrupts reach the main thread alone
            raise InvalidInput("a trial raises KeyboardInterrupt, as only a keyboard should; raise another exception")
        if self._errors:
            raise self._errors[0]
        return busy is not None
