"""`hegemon sweep`: a whole study, spread over workers and kept in a folder; `hegemon results`: what it says."""

import csv as csv_writer
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hegemon.analysis.pictures import check_picture_path
from hegemon.cli.common import console, figure, print_json
from hegemon.cli.options import MOST_SEED, MOST_TRIALS, MOST_WORKERS, integer
from hegemon.errors import InvalidInput
from hegemon.experiments.axes import parse_axis
from hegemon.experiments.driver import Driver, Listener
from hegemon.experiments.precision import parse_precision
from hegemon.experiments.result_pictures import draw_results
from hegemon.experiments.results import axes_of, default_measure, fit_laws, load_table, summarize_table
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.provenance import drivers
from hegemon.experiments.study import Study, make_study, read_study
from hegemon.experiments.sweep import Outcome, case_states, run_study

SHOWN_CASES = 40
LIVE_CASES = 12


def sweep_study(
    study: Annotated[str | None, typer.Argument(help="STUDY.toml, an id of `hegemon list`, or file.py:Class")] = None,
    n: Annotated[str | None, typer.Option("--n", help="numbers of agents: 100,1e3 or 1e2..1e6:log, 64..512:x2")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="parameter=values: tau=1,2,4; repeatable")] = None,
    graph: Annotated[list[str] | None, typer.Option("--graph", help="ring, regular:{n},4, a file; repeatable")] = None,
    start: Annotated[str | None, typer.Option("--start", help="starts, such as random,no-leader")] = None,
    wake: Annotated[str | None, typer.Option("--wake", help="messages: all,one-by-one,random or files")] = None,
    until: Annotated[list[str] | None, typer.Option("--until", help="safe, steps:K, a set, all(…); repeatable")] = None,
    max_steps: Annotated[str | None, typer.Option("--max-steps", help="give up a trial after so many")] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="auto, or names of engines")] = None,
    fault: Annotated[list[str] | None, typer.Option("--fault", help="none, or step=K,agents=J; repeatable")] = None,
    zip_: Annotated[list[str] | None, typer.Option("--zip", help="axes that move side by side: n,tau")] = None,
    cases: Annotated[str | None, typer.Option("--cases", help="a CSV table of cases, one column per axis")] = None,
    trials: Annotated[
        int | None, integer("--trials", "independent runs of every case; default 1", low=1, high=MOST_TRIALS)
    ] = None,
    precise: Annotated[str | None, typer.Option("--precise", help="2%, 2% of median …: trials until so narrow")] = None,
    seed: Annotated[
        int | None, integer("--seed", "the same seed gives the same numbers; default 0", high=MOST_SEED)
    ] = None,
    out: Annotated[str | None, typer.Option("--out", help="the study's folder; default: study")] = None,
    extend: Annotated[str | None, typer.Option("--extend", help="a folder: add --trials or values of axes")] = None,
    status: Annotated[str | None, typer.Option("--status", help="a folder: how far its study is")] = None,
    workers: Annotated[
        int | None, integer("--workers", "processes; default: all cores", low=1, high=MOST_WORKERS)
    ] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", help="dask:local, dask:tcp://…, slurm:…, mpi")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):  # fmt: skip
    """Run a study: every case of a grid, many trials of each. The same command again goes on where it was."""
    if status is not None:
        show_status(Path(status), json)
        return
    axes = read_axes(n, set_, graph, start, wake, until, max_steps, engine, fault)
    if extend is not None:
        if study is not None or out is not None or seed is not None or zip_ or cases:
            raise InvalidInput("--extend takes the folder, --trials and values of its axes, and nothing else")
        folder = Path(extend)
        asked = Folder(folder).study()
        more = {name: parse_axis(name, values) for name, values in axes.items()}
        asked = asked.extended(more, trials)
    else:
        folder = Path(out or "study")
        asked = ask(study, axes, zip_, cases, trials, seed, precise)
    board = Board(asked)
    with board:
        outcome = run_study(
            asked, folder, workers=workers, cluster=cluster, extend=extend is not None, listener=board, command=sys.argv
        )
    report(outcome, json)
    if outcome.failed:
        raise typer.Exit(1)


def read_axes(n, set_, graph, start, wake, until, max_steps, engine, fault) -> dict:
    """The axes of the command line; parameters after n, in the order they were given."""
    axes: dict = {} if n is None else {"n": n}
    for text in set_ or ():
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or not name or not values.strip():
            raise InvalidInput(
                f"--set {text!r} is not understood; write --set name=values, for example --set tau=1,2,4"
            )
        if name in axes:
            raise InvalidInput(f"--set gives {name} twice; give all its values once, divided by commas")
        axes[name] = values
    rest = {"graph": graph, "start": start, "wake": wake, "until": until, "max_steps": max_steps, "engine": engine}
    return axes | {name: values for name, values in {**rest, "fault": fault}.items() if values}


def ask(study: str | None, axes: dict, zip_, cases, trials, seed, precise) -> Study:
    """The study that the arguments describe: a file's, or the command line's own."""
    if study is not None and study.endswith(".toml"):
        if axes or zip_ or cases or trials or seed is not None or precise:
            raise InvalidInput(f"{study} says what to run; change it there, or give --extend to add to a finished one")
        return read_study(study)
    zipped = [[name.strip() for name in text.split(",")] for text in zip_ or ()]
    return make_study(
        study, axes=axes, zipped=zipped, cases=cases or (), trials=trials, seed=seed or 0, precise=precise
    )


class Board(Listener):
    """The live table, on the error stream; where that is no terminal, one line before and one every minute."""

    def __init__(self, study: Study):
        self._screen = Console(stderr=True, highlight=False)
        self._live = None
        self._driver: Driver | None = None
        self._begin = self._said = time.monotonic()

    def __enter__(self):
        if self._screen.is_terminal:
            self._live = Live(get_renderable=self._picture, console=self._screen, refresh_per_second=2, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_):
        if self._live:
            self._live.stop()

    def planned(self, estimate, pool) -> None:
        work = "unknown" if estimate.seconds is None else duration(estimate.seconds)
        self._screen.print(
            f"{estimate.trials:,} trials of {estimate.cases:,} cases to make; about {work} of one worker's time and "
            f"{estimate.memory / 1e6:,.0f} MB of memory each ({pool.name})"
        )

    def moved(self, driver: Driver) -> None:
        self._driver = driver
        if not self._live and time.monotonic() - self._said > 60:
            self._said = time.monotonic()
            self._screen.print(self._headline(driver))

    def _headline(self, driver: Driver) -> str:
        done, goal = sum(s.done for s in driver.states), sum(s.goal for s in driver.states)
        seconds = time.monotonic() - self._begin
        left = driver.seconds_left()
        return (
            f"{done:,} of {goal:,} trials, {driver.measured / max(seconds, 0.1):,.0f} per second, "
            f"{'?' if left is None else duration(left)} left"
        )

    def _picture(self):
        driver = self._driver
        if driver is None:
            return Text("a first look …")
        table = Table(box=None, pad_edge=False)
        for name in ("case", "done", "of", "each"):
            table.add_column(name, justify="left" if name == "case" else "right")
        busy = [state for state in driver.states if state.error or state.done < state.goal]
        for state in busy[:LIVE_CASES]:
            each = "" if state.seconds_per_trial is None else f"{state.seconds_per_trial:.3g} s"
            table.add_row(state.case.label(), f"{state.done:,}", f"{state.goal:,}", state.error or each)
        rest = f"… and {len(busy) - LIVE_CASES:,} more cases" if len(busy) > LIVE_CASES else ""
        return Group(Text(self._headline(driver)), table, Text(rest))


def report(outcome: Outcome, json: bool) -> None:
    """The summary of every case, and where the table is."""
    precision = precision_of(outcome.study)
    rows = []
    if outcome.trials:
        axes = axes_of(outcome.study)
        rows = summarize_table(load_table(outcome.folder.root, axes), axes, precision=precision)
    failed = [{"case": case.settings, "error": error} for case, error in outcome.failed]
    if json:
        place = str(outcome.folder.table)
        print_json(
            {
                "folder": str(outcome.folder.root),
                "table": place,
                "trials": outcome.trials,
                "cases": rows,
                "failed": failed,
            }
        )
        return
    screen = console()
    print_rows(screen, rows[:SHOWN_CASES])
    if len(rows) > SHOWN_CASES:
        screen.print(f"… and {len(rows) - SHOWN_CASES:,} more cases (hegemon results {outcome.folder.root})")
    for row in failed:
        screen.print(f"FAILED {row['case']}: {row['error']}", markup=False)
    say_method(screen, precision)
    screen.print(f"\n{outcome.trials:,} trials are in {outcome.folder.table}")


def precision_of(study: Study):
    return None if study.precise is None else parse_precision(study.precise)


def say_method(screen, precision) -> None:
    if precision is not None:
        screen.print(f"{precision.label} to within {precision.relative:.3g} of itself, 95 %: {precision.method}")


def study_results(
    study: Annotated[str, typer.Argument(help="the folder of `hegemon sweep … --out`")],
    by: Annotated[str | None, typer.Option("--by", help="groups, such as n,tau; default: the study's axes")] = None,
    where: Annotated[str | None, typer.Option("--where", help="such as \"start == 'random' and n >= 1000\"")] = None,
    of: Annotated[str | None, typer.Option("--of", help="a measured column; default: steps or rounds")] = None,
    plot: Annotated[str | None, typer.Option("--plot", help="write a picture (.png, .svg, .pdf)")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="print the table as CSV")] = False,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):  # fmt: skip
    """The trials of a study in groups, with intervals, fitted laws and a picture."""
    if plot:
        check_picture_path(plot)
    asked = Folder(study).study()
    groups = axes_of(asked) if by is None else [name.strip() for name in by.split(",") if name.strip()]
    table = load_table(study, None if where else [*groups, *([of] if of else [])])
    rows = summarize_table(table, groups, of, where, precision_of(asked))
    fits = fit_laws(table, groups, of, where) if "n" in groups else []
    measure = of or default_measure(table)
    if plot:
        title = f"{', '.join(dict.fromkeys(table['protocol']))}: {sum(row['trials'] for row in rows):,} trials"
        draw_results(rows, groups, measure, fits, title, plot)
    if json:
        print_json({"of": measure, "by": groups, "rows": rows, "fits": [asdict(fit) for fit in fits]})
    elif csv:
        write_csv(rows)
    else:
        screen = console()
        print_rows(screen, rows)
        say_method(screen, precision_of(asked))
        for fit in fits:
            screen.print(fit_sentence(fit, measure), markup=False)


def fit_sentence(fit, measure: str) -> str:
    """`tau = 1: steps ≈ 12.3 · n log n, …` with what speaks for it."""
    name = ", ".join(f"{key} = {value}" for key, value in fit.series.items())
    text = (
        f"{name + ': ' if name else ''}{measure} ≈ {fit.constant:.4g} · {fit.law} (within a factor of {fit.spread:.3g})"
    )
    for rival in fit.rivals:
        share, low, high = rival["share"]
        text += f"; towards {rival['rival']}: {share:.2f} [{low:.2f}, {high:.2f}]"
    value, low, high = fit.exponent
    return f"{text}; as a power n^{value:.3f} [{low:.3f}, {high:.3f}]"


def write_csv(rows: list[dict]) -> None:
    """Intervals as two columns, so that every cell is one value."""
    flat = []
    for row in rows:
        cells: dict = {}
        for name, value in row.items():
            if name.endswith("95"):
                low, high = value or (None, None)
                cells |= {f"{name}_low": low, f"{name}_high": high}
            else:
                cells[name] = value
        flat.append(cells)
    writer = csv_writer.DictWriter(sys.stdout, list(flat[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)


def print_rows(screen, rows: list[dict]) -> None:
    table = Table(box=None, pad_edge=False)
    names = [name for name in (rows[0] if rows else ()) if name != "share_reached_ci95"]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(figure(row.get(name)) for name in names))
    screen.print(table)


def show_status(root: Path, json: bool) -> None:
    """How far a study is, from what stands in its folder: from any terminal, at any moment."""
    folder = Folder(root)
    study = folder.study()
    states, unsound = case_states(folder, study)
    working = [driver for driver in drivers(folder.drivers) if driver["alive"]]
    done, goal = sum(state["done"] for state in states), sum(state["goal"] for state in states)
    content = {
        "folder": str(root), "cases": len(states), "finished": sum(state["done"] >= state["goal"] for state in states),
        "trials": done, "of": goal, "damaged_records": folder.damaged, "failed": unsound,
        "drivers": [{"host": d["machine"]["host"], "pid": d["pid"], "pool": d["pool"]} for d in working],
        "states": states,
    }  # fmt: skip
    if json:
        print_json(content)
        return
    screen = console()
    screen.print(f"{root}: {done:,} of {goal:,} trials, {content['finished']:,} of {len(states):,} cases finished")
    for driver in working:
        rate = driver.get("measured", 0) / max(driver.get("seconds", 0), 0.1)
        screen.print(f"working: {driver['machine']['host']}, {driver['pool']}, {rate:,.0f} trials per second")
    if not working and done < goal:
        screen.print("nobody is working on it; run its `hegemon sweep` again to go on")
    if folder.damaged:
        screen.print(f"{folder.damaged:,} damaged records are ignored; their trials are measured again")
    print_rows(screen, [row for row in states if row["done"] < row["goal"]][:SHOWN_CASES])
    for row in unsound:
        screen.print(f"FAILED {row['case']}: {row['error']}", markup=False)


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
