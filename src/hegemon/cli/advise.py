"""`hegemon advise`: parameters from what a deployment needs."""

from typing import Annotated

from hegemon.cli import options
from hegemon.cli.common import console, facts, print_json
from hegemon.cli.options import MOST_AGENTS, UNITS, decimal, integer, option


def advise_parameters(
    members: Annotated[int, integer("--members", "at most so many members", low=1, high=MOST_AGENTS)],
    rate: Annotated[float, decimal("--rate", "interactions per second in which each takes part", 1e9)],
    hold: Annotated[
        float, option("--hold", help="how long the leader should stay: 30d, 10y", metavar="TIME", read=options.duration)
    ],
    risk: Annotated[float, decimal("--risk", "probability of losing it earlier", 1)] = 0.01,
    json: options.Json = False,
):
    """Choose a protocol and its parameters for a network of members that should keep its leader for long."""
    from hegemon.network.advice import advise

    found = advise(members, rate, hold, risk)
    content = {
        "protocol": found.protocol,
        "parameters": found.parameters,
        "mean_hold_years": found.mean_hold_seconds / UNITS["y"],
        "recovery_seconds": found.recovery_seconds,
        "measured_up_to_s": found.measured_up_to_s,
        "extrapolated": found.extrapolated,
        "command": found.command,
    }
    if json:
        print_json(content)
        return
    basis = f"runs with s up to {found.measured_up_to_s}" + (", extrapolated from there" if found.extrapolated else "")
    rows = {
        "protocol": f"{found.protocol}, " + ", ".join(f"{name} = {value}" for name, value in found.parameters.items()),
        "holds": f"{content['mean_hold_years']:,.3g} years on average",
        "a new leader": f"about {found.recovery_seconds:.3g} s after the old one is gone",
        "basis": basis,
        "command": found.command,
    }
    console().print(facts(rows))
