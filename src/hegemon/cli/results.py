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
from hegemon.errors import InvalidInput
from hegemon.experiments.filters import choose_rows
from hegemon.experiments.result_pictures import draw_results
from hegemon.experiments.results import (
    axes_of,
    default_measure,
    load_table,
    precision_of,
    results,
    summarize_table,
)
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.provenance import drivers
from hegemon.experiments.sweep import StudyOutcome, case_states
from hegemon.files import write_text

if TYPE_CHECKING:
    from rich.console import Console


SHOWN_CASES = 40
INTERVAL = "Student's on the scale of its logarithm: independent trials, finite variance, their number fixed beforehand"


def report(outcome: StudyOutcome, json: bool) -> None:
    """The summary of every case, and where the table is."""
    precision = precision_of(outcome.study)
    rows, measure = [], ""
    if outcome.trials:
        axes = axes_of(outcome.study)
        wanted = [*axes, *([precision.measure] if precision and precision.measure else [])]
        table = load_table(outcome.folder.root, wanted)
        rows, measure = summarize_table(table, axes, precision=precision), default_measure(table, precision)
    failed = [{"case": case.shown, "error": error} for case, error in outcome.failed]
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
        screen.print(failure(row), markup=False)
    say_method(screen, precision, rows, measure)
    screen.print(f"\n{outcome.trials:,} trials are in {outcome.folder.table}")


def say_method(screen: "Console", precision: Any, rows: list[dict[str, Any]], measure: str) -> None:
    """What the intervals are and assume, and what censored trials mean for the rest."""
    if precision is not None:
        what = precision.label if precision.what == "share" else f"{precision.label} of {measure}"
        screen.print(f"{what} to within {100 * precision.relative:.3g} % of itself, 95 %: {precision.method}")
    elif any(row["ci95"] for row in rows):
        screen.print(f"ci95 of the mean of {measure}: {INTERVAL}")
    if count := sum(row["censored"] for row in rows):
        screen.print(f"{censored_trials(count)}; no law is fitted to them")


def study_results(
    study: Annotated[str, options.argument("FOLDER", "the folder of `hegemon sweep … --out`")],
    by: Annotated[
        str | None, option("--by", help="groups, such as n,tau; default: the study's axes", metavar="NAME,…")
    ] = None,
    where: Annotated[
        str | None, option("--where", help="such as \"start == 'random' and n >= 1000\"", metavar="CONDITION")
    ] = None,
    of: Annotated[
        str | None, option("--of", help="a measured column; default: steps or rounds", metavar="NAME")
    ] = None,
    plot: options.Plot = None,
    csv: Annotated[bool, option("--csv", help="print the table as CSV", panel=OUTPUT)] = False,
    trials_csv: Annotated[str | None, options.path("--trials-csv", "write every trial (.csv)")] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Show the trials of a study in groups, with intervals, fitted laws and a picture."""
    if plot:
        check_picture_path(plot)
    outputs(**{"trials-csv": (trials_csv, (".csv",))})
    if csv and json:
        raise InvalidInput("--csv and --json both say how the table is printed; give one of them")
    found = results(study, by=by, where=where, of=of)
    rows = found.rows
    if trials_csv:
        trials = load_table(study, None)
        trials = choose_rows(trials, where) if where else trials
        write_text(trials_csv, trials.to_csv(index=False, lineterminator="\n"))
    if plot:
        title = f"{', '.join(found.protocols)}: {sum(row['trials'] for row in rows):,} trials"
        draw_results(rows, found.by, found.of, found.fits, title, plot)
    if json:
        print_json(found.record())
    elif csv:
        write_csv(rows)
    else:
        screen = console()
        print_rows(screen, rows)
        say_method(screen, found.precision, rows, found.of)
        if found.extended_since:
            screen.print(
                f"the study was extended since and is not finished: run `hegemon sweep --extend {study}` to go on"
            )
        for fit in found.fits:
            screen.print(fit_sentence(fit, found.of), markup=False)


def fit_sentence(fit: Any, measure: str) -> str:
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


def write_csv(rows: list[dict[str, Any]]) -> None:
    """Intervals as two columns, so that every cell is one value."""
    flat = []
    for row in rows:
        cells: dict[str, Any] = {}
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


def print_rows(screen: "Console", rows: list[dict[str, Any]]) -> None:
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
    states, unsound, elsewhere = case_states(folder, study)
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
