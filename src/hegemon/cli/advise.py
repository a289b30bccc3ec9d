"""`hegemon advise`: a protocol and its parameters from how long the leader should be held."""

from typing import Annotated, Any

from hegemon.cli import options
from hegemon.cli.common import console, facts, figure, listed, print_json
from hegemon.cli.options import MOST_AGENTS, decimal, integer, option

MOST_OTHERS = 3  # that are printed


def advise_parameters(
    hold: Annotated[
        str, option("--hold", help="how long: parallel time such as 1e12; or 30d, 10y with a rate", metavar="TIME")
    ],
    n_at_most: Annotated[
        int | None,
        integer("--n-at-most", "most agents that the network ever has", low=2, high=MOST_AGENTS),
    ] = None,
    n: Annotated[
        int | None,
        integer("--n", "agents that the network always has, instead of --n-at-most", low=2, high=MOST_AGENTS),
    ] = None,
    rate: Annotated[
        float | None,
        decimal("--interactions-per-second", "interactions per second in which each agent takes part", 1e9),
    ] = None,
    risk: Annotated[float | None, decimal("--risk", "probability of losing the leader earlier", 1)] = None,
    json: options.Json = False,
) -> None:
    """Choose the cheapest protocol and parameters that are known to hold a leader for long enough."""
    from hegemon.experiments.holding.advice import UNITS, advise

    found = advise(hold, n=n, n_at_most=n_at_most, interactions_per_second=rate, risk=risk)
    content = found.record()
    if json:
        print_json(content)
        return
    known = found.known
    holds = f"{known.held} units of parallel time on average"
    recovers = f"{figure(known.convergence)} units of parallel time on average, from a random start or without a leader"
    if rate is not None:
        holds += f", {content['holding_seconds'] / UNITS['y']:,.3g} years" if content["holding_seconds"] else ""
        recovers += f", {found.seconds(known.convergence):,.3g} s"
    rows = {
        "protocol": named(known),
        "states": figure(known.states),
        "holds": holds,
        "converges in": recovers,
        "rests on": known.basis,
    }
    for place, other in enumerate(found.others[:MOST_OTHERS]):
        rows[f"or ({place + 1})"] = f"{named(other)}: holds {other.held}, converges in {figure(other.convergence)}"
    console().print(facts(rows | {"command": found.command}))


def named(known: Any) -> str:
    given = listed(known.parameters)
    agents = f"{'exactly' if known.fewest == known.n else 'at most'} {known.n} agents"
    return f"{known.protocol}, for {agents} ({given})"
