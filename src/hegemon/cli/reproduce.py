"""`hegemon reproduce`: check the papers' claims on this machine, and write the report."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hegemon.claims.coverage import GRADES, MEANING, about, counts, full_adds
from hegemon.claims.errata.note import write_note
from hegemon.claims.laboratory import SEED
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Claim, choose, tally
from hegemon.claims.report import draw_ahead
from hegemon.claims.reproduce import (
    ClaimsListener,
    default_folder,
    keep_report,
    make_claims,
    make_folder,
    summary,
)
from hegemon.cli import failures, guard, options
from hegemon.cli.common import console, print_json
from hegemon.cli.options import MOST_WORKERS, integer, option
from hegemon.cli.output import PRINTED, new_table, print_figures
from hegemon.errors import InvalidInput

SILENCE = 10.0  # seconds after which a word is said of what is at work
STYLES = {HOLDS: "green", VIOLATED: "bold red", UNDECIDED: "yellow"}


def reproduce_claims(
    file: Annotated[
        str | None, options.argument("FILE", "your own claims, such as my_paper.py; default: the five papers'")
    ] = None,
    quick: Annotated[bool, option("--quick", help="small sizes, about a minute (the default)")] = False,
    full: Annotated[bool, option("--full", help="large sizes, most of an hour")] = False,
    only: Annotated[
        str | None, option("--only", help="these claims, such as to.lemma5,ring.thm1", metavar="CLAIM,…")
    ] = None,
    paper: Annotated[
        str | None, option("--paper", help="the claims of one paper, such as ring", metavar="PAPER")
    ] = None,
    list_: Annotated[
        bool, option("--list", help="every statement, how it is tested, what --full adds; runs nothing")
    ] = False,
    note: Annotated[
        str | None,
        option("--note", help="write an erratum as LaTeX, with a script that shows it; runs nothing", metavar="CLAIM"),
    ] = None,
    out: Annotated[
        str | None,
        option(
            "--out",
            help="default reproduction-quick or -full; for --note the current folder",
            metavar="FOLDER",
            panel=options.OUTPUT,
        ),
    ] = None,
    jobs: Annotated[int | None, integer("--jobs", "processes; default: all cores", low=1, high=MOST_WORKERS)] = None,
    cluster: options.Cluster = None,
    seed: options.Seed = SEED,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Check the papers' claims on this machine, or your own. The same command again continues it.

    The exit code is 1 when a claim is violated, or when a claim of yours has no broken twin or does not catch it.
    """
    if quick and full:
        raise InvalidInput("--quick and --full exclude each other; give one of them")
    if note is not None:
        others = {"FILE": file, "--quick": quick, "--full": full, "--only": only, "--paper": paper, "--list": list_,
                  "--jobs": jobs, "--cluster": cluster, "--seed": seed != SEED}  # fmt: skip
        write_a_note(note, out or ".", [name for name, value in others.items() if value], json, quiet)
        return
    scale = "full" if full else "quick"
    claims = choose(only, paper, file)
    if list_:
        (list_own if file else list_statements)(claims, json)
        return
    folder = make_folder(out or default_folder(file, scale))
    board = LiveClaims(claims, scale, seed, quiet)
    records = []
    try:
        with board:
            records = make_claims(claims, scale, folder, jobs or os.cpu_count() or 1, seed, board, cluster)
            board.records = {record["identity"]["id"]: record for record in records}  # now judged as one family
    except KeyboardInterrupt:
        raise failures.Interrupted(
            f"interrupted; {len(board.records):,} of {len(claims):,} claims are finished and kept in {folder}, with "
            "the measurements of the others; the same command again goes on from there"
        ) from None
    finally:
        guard.answered()
        finished = [board.records[claim.id] for claim in claims if claim.id in board.records]
        lost = keep_report(finished, scale, seed, folder)
    if json:
        print_json(summary(records, scale, seed))
    else:
        screen = console()
        PRINTED.clear()
        screen.print(board.table(screen.width))
        screen.print(board.closing(folder))
    if lost:
        raise InvalidInput(f"not everything could be stored: {lost}")
    untested = any(record["file"] and record["checks"][-1]["verdict"] != HOLDS for record in records)  # by its twin
    violated = any(record["verdict"] == VIOLATED for record in records)
    raise typer.Exit(failures.NO if violated or untested else failures.YES)


def write_a_note(claim: str, folder: str, others: list[str], json: bool, quiet: bool) -> None:
    """`--note`: a page of LaTeX about an erratum, and the script that shows it."""
    if others:
        raise InvalidInput(
            f"--note runs nothing, so it cannot be combined with {', '.join(others)}; drop what is not --note"
        )
    note, script = write_note(claim, folder)
    if json:
        print_json({"note": str(note), "script": str(script)})
    elif not quiet:
        console().print(
            f"{note} is a page of LaTeX, {script} the script that shows the error", soft_wrap=True, markup=False
        )


def list_own(claims: list[Claim], json: bool) -> None:
    """What a user's file states: each claim with its twin, and the sizes of both scales."""
    rows = [{"id": one.id, "statement": one.statement, "twin": one.twin and one.twin.__name__, "quick": one.quick,
             "full": one.full} for one in claims]  # fmt: skip
    if json:
        print_json({"claims": rows})
        return
    columns = ("claim", "twin", "what is stated", "--full adds")
    table = new_table(*((column, {"no_wrap": column == "claim", "overflow": "fold"}) for column in columns))
    for one in claims:
        table.add_row(one.id, one.twin.__name__ if one.twin else "none", one.statement, full_adds(one) or "–")
    console().print(table)


def list_statements(claims: list[Claim], json: bool) -> None:
    """Every statement with its grade and its claims, the numbers per paper, and what `--full` adds to each claim."""
    chosen, adds = about(claims), {claim.id: full_adds(claim) for claim in claims}
    if json:
        print_json({"statements": [asdict(one) for one in chosen], "grades": MEANING, "papers": counts(chosen),
                    "full_adds": adds})  # fmt: skip
        return
    screen = console()
    columns = ("paper", "where", "grade", "claims", "what is stated", "short of")
    table = new_table(*((column, {"no_wrap": column in ("paper", "grade"), "overflow": "fold"}) for column in columns))
    for one in chosen:
        table.add_row(one.paper, one.place, one.grade, "\n".join(one.claims) or "–", one.says, one.note)
    screen.print(table)
    papers = counts(chosen).items()
    rows = [[paper, f"{sum(row.values())}", *(f"{row[grade]}" for grade in GRADES)] for paper, row in papers]
    screen.print()
    print_figures(screen, ("paper", "statements", *GRADES), rows, left=("paper",))
    screen.print("\n--full makes these larger:")
    for name, text in adds.items():
        if text:
            screen.print(f"  {name}: {text}", soft_wrap=True, markup=False, highlight=False)


class LiveClaims(ClaimsListener):
    """The live table, on the error stream; where that is no terminal, a line per finished claim and in long silence."""

    def __init__(self, claims: list[Claim], scale: str, seed: int, quiet: bool = False):
        self.claims, self.scale, self.seed = claims, scale, seed
        self.records: dict[str, dict[str, Any]] = {}
        self.notes: dict[str, str] = {}
        self._begin = self._said = time.monotonic()
        self._screen = Console(stderr=True, highlight=False, quiet=quiet)
        self._live: Live | None = None
        self._ended = threading.Event()
        self._drawing = ThreadPoolExecutor(1)  # one: Matplotlib has settings that threads share

    def __enter__(self) -> Self:
        if self._screen.is_terminal and not self._screen.quiet:
            self._live = Live(get_renderable=self._picture, console=self._screen, refresh_per_second=4, transient=True)
            self._live.start()
        elif not self._screen.quiet:
            threading.Thread(target=self._break_silence, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        guard.answered()
        self._ended.set()
        self._drawing.shutdown(cancel_futures=True)
        if self._live:
            self._live.stop()

    def started(self, claim: Claim) -> None:
        self.notes[claim.id] = "…"

    def noted(self, claim: Claim, text: str) -> None:
        self.notes[claim.id] = text

    def finished(self, claim: Claim, record: dict[str, Any], again: bool) -> None:
        self.records[claim.id] = record
        self._drawing.submit(draw_ahead, record)
        self.notes.pop(claim.id, None)
        if not self._live:
            origin = "before" if again else f"{record['seconds']:.0f} s"
            done = f"[{len(self.records)}/{len(self.claims)}]"
            self._say(f"{done} {claim.id}: {record['verdict']} ({origin})")

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        self._screen.print(text, markup=False, soft_wrap=True)

    def _break_silence(self) -> None:
        while not self._ended.wait(0.5):
            if time.monotonic() - self._said >= SILENCE:
                at_work = ", ".join(f"{name} {note}" for name, note in list(self.notes.items())) or "preparing"
                self._say(f"… {at_work}, {time.monotonic() - self._begin:.0f} s")

    def _picture(self) -> Table:
        PRINTED.clear()  # of the pictures before
        return self.table(self._screen.width, live=True)

    def table(self, width: int, live: bool = False) -> Table:
        title = (
            f"{len(self.records)} of {len(self.claims)} claims, {time.monotonic() - self._begin:.0f} s"
            if live
            else None
        )
        own = all(claim.file for claim in self.claims)  # the name is the place
        where = [] if own else [("where", {"no_wrap": True})]
        measured = {"ratio": 1, "overflow": "ellipsis" if live else "fold", "no_wrap": live}
        columns = [("claim", {"no_wrap": True, "style": "bold"}), *where, ("measured", measured)]
        table = new_table(*columns, ("verdict", {"no_wrap": True}), title=title, title_justify="left")
        for claim in self.claims:
            record, name = self.records.get(claim.id), [claim.id] if own else [claim.id, claim.place]
            if record:
                verdict = Text(record["verdict"], style=STYLES[record["verdict"]])
                table.add_row(*name, record["headline"], verdict)
            else:
                note = self.notes.get(claim.id)
                table.add_row(*name, Text(note or "", style="dim"), "running" if note else "")
        return table

    def closing(self, folder: Path) -> str:
        said = tally([record["verdict"] for record in self.records.values()])
        where = folder / "report.html"
        return f"\n{said}. Seed {self.seed}, scale {self.scale}. The report is {where}"
