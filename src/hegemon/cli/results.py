"""`hegemon results`: what a study says, in groups; and how far it is."""

import csv as csv_writer
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hegemon.analysis.pictures import check_picture_path
from hegemon.cli import options
from hegemon.cli.common import censored_trials, console, counted, figure, outputs, print_json
from hegemon.cli.options import OUTPUT, option
from hegemon.cli.output import print_figures
from hegemon.errors import InvalidInput, meant
from hegemon.experiments.filters import choose_rows
from hegemon.experiments.laws import read_curve
from hegemon.experiments.result_pictures import draw_results
from hegemon.experiments.results import StudyResults, results
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.provenance import drivers
from hegemon.experiments.study_report import write_report
from hegemon.experiments.study_tables import load_studies
from hegemon.experiments.sweep import StudyOutcome
from hegemon.experiments.unfinished import progress_of
from hegemon.files import write_text

if TYPE_CHECKING:
    from rich.console import Console


SHOWN_CASES = 40
INTERVAL = "Student's t on logarithms; valid if the number of trials was fixed beforehand and the variance is finite"


def report(outcome: StudyOutcome, json: bool, page: str | None = None) -> None:
    """The summary of every case, and where the table is."""
    found = results(outcome.folder.root) if outcome.trials else None
    failed = [{"case": case.shown, "error": error} for case, error in outcome.failed]
    if found and page:
        write_report(found, [str(outcome.folder.root)], page)
    if json:
        place = {"folder": str(outcome.folder.root), "table": str(outcome.folder.table), "trials": outcome.trials}
        print_json({**place, "cases": found.rows if found else [], "failed": failed})
        return
    screen = console()
    if found:
        print_rows(screen, found.rows[:SHOWN_CASES])
        if len(found.rows) > SHOWN_CASES:
            more = len(found.rows) - SHOWN_CASES
            screen.print(f"… and {more:,} more cases (hegemon results {outcome.folder.root})")
    for row in failed:
        screen.print(failure(row), markup=False)
    if found:
        say_method(screen, found.precision, found.rows, found.of)
    screen.print(f"\n{outcome.trials:,} trials are in {outcome.folder.table}")


def say_method(screen: "Console", precision: Any, rows: list[dict[str, Any]], measure: str) -> None:
    """What the intervals are and assume, and what censored trials mean for the rest."""
    if precision is not None:
        what = precision.label if precision.what == "share" else f"{precision.label} of {measure}"
        screen.print(f"{what} to within {100 * precision.relative:.3g} % of itself, 95 %: {precision.method}")
    elif any(row["ci95"] for row in rows):
        screen.print(f"ci95: 95 % interval of the mean of {measure} ({INTERVAL})")
    if count := sum(row["censored"] for row in rows):
        screen.print(f"{censored_trials(count)}; no law is fitted to them")


def study_results(
    studies: Annotated[
        list[str], options.argument("FOLDER…", "folders of `hegemon sweep … --out`; several are one table")
    ],
    by: Annotated[
        str | None, option("--by", help="groups, such as n,tau; default: the study's axes", metavar="NAME,…")
    ] = None,
    where: Annotated[
        str | None, option("--where", help="such as \"start == 'random' and n >= 1000\"", metavar="CONDITION")
    ] = None,
    of: Annotated[
        str | None, option("--of", help="a measured column; default: steps or rounds", metavar="NAME")
    ] = None,
    laws: Annotated[
        str | None, option("--laws", help='candidates for the growth with n: "n**1.5, n*log(n)"', metavar="LAW,…")
    ] = None,
    columns: Annotated[
        str | None, option("--columns", help="of the printed table, such as n,mean,ci95", metavar="NAME,…")
    ] = None,
    plot: options.Plot = None,
    curve: Annotated[
        list[str] | None,
        option("--curve", help='also draw this in the picture, such as "14*n*log2(n)"; repeatable', metavar="LAW"),
    ] = None,
    csv: Annotated[bool, option("--csv", help="print the table as CSV", panel=OUTPUT)] = False,
    trials_csv: Annotated[str | None, options.path("--trials-csv", "write every trial (.csv)")] = None,
    report: Annotated[str | None, options.path("--report", "write a page with tables and pictures (.html)")] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Show the trials of a study in groups, with intervals, fitted laws and a picture."""
    if plot:
        check_picture_path(plot)
    outputs(**{"trials-csv": (trials_csv, (".csv",)), "report": (report, (".html",))})
    if csv and json:
        raise InvalidInput("--csv and --json both say how the table is printed; give one of them")
    if columns and json:
        raise InvalidInput("--columns chooses those of the printed table, and --json has all; drop one of them")
    if curve and not (plot or report):
        raise InvalidInput("--curve is drawn in a picture; give --plot or --report, too")
    curves = [read_curve(text) for text in curve or ()]
    found = results(studies, by=by, where=where, of=of, laws=laws)
    names = chosen_columns(found.rows, columns)
    if trials_csv:
        trials = load_studies(studies).frame
        trials = choose_rows(trials, where) if where else trials
        write_text(trials_csv, trials.to_csv(index=False, lineterminator="\n"))
    if plot:
        draw_results(found, plot, curves)
    if report:
        write_report(found, studies, report, curves)
    if json:
        print_json(found.record())
    elif csv:
        write_csv(found.rows, names)
    else:
        show_results(console(), found, names)


def show_results(
    screen: "Console", found: StudyResults, names: list[str] | None = None, most: int | None = None
) -> None:
    """The rows, how their intervals are made, the laws, and what is missing."""
    print_rows(screen, found.rows[:most], names)
    say_method(screen, found.precision, found.rows, found.of)
    for fit in found.fits:
        screen.print(fit.sentence(found.of), markup=False)
    for row in found.failed:
        screen.print(failure(row), markup=False)
    if found.missing:
        screen.print(f"not finished: {found.unfinished}", markup=False)


def chosen_columns(rows: list[dict[str, Any]], given: str | None) -> list[str] | None:
    """The columns of `--columns`; None for those that have a value."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    known = dict.fromkeys(name for row in rows for name in row)
    for name in names:
        if name not in known:
            raise InvalidInput(
                f"--columns: there is no column {name!r}; the columns are {', '.join(known)}{meant(name, known)}"
            )
    return names


def write_csv(rows: list[dict[str, Any]], names: list[str] | None = None) -> None:
    """Intervals as two columns, so that every cell is one value."""
    flat = []
    for row in rows:
        cells: dict[str, Any] = {}
        for name, value in ((name, row.get(name)) for name in names or row):
            if name.endswith("95"):
                low, high = value or (None, None)
                cells |= {f"{name}_low": low, f"{name}_high": high}
            else:
                cells[name] = value
        flat.append(cells)
    writer = csv_writer.DictWriter(sys.stdout, list(flat[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)


def print_rows(screen: "Console", rows: list[dict[str, Any]], names: list[str] | None = None) -> None:
    """The table; without `names`, of all columns that have a value."""
    if names is None:
        names = [name for name in (rows[0] if rows else ()) if name != "share_reached_ci95"]
        names = [name for name in names if any(row.get(name) is not None for row in rows)]
        if not any(row.get("censored") for row in rows):
            names = [name for name in names if name != "censored"]
    print_figures(screen, names, [[shown(row, name) for name in names] for row in rows])


def shown(row: dict[str, Any], name: str) -> str:
    """An interval of equal trials would claim a certainty that a few of them do not give."""
    value = row.get(name)
    equal = name.endswith("ci95") and isinstance(value, list | tuple) and len(set(value)) == 1
    return figure(None if equal else value)


def show_status(root: Path, json: bool) -> None:
    """How far a study is, from what stands in its folder: from any terminal, at any moment."""
    folder = Folder(root)
    study = folder.study()
    progress = progress_of(folder, study)
    states, unsound, elsewhere = progress.states, progress.failed, progress.elsewhere
    files = folder.protocol_files()
    working = [driver for driver in drivers(folder.drivers) if driver["alive"]]
    done, goal = sum(state["done"] for state in states), sum(state["goal"] for state in states)
    content = {
        "folder": str(root), "cases": len(states), "finished": sum(state["done"] >= state["goal"] for state in states),
        "trials": done, "of": goal, "other_trials": elsewhere, "damaged_records": folder.damaged, "failed": unsound,
        "drivers": [{"host": d["machine"]["host"], "pid": d["pid"], "pool": d["pool"]} for d in working],
        "protocol_files": files, "states": states,
    }  # fmt: skip
    if json:
        print_json(content)
        return
    screen = console()
    finished = f"{content['finished']:,} of {counted(len(states), 'case')} finished"
    screen.print(f"{root}: {done:,} of {goal:,} trials, {finished}")
    for driver in working:
        rate = driver.get("measured", 0) / max(driver.get("seconds", 0), 0.1)
        screen.print(f"working: {driver['machine']['host']}, {driver['pool']}, {pace(rate)}")
    if not working and done < goal:
        screen.print("no process is working on it; run its `hegemon sweep` again to go on")
    if elsewhere:
        screen.print(
            f"{elsewhere:,} more trials stand there and do not count: made by another version of the code or of the "
            "protocol, or of cases that the study no longer has"
        )
    for one in files:
        same = "as it was" if one["same"] else "another file, or none, is there now"
        screen.print(f"it runs {one['file']} (SHA-256 {one['sha256'][:16]}…): {same}; a status imports nothing")
    if folder.damaged:
        screen.print(f"{folder.damaged:,} damaged records are ignored; their trials are measured again")
    print_rows(screen, [row for row in states if row["done"] < row["goal"]][:SHOWN_CASES])
    for row in unsound:
        screen.print(failure(row), markup=False)


def pace(rate: float) -> str:
    """Trials per second, in a unit of time in which there is more than one."""
    unit, seconds = next((one for one in (("second", 1), ("minute", 60)) if rate * one[1] >= 1), ("hour", 3600))
    return f"{rate * seconds:,.0f} trials per {unit}"


def failure(row: dict[str, Any]) -> str:
    return f"FAILED {', '.join(f'{name} = {value}' for name, value in row['case'].items())}: {row['error']}"
