"""`hegemon discover`: search for protocols, with the exact chain as the judge."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hegemon.cli import failures, options
from hegemon.cli.common import console, counted, deliver, facts, figure, outputs, print_json
from hegemon.cli.improve import improve_protocol
from hegemon.cli.options import argument, decimal, integer, option, path, protocol_name, text
from hegemon.cli.output import print_figures
from hegemon.cli.progress import Progress
from hegemon.discovery.arenas import GRAPHS
from hegemon.errors import InvalidInput
from hegemon.files import write_text
from hegemon.kept import write_kept


def discover_protocols(
    specification: Annotated[
        str | None,
        argument("SPECIFICATION", "leader-election, majority, threshold:K, 'predicate:A % 2 == 1', or own"),
    ] = None,
    states: Annotated[
        int, integer("--states", "number of states of an agent; up to 6 with --guided", low=2, high=6)
    ] = 2,
    n: Annotated[
        str, text("--n", "numbers of agents that a protocol must be right for: 2..5, 3,5 or 'odd 3..9'", "RANGE")
    ] = "2..5",
    then: Annotated[
        str | None, text("--then", "further n at which what is found is judged, or run if too large: 6..8,100", "RANGE")
    ] = None,
    graph: Annotated[str, text("--graph", f"{', '.join(GRAPHS)}", "GRAPH")] = "complete",
    self_stabilizing: Annotated[bool, option("--self-stabilizing", help="from every configuration")] = False,
    silent: Annotated[bool, option("--silent", help="in the end no state changes any more")] = False,
    symmetric: Annotated[
        bool, option("--symmetric", help="rules do not tell the initiator from the responder")
    ] = False,
    coin: Annotated[bool, option("--coin", help="every interaction has one fair coin")] = False,
    daemon: Annotated[
        str | None, text("--daemon", "central: nodes of a ring read neighbours, and a daemon lets one move", "DAEMON")
    ] = None,
    start: Annotated[
        str | None, text("--start", 'the starts: conditions on `state` and `output`, "count(state == 1) == 1"', "SET")
    ] = None,
    correct: Annotated[
        str | None, text("--correct", 'with own: what is reached and kept, "count(output == 1) == 2"', "SET")
    ] = None,
    best: Annotated[int, integer("--best", "how many of the fastest are shown and written", high=10**6)] = 10,
    out: Annotated[
        str | None, option("--out", help="write the fastest into this folder, as found_1.py, …", metavar="FOLDER")
    ] = None,
    checkpoint: Annotated[
        str | None, path("--checkpoint", "keep finished branches (.json); run again to go on")
    ] = None,
    certificate: Annotated[str | None, path("--certificate", "write all decisions (.json), for the checker")] = None,
    guided: Annotated[
        bool, option("--guided", help="walks of local changes, for what is too large to enumerate; proves no absence")
    ] = False,
    walks: Annotated[int, integer("--walks", "with --guided: number of walks", low=1, high=10**6)] = 100,
    seed: Annotated[int, integer("--seed", "with --guided: the same seed gives the same answer")] = 0,
    improve: Annotated[
        str | None,
        option("--improve", help="find the best parameters of this protocol", read=protocol_name, metavar="PROTOCOL"),
    ] = None,
    free: Annotated[
        str | None, text("--free", 'with --improve: what may change, "s=2..8, r_max, rule:NAME"', "PARAMETERS")
    ] = None,
    hold: Annotated[float | None, decimal("--hold", "with --improve: steps that a leader must be held", 1e300)] = None,
    measure: Annotated[
        str | None, text("--measure", "with --improve: further n, at which runs are measured", "RANGE")
    ] = None,
    largest: Annotated[
        int, integer("--largest", "with --improve: configurations of an exact chain", low=1, high=10**8)
    ] = 200_000,
    trials: Annotated[int, integer("--trials", "with --measure: runs of every choice", high=10**6)] = 20,
    store: Annotated[
        str | None, option("--store", help="with --measure: the folder that keeps the runs", metavar="FOLDER")
    ] = None,
    picture: Annotated[str | None, path("--picture", "with --improve: draw the fronts (.png, .svg, .pdf)")] = None,
    workers: options.Workers = 1,
    cluster: options.Cluster = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Search all protocols of a few states for those that are right, and rank them by exact expected steps.

    With --improve, find the best parameters and alternative rules of a protocol that exists.
    """
    if improve is not None:
        if specification is not None:
            raise InvalidInput(f"--improve {improve} has its own goal; drop the specification {specification!r}")
        improve_protocol(
            improve, free, n if n != "2..5" else "3", hold, measure, trials, store, workers, cluster, largest, picture,
            json, quiet,
        )  # fmt: skip
    if specification is None:
        raise InvalidInput("give a specification, such as leader-election, or --improve PROTOCOL")
    outputs(checkpoint=(checkpoint, (".json",)), certificate=(certificate, (".json",)))
    folder = Path(out) if out else None
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InvalidInput(f"--out {out} is a file; give the name of a folder")
    if guided and certificate is not None:
        raise InvalidInput("a guided search has no certificate; drop --certificate or --guided")
    from hegemon.discovery.certificates import KIND
    from hegemon.discovery.certificates import certificate as certified
    from hegemon.discovery.discover import Discovery, discover
    from hegemon.discovery.guided import GuidedDiscovery, discover_guided
    from hegemon.discovery.lifting import lift
    from hegemon.discovery.writing import protocol_text

    asked: dict[str, Any] = {
        "states": states, "n": n, "graph": graph, "self_stabilizing": self_stabilizing, "silent": silent,
        "symmetric": symmetric, "coin": coin, "daemon": daemon, "start": start, "correct": correct,
        "checkpoint": checkpoint,
    }  # fmt: skip
    discovery: Discovery | GuidedDiscovery
    with Progress(quiet=quiet) as shown:
        try:
            if guided:
                discovery = discover_guided(
                    specification,
                    **asked,
                    walks=walks,
                    seed=seed,
                    workers=workers,
                    cluster=cluster,
                    progress=shown.show,
                )
            else:
                certified_too = certificate is not None
                discovery = discover(specification, **asked, certificate=certified_too, progress=shown.show)
            lifted = lift(discovery, then, shown.show) if then else None
        except KeyboardInterrupt:
            kept = f"kept in {checkpoint}: run again to go on" if checkpoint else "not kept; --checkpoint FILE keeps it"
            raise failures.Interrupted(f"interrupted; what was searched is {kept}") from None
    content = discovery.record(best) | {"then": lifted.record(best) if lifted else None}
    files: dict[str, Callable[[Any], Any]] = {}
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for number, one in enumerate(discovery.found[:best], 1):
            program = protocol_text(one, f"Found{number}", discovery.question.command)
            files[str(folder / f"found_{number}.py")] = partial(write_text, text=program)
    if certificate is not None and isinstance(discovery, Discovery):
        proof = certified(discovery)
        files[certificate] = lambda place: write_kept(place, KIND, proof)
    content["files"] = list(files)
    deliver(lambda: print_json(content) if json else print_report(content), files)
    raise typer.Exit(failures.YES if discovery.found else failures.UNFINISHED if guided else failures.NO)


def print_report(content: dict[str, Any]) -> None:
    screen = console()
    start = "every configuration" if content["self_stabilizing"] else "one uniform start"
    if content["start"] or content["specification"] not in ("leader-election", "own"):
        start = content["start"] or "all inputs"
    more = [word for word in ("silent", "symmetric", "coin") if content[word]]
    more += [f"{content['daemon']} daemon"] if content["daemon"] else []
    heads = {
        "specification": ", ".join([content["specification"], f"from {start}", *more]),
        **({"correct": content["correct"]} if content["correct"] else {}),
        "graph": content["graph"],
        "n": ", ".join(map(str, content["n"])),
    }
    if content["exhaustive"]:
        heads["tables"] = f"{content['tables']:,} ({content['up_to_renaming']:,} up to renaming of states)"
    else:
        heads["search"] = f"guided, {counted(content['walks'], 'walk')}; not exhaustive"
        heads["covered"] = (
            f"{content['judged']:,} judged and {content['skipped']:,} skipped by learned failures, at most "
            f"{content['share']:.2g} of {content['tables']:,} tables"
        )
    for n, pruned in content.get("pruned", {}).items():
        heads[f"wrong at n = {n}"] = f"{pruned['tables']:,} tables in {pruned['branches']:,} branches"
    processes = "1 process" if content["processes"] == 1 else f"{content['processes']:,} different processes"
    tables = f"{counted(content['satisfying'], 'table')}, " if content["exhaustive"] else ""
    heads["right"] = f"{tables}{processes}"
    screen.print(facts(heads))
    if content.get("distribution"):
        unit = "most moves" if content["daemon"] else "exact expected steps"
        screen.print(f"\n{unit} at n = {content['n'][-1]}", style="bold")
        rows = [[row["steps"], figure(row["processes"]), figure(row["tables"])] for row in content["distribution"]]
        shown = rows if len(rows) <= 12 else [*rows[:8], ["…"] * 3, *rows[-3:]]
        print_figures(screen, ("steps", "processes", "tables"), shown)
    for number, one in enumerate(content["best"], 1):
        screen.print(f"\n{number}. {'; '.join(one['rules'])}", style="bold", soft_wrap=True)
        both = any(figures["mean"] != figures["worst"] for figures in one["expected_steps"].values())
        steps = ", ".join(
            f"n = {n}: {figures['worst']}" + (f" (mean {figures['mean']})" if both else "")
            for n, figures in one["expected_steps"].items()
        )
        tables = counted(one["tables"], "table")
        screen.print(f"   {'most moves' if content['daemon'] else 'expected steps'} {steps}; {tables}", soft_wrap=True)
    if content["then"]:
        print_lifted(content)
    screen.print()
    for place in content["files"]:
        screen.print(f"written: {place}")
    absent = "none exists" if content["exhaustive"] else "none found, which does not mean that none exists"
    found = f"{content['processes']:,} found" if content["processes"] else absent
    work = f"{content['tables']:,} tables covered by judging {content['judged']:,}, {content['seconds']:.2f} s"
    work = work if content["exhaustive"] else f"{content['judged']:,} tables judged, {content['seconds']:.2f} s"
    screen.print(f"{found} ({work})", style="bold green" if content["processes"] else "bold")


def print_lifted(content: dict[str, Any]) -> None:
    screen, lifted = console(), content["then"]
    sizes, asked = (", ".join(map(str, given)) for given in (lifted["n"], content["n"]))
    if lifted["n"]:
        screen.print(f"\nat n = {sizes}", style="bold")
        screen.print(
            f"right: {lifted['right']:,}; wrong: {lifted['wrong']:,}; dependent on a further rule: "
            f"{lifted['undecided']:,}"
        )
    for one in lifted["counterexamples"]:
        stuck = ", ".join(map(str, one["stuck"]))
        screen.print(f"right for n = {asked}, wrong at {one['n']}: {'; '.join(one['rules'])}", soft_wrap=True)
        screen.print(f"   reached, and never settled: ({stuck})", soft_wrap=True)
    for one in lifted["simulated"]:
        runs = f"{one['reached']} of {one['trials']} runs correct within {one['max_steps']:,} steps"
        screen.print(f"n = {one['n']}: {runs}: {'; '.join(one['rules'])}", soft_wrap=True)
    for one in lifted["proofs"]:
        said = ", ".join(f"{question} {status}" for question, status in one["statements"].items())
        screen.print(f"for every n: {said}: {'; '.join(one['rules'])}", soft_wrap=True)
