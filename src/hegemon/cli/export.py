"""`hegemon export`: a protocol for a paper or for another tool."""

from typing import Annotated

from hegemon.cli import guard, options
from hegemon.cli.common import build, console, first_allowed, maker, print_json
from hegemon.cli.options import option, path
from hegemon.cli.progress import Progress

USUAL_SIZES = range(5, 11)  # a larger diagram or chain is rarely wanted, and LaTeX names its n


def export_protocol(
    protocol: options.Protocol,
    to: Annotated[
        str, option("--to", help="latex, dot, svg, prism; the chain: drn, tra, chain", metavar="FORMAT")
    ],
    n: options.N = None,
    set_: options.Set = None,
    graph: options.Graph = None,
    start: Annotated[str | None, option("--start", help="all, a named start, or a file", metavar="START")] = None,
    scheduler: Annotated[
        str | None, option("--scheduler", help="prism, drn: all schedules of a daemon", metavar="NAME")
    ] = None,
    memory: Annotated[
        float, option("--memory", help="GiB that a chain may take", metavar="NUMBER",
                      read=options.positive("memory", 1e6))
    ] = 4.0,
    out: Annotated[str | None, path("--out", "the file; default: PROTOCOL with the ending of the format")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Write a protocol for a paper or for another tool: LaTeX, state diagrams, the PRISM language, chains.

    LaTeX has parameters, fields, transitions and pseudo-code. dot and svg draw the states that can occur, by classes.
    """
    with Progress(quiet=quiet) as shown:
        from hegemon.exact.exports.exporting import export

        if n is None and graph is None:
            chosen, topology = first_allowed(maker(protocol, set_), USUAL_SIZES), None
        else:
            chosen, topology = build(protocol, n, graph, set_, 0)
        place = out or chosen.id
        written = export(
            chosen,
            to,
            place,
            graph=topology if graph else None,
            start=start,
            scheduler=scheduler,
            memory=memory,
            progress=shown.show,
        )
    guard.answered()
    if json:
        print_json({"protocol": chosen.id, "n": chosen.n, "files": [str(one) for one in written]})
        return
    for one in written:
        console().print(f"written: {one}")
