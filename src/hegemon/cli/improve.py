"""`hegemon discover --improve`: the best parameters and alternative rules of a protocol."""

import math
from typing import Any

import typer

from hegemon.cli import failures
from hegemon.cli.common import console, counted, deliver, facts, listed, outputs, print_json
from hegemon.cli.output import print_figures
from hegemon.cli.progress import Progress
from hegemon.errors import InvalidInput


def improve_protocol(
    protocol: str, free: str | None, n: str, hold: float | None, measure: str | None, trials: int, store: str | None,
    workers: int | None, cluster: str | None, most: int, picture: str | None, json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Print the front of each n; exit code 1 if nothing holds long enough."""
    if not free:
        raise InvalidInput('--improve needs --free, such as --free "s=2..8" or --free "r_max, rule:NAME"')
    outputs(picture=(picture, (".png", ".svg", ".pdf")))
    from hegemon.discovery.improving import draw, improve

    with Progress(quiet=quiet) as shown:
        improvement = improve(
            protocol, free, n=n, hold=hold, measure=measure, trials=trials, store=store, workers=workers,
            cluster=cluster, most=most, progress=shown.show,
        )  # fmt: skip
    content = improvement.record() | {"files": [picture] if picture else []}
    files = {picture: lambda place: draw(improvement, place)} if picture else {}
    deliver(lambda: print_json(content) if json else print_fronts(content), files)
    good = all(improvement.fastest(size) for size in improvement.sizes)
    raise typer.Exit(failures.YES if good else failures.NO)


def print_fronts(content: dict[str, Any]) -> None:
    screen = console()
    free = "; ".join(f"{name} = {', '.join(map(str, values))}" for name, values in content["free"].items())
    heads = {"protocol": content["protocol"], "free": free, "tried": counted(len(content["tried"]), "choice")}
    if content["refused"]:
        heads["refused"] = f"{counted(content['refused'], 'combination')} that the protocol does not allow"
    if content["too_large"]:
        heads["left out"] = f"{counted(len(content['too_large']), 'chain')} with more configurations than --largest"
    screen.print(facts(heads))
    for n, front in content["fronts"].items():
        others = [one for one in content["tried"] if str(one["n"]) == n and one["published"] and one not in front]
        kind = "exact" if front[0]["kind"] == "exact" else "measured, means of runs"
        screen.print(f"\nn = {n}, front ({kind}; steps)", style="bold")
        names, rows = list(content["free"]), []
        for one in [*front, *others]:
            held = "forever" if one["holds_forever"] else _figure(one["holding"])
            held = f"at least {held}" if one["at_least"] else held
            note = "published" if one["published"] else ""
            note += ", not on the front" if one in others else ""
            values = [str(one["parameters"].get(name, "")) for name in names]
            rows.append([*values, _figure(one["convergence"]), held, str(one["states"]), note])
        print_figures(screen, (*names, "convergence", "holding", "states", "note"), rows, left=("note",))
        if content["hold"] is not None:
            best = content["fastest"][n]
            chosen = listed(best["parameters"]) if best else "none"
            screen.print(f"fastest that holds at least {_figure(content['hold'])} steps: {chosen}", style="bold")
    for place in content["files"]:
        screen.print(f"\nwritten: {place}")


def _figure(value: float) -> str:
    return f"{value:,.1f}" if math.fabs(value) < 1e6 else f"{value:.4g}"
