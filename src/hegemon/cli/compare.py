"""`hegemon compare`: protocols side by side."""

from typing import Annotated

import typer

from hegemon.cli import completion, failures, options
from hegemon.cli.common import PICTURES, console, counted, deliver, outputs, print_json
from hegemon.cli.options import MOST_TRIALS, integer, option, path, text
from hegemon.cli.output import print_figures

Out = Annotated[str | None, text("--out", "keep all trials here; the same command goes on", "FOLDER")]
Workers = Annotated[int | None, integer("--workers", "processes; default: all cores", low=1)]
Csv = Annotated[str | None, path("--csv", "write the table (.csv)")]
Latex = Annotated[str | None, path("--latex", "write the table (.tex, booktabs)")]


def compare_protocols(
    protocols: Annotated[
        list[str],
        typer.Argument(metavar="PROTOCOL…", help="ids of `hegemon list`, or your_file.py:YourClass; "
                       "parameters may follow: referees,variant=explicit; or the largest n of one: flood-max,n=..1000",
                       autocompletion=completion.ids),
    ],
    n: Annotated[str, option("--n", help="sizes, such as 16..1024:x2 or 100,1e4", metavar="RANGE")],
    trials: Annotated[int, integer("--trials", "runs of every case", low=1, high=MOST_TRIALS)] = 20,
    max_steps: Annotated[int, integer("--max-steps", "a trial that takes longer is censored")] = 10**8,
    starts: Annotated[
        str, option("--starts", help="worst: all are tried, the slowest is measured again; or default", metavar="NAME")
    ] = "worst",
    holding: Annotated[
        str, option("--holding", help="exact where small; estimate measures the others; none", metavar="NAME")
    ] = "exact",
    seed: options.Seed = 0,
    out: Out = None,
    workers: Workers = None,
    plot: options.Plot = None,
    csv: Csv = None,
    trials_csv: Annotated[str | None, path("--trials-csv", "write every trial (.csv)")] = None,
    latex: Latex = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Compare protocols at the same n: time from their slowest starts, states, memory, assumptions.

    Your own protocols are compared like those of the catalogue.
    """
    outputs(plot=(plot, PICTURES), csv=(csv, (".csv",)), latex=(latex, (".tex",)))
    outputs(**{"trials-csv": (trials_csv, (".csv",))})
    from hegemon.cli.sweep import LiveStudy
    from hegemon.experiments.comparing import compare, save
    from hegemon.experiments.comparing import shown as cell

    board = LiveStudy(quiet)
    try:
        with board:
            found = compare(
                *protocols, n=n, trials=trials, max_steps=max_steps, starts=starts,
                holding=holding, seed=seed, out=out, workers=workers, listener=board,
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = f"{board.finished} is kept in {out}; the same command goes on" if out else "--out FOLDER keeps trials"
        raise failures.Interrupted(f"interrupted; {kept}") from None

    def show() -> None:
        if json:
            print_json(found.record())
            return
        names = found.columns
        rows = [[cell(row, name) for name in names] for row in found.rows]
        print_figures(console(), names, rows, ("protocol", "start", "grade"))
        for name in dict.fromkeys(row["protocol"] for row in found.rows):
            assumes = next(row["assumes"] for row in found.rows if row["protocol"] == name)
            console().print(f"{name} assumes: {assumes or 'nothing'}")
        unknown = {row["holding_kind"] for row in found.rows if ": " in (row["holding_kind"] or "")}
        for why in sorted(unknown):
            who = ", ".join(f"{row['protocol']} ({row['n']:,})" for row in found.rows if row["holding_kind"] == why)
            console().print(f"holding of {who} {why.replace('holding = estimate', '--holding estimate')}")
        for row in found.failed:
            console().print(f"{row['protocol']}, n = {row['n']}: {row['error']}")
        censored = sum(row["censored"] for row in found.rows)
        if censored:
            console().print(f"{counted(censored, 'trial')} did not end within {max_steps:,}: means are lower ends (≥)")

    deliver(
        show,
        {
            plot: lambda place: save(found, plot=place),
            csv: lambda place: save(found, csv=place),
            latex: lambda place: save(found, latex=place),
            trials_csv: lambda place: save(found, each=place),
        },
    )


def compare_elections(
    n: Annotated[str, option("--n", help="sizes; default: 100 to 1e7", metavar="RANGE")] = "",
    trials: Annotated[int, integer("--trials", "runs of every case", low=1, high=MOST_TRIALS)] = 5,
    seed: options.Seed = 0, out: Out = None, workers: Workers = None, plot: options.Plot = None,
    csv: Csv = None, latex: Latex = None, json: options.Json = False, quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Compare the elections by messages on complete graphs."""
    from hegemon.experiments.comparing import ELECTION_SIZES, ELECTIONS

    compare_protocols(
        list(ELECTIONS), n or ELECTION_SIZES, trials, seed=seed, out=out, workers=workers, plot=plot, csv=csv,
        latex=latex, json=json, quiet=quiet,
    )  # fmt: skip
