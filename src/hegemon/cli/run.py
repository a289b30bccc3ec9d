"""`hegemon run`: many trials of one protocol, as a table or JSON, with a picture if asked for."""

import os
from typing import Annotated

import typer

from hegemon.cli import failures, guard, options, progress, tracing
from hegemon.cli.common import (
    PICTURES,
    build,
    console,
    deliver,
    facts,
    figure,
    new_table,
    notes_on,
    outputs,
    print_json,
)
from hegemon.cli.options import MESSAGES, POPULATION, RECORDING, ROUNDS, integer, integers, option, path
from hegemon.errors import InvalidInput
from hegemon.files import reserve

SHOWN_TRIALS = 20


def run(
    protocol: Annotated[
        str | None, typer.Argument(metavar="PROTOCOL", help="an id of `hegemon list`, or your_file.py:YourClass")
    ] = None,
    n: options.N = None,
    set_: options.Set = None,
    graph: options.Graph = None,
    trials: options.Trials = 1,
    seed: options.Seed = 0,
    max_steps: Annotated[int | None, integer("--max-steps", "give up a trial after so many")] = None,
    engine: Annotated[str, option("--engine", help="auto, or the name of an engine", metavar="NAME")] = "auto",
    workers: options.Workers = None,
    start: Annotated[
        str | None, option("--start", help="a named start, or a .json or .csv file", metavar="START", panel=POPULATION)
    ] = None,
    until: Annotated[
        str,
        option("--until", help="safe, broken, steps:K, a set, all(…), count(…) == K", metavar="STOP", panel=POPULATION),
    ] = "safe",
    fault: Annotated[
        list[str] | None,
        option("--fault", help="corrupt agents; repeatable", metavar="step=K,agents=J,field=value", panel=POPULATION),
    ] = None,
    disturbances: Annotated[
        str | None, option("--disturbances", help="faults, as watch saves them", metavar="FILE", panel=POPULATION)
    ] = None,
    no_fast_forward: Annotated[
        bool, option("--no-fast-forward", help="make every single round", panel=ROUNDS)
    ] = False,
    variant: Annotated[
        str | None, option("--variant", help="implicit, explicit or wakeup", metavar="NAME", panel=MESSAGES)
    ] = None,
    wake: Annotated[
        str | None, option("--wake", help="all, one-by-one, random or a file", metavar="NAME", panel=MESSAGES)
    ] = None,
    mixing_time: Annotated[
        str | None, option("--mixing-time", help="exact, spectral or a number", metavar="K", panel=MESSAGES)
    ] = None,
    observe: Annotated[
        str | None, option("--observe", help="what to record, such as leaders", metavar="NAME,…", panel=RECORDING)
    ] = None,
    every: Annotated[int | None, integer("--every", "record every so many steps", low=1, panel=RECORDING)] = None,
    at: Annotated[options.Any, integers("--at", "record at these steps, such as 0,100,1e4", panel=RECORDING)] = None,
    trace: Annotated[
        int | None,
        option("--trace", help="tell the first K changes of trial 0 in words; -K: the last", metavar="INTEGER",
               read=options.between("trace", -tracing.MOST, tracing.MOST), panel=RECORDING),
    ] = None,
    history: Annotated[str | None, path("--history", "write what trial 0 recorded as CSV")] = None,
    plot: options.Plot = None,
    final: Annotated[str | None, path("--final", "write where trial 0 ended (.json, .csv)")] = None,
    draw: Annotated[str | None, path("--draw", "draw the graph where trial 0 ended (.png …)")] = None,
    checkpoint: Annotated[str | None, path("--checkpoint", "keep a long run here, every minute and at Ctrl-C")] = None,
    resume: Annotated[str | None, path("--resume", "go on with the run of a checkpoint, alone")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
):  # fmt: skip
    """Simulate a protocol exactly, from a start until a stop, as many times as asked."""
    state = None
    if resume:
        given, state = resumed(resume, protocol)
        protocol, n, set_, graph, seed = (given[name] for name in ("protocol", "n", "set", "graph", "seed"))
        max_steps, engine, start, until, fault = (
            given[name] for name in ("max_steps", "engine", "start", "until", "fault")
        )
        disturbances, no_fast_forward = given["disturbances"], given["no_fast_forward"]
        variant, wake, mixing_time = (given[name] for name in ("variant", "wake", "mixing_time"))
        checkpoint = checkpoint or resume
    if protocol is None:
        raise InvalidInput("which protocol? Give an id of `hegemon list`, or your_file.py:YourClass")
    if checkpoint and (trials != 1 or observe or every or at or history or plot or trace is not None):
        raise InvalidInput("--checkpoint keeps one trial and no records; for many trials use hegemon sweep")
    faults = tuple(options.fault(text) for text in fault or ())
    if disturbances:
        from hegemon.runs.disturbances import read_disturbances

        faults += read_disturbances(disturbances)
    named = {"variant": variant, "mixing_time": mixing_time}
    settings = [*(set_ or ()), *(f"{name}={value}" for name, value in named.items() if value is not None)]
    outputs(
        plot=(plot, PICTURES), history=(history, (".csv",)), final=(final, (".json", ".csv")), draw=(draw, PICTURES)
    )
    if checkpoint:
        reserve(checkpoint)
    with progress.Progress(quiet=quiet) as shown:
        chosen, topology = build(protocol, n, graph, settings, seed)
        if draw:
            from hegemon.analysis.graph_pictures import check_drawable

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
        refuse_strange(chosen, given, wake, no_fast_forward)
        course = {"start": start, "until": until, "max_steps": max_steps, "engine": engine, "faults": faults}
        if is_messages(chosen):
            course = {"wake": wake or "all", "max_steps": max_steps, "engine": engine}
        elif plot or history or observe or every or at:
            course["observe"] = choose_observables(chosen, observe)
            course["every"] = every
            course["at"] = list(at) if at else None
        if is_rounds(chosen):
            course["fast_forward"] = not no_fast_forward
        if trace is not None:
            tracing.refuse_trace(chosen, engine, faults)
            course["engine"] = "agents" if chosen.model == "population" else engine
        if checkpoint:
            about = {
                "protocol": protocol, "n": n, "set": set_, "graph": graph, "seed": seed, "max_steps": max_steps,
                "engine": engine, "start": start, "until": until, "fault": fault, "disturbances": disturbances,
                "no_fast_forward": no_fast_forward, "variant": variant, "wake": wake, "mixing_time": mixing_time,
            }  # fmt: skip
            keeper = course["checkpoint"] = make_keeper(checkpoint, about, state)
        finished = run_with_progress(chosen, trials, shown, seed=seed, graph=topology, workers=workers, **course)
        if course.pop("checkpoint", None) and finished.interrupted:
            guard.answered()
            keeper.write()
            if keeper.state is None and keeper.unkept:
                raise failures.Interrupted(f"interrupted; {checkpoint} begins again, since {keeper.unkept}")
        content = report(chosen, topology, course, seed, finished)
        content["notes"] = [] if is_messages(chosen) else notes_on(until, chosen)
        if trace is not None and finished.runs:
            shown.show("telling the run again")
            content["trace"] = tracing.trace(chosen, topology, start, seed, finished.runs[0].steps, trace)
    deliver(
        lambda: print_json(content) if json else print_report(content),
        writers(chosen, topology, finished, plot=plot, history=history, final=final, draw=draw),
    )
    if finished.interrupted:
        raise failures.Interrupted(f"interrupted after {len(finished.runs)} of {trials} trials")
    raise typer.Exit(failures.YES if all(one.reached for one in finished.runs) else failures.NO)


def resumed(resume: str, protocol: str | None) -> tuple[dict, dict | None]:
    """What the checkpoint runs and where it stands; only the very code that wrote it may go on."""
    from hegemon.runs.checkpoint import read_checkpoint

    if protocol is not None:
        raise InvalidInput(f"--resume {resume} says what to run; give no protocol besides")
    about, state = read_checkpoint(resume)
    if code_of(about["given"]) != about["code"]:
        raise InvalidInput(f"{resume} was made with other code, libraries or files; go on with the same, or run anew")
    return about["given"], state


def make_keeper(path: str, given: dict, state):
    from hegemon.runs.checkpoint import Checkpoint

    return Checkpoint(path, {"given": given, "code": code_of(given)}, state)


def code_of(given: dict) -> list[str]:
    """Digests of the code and of the files that a run depends on."""
    from hegemon.experiments.fingerprints import code_fingerprint, file_digest, protocol_fingerprint
    from hegemon.protocols.loading import find_protocol

    files = [given[name] for name in ("graph", "start", "disturbances", "wake") if os.path.isfile(given[name] or "")]
    digests = [file_digest(name) for name in files]
    return [code_fingerprint(), protocol_fingerprint(find_protocol(given["protocol"])), *digests]


def is_messages(protocol) -> bool:
    return protocol.model == "message"


def is_rounds(protocol) -> bool:
    return protocol.model == "rounds"


def refuse_strange(chosen, given: dict, wake, no_fast_forward: bool) -> None:
    """What the options say must mean something to the model."""
    if is_messages(chosen):
        refuse(given, chosen, "--wake, --variant, --mixing-time, --set and --max-steps")
    else:
        refuse({"wake": wake}, chosen, "--start")
    if not is_rounds(chosen):
        refuse({"no-fast-forward": no_fast_forward}, chosen, "--engine to choose how it runs")


def refuse(given: dict, protocol, instead: str) -> None:
    """An option that a model does not know is an error, never ignored."""
    for name, value in given.items():
        if value:
            raise InvalidInput(f"--{name} means nothing to {protocol.id} ({protocol.model} model); use {instead}")


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


def run_with_progress(protocol, trials: int, shown, **course):
    """Run the trials and show how many are finished."""
    from hegemon.runs.trials import run_trials

    def report_progress(finished: int, steps: int) -> None:
        time = f" ({steps:,} {protocol.time_unit})" if steps else ""
        if finished or steps:
            shown.show(f"{protocol.id}{time}: trials", finished, trials)

    return run_trials(protocol, trials, report=report_progress, **course)


def report(protocol, topology, course, seed: int, finished) -> dict:
    """Everything that is printed, as JSON has it."""
    from hegemon.analysis.statistics import summarize_runs

    first = finished.runs[0] if finished.runs else None
    content = {
        "protocol": protocol.id,
        "model": protocol.model,
        "n": protocol.n,
        "parameters": protocol.parameters,
        "states": protocol.states if protocol.fields else None,
        "graph": topology.name,
        **report_course(protocol, course),
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


def report_course(protocol, course) -> dict:
    """From where to where: a message-passing protocol wakes up, and ends when nothing is left to happen."""
    if is_messages(protocol):
        return {"wake": course["wake"], "until": "end"}
    from hegemon.models.conditions import absence_note

    note = absence_note(course["until"], protocol)
    where = {"start": str(course["start"] or protocol.default_start), "until": course["until"]}
    return where | ({"note": note} if note else {})


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
    screen.print(facts(heading | ({"note": content["note"]} if "note" in content else {})))
    print_trials(screen, content["trials"])
    if content.get("trace") is not None:
        screen.print("\ntrial 0, step by step", style="bold")
        for line in content["trace"] or ["nothing changes"]:
            screen.print(f"  {line}")
    summary = {}
    for name, value in content["summary"].items():
        inner = value if isinstance(value, dict) else {"": value}
        summary |= {f"{name} {key}".replace("_", " ").strip(): figure(item) for key, item in inner.items()}
    screen.print()
    screen.print(facts({**summary, "wall seconds": content["wall_seconds"]}))
    for note in content["notes"]:
        screen.print(f"note: {note}")
    missed = content["summary"]["trials"] - content["summary"]["reached"]
    if missed:
        what = "elect exactly one leader" if content["model"] == "message" else "meet the stop in time"
        screen.print(f"{missed:,} trial{'s' * (missed > 1)} did not {what}; the times are those of the others.")


def print_trials(screen, rows: list[dict]) -> None:
    if not rows:
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    common = {name: rows[0].get(name) for name in columns if len({row.get(name) for row in rows}) == 1}
    common = {name: value for name, value in common.items() if isinstance(value, str)}  # said once, below
    columns = [name for name in columns if name not in common]
    table = new_table(*((name.replace("_", " "), {"justify": "right"}) for name in columns))
    for row in rows[:SHOWN_TRIALS]:
        table.add_row(*(figure(row.get(name)) for name in columns))
    screen.print()
    screen.print(table)
    for name, value in common.items():
        screen.print(f"{name.replace('_', ' ')} in every trial: {value}")
    if len(rows) > SHOWN_TRIALS:
        screen.print(f"… and {len(rows) - SHOWN_TRIALS:,} more trials (--json prints all)")


def writers(protocol, topology, finished, *, plot, history, final, draw) -> dict:
    """How each output file that was asked for is written."""
    if not finished.runs:
        return {}
    from hegemon.analysis.graph_pictures import draw_graph
    from hegemon.files import publish

    first = finished.runs[0]
    title = f"{protocol.id} on {topology.name} after {first.steps:,} {first.unit}; leaders: {first.leaders}"

    def write_history(place) -> None:
        with publish(place) as file:
            first.history.to_csv(file, index=False)

    def write_plot(place) -> None:
        finished.plot().save(place)

    return {
        plot: write_plot,
        history: write_history,
        final: lambda place: first.configuration.save(place),
        draw: lambda place: draw_graph(protocol, topology, first.configuration, title, place),
    }
