"""`hegemon mixing-time`, `hegemon lower-bound` and `hegemon compare-messages`."""

from typing import Annotated

import typer
from rich.table import Table

from hegemon.analysis.pictures import check_picture_path
from hegemon.cli.common import console, facts, figure, number, print_json
from hegemon.compute.randomness import GRAPH, generator
from hegemon.errors import InvalidInput
from hegemon.experiments.comparisons import budget_sweep, compare_messages, draw_budget, draw_comparison
from hegemon.graphs.families import parse
from hegemon.graphs.mixing import mixing_time
from hegemon.models.expressions import whole_number

Json = Annotated[bool, typer.Option("--json", help="print JSON")]
Seed = Annotated[str, typer.Option("--seed", help="the same seed gives the same numbers")]
Plot = Annotated[str | None, typer.Option("--plot", help="write a picture (.png, .svg, .pdf)")]
Workers = Annotated[str | None, typer.Option("--workers", help="threads; default: all cores")]


def show_mixing_time(
    graph: Annotated[str, typer.Argument(help="ring:64, hypercube:8, regular:1000,4 … or a file")],
    method: Annotated[str, typer.Option("--method", help="exact, spectral, or auto: exact on small graphs")] = "auto",
    lazy: Annotated[bool | None, typer.Option("--lazy/--not-lazy", help="default: lazy if bipartite")] = None,
    seed: Seed = "0",
    json: Json = False,
):
    """The mixing time of a random walk: the least k with every probability within 1/(2n) of its limit."""
    topology = parse(graph, None, generator(whole_number(seed, "seed"), 0, GRAPH))
    found = mixing_time(topology, lazy, method)
    content = {
        "graph": topology.name,
        "n": topology.n,
        "bipartite": topology.is_bipartite,
        "lazy": found.lazy,
        "exact": found.exact,
        "mixing_time": found.high,
        "at_least": found.low,
        "second_eigenvalue": found.second,
    }
    if json:
        print_json(content)
        return
    heading = "mixing time" if found.exact else "mixing time, at most"
    rows = {"graph": topology.name, "n": figure(topology.n), "walk": "lazy" if found.lazy else "simple"}
    rows |= {heading: figure(found.high)} | ({} if found.exact else {"at least": figure(found.low)})
    console().print(facts(rows | {"second eigenvalue": f"{found.second:.6g} (in modulus)"}))


def lower_bound(
    n: Annotated[str, typer.Option("--n", help="sizes, such as 1e4,1e6")] = "1e4,1e6,1e8",
    exponents: Annotated[str, typer.Option("--exponents", help="LOW:HIGH:STEP, or a list")] = "0.1:0.95:0.05",
    candidates: Annotated[str, typer.Option("--candidates", help="expected numbers")] = "1,2*log(n)",
    trials: Annotated[str, typer.Option("--trials", help="runs per point")] = "200",
    seed: Seed = "0",
    plot: Plot = None,
    workers: Workers = None,
    json: Json = False,
):
    """Theorem 3 as an experiment: `referees` with n^a messages, and how often it still elects one leader."""
    if plot:
        check_picture_path(plot)
    sweeps = [
        budget_sweep(
            whole_number(size, "n", low=2),
            parse_exponents(exponents),
            whole_number(trials, "trials", low=1),
            whole_number(seed, "seed"),
            number(expected),
            None if workers is None else whole_number(workers, "workers", low=1),
        )
        for expected in candidates.split(",")
        for size in n.split(",")
    ]
    rows = [row for sweep in sweeps for row in sweep]
    setting = ("n", "expected_candidates", "exponent", "referees")
    found = ("messages", "success_rate", "success_rate_ci95", "leaders", "clouds", "mean_cloud", "disjoint")
    print_rows(rows, setting + found, json)
    if plot:
        draw_budget(sweeps, plot)


def compare(
    n: Annotated[str, typer.Option("--n", help="sizes, such as 100,1000,1e4")] = "100,300,1e3,3e3,1e4,3e4,1e5,1e6,1e7",
    trials: Annotated[str, typer.Option("--trials", help="runs per point")] = "5",
    seed: Seed = "0",
    plot: Plot = None,
    workers: Workers = None,
    json: Json = False,
):
    """Messages and rounds of the elections on complete graphs, sublinear against classical."""
    if plot:
        check_picture_path(plot)
    sizes = [whole_number(size, "n", low=2) for size in n.split(",")]
    threads = None if workers is None else whole_number(workers, "workers", low=1)
    rows = compare_messages(sizes, whole_number(trials, "trials", low=1), whole_number(seed, "seed"), workers=threads)
    print_rows(rows, ("algorithm", "n", "trials", "one_leader", "rounds", "messages", "messages_per_scale"), json)
    if plot:
        draw_comparison(rows, plot)


def parse_exponents(text: str) -> list[float]:
    """`0.2:1:0.05` (both ends included) or `0.3,0.5`."""
    try:
        if ":" not in text:
            return [float(part) for part in text.split(",")]
        low, high, step = (float(part) for part in text.split(":"))
        if step <= 0 or high < low or (high - low) / step > 1000:
            raise ValueError
        return [round(low + k * step, 10) for k in range(int((high - low) / step + 1e-9) + 1)]
    except ValueError:
        raise InvalidInput(f"exponents {text!r} is not understood; write LOW:HIGH:STEP or 0.3,0.5") from None


def print_rows(rows: list[dict], columns, json: bool) -> None:
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(name.replace("_", " "), justify="left" if name == "algorithm" else "right")
    for row in rows:
        table.add_row(*(figure(row[name]) for name in columns))
    console().print(table)
