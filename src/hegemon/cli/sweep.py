"""`hegemon sweep`: a whole study, spread over workers and kept in a folder."""

import math
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from hegemon.cli import completion, failures, guard, options
from hegemon.cli.common import counted, outputs
from hegemon.cli.options import MOST_TRIALS, MOST_WORKERS, integer, option, text
from hegemon.cli.output import figures
from hegemon.cli.results import pace, report, show_status
from hegemon.errors import InvalidInput
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.study import Study, make_study, read_axes, read_study
from hegemon.experiments.study_driver import StudyDriver, StudyListener
from hegemon.experiments.sweep import run_study
from hegemon.protocols.loading import file_of
from hegemon.runs.option import MOST_SEED

LIVE_CASES = 12


@options.of_study
def sweep_study(
    axes: dict[str, Any],
    study: Annotated[
        list[str] | None,
        options.argument("STUDY", "STUDY.toml, or protocols: ids of `hegemon list`, file.py:Class", completion.ids),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        option("--protocol", help="import this file.py, which STUDY.toml, --cases or --extend names; repeatable",
               metavar="FILE", read=options.protocol_name),
    ] = None,
    zip: Annotated[list[str] | None, text("--zip", "axes that move side by side: n,tau", "NAME,…")] = None,
    cases: Annotated[str | None, text("--cases", "a CSV table of cases, one column per axis", "FILE")] = None,
    trials: Annotated[
        int | None, integer("--trials", "independent runs of every case; default 1", low=1, high=MOST_TRIALS)
    ] = None,
    relative: Annotated[
        str | None, text("--relative", "2%, 2% of median …: trials until the interval is that narrow", "WIDTH")
    ] = None,
    seed: Annotated[
        int | None, integer("--seed", "the same seed gives the same numbers; default 0", high=MOST_SEED)
    ] = None,
    out: Annotated[str | None, text("--out", "the study's folder; default: study", "FOLDER")] = None,
    extend: Annotated[str | None, text("--extend", "a folder: add --trials or values of axes", "FOLDER")] = None,
    status: Annotated[str | None, text("--status", "a folder: show the progress of its study", "FOLDER")] = None,
    workers: Annotated[
        int | None, integer("--workers", "cores to use; default: all", low=1, high=MOST_WORKERS)
    ] = None,
    cluster: options.Cluster = None,
    page: Annotated[str | None, options.path("--report", "also write a page with tables and pictures (.html)")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Run a study: every case of a grid, many trials of each. The same command again continues it."""
    outputs(report=(page, (".html",)))
    if status is not None:
        if axes or any(
            (page, study, protocol, zip, cases, trials, relative, seed is not None, out, extend, workers, cluster)
        ):
            raise InvalidInput("--status takes a folder and --json, and nothing else: it only reads")
        show_status(Path(status), json)
        return
    for file in protocol or ():
        if file_of(file) is None:
            raise InvalidInput(f"--protocol {file} names no Python file; protocols of the catalogue need none")
    if extend is not None:
        if study is not None or out is not None or seed is not None or zip or cases:
            raise InvalidInput("--extend takes a folder, --trials, --relative and values of its axes, and nothing else")
        folder = Path(extend)
        asked = Folder(folder).study()
        asked = asked.extended(read_axes(axes), trials, relative)
    else:
        folder = Path(out or "study")
        asked = ask(study, axes, zip, cases, trials, seed, relative)
    board = LiveStudy(quiet)
    read = {os.path.realpath(case.file) for case in asked.cases if case.file}
    for file in protocol or ():
        if os.path.realpath(str(file_of(file))) not in read:
            raise InvalidInput(f"--protocol {file} is named by no case of the study; drop it")
    try:
        with board:
            outcome = run_study(
                asked,
                folder,
                workers=workers,
                cluster=cluster,
                extend=extend is not None,
                listener=board,
                command=sys.argv,
            )
    except KeyboardInterrupt:
        raise failures.Interrupted(
            f"interrupted; {board.finished} is kept in {folder}; the same command continues from there"
        ) from None
    report(outcome, json, page)
    if outcome.failed:
        raise typer.Exit(1)


def ask(
    given: list[str] | None, axes: dict[str, Any], zip: list[str] | None, cases: str | None, trials: int | None,
    seed: int | None, relative: Any,
) -> Study:  # fmt: skip
    """The study that the arguments describe: a file's, or the command line's own."""
    files = [name for name in given or () if name.endswith(".toml")]
    if files:
        if axes or zip or cases or trials or seed is not None or relative or len(given or ()) > 1:
            raise InvalidInput(
                f"{files[0]} says what to run; change it there, or give --extend to add to a finished one"
            )
        return read_study(files[0])
    study = given or None
    zipped = [[name.strip() for name in names.split(",")] for names in zip or ()]
    return make_study(study, axes=axes, zip=zipped, cases=cases or (), trials=trials, seed=seed or 0, relative=relative)


class LiveStudy(StudyListener):
    """The live table, on the error stream; where that is no terminal, one line before and one every minute."""

    def __init__(self, quiet: bool = False):
        self._screen = Console(stderr=True, highlight=False, quiet=quiet)
        self._live: Live | None = None
        self._driver: StudyDriver | None = None
        self._begin = self._said = time.monotonic()

    def __enter__(self) -> Self:
        if self._screen.is_terminal and not self._screen.quiet:
            self._live = Live(get_renderable=self._picture, console=self._screen, refresh_per_second=2, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        guard.answered()
        if self._live:
            self._live.stop()

    def planned(self, estimate: Any, pool: Any) -> None:
        work = "an unknown time" if estimate.seconds is None else f"about {duration(estimate.seconds)}"
        self._screen.print(
            f"… {estimate.trials:,} trials of {counted(estimate.cases, 'case')} to make: {work} and "
            f"{estimate.memory / 1e6:,.0f} MB for one worker ({pool.name})",
            soft_wrap=True,
        )

    def moved(self, driver: StudyDriver) -> None:
        self._driver = driver
        if not self._live and time.monotonic() - self._said > 60:
            self._said = time.monotonic()
            self._screen.print(self._headline(driver))

    @property
    def finished(self) -> str:
        """What is done, as far as it was heard of."""
        if self._driver is None:
            return "what is finished"
        done, goal = (sum(getattr(state, name) for state in self._driver.states) for name in ("done", "goal"))
        return f"what is finished ({done:,} of {goal:,} trials)"

    def _headline(self, driver: StudyDriver) -> str:
        done, goal = sum(s.done for s in driver.states), sum(s.goal for s in driver.states)
        seconds = time.monotonic() - self._begin
        left = driver.seconds_left()
        finished = sum(s.done >= s.goal for s in driver.states)
        return (
            f"{finished:,} of {counted(len(driver.states), 'case')}, {done:,} of {goal:,} trials, "
            f"{pace(driver.measured / max(seconds, 0.1))}, {'?' if left is None else duration(left)} left"
        )

    def _picture(self) -> Any:
        driver = self._driver
        if driver is None:
            return Text("first trials …")
        rows = []
        busy = [state for state in driver.states if state.error or state.done < state.goal]
        for state in busy[:LIVE_CASES]:
            each = "" if state.seconds_per_trial is None else f"{state.seconds_per_trial:.3g} s"
            known = known_so_far(driver.goals.interval(state.key, driver.folder))
            rows.append(
                [state.case.label(), f"{state.done:,}", f"{state.goal:,}", known, "failed" if state.error else each]
            )
        table, _ = figures(self._screen.width, ("case", "done", "of", "known so far", "each"), rows, left=("case",))
        below = [f"{state.case.label()}: {state.error}" for state in busy[:LIVE_CASES] if state.error]
        below += [f"… and {len(busy) - LIVE_CASES:,} more cases"] if len(busy) > LIVE_CASES else []
        return Group(Text(self._headline(driver)), table, Text("\n".join(below)))


def known_so_far(known: tuple[float, float, float] | None) -> str:
    """The estimate, and half its 95 % interval as a share of it."""
    if known is None:
        return "–"
    estimate, low, high = known
    width = (high - low) / 2 / abs(estimate) if estimate else math.inf
    return f"{estimate:,.4g} ± {width:.1%}" if math.isfinite(width) else f"{estimate:,.4g}"


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
