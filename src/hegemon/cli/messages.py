"""`hegemon mixing-time` and `hegemon lower-bound`."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from hegemon.cli import failures, guard, options
from hegemon.cli.common import PICTURES, Files, console, counted, deliver, facts, figure, outputs, print_json
from hegemon.cli.options import MOST_TRIALS, integer, option
from hegemon.cli.output import print_figures
from hegemon.cli.progress import Progress


def show_mixing_time(
    graph: Annotated[str, options.argument("GRAPH", "ring:64, hypercube:8, regular:1000,4 … or a file")],
    method: Annotated[
        str, option("--method", help="exact, spectral, or auto: exact on small graphs", metavar="NAME")
    ] = "auto",
    lazy: Annotated[bool | None, typer.Option("--lazy/--not-lazy", help="default: lazy if bipartite")] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compute the mixing time of a random walk: the least k with every probability within 1/(2n) of its limit."""
    with Progress("working", quiet=quiet):
        from hegemon.compute.randomness import GRAPH, generator
        from hegemon.graphs.families import parse
        from hegemon.graphs.mixing import mixing_time

        found = mixing_time(parse(graph, None, generator(seed, 0, GRAPH)), lazy, method)
    if json:
        print_json(found.record())
        return
    heading = "mixing time" if found.exact else "mixing time, at most"
    rows = {"graph": found.graph, "n": figure(found.n), "walk": "lazy" if found.lazy else "simple"}
    rows |= {heading: figure(found.high)} | ({} if found.exact else {"at least": figure(found.low)})
    console().print(facts(rows | {"second eigenvalue": f"{found.second:.6g} (in modulus)"}))


def lower_bound(
    n: options.Sizes = "1e4,1e6,1e8",
    exponents: Annotated[str, option("--exponents", help="or a list", metavar="LOW:HIGH:STEP")] = "0.1:0.95:0.05",
    candidates: Annotated[str, option("--candidates", help="expected numbers", metavar="NUMBER,…")] = "1,2*log(n)",
    trials: Annotated[int, integer("--trials", "runs per point", low=1, high=MOST_TRIALS)] = 200,
    seed: options.Seed = 0, workers: options.Workers = None, plot: options.Plot = None, json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Measure Theorem 3: `referees` with n^a messages, and how often it elects one leader."""
    outputs(plot=(plot, PICTURES))
    with Progress(quiet=quiet) as shown:
        from hegemon.experiments.budgets import draw_budget, lower_bound_points, read_candidates, read_exponents

        powers, wanted = read_exponents(exponents), read_candidates(candidates)
        points = lower_bound_points(n, powers, wanted, trials, seed, workers)
        rows, interrupted = gathered(points, shown, len(n) * len(wanted) * len(powers))
    setting = ("n", "expected_candidates", "exponent", "referees")
    found = ("messages", "success_rate", "success_rate_ci95", "leaders", "clouds", "mean_cloud", "disjoint")
    finish(rows, setting + found, json, {plot: lambda place: draw_budget(rows, place)}, interrupted)


def gathered(points: Iterable[dict[str, Any]], shown: Progress, total: int) -> tuple[list[dict[str, Any]], bool]:
    """The points that are finished, and whether an interrupt ended it."""
    rows: list[dict[str, Any]] = []
    try:
        for row in points:
            rows.append(row)
            shown.show(f"n = {row['n']:,}: points", len(rows), total)
    except KeyboardInterrupt:
        guard.answered()
        return rows, True
    return rows, False


def finish(rows: list[dict[str, Any]], columns: Sequence[str], json: bool, files: Files, interrupted: bool) -> None:
    """Print the points that are finished, and how it ended."""
    deliver(lambda: print_rows(rows, columns, json) if rows or json else None, files if rows else {})
    if interrupted:
        raise failures.Interrupted(
            f"interrupted after {counted(len(rows), 'point')}, as printed; nothing else is kept. The "
            "same seed gives the same points again"
        )


def print_rows(rows: list[dict[str, Any]], columns: Sequence[str], json: bool) -> None:
    if json:
        print_json(rows)
        return
    print_figures(console(), list(columns), [[figure(row[name]) for name in columns] for row in rows])
