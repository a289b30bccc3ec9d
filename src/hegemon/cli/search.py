"""`hegemon search-worst`: starts with large expected time, beyond what can be enumerated."""

from typing import Annotated

import typer

from hegemon.cli.common import build, console, facts, figure, print_json
from hegemon.cli.verify import Bar, check_files, exact, states
from hegemon.exact.chain import MEMORY
from hegemon.exact.verification import verify
from hegemon.experiments.worst_starts import search_worst
from hegemon.models.expressions import whole_number


def search_worst_start(
    protocol: Annotated[str, typer.Argument(help="an id of `hegemon list`, or your_file.py:YourClass")],
    n: Annotated[str | None, typer.Option("--n", help="number of agents")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="parameter as name=value; repeatable")] = None,
    graph: Annotated[str | None, typer.Option("--graph", help="ring:64, grid:8x8 … or a file")] = None,
    until: Annotated[str, typer.Option("--until", help="the set to be reached")] = "safe",
    evaluations: Annotated[str, typer.Option("--evaluations", help="starts that are tried")] = "1000",
    trials: Annotated[str, typer.Option("--trials", help="runs from each, at most about")] = "256",
    final: Annotated[str, typer.Option("--final", help="fresh runs from the best")] = "2000",
    seed: Annotated[str, typer.Option("--seed", help="the same seed finds the same start")] = "0",
    max_steps: Annotated[str, typer.Option("--max-steps", help="cut a run off after so many")] = "1e7",
    compare: Annotated[bool, typer.Option("--exact", help="also compute the exact worst start")] = False,
    out: Annotated[str | None, typer.Option("--out", help="write the start found (.json)")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):  # fmt: skip
    """Search for a starting configuration with large expected convergence time."""
    seed_number = whole_number(seed, "seed")
    chosen, topology = build(protocol, n, graph, set_, seed_number)
    check_files(None, None, None, out)
    with Bar() as bar:
        found = search_worst(
            chosen, graph=topology, until=until, evaluations=whole_number(evaluations, "evaluations", low=1),
            trials=whole_number(trials, "trials", low=1), final=whole_number(final, "final", low=1),
            seed=seed_number, max_steps=whole_number(max_steps, "max-steps", low=1), progress=bar.show,
        )  # fmt: skip
        content = {"protocol": chosen.id, "n": chosen.n, "parameters": chosen.parameters, "graph": topology.name}
        content |= {"until": until, "seed": seed_number, **found.record()}
        if compare:
            content |= exact_comparison(chosen, topology, until, found, bar)
    if out:
        found.start.save(out)
    if json:
        print_json(content)
    else:
        print_report(content)


def exact_comparison(protocol, topology, until, found, bar) -> dict:
    """The exact expected steps of the start found and of the worst of all."""
    everything = verify(
        protocol, graph=topology, start="all", property=f"time:{until}", memory=MEMORY, progress=bar.show
    )
    codes = [protocol.space.code(protocol.space.parse(state)) for state in found.start.configuration]
    here = everything.hitting.values[everything.chain.index(codes)]
    return {
        "exact": {
            "found": float(here),
            "worst": everything.hitting.record()["worst"],
            "worst_start": everything.hitting.worst_start.configuration,
        }
    }


def print_report(content: dict) -> None:
    parameters = "".join(f", {name} = {value}" for name, value in content["parameters"].items())
    interval = "–" if content["ci95"] is None else " … ".join(f"{end:,.6g}" for end in content["ci95"])
    rows = {
        "protocol": f"{content['protocol']}  (n = {content['n']}{parameters})",
        "graph": content["graph"],
        "searched": f"{figure(content['evaluations'])} starts, {figure(content['runs'])} runs",
        "worst start found": states(content["start"]),
        f"mean steps to {content['until']}": f"{content['mean']:,.6g} (95 % interval {interval}, "
        f"{figure(content['trials'])} fresh runs)",
        "from random starts": f"{content['mean_from_random_starts']:,.6g}",
    }
    if content["unfinished"]:
        rows["unfinished"] = f"{figure(content['unfinished'])} runs were cut off: the mean is a lower bound"
    if "exact" in content:
        rows["exact, start found"] = exact(content["exact"]["found"])
        rows["exact, worst of all"] = exact(content["exact"]["worst"])
        rows["worst start of all"] = states(content["exact"]["worst_start"])
    console().print(facts(rows))
