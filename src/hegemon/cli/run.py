"""`hegemon run`: many trials of one protocol, as a table or JSON, with a picture if asked for."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hegemon.cli import failures, guard, options, progress, tracing
from hegemon.cli.common import PICTURES, deliver, notes_on, outputs, print_json
from hegemon.cli.options import OUTPUT, option, path
from hegemon.cli.resuming import make_keeper, resumed
from hegemon.cli.run_report import interruption, print_report, report, writers
from hegemon.errors import InvalidInput
from hegemon.files import reserve, write_text
from hegemon.runs.option import MESSAGES, RECORDING
from hegemon.runs.record import RunRecord

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.cli.progress import Progress
    from hegemon.graphs.topology import Topology
    from hegemon.runs.trials import Trials

LONG = 10.0  # seconds until a wait for a rare event names what estimates it
RARE = "a lost leader may be too rare to wait for: `hegemon holding` estimates the time without waiting"


@options.of_run()
def run(
    asked: dict[str, Any],
    variant: Annotated[
        str | None, option("--variant", help="implicit, explicit or wakeup", metavar="NAME", panel=MESSAGES)
    ] = None,
    mixing_time: Annotated[
        str | None, option("--mixing-time", help="exact, spectral or a number", metavar="K", panel=MESSAGES)
    ] = None,
    trials: options.Trials = 1,
    workers: options.Workers = None,
    trace: Annotated[
        int | None,
        option("--trace", help="print the first K changes of trial 0 in words; -K: the last", metavar="INTEGER",
               read=options.between("trace", -tracing.MOST, tracing.MOST), panel=RECORDING),
    ] = None,
    history: Annotated[str | None, path("--history", "write what trial 0 recorded as CSV")] = None,
    plot: options.Plot = None,
    final: Annotated[str | None, path("--final", "write where trial 0 ended (.json, .csv)")] = None,
    draw: Annotated[str | None, path("--draw", "draw the graph where trial 0 ended (.png …)")] = None,
    checkpoint: Annotated[str | None, path("--checkpoint", "keep a long run here, every minute and at Ctrl-C")] = None,
    resume: Annotated[str | None, path("--resume", "continue the run of a checkpoint")] = None,
    csv: Annotated[str | None, path("--csv", "write every trial (.csv)")] = None,
    each: Annotated[bool, option("--each", help="print every trial too", panel=OUTPUT)] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Simulate a protocol exactly, from a start until a stop, in one trial or many."""
    for name, value in {"variant": variant, "mixing_time": mixing_time}.items():
        if value is not None:
            asked["parameters"] = {**asked.get("parameters", {}), name: number_or_text(value)}
    asked, state = resumed(resume, asked) if resume else (asked, None)
    checkpoint = checkpoint or resume
    recorded = any(name in asked for name in ("observe", "every", "at"))
    if checkpoint and (trials != 1 or recorded or history or plot or trace is not None):
        raise InvalidInput("--checkpoint keeps one trial and no records; for many trials use hegemon sweep")
    outputs(
        plot=(plot, PICTURES),
        history=(history, (".csv",)),
        final=(final, (".json", ".csv")),
        draw=(draw, PICTURES),
        csv=(csv, (".csv",)),
    )
    if checkpoint:
        reserve(checkpoint)
    with progress.Progress(quiet=quiet) as shown:
        from hegemon.experiments.request import ask, with_story

        record, topology = ask(with_story(asked))
        keeper = make_keeper(checkpoint, record, state) if checkpoint else None
        record = prepared(record, topology, trials, trace, history=history, final=final, draw=draw, plot=plot)
        finished = run_with_progress(record, topology, trials, shown, workers=workers, checkpoint=keeper)
        if keeper and finished.interrupted:
            guard.answered()
            keeper.write()
            if keeper.state is None and keeper.unkept:
                raise failures.Interrupted(f"interrupted; {checkpoint} begins again, since {keeper.unkept}")
        content = report(record, topology, finished)
        if trace is not None and "engine" not in asked:
            content["reason"] = "--trace follows every step"
        content["notes"] = notes_on(str(record.until), record.protocol) if record.protocol.model.has_starts else []
        if is_rare(record) and not all(one.reached for one in finished.runs):
            content["notes"] += [RARE]
        if trace is not None and finished.runs:
            shown.show("replaying the run")
            content["trace"] = tracing.trace(record, finished.runs[0].steps, trace)
    deliver(
        lambda: print_json(content) if json else print_report(content, each),
        writers(record.protocol, topology, finished, plot=plot, history=history, final=final, draw=draw)
        | {csv: lambda place: write_text(place, finished.frame.to_csv(index=False, lineterminator="\n"))},
    )
    if finished.interrupted:
        keepable = not (record.rates or record.availability or record.observe or trace is not None)
        raise failures.Interrupted(
            interruption(len(finished.runs), trials, asked.get("protocol", ""), checkpoint, keepable)
        )
    raise typer.Exit(failures.YES if all(one.reached for one in finished.runs) else failures.NO)


def is_rare(record: RunRecord) -> bool:
    """Whether it waits for the loss of a leader, which may take very long."""
    return record.protocol.model.has_configurations and record.until == "broken"


def prepared(record: RunRecord, topology: "Topology", trials: int, trace: int | None, **files: Any) -> RunRecord:
    """The record with what its output files need; whatever cannot be had is refused before any work."""
    from hegemon.runs.record import unmeant

    protocol, plot = record.protocol, files.pop("plot")
    for name, place in files.items():
        if place and not protocol.model.has_configurations:
            raise unmeant(f"--{name}", protocol)
    if files["draw"]:
        from hegemon.analysis.graph_pictures import check_drawable

        check_drawable(topology)
    if protocol.model.has_configurations and (plot or files["history"]) and not record.observe:
        record = replace(record, observe=True)
    if plot and trials == 1 and protocol.model.has_objects:
        raise InvalidInput(
            f"--plot draws nothing of one trial of {protocol.id}, whose states are Python objects and are not "
            "recorded; give --trials 20, and it draws how long they took"
        )
    return record if trace is None else tracing.traceable(record)


def run_with_progress(
    record: RunRecord, topology: "Topology", trials: int, shown: "Progress", **making: Any
) -> "Trials":
    """Run the trials and show how many are finished."""
    from hegemon.runs.trials import run_trials

    begin = time.monotonic()

    def report_progress(finished: int, steps: int) -> None:
        made = f" ({steps:,} {record.protocol.time_unit})" if steps else ""
        hint = f" {RARE}" if is_rare(record) and time.monotonic() - begin > LONG else ""
        if finished or steps:
            shown.show(f"{record.protocol.id}{made}{hint}: trials", finished, trials)

    return run_trials(trials=trials, report=report_progress, **vars(record) | {"graph": topology}, **making)


def number_or_text(word: str) -> Any:
    from hegemon.models.expressions import number_or_text as read

    return read(word)
