"""`hegemon run`: many trials of one protocol, as a table or JSON, with a picture if asked for."""

from typing import Annotated, Any

import typer

from hegemon.cli import failures, guard, options, progress, tracing
from hegemon.cli.common import PICTURES, build, deliver, notes_on, outputs, print_json
from hegemon.cli.options import MESSAGES, POPULATION, RECORDING, ROUNDS, integer, integers, option, path
from hegemon.cli.resuming import make_keeper, resumed
from hegemon.cli.run_report import interruption, print_report, report, writers
from hegemon.errors import InvalidInput, meant
from hegemon.files import reserve


def run(
    protocol: Annotated[
        str | None, options.A_PROTOCOL
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
    loss: options.Loss = None,
    one_sided: options.OneSided = None,
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
        besides = {
            "n": n, "set": set_, "graph": graph, "seed": seed, "max-steps": max_steps, "engine": engine, "start": start,
            "until": until, "fault": fault, "disturbances": disturbances, "no-fast-forward": no_fast_forward,
            "variant": variant, "wake": wake, "mixing-time": mixing_time, "loss": loss, "one-sided": one_sided,
        }  # fmt: skip
        given, state = resumed(resume, protocol, besides)
        protocol, n, set_, graph, seed = (given[name] for name in ("protocol", "n", "set", "graph", "seed"))
        max_steps, engine, start, until, fault = (
            given[name] for name in ("max_steps", "engine", "start", "until", "fault")
        )
        disturbances, no_fast_forward = given["disturbances"], given["no_fast_forward"]
        variant, wake, mixing_time = (given[name] for name in ("variant", "wake", "mixing_time"))
        loss, one_sided = given["loss"], given["one_sided"]
        checkpoint = checkpoint or resume
    if protocol is None:
        raise InvalidInput("which protocol? Give an id of `hegemon list`, or your_file.py:YourClass")
    if checkpoint and (trials != 1 or observe or every or at or history or plot or trace is not None):
        raise InvalidInput("--checkpoint keeps one trial and no records; for many trials use hegemon sweep")
    from hegemon.models.unreliable import unreliable
    from hegemon.runs.disturbances import parse_fault, read_disturbances

    faults = tuple(parse_fault(text) for text in fault or ())
    if disturbances:
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
        chosen = unreliable(chosen, loss or 0, one_sided or 0)
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
        course: dict[str, Any] = {
            "start": start,
            "until": until,
            "max_steps": max_steps,
            "engine": engine,
            "faults": faults,
        }
        if chosen.model == "messages":
            course = {"wake": wake or "all", "max_steps": max_steps, "engine": engine}
        elif chosen.model == "objects":
            refuse({"observe": observe, "every": every, "at": at, "history": history}, chosen, "--trials and --plot")
            if plot and trials == 1:
                raise InvalidInput(
                    f"--plot draws nothing of one trial of {chosen.id}, whose states are Python objects and are not "
                    "recorded; give --trials 20, and it draws how long they took"
                )
        elif plot or history or observe or every or at:
            course["observe"] = choose_observables(chosen, observe)
            course["every"] = every
            course["at"] = list(at) if at else None
        if chosen.model == "rounds":
            course["fast_forward"] = not no_fast_forward
        if trace is not None:
            tracing.refuse_trace(chosen, engine, faults)
            course["engine"] = {"population": "agents", "messages": "nodes"}.get(chosen.model, engine)
        if checkpoint:
            about = {
                "protocol": protocol, "n": n, "set": set_, "graph": graph, "seed": seed, "max_steps": max_steps,
                "engine": engine, "start": start, "until": until, "fault": fault, "disturbances": disturbances,
                "no_fast_forward": no_fast_forward, "variant": variant, "wake": wake, "mixing_time": mixing_time,
                "loss": loss, "one_sided": one_sided,
            }  # fmt: skip
            keeper = course["checkpoint"] = make_keeper(checkpoint, about, state)
        finished = run_with_progress(chosen, trials, shown, seed=seed, graph=topology, workers=workers, **course)
        if course.pop("checkpoint", None) and finished.interrupted:
            guard.answered()
            keeper.write()
            if keeper.state is None and keeper.unkept:
                raise failures.Interrupted(f"interrupted; {checkpoint} begins again, since {keeper.unkept}")
        content = report(chosen, topology, course, seed, finished)
        content |= {"loss": loss or "0", "one_sided": one_sided or "0"} if loss or one_sided else {}
        content["notes"] = [] if chosen.model == "messages" else notes_on(until, chosen)
        if trace is not None and finished.runs:
            shown.show("telling the run again")
            tell, begin = (
                (tracing.trace_messages, wake or "all") if chosen.model == "messages" else (tracing.trace, start)
            )
            content["trace"] = tell(chosen, topology, begin, seed, finished.runs[0].steps, trace)
    deliver(
        lambda: print_json(content) if json else print_report(content),
        writers(chosen, topology, finished, plot=plot, history=history, final=final, draw=draw),
    )
    if finished.interrupted:
        raise failures.Interrupted(interruption(len(finished.runs), trials, protocol, checkpoint))
    raise typer.Exit(failures.YES if all(one.reached for one in finished.runs) else failures.NO)


def refuse_strange(chosen, given: dict, wake, no_fast_forward: bool) -> None:
    """What the options say must mean something to the model."""
    if chosen.model == "messages":
        refuse(given, chosen, "--wake, --variant, --mixing-time, --set and --max-steps")
    else:
        refuse({"wake": wake}, chosen, "--start")
    if chosen.model != "rounds":
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
            raise InvalidInput(
                f"{protocol.id} has no observable {name!r}; choose {', '.join(offered)}{meant(name, offered)}"
            )
    return {name: offered[name] for name in chosen}


def run_with_progress(protocol, trials: int, shown, **course):
    """Run the trials and show how many are finished."""
    from hegemon.runs.trials import run_trials

    def report_progress(finished: int, steps: int) -> None:
        time = f" ({steps:,} {protocol.time_unit})" if steps else ""
        if finished or steps:
            shown.show(f"{protocol.id}{time}: trials", finished, trials)

    return run_trials(protocol, trials, report=report_progress, **course)
