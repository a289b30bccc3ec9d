"""`hegemon verify`: exact results as tables or JSON, and counterexamples."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hegemon.cli import failures, guard, options, verify_messages, verify_rates
from hegemon.cli.common import (
    build,
    console,
    facts,
    figure,
    instance,
    maker,
    new_table,
    notes_on,
    outputs,
    print_json,
    write_all,
)
from hegemon.cli.options import integer, option, path
from hegemon.cli.progress import Progress
from hegemon.display import states
from hegemon.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console


MEMORY = 4.0  # GiB
SHARED = ("protocol", "set_", "property_", "json", "quiet")  # options of every question
QUESTIONS = "closed, leader, reached, time, holding, predicate, availability"


def verify_protocol(
    protocol: options.Protocol,
    n: options.N = None,
    set_: options.Set = None,
    graph: options.Graph = None,
    start: Annotated[
        str | None, option("--start", help="all, a named start, or a .json or .csv file", metavar="START")
    ] = None,
    property_: Annotated[
        str | None,
        option("--property", help=f"a set, a question ({QUESTIONS}), or both as QUESTION:SET", metavar="PROPERTY"),
    ] = None,
    quantiles: Annotated[
        Any,
        option("--quantiles", help="of the steps, such as 0.5,0.9", metavar="NUMBER,…",
               read=options.several(options.level, "--quantiles")),
    ] = None,
    within: Annotated[
        int | None, integer("--within", "the probability of having reached the set after K steps", high=10**9)
    ] = None,
    every_graph: Annotated[
        int | None,
        integer("--every-graph", "instead: closed on all connected graphs of up to K nodes?", low=1, high=7),
    ] = None,
    memory: Annotated[
        float, option("--memory", help="GiB that the chain may take", metavar="NUMBER",
                      read=options.positive("memory", 1e6))
    ] = MEMORY,
    scheduler: options.Scheduler = None,
    coins: Annotated[
        str, option("--coins", help="under a daemon: fair, or adversary (it chooses them too)", metavar="NAME")
    ] = "fair",
    rates: options.Rates = None,
    loss: options.Loss = None,
    one_sided: options.OneSided = None,
    wake: options.Wake = None,
    identifiers: options.Identifiers = None,
    delay: options.Delay = None,
    order: options.Order = None,
    duplicate: options.Duplicate = None,
    crashes: options.Crashes = None,
    symmetry: Annotated[bool, typer.Option(help="count configurations up to symmetry")] = True,
    checkpoint: Annotated[
        str | None, path("--checkpoint", "continue a chain too large to store from this file (.npz)")
    ] = None,
    distribution: Annotated[str | None, path("--distribution", "write it as CSV")] = None,
    counterexample: Annotated[str | None, path("--counterexample", "write the first (.json)")] = None,
    worst: Annotated[str | None, path("--worst", "write the worst schedule of a daemon (.json)")] = None,
    best: Annotated[str | None, path("--best", "write its best schedule (.json)")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Decide what always happens on a small instance, and compute exact expectations.

    The exit code is 1 when something that is reported does not hold, whether the protocol claims it or not:
    `--property` chooses what is reported.
    """
    given = dict(locals())
    if rates or property_ == verify_rates.QUESTION:
        options.refuse_others(verify_protocol, given, (*SHARED, *verify_rates.TAKES), "availability")
        verify_rates.report(protocol, n, set_, graph, rates, property_, json, quiet,
                            scheduler=scheduler, memory=memory, loss=loss or 0, one_sided=one_sided or 0)  # fmt: skip
    if every_graph is not None:
        options.refuse_others(verify_protocol, given, (*SHARED, "every_graph"), "--every-graph")
        check_every_graph(protocol, every_graph, set_, property_, json, quiet)
    outputs(
        checkpoint=(checkpoint, (".npz",)),
        distribution=(distribution, (".csv",)),
        counterexample=(counterexample, (".json",)),
        worst=(worst, (".json",)),
        best=(best, (".json",)),
    )
    with Progress(quiet=quiet) as shown:
        from hegemon.exact.verification import Verification, verify

        chosen, topology = build(protocol, n, graph, set_, 0)
        if chosen.model.wakes:
            verify_messages.refuse_files(
                chosen, distribution=distribution, counterexample=counterexample, worst=worst, best=best
            )
        answer = verify(
            chosen, graph=topology, start=start, property=property_, quantiles=quantiles or (), memory=memory,
            symmetry=symmetry, checkpoint=checkpoint, scheduler=scheduler, coins=coins, within=within,
            wake=wake or "all", identifiers=identifiers or "random", delay=delay,
            order=order or "fifo", duplicate=duplicate or 0, crashes=crashes or (), loss=loss or 0,
            one_sided=one_sided or 0, progress=shown.show,
        )  # fmt: skip
    if not isinstance(answer, Verification):
        verify_messages.report(answer, json)
    if distribution and answer.hitting is None:
        raise InvalidInput("--distribution needs the question `time`; leave --property out or ask time:SET")
    content = answer.record() | {"notes": notes_on((property_ or "").partition(":")[2] or property_, chosen)}
    written: list[Path] = []
    files = {
        distribution: lambda place: written.append(write_times(answer, place)),
    }
    first = first_counterexample(answer)
    if first:
        files[counterexample] = lambda place: written.append(first.save(place) or Path(place))
    elif counterexample:
        content["notes"] += [f"there is no counterexample, so {counterexample} was not written"]
    if worst:
        files[worst] = lambda place: written.append(write_strategy(answer, True, place))
    if best:
        files[best] = lambda place: written.append(write_strategy(answer, False, place))
    guard.answered()
    failure = write_all(files)
    content |= {"files": [str(place) for place in written]}
    print_json(content) if json else print_report(content)
    if failure:
        raise failure
    raise typer.Exit(failures.YES if all(finding.holds for finding in answer.findings) else failures.NO)


def check_every_graph(
    protocol: str, most: int, settings: list[str] | None, property_: str | None, json: bool, quiet: bool
) -> None:
    """Closure of a listed set on every connected graph, all coins and all leader positions."""
    from hegemon.exact.closure import closure_everywhere
    from hegemon.models.expressions import assignments
    from hegemon.protocols.loading import find_protocol

    maker(protocol, settings)
    name = closed_set(property_)
    with Progress(quiet=quiet) as shown:
        checked = closure_everywhere(find_protocol(protocol), most, name, shown.show, **assignments(settings))
    broken = [one for one in checked if not one.holds]
    content = {
        "protocol": protocol,
        "set": name,
        "graphs": len(checked),
        "largest": most,
        "configurations": sum(one.configurations for one in checked),
        "successors": sum(one.successors for one in checked),
        "ok": not broken,
        "flaws": [{"graph": one.graph.name, "nodes": one.graph.n, "flaw": one.flaw} for one in broken],
    }
    if json:
        print_json(content)
    else:
        console().print(facts({key: figure(value) for key, value in content.items() if key != "flaws"}))
        for one in broken:
            console().print(f"{one.graph.name} ({one.graph.n} nodes): {one.flaw}")
    raise typer.Exit(failures.NO if broken else failures.YES)


def closed_set(property_: str | None) -> str:
    """The set of `SET`, `closed` or `closed:SET`; another question is refused."""
    question, _, name = (property_ or "closed").partition(":")
    if question in QUESTIONS.split(", ") and question != "closed":
        raise InvalidInput(f"--every-graph decides whether a set is closed, not {question}; write closed:SET, or SET")
    return (name or "safe") if question == "closed" else str(property_)


def write_strategy(answer: Any, worst: bool, place: str) -> Path:
    if answer.schedules is None:
        raise InvalidInput("--worst and --best need a daemon that chooses; give --scheduler central, for instance")
    answer.schedules.strategy(worst).save(place)
    return Path(place)


def write_times(answer: Any, place: str) -> Path:
    from hegemon.exact.hitting import write_distribution

    return write_distribution(answer, place)


def first_counterexample(answer: Any) -> Any:
    """Of a refuted claim if there is one, otherwise of whatever does not hold."""
    failing = [*answer.refuted, *(finding for finding in answer.findings if not finding.holds)]
    found = [finding.counterexample for finding in failing if finding.counterexample]
    return found[0] if found else None


def print_report(content: dict[str, Any]) -> None:
    screen = console()
    screen.print(
        facts(
            {
                "protocol": instance(content),
                "states": figure(content["states"]),
                "graph": content["graph"],
                "covers": content["covers"],
                "configurations": configurations(content),
                "transitions": transitions(content),
            }
        )
    )
    print_findings(screen, content["findings"])
    if content["expected_steps"]:
        print_expected(screen, content["expected_steps"], content["unit"])
    if content["schedules"]:
        print_schedules(screen, content["schedules"])
    if content["within"]:
        print_within(screen, content["within"], content["unit"])
    if content["holding"]:
        print_holding(screen, content["holding"], content["unit"])
    screen.print()
    for place in content["files"]:
        screen.print(f"written: {place}")
    for note in content["notes"]:
        screen.print(f"note: {note}")
    fails = any(not row["holds"] for row in content["findings"])
    style = "bold red" if not content["ok"] else "bold yellow" if fails else "bold green"
    screen.print(f"{content['headline']} ({content['seconds']:.2f} s)", style=style)


def configurations(content: dict[str, Any]) -> str:
    if content["symmetry"] == "none":
        return figure(content["configurations"])
    labelled = figure(content["labelled_configurations"] or "more than 1e308")
    return f"{figure(content['configurations'])} up to symmetry ({content['symmetry']}), {labelled} in all"


def transitions(content: dict[str, Any]) -> str:
    if content["schedules"]:
        return f"{figure(content['transitions'])}, {figure(content['schedules']['choices'])} choices of the daemon"
    return f"{figure(content['transitions'])}, probabilities in 1/{content['denominator']}"


def print_schedules(screen: "Console", found: dict[str, Any]) -> None:
    """The extremes over all schedules, one row each."""
    screen.print(f"\nall schedules of the daemon {found['daemon']}, coins {found['coins']}", style="bold")
    named = list(found["probability"]["least"]["from"])
    columns = ("", "over all schedules", "worst start", "mean over the starts", *(f"from {name}" for name in named))
    table = new_table(*((heading, {"overflow": "fold"}) for heading in (*columns, "error at most")))
    quantities = {"probability of reaching it": found["probability"]}
    quantities |= {f"expected {name}": sides for name, sides in found["expected"].items()}
    for what, sides in quantities.items():
        for side, row in sides.items():
            if row is not None:
                values = [row["worst"], row["mean"], *row["from"].values()]
                table.add_row(what, side, *map(exact, values), f"{row['error']:.1g}")
    screen.print(table)
    for note in found["notes"]:
        screen.print(f"note: {note}")


def print_findings(screen: "Console", findings: list[dict[str, Any]]) -> None:
    if not findings:
        return
    headings = ("set", "question", "holds", "because")
    table = new_table(*((heading, {"overflow": "fold"}) for heading in headings))
    for row in findings:
        table.add_row(row["set"], row["question"], held(row), row["sentence"])
    screen.print()
    screen.print(table)
    for row in findings:
        if row["counterexample"]:
            what = "a longest schedule" if row["holds"] else "a shortest counterexample"
            screen.print(f"\n{row['question']} {row['set']}: {what}", style="bold")
            for line in row["counterexample"]["story"]:
                screen.print(f"  {line}")


def held(row: dict[str, Any]) -> str:
    """Whether it holds, and what the protocol claims about it."""
    if row["holds"]:
        return "yes, as claimed" if row["claimed"] else "yes"
    return "no, though claimed" if row["claimed"] else "no, and not claimed"


def print_expected(screen: "Console", times: dict[str, Any], unit: str) -> None:
    screen.print(f"\nexpected {unit} to reach {times['set']}", style="bold")
    rows = {f"from {name}": exact(value) for name, value in times["from"].items()}
    if set(times["from"].values()) != {times["worst"], times["mean"]}:  # of one start it would say the same thrice
        rows = {"worst": exact(times["worst"]), "mean over the starts": exact(times["mean"])} | rows
    rows["relative error at most"] = f"{times['relative_error']:.1g}"
    if times["probability"] < 1:
        rows["probability of reaching it"] = exact(times["probability"])
    for view, levels in times["quantiles"].items():
        rows[f"quantiles, {view}"] = ", ".join(f"{level}: {figure(steps)}" for level, steps in levels.items())
    rows["worst start"] = states(times["worst_start"])
    screen.print(facts(rows))


def print_within(screen: "Console", found: dict[str, Any], unit: str) -> None:
    screen.print(f"\nprobability of having reached {found['set']} within {found['steps']:,} {unit}", style="bold")
    rows = {"worst": found["worst"], "mean over the starts": found["mean"]}
    rows |= {f"from {name}": value for name, value in found["from"].items()}
    fractions = list((found["exact"] or {}).values()) or [""] * len(rows)
    short = [f" = {text}" if 0 < len(text) <= 40 else "" for text in fractions]
    shown = {name: f"{exact(value)}{text}" for (name, value), text in zip(rows.items(), short, strict=True)}
    error = "exact" if found["exact"] else f"at most {found['error']:.1g}"
    screen.print(facts(shown | {"error": error}))


def print_holding(screen: "Console", times: dict[str, Any], unit: str) -> None:
    screen.print(f"\nexpected {unit} from {times['set']} until the leader is not the same unique one", style="bold")
    rows = {"worst": exact(times["worst"]), "best": exact(times["best"])}
    rows |= {f"from {name}": exact(value) for name, value in times["from"].items()}
    if times["worst"] is not None:
        rows["relative error at most"] = f"{times['relative_error']:.1g}"
        rows["worst start"] = states(times["worst_start"])
        rows["best start"] = states(times["best_start"])
    for place, how in enumerate(times["breaks"]):
        meeting, result = states(how["before"]), states(how["after"])
        rows[f"ends by ({place + 1})"] = f"{meeting} → {result}, probability {exact(how['probability'])}"
    screen.print(facts(rows))
    if times["most_likely_way"]:
        chance = exact(times["most_likely_way_probability"])
        screen.print(f"\nthe most likely way it ends, from the worst start (probability {chance})", style="bold")
        for line in times["most_likely_way"]["story"]:
            screen.print(f"  {line}")


def exact(value: float | None) -> str:
    """All the digits that are known."""
    return "infinite" if value is None else f"{value:,.12g}"
