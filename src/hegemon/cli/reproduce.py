"""`hegemon reproduce`: check the papers' claims on this machine, and write the report."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hegemon.claims.laboratory import SEED
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, choose
from hegemon.claims.report import write_report
from hegemon.claims.reproduce import Listener, reproduce, summary
from hegemon.cli.common import console, print_json
from hegemon.errors import InvalidInput
from hegemon.models.expressions import whole_number

STYLES = {HOLDS: "green", VIOLATED: "bold red", UNDECIDED: "yellow"}


def reproduce_claims(
    quick: Annotated[bool, typer.Option("--quick", help="small sizes, about a minute (the default)")] = False,
    full: Annotated[bool, typer.Option("--full", help="large sizes, most of an hour")] = False,
    only: Annotated[str | None, typer.Option("--only", help="these claims, such as to.lemma5,ring.thm1")] = None,
    paper: Annotated[str | None, typer.Option("--paper", help="the claims of one paper, such as ring")] = None,
    out: Annotated[str | None, typer.Option("--out", help="folder; default reproduction-quick or -full")] = None,
    jobs: Annotated[str | None, typer.Option("--jobs", help="processes; default: all cores")] = None,
    seed: Annotated[str, typer.Option("--seed", help="another seed gives other random numbers")] = str(SEED),
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):  # fmt: skip
    """Check the papers' claims on this machine. Exit code 1: a claim is violated. Run again to go on."""
    if quick and full:
        raise InvalidInput("--quick and --full exclude each other; give one of them")
    scale = "full" if full else "quick"
    claims = choose(only, paper)
    folder = Path(out or f"reproduction-{scale}")
    processes = os.cpu_count() or 1 if jobs is None else whole_number(jobs, "jobs", low=1)
    number = whole_number(seed, "seed")
    board = Board(claims, scale, number)
    records = []
    try:
        with board:
            records = reproduce(claims, scale, folder, processes, number, board)
            board.records = {record["identity"]["id"]: record for record in records}  # now judged as one family
    finally:
        finished = [board.records[claim.id] for claim in claims if claim.id in board.records]
        if finished:
            seconds = sum(record["seconds"] for record in finished)
            write_report(finished, scale, number, seconds, folder / "report.html")
    if json:
        print_json(summary(records, scale, number))
    else:
        screen = console()
        screen.print(board.table(screen.width))
        screen.print(board.closing(folder))
    raise typer.Exit(1 if any(record["verdict"] == VIOLATED for record in records) else 0)


class Board(Listener):
    """The live table, on the error stream; where that is no terminal, a line per finished claim."""

    def __init__(self, claims, scale: str, seed: int):
        self.claims, self.scale, self.seed = claims, scale, seed
        self.records: dict[str, dict] = {}
        self.notes: dict[str, str] = {}
        self._begin = time.monotonic()
        self._screen = Console(stderr=True, highlight=False)
        self._live = None

    def __enter__(self):
        if self._screen.is_terminal:
            self._live = Live(get_renderable=self._picture, console=self._screen, refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_):
        if self._live:
            self._live.stop()

    def started(self, claim) -> None:
        self.notes[claim.id] = "…"

    def noted(self, claim, text: str) -> None:
        self.notes[claim.id] = text

    def finished(self, claim, record: dict, again: bool) -> None:
        self.records[claim.id] = record
        self.notes.pop(claim.id, None)
        if not self._live:
            origin = "before" if again else f"{record['seconds']:.0f} s"
            done = f"[{len(self.records)}/{len(self.claims)}]"
            self._screen.print(f"{done} {claim.id}: {record['verdict']} ({origin})", markup=False)

    def _picture(self) -> Table:
        return self.table(self._screen.width, live=True)

    def table(self, width: int, live: bool = False) -> Table:
        title = f"{len(self.records)} of {len(self.claims)} claims, {time.monotonic() - self._begin:.0f} s"
        table = Table(box=None, pad_edge=False, title=title if live else None, title_justify="left")
        table.add_column("claim", no_wrap=True, style="bold")
        table.add_column("where", no_wrap=True)
        table.add_column("measured", ratio=1, overflow="ellipsis", no_wrap=live)
        table.add_column("verdict", no_wrap=True)
        for claim in self.claims:
            record = self.records.get(claim.id)
            if record:
                verdict = Text(record["verdict"], style=STYLES[record["verdict"]])
                table.add_row(claim.id, claim.place, record["headline"], verdict)
            else:
                note = self.notes.get(claim.id)
                table.add_row(claim.id, claim.place, Text(note or "", style="dim"), "running" if note else "")
        return table

    def closing(self, folder: Path) -> str:
        verdicts = [record["verdict"] for record in self.records.values()]
        tally = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
        where = folder / "report.html"
        return f"\n{len(verdicts)} claims: {tally}. Seed {self.seed}, scale {self.scale}. The report is {where}"
