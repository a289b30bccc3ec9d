"""The errata of the five papers (`errata.toml`): of them the manual's page, the report's chapter and notes are made."""

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from hegemon.claims.errata import FOLDER
from hegemon.claims.formulas import in_text
from hegemon.claims.registry import PAPERS, Table
from hegemon.errors import InvalidInput, choose, meant

OPENING = (
    "Errors that a second reading of the five papers found, each with the sentence that fails, the definition that it "
    "contradicts, the authors' quantifiers, a counterexample, a repaired statement, what becomes of the theorem, and "
    "what the authors may answer. `hegemon reproduce` calls exactly these claims violated, and "
    "their repaired forms hold. All main theorems stand, Theorem 1.2 of Informative Trains by an argument of which one "
    "step is checked and not proved. Where a quantifier or the context saves the authors, the text says so. "
    "`hegemon reproduce --note CLAIM` writes one of these as a page of LaTeX, and beside it a short Python script that "
    "shows the error and uses nothing of hegemon. Sentences are quoted from the copies that were read, which have no "
    "page numbers."
)


@dataclass(frozen=True)
class PaperRead:
    """Which version of a paper was read."""

    version: str
    doi: str

    @property
    def line(self) -> str:
        return f"{self.version}; doi {self.doi}" if self.doi else self.version


@dataclass(frozen=True)
class Erratum:
    """`claims` are violated as the paper states them; `repaired` hold. `start` is the name of a shipped start file,
    `script` that of a short program without hegemon."""

    title: str
    paper: str
    place: str
    claims: tuple[str, ...]
    repaired: tuple[str, ...]
    replay: str
    quote: str
    contradicts: str
    quantifiers: str
    answer: str
    said: str
    fails: str
    repair: str
    checked: str
    survives: str
    script: str
    survives_in_short: str = ""
    shown: Table | None = None
    start: str = ""

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Headings and paragraphs, in order; the table belongs to "What fails."."""
        return [
            ("The statement.", self.said),
            ("The sentence that fails.", f"“{self.quote}”"),
            ("What it contradicts.", self.contradicts),
            ("The authors' quantifiers.", self.quantifiers),
            ("What fails.", self.fails),
            ("Repaired.", self.repair),
            ("How it was checked.", self.checked),
            ("Does the theorem survive?", self.survives),
            ("What the authors may answer.", self.answer),
            ("Claims.", self.verdicts),
        ]

    @property
    def verdicts(self) -> str:
        held = f"; {_listed(self.repaired)} ({'holds' if len(self.repaired) == 1 else 'hold'})" if self.repaired else ""
        return f"{_listed(self.claims)} (violated){held}."

    @property
    def commands(self) -> list[str]:
        note = f"hegemon reproduce --note {self.claims[0]}"
        watch = [f"hegemon watch --start errata/{self.start}.json"] if self.start else []
        return [self.replay, *watch, note]

    @property
    def source(self) -> PaperRead:
        return sources()[self.paper]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


VIOLATED = "   # exit code 1"  # of a command that reproduces a violated claim


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "errata.toml").read_text(encoding="utf-8"))


@cache
def errata() -> tuple[Erratum, ...]:
    return tuple(_read(entry) for entry in _content()["errata"])


@cache
def sources() -> dict[str, PaperRead]:
    return {paper: PaperRead(**entry) for paper, entry in _content()["papers"].items()}


def erratum_of(claim: str) -> Erratum:
    """The erratum about a claim, as it is stated or as it is repaired."""
    known = {name: one for one in errata() for name in (*one.claims, *one.repaired)}
    if claim not in known:
        first = [one.claims[0] for one in errata()]
        raise InvalidInput(f"no erratum is about {claim!r}; {choose(first)}{meant(claim, first)}")
    return known[claim]


def _read(entry: dict[str, Any]) -> Erratum:
    texts = {name: " ".join(value.split()) for name, value in entry.items() if isinstance(value, str)}
    shown = Table(**entry["shown"]) if "shown" in entry else None
    return Erratum(**texts, claims=tuple(entry["claims"]), repaired=tuple(entry["repaired"]), shown=shown)


def markdown() -> str:
    """The manual's page: `python -m hegemon.claims.errata.listing > docs/errata.md`."""
    lines = ["# Errata", "", OPENING, ""]
    for one in errata():
        lines += [f"## {one.title}", "", f"*{PAPERS[one.paper]}*: {one.place}. Read: {one.source.line}.", ""]
        for heading, text in one.parts:
            lines += [f"**{heading}** {_escaped(text)}", ""]
            if text == one.fails and one.shown:
                lines += [
                    f"{_escaped(one.shown.title)}:",
                    "",
                    _row(one.shown.columns),
                    "|" + " --- |" * len(one.shown.columns),
                ]
                lines += [*map(_row, one.shown.rows), ""]
        lines += [*(f"    {command}{VIOLATED if '--only' in command else ''}" for command in one.commands), ""]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    """Markdown: formulas, `code` and **bold** stay, a lone asterisk or underscore is only that."""
    return in_text(text, _plain, lambda formula: f"$`{formula}`$")


def _plain(text: str) -> str:
    if "`" in text:
        return text
    return text.replace("**", "\0").replace("*", "\\*").replace("_", "\\_").replace("\0", "**")


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
