"""`hegemon holding`: expected holding times that are too long to be simulated, with intervals."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from hegemon.cli import failures, options
from hegemon.cli.common import build, console, deliver, facts, figure, instance, outputs, print_json
from hegemon.cli.options import integer, option, path
from hegemon.cli.progress import Progress
from hegemon.display import states

MOST_WAYS = 4  # that are printed


def hold_leader(
    protocol: options.Protocol,
    n: options.N = None,
    set_: options.Set = None,
    graph: options.Graph = None,
    scheduler: options.Scheduler = None,
    start: Annotated[
        str, option("--start", help="one leader: a named start, or a .json or .csv file", metavar="START")
    ] = "safe",
    relative: Annotated[
        str,
        option("--relative", help="stop when the interval is within this much of the estimate", metavar="PERCENT"),
    ] = "10%",
    importance: Annotated[
        str,
        option(
            "--importance",
            help="how configurations are distinguished: auto, rarity, surprise",
            metavar="NAME",
        ),
    ] = "auto",
    compare: Annotated[
        str | None, option("--compare", help="measure again with another importance", metavar="NAME")
    ] = None,
    seed: options.Seed = 0,
    budget: Annotated[int, integer("--budget", "steps that are simulated at most, about", low=1)] = 10**11,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    checkpoint: Annotated[str | None, path("--checkpoint", "continue from this file when run again (.json)")] = None,
    path_: Annotated[str | None, path("--path", "write one path to a loss, for run --start (.json)")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Estimate how long a leader is held, from 10^2 to 10^40 steps and beyond, with an interval."""
    outputs(checkpoint=(checkpoint, (".json",)), path=(path_, (".json",)))
    with Progress(quiet=quiet) as shown, going_on(checkpoint):
        from hegemon.experiments.holding.holding import agree, holding
        from hegemon.experiments.holding.importance import find_importance

        chosen, topology = build(protocol, n, graph, set_, seed)
        if compare:
            find_importance(compare)  # refused now, not after the first measurement
        found = holding(
            chosen, graph=topology, start=start, scheduler=scheduler, relative=relative,
            importance=importance, seed=seed, budget=budget,
            workers=workers, cluster=cluster, checkpoint=checkpoint, path=path_ is not None, progress=shown.show,
        )  # fmt: skip
        content = found.record()
        if compare:
            other = holding(
                chosen, graph=topology, start=start, scheduler=scheduler, relative=relative,
            importance=compare, seed=seed + 1,
                budget=budget, workers=workers, cluster=cluster, progress=shown.show,
            )  # fmt: skip
            content |= {"compared": other.record(), "agree": agree(found, other)}
    files = {path_: found.path.save} if path_ and found.path else {}
    deliver(lambda: print_json(content) if json else print_report(content), files)


@contextmanager
def going_on(checkpoint: str | None) -> Iterator[None]:
    """An interrupt says where the finished work is, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint and Path(checkpoint).exists():
            kept = f"what is finished is kept in {checkpoint}, and the same command continues from there"
        elif checkpoint:
            kept = f"nothing was finished that {checkpoint} could keep"
        else:
            kept = "nothing is kept; --checkpoint FILE.json keeps what is finished"
        raise failures.Interrupted(f"interrupted; {kept}") from None


def print_report(content: dict[str, Any]) -> None:
    log10, settled = content["log10"], figure(content["burn_in"])
    rows = {
        "protocol": instance(content),
        "graph": content["graph"],
        "scheduler": content["scheduler"],
        "start": content["start"],
    }
    if content["kind"] == "bound":
        rows["holds"] = f"at least {power(log10['low'])} steps on average, with 97.5 % confidence, from plain runs"
    else:
        only, value = ("at most ", log10["high"]) if content["kind"] == "at most" else ("", log10["steps"])
        rows["holds"] = f"{only}{power(value)} steps on average, {power_over(value, content['n'])} parallel time"
        rows["95 % interval"] = f"{power(log10['low'])} … {power(log10['high'])} steps"
    if content["why_no_estimate"]:
        rows["no estimate"] = "; ".join(content["why_no_estimate"])
    if content["kind"] == "at most":
        rows["replications"] = (
            f"say {power(log10['said'])}. The upper end holds if the process has settled within {settled} steps, and "
            "nothing spoke against that; the lower end is from plain runs"
        )
    elif content["kind"] == "bound" and log10["said"] is not None:
        rows["replications"] = f"say {power(log10['said'])}, which is not to be relied on"
    rows["importance"] = f"{content['importance']}: {content['importance_is']}"
    rows["ensemble"] = (
        f"{figure(content['cells'])} cells, {figure(content['walkers'])} walkers, "
        f"{figure(content['iterations'])} samples"
    )
    if content["kind"] != "bound":
        rows["hidden"] = f"about {content['hidden']:.1%} of the losses, by ways that neither of two pilots found"
    back = content["slowest_return"]
    rows["settling"] = f"burn-in of {settled} steps; the slowest walker was " + (
        "not usual again in time" if back is None else f"usual again after {figure(back)} steps"
    )
    rows["losses"] = f"{figure(content['losses'])} in {figure(content['replications'])} replications"
    rows["plain runs"] = f"{figure(content['plain_losses'])} losses in {figure(content['plain_steps'])} steps"
    rows["simulated"] = f"{figure(content['simulated_steps'])} steps" + saved(content["saved"])
    for place, way in enumerate(content["ways"][:MOST_WAYS]):
        meeting, result = states(way["before"]), states(way["after"])
        rows[f"lost by ({place + 1})"] = f"{way['share']:.1%}: {meeting} → {result}"
    if "compared" in content:
        other = content["compared"]
        verdict = "they agree" if content["agree"] else "they disagree: rely on neither"
        rows[f"with {other['importance']}"] = (
            f"{power(other['log10']['said'])} steps, {power(other['log10']['low'])} … {power(other['log10']['high'])} "
            f"({other['kind']}): {verdict}"
        )
    screen = console()
    screen.print(facts(rows))
    if content["path"]:
        screen.print(f"\na path to a loss, {figure(content['path_steps'])} steps, its last ones", style="bold")
        for line in content["path"]:
            screen.print(f"  {line}")


def saved(times: float | None) -> str:
    return "" if times is None or times < 2 else f"; as many plain runs would take {times:,.3g} times as many"


def power(log10: float | None) -> str:
    """A number of any size, from its logarithm."""
    if log10 is None:
        return "–"
    if log10 < 6:
        return f"{10**log10:,.4g}" if log10 < 4 else f"{10**log10:,.0f}"
    whole = int(log10 // 1)
    return f"{10 ** (log10 - whole):.3f}e{whole}"


def power_over(log10: float | None, n: int) -> str:
    import math

    return power(None if log10 is None else log10 - math.log10(n))
