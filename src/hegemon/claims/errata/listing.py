"""The errata of the five papers (`errata.toml`), from which the manual's page and the report's chapter are made."""

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from hegemon.claims.errata import FOLDER
from hegemon.claims.registry import PAPERS, Table

OPENING = (
    "Errors that a second reading of the five papers found, each with the sentence that fails, a counterexample, a "
    "repaired statement and what becomes of the theorem. `hegemon reproduce` calls exactly these claims violated, and "
    "their repaired forms hold. All main theorems stand, Theorem 1.2 of Informative Trains by an argument of which one "
    "step is checked and not proved."
)


@dataclass(frozen=True)
class Erratum:
    """`claims` are violated as the paper states them; `repaired` hold. `start` is the name of a shipped start file."""

    title: str
    paper: str
    place: str
    claims: tuple[str, ...]
    repaired: tuple[str, ...]
    replay: str
    said: str
    fails: str
    repair: str
    checked: str
    survives: str
    shown: Table | None = None
    start: str = ""

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Headings and paragraphs, in order; the table belongs to the second."""
        held = f"; {_listed(self.repaired)} ({'holds' if len(self.repaired) == 1 else 'hold'})" if self.repaired else ""
        return [
            ("The statement.", self.said),
            ("What fails.", self.fails),
            ("Repaired.", self.repair),
            ("How it was checked.", self.checked),
            ("Does the theorem survive?", self.survives),
            ("Claims.", f"{_listed(self.claims)} (violated){held}."),
        ]

    @property
    def commands(self) -> list[str]:
        return [self.replay, *([f"hegemon watch --start errata/{self.start}.json"] if self.start else [])]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


VIOLATED = "   # exit code 1"  # of a command that reproduces a violated claim


@cache
def errata() -> tuple[Erratum, ...]:
    content = tomllib.loads((FOLDER / "errata.toml").read_text(encoding="utf-8"))["errata"]
    return tuple(_read(entry) for entry in content)


def _read(entry: dict[str, Any]) -> Erratum:
    texts = {name: " ".join(value.split()) for name, value in entry.items() if isinstance(value, str)}
    shown = Table(**entry["shown"]) if "shown" in entry else None
    return Erratum(**texts, claims=tuple(entry["claims"]), repaired=tuple(entry["repaired"]), shown=shown)


def markdown() -> str:
    """The manual's page: `python -m hegemon.claims.errata.listing > docs/errata.md`."""
    lines = ["# Errata", "", OPENING, ""]
    for one in errata():
        lines += [f"## {one.title}", "", f"*{PAPERS[one.paper]}*: {one.place}.", ""]
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
        lines += [*(f"    {command}{VIOLATED if ' reproduce ' in command else ''}" for command in one.commands), ""]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("_", "\\_") if "`" not in text else text


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
