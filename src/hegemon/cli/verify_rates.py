"""`hegemon verify --rate …`: the exact long run of a population with events, as a table or JSON."""

from typing import Any

import typer

from hegemon.cli import failures
from hegemon.cli.common import build, console, facts, figure, instance, print_json
from hegemon.cli.progress import Progress
from hegemon.errors import InvalidInput

QUESTION = "availability"
TAKES = ("n", "graph", "rates", "scheduler", "memory", "loss", "one_sided")


def report(
    protocol: str, n: Any, set_: list[str] | None, graph: str | None, rates: Any, property_: str | None,
    json: bool, quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Prints the answer and ends the command."""
    if property_ not in (None, QUESTION):
        raise InvalidInput(f"with --rate, verify computes availability; drop --property {property_}, or use run")
    with Progress(quiet=quiet) as shown:
        from hegemon.exact.rates import availability
        from hegemon.runs.rates import read_rates

        chosen: Any
        chosen, topology = build(protocol, n, graph, set_, 0)
        events = read_rates(rates or ())
        found = availability(chosen, rates=events, graph=topology, progress=shown.show, **asked)
    content = {"protocol": chosen.id, "n": chosen.n, "parameters": chosen.parameters, "graph": topology.name}
    content |= {"rates": [str(one) for one in events]} | found.record()
    print_json(content) if json else print_answer(content)
    raise typer.Exit(failures.YES)


def print_answer(content: dict[str, Any]) -> None:
    agents = content["agents"]
    rows = {
        "protocol": instance(content),
        "graph": content["graph"],
        "events in a step": "; ".join(content["rates"]),
        "agents": f"{agents[0]}..{agents[-1]}" if len(agents) > 1 else figure(agents[0]),
        "configurations": f"{figure(content['configurations'])}, {figure(content['transitions'])} transitions",
        "share of steps with one leader": f"{content['availability']:.12g}",
        "error at most": f"{content['error']:.1g}",
    }
    if content["mean_gap"] is not None:
        rows |= {
            "steps of a gap, on average": f"{content['mean_gap']:,.12g}",
            "steps between two gaps": f"{content['mean_held']:,.12g}",
            "relative error at most": f"{content['relative_error']:.1g}",
        }
    console().print(facts(rows))
