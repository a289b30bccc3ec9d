"""`hegemon run`: many trials of one protocol, as a table or JSON, with a picture if asked for."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hegemon.analysis.graph_pictures import check_drawable, draw_graph
from hegemon.analysis.pictures import check_picture_path, draw_elections, draw_runs
from hegemon.analysis.statistics import summarize_runs
from hegemon.cli.common import build, console, facts, figure, number, print_json
from hegemon.errors import InvalidInput
from hegemon.models.expressions import whole_number
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.run import Fault
from hegemon.runs.trials import Trials, run_trials

SHOWN_TRIALS = 20


def run(
    protocol: Annotated[str, typer.Argument(help="an id of `hegemon list`, or your_file.py:YourClass")],
    n: Annotated[str | None, typer.Option("--n", help="number of agents, such as 1000 or 1e6")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="parameter as name=value; repeatable")] = None,
    graph: Annotated[str | None, typer.Option("--graph", help="ring:64, grid:8x8, regular:1000,4 … or a file")] = None,
    start: Annotated[str | None, typer.Option("--start", help="a named start, or a .json or .csv file")] = None,
    until: Annotated[str, typer.Option("--until", help="safe, broken, steps:K, a set, all(…), count(…) == K")] = "safe",
    trials: Annotated[str, typer.Option("--trials", help="how many independent runs")] = "1",
    seed: Annotated[str, typer.Option("--seed", help="the same seed gives the same numbers")] = "0",
    max_steps: Annotated[str | None, typer.Option("--max-steps", help="give up a trial after so many")] = None,
    engine: Annotated[str, typer.Option("--engine", help="auto, or the name of an engine")] = "auto",
    variant: Annotated[str | None, typer.Option("--variant", help="messages: implicit, explicit or wakeup")] = None,
    wake: Annotated[str | None, typer.Option("--wake", help="messages: all, one-by-one, random or a file")] = None,
    mixing_time: Annotated[str | None, typer.Option("--mixing-time", help="messages: exact, spectral or K")] = None,
    fault: Annotated[list[str] | None, typer.Option("--fault", help="step=K,agents=J[,field=value]")] = None,
    disturbances: Annotated[str | None, typer.Option("--disturbances", help="a file of faults, as watch saves")] = None,
    observe: Annotated[str | None, typer.Option("--observe", help="what to record, such as leaders")] = None,
    every: Annotated[str | None, typer.Option("--every", help="record every so many steps")] = None,
    at: Annotated[str | None, typer.Option("--at", help="record at these steps, such as 0,100,1e4")] = None,
    history: Annotated[str | None, typer.Option("--history", help="write what trial 0 recorded as CSV")] = None,
    plot: Annotated[str | None, typer.Option("--plot", help="write a picture (.png, .svg, .pdf)")] = None,
    final: Annotated[str | None, typer.Option("--final", help="write where trial 0 ended (.json, .csv)")] = None,
    draw: Annotated[str | None, typer.Option("--draw", help="draw the graph where trial 0 ended (.png …)")] = None,
    no_fast_forward: Annotated[bool, typer.Option("--no-fast-forward", help="rounds: make every single one")] = False,
    workers: Annotated[str | None, typer.Option("--workers", help="threads; default: all cores")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):  # fmt: skip
    """Simulate a protocol exactly, from a start until a stop, as many times as asked."""
    seed_number = whole_number(seed, "seed")
    named = {"variant": variant, "mixing_time": mixing_time}
    settings = [*(set_ or ()), *(f"{name}={value}" for name, value in named.items() if value is not None)]
    chosen, topology = build(protocol, n, graph, settings, seed_number)
    check_output_files(plot, history, final, draw)
    if draw:
        check_drawable(topology)
    given = {
        "start": start,
        "fault": fault,
        "disturbances": disturbances,
        "observe": observe,
        "every": every,
        "at": at,
        "history": history,
    }
    given |= {"final": final, "draw": draw, "until": None if until == "safe" else until}
    if chosen.model == "message":
        refuse(given, chosen, "--wake, --variant, --mixing-time, --set and --max-steps")
    else:
        refuse({"wake": wake}, chosen, "--start")
    if chosen.model != "state":
        refuse({"no-fast-forward": no_fast_forward}, chosen, "--engine to choose how it runs")
    options = {
        "start": start,
        "until": until,
        "max_steps": None if max_steps is None else whole_number(max_steps, "max-steps"),
        "engine": engine,
        "faults": tuple(parse_fault(text) for text in fault or ())
        + (read_disturbances(disturbances) if disturbances else ()),
    }
    if chosen.model == "message":
        options = {"wake": wake or "all", "max_steps": options["max_steps"], "engine": engine}
    elif plot or history or observe or every or at:
        options["observe"] = choose_observables(chosen, observe)
        options["every"] = None if every is None else whole_number(every, "every", low=1)
        options["at"] = [whole_number(part, "at") for part in at.split(",")] if at else None
    if chosen.model == "state":
        options["fast_forward"] = not no_fast_forward
    finished = run_with_progress(
        chosen,
        whole_number(trials, "trials", low=1),
        seed=seed_number,
        graph=topology,
        workers=None if workers is None else whole_number(workers, "workers", low=1),
        **options,
    )
    content = report(chosen, topology, options, seed_number, finished)
    if json:
        print_json(content)
    else:
        print_report(content)
    write_files(plot, history, final, chosen, finished)
    if draw and finished.runs:
        first = finished.runs[0]
        title = f"{chosen.id} on {topology.name} after {first.steps:,} {first.unit}; leaders: {first.leaders}"
        draw_graph(chosen, topology, first.configuration, title, draw)
    if finished.interrupted:
        print(f"hegemon: interrupted after {len(finished.runs)} of {trials} trials", file=sys.stderr)
        raise typer.Exit(130)


def refuse(given: dict, protocol, instead: str) -> None:
    """An option that a model does not know is an error, never ignored."""
    for name, value in given.items():
        if value:
            raise InvalidInput(f"--{name} means nothing to {protocol.id} ({protocol.model} model); use {instead}")


def parse_fault(text: str) -> Fault:
    """`step=K,agents=J` and, optionally, the values that the victims get."""
    values = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or key.strip() in values:
            raise InvalidInput(f"--fault {text!r} is not understood; write step=K,agents=J[,field=value…]")
        values[key.strip()] = value.strip()
    if "step" not in values or "agents" not in values:
        raise InvalidInput(f"--fault {text!r} must say step=K and agents=J")
    step = whole_number(values.pop("step"), "the fault's step")
    agents = whole_number(values.pop("agents"), "the fault's agents", low=1)
    return Fault(step, agents, {name: number(value) for name, value in values.items()} or None)


def choose_observables(protocol, names: str | None) -> dict:
    """The observables asked for, or all that the protocol offers."""
    offered = protocol.watched()
    if names is None:
        return offered
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in offered:
            raise InvalidInput(f"{protocol.id} has no observable {name!r}; choose {', '.join(offered)}")
    return {name: offered[name] for name in chosen}


def run_with_progress(protocol, trials: int, **options) -> Trials:
    """Run the trials under a bar on the error stream; where that is no terminal, nothing is shown."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials {task.fields[time]}"),
        TimeElapsedColumn(),
    )
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(protocol.id, total=trials, time="")

        def report_progress(finished: int, steps: int) -> None:
            progress.update(task, completed=finished, time=f"{steps:,} {protocol.time_unit}" if steps else "")

        return run_trials(protocol, trials, report=report_progress, **options)


def report(protocol, topology, options, seed: int, finished: Trials) -> dict:
    """Everything that is printed, as JSON has it."""
    first = finished.runs[0] if finished.runs else None
    content = {
        "protocol": protocol.id,
        "model": protocol.model,
        "n": protocol.n,
        "parameters": protocol.parameters,
        "states": protocol.states if protocol.fields else None,
        "graph": topology.name,
        **report_course(protocol, options),
        "engine": first.engine if first else None,
        "reason": first.reason if first else None,
        "seed": seed,
        "trials": [one.record() for one in finished.runs],
        "summary": summarize_runs(finished.runs),
        "interrupted": finished.interrupted,
        "wall_seconds": round(finished.wall_seconds, 3),
    }
    if first is not None and first.history is not None:
        content["history"] = first.history.to_dict(orient="list")
    return content


def report_course(protocol, options) -> dict:
    """From where to where: a message-passing protocol wakes up, and ends when nothing is left to happen."""
    if protocol.model == "message":
        return {"wake": options["wake"], "until": "end"}
    return {"start": str(options["start"] or protocol.default_start), "until": options["until"]}


def print_report(content: dict) -> None:
    screen = console()
    parameters = "".join(f", {name} = {value}" for name, value in content["parameters"].items())
    heading = {
        "protocol": f"{content['protocol']}  (n = {content['n']:,}{parameters})",
        "states": figure(content["states"]),
        "graph": content["graph"],
        "start → until": f"{content.get('start') or 'wake ' + content['wake']} → {content['until']}",
        "engine": f"{content['engine']} ({content['reason']})",
        "seed": content["seed"],
    }
    screen.print(facts(heading))
    print_trials(screen, content["trials"])
    summary = {}
    for name, value in content["summary"].items():
        inner = value if isinstance(value, dict) else {"": value}
        summary |= {f"{name} {key}".replace("_", " ").strip(): figure(item) for key, item in inner.items()}
    screen.print()
    screen.print(facts({**summary, "wall seconds": content["wall_seconds"]}))
    missed = content["summary"]["trials"] - content["summary"]["reached"]
    if missed:
        if content["model"] == "message":
            screen.print(f"{missed:,} trials did not elect exactly one leader; the times are those of the others.")
        else:
            screen.print(f"{missed:,} trials did not meet the stop in time; the times are those of the others.")


def print_trials(screen, rows: list[dict]) -> None:
    if not rows:
        return
    table = Table(box=None, pad_edge=False)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    common = {name: rows[0].get(name) for name in columns if len({row.get(name) for row in rows}) == 1}
    common = {name: value for name, value in common.items() if isinstance(value, str)}  # said once, below
    columns = [name for name in columns if name not in common]
    for name in columns:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows[:SHOWN_TRIALS]:
        table.add_row(*(figure(row.get(name)) for name in columns))
    screen.print()
    screen.print(table)
    for name, value in common.items():
        screen.print(f"{name.replace('_', ' ')} in every trial: {value}")
    if len(rows) > SHOWN_TRIALS:
        screen.print(f"… and {len(rows) - SHOWN_TRIALS:,} more trials (--json prints all)")


def check_output_files(plot, history, final, draw) -> None:
    """Refuse bad paths before the work is done."""
    for picture in (plot, draw):
        if picture:
            check_picture_path(picture)
    for path, endings in ((history, (".csv",)), (final, (".json", ".csv"))):
        if path and not str(path).lower().endswith(endings):
            raise InvalidInput(f"the file {path} must end in {' or '.join(endings)}")


def write_files(plot, history, final, protocol, finished: Trials) -> None:
    if not finished.runs:
        return
    first = finished.runs[0]
    if plot:
        draw = draw_elections if protocol.model == "message" else draw_runs
        draw(finished.runs, f"{protocol.id}, n = {protocol.n:,}", plot)
    if history:
        first.history.to_csv(history, index=False)
    if final:
        first.configuration.save(final)
