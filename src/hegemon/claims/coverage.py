"""Every statement of the five papers with its grade, and the claims that test it (`statements.toml`)."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hegemon.claims.registry import PAPERS, Claim

GRADES = ("exhaustive", "exact", "measured", "argued", "not testable")
MEANING = {
    "exhaustive": "every configuration of small instances, beside runs of larger ones",
    "exact": "computed without chance",
    "measured": "runs, corrected as one family",
    "argued": "no experiment: why it is true is said",
    "not testable": "no experiment here: why not is said",
}


@dataclass(frozen=True)
class Statement:
    paper: str
    place: str
    says: str
    grade: str
    claims: tuple[str, ...]
    note: str


@cache
def statements() -> tuple[Statement, ...]:
    """All statements, paper by paper, in the order of the papers."""
    text = (Path(__file__).parent / "statements.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)["statement"]
    return tuple(Statement(**{**row, "claims": tuple(row["claims"])}) for row in rows)


def counts(chosen: Iterable[Statement] | None = None) -> dict[str, dict[str, int]]:
    """For each paper the number of its statements with each grade."""
    found = {paper: dict.fromkeys(GRADES, 0) for paper in PAPERS}
    for one in statements() if chosen is None else chosen:
        found[one.paper][one.grade] += 1
    return {paper: row for paper, row in found.items() if any(row.values())}


def about(claims: Iterable[Claim]) -> list[Statement]:
    """The statements that these claims test; if every claim is chosen, all statements of their papers."""
    claims = list(claims)
    ids, papers = {claim.id for claim in claims}, {claim.paper for claim in claims}
    return [one for one in statements() if ids & set(one.claims) or (not one.claims and one.paper in papers)]


def full_adds(claim: Claim) -> str:
    """What `--full` enlarges: the sizes that differ, with the last of each."""
    parts = []
    for name, value in claim.full.items():
        small = claim.quick.get(name)
        if value != small:
            parts.append(f"{name} {_last(small)} → {_last(value)}")
    return ", ".join(parts)


def _last(value: Any) -> str:
    if isinstance(value, dict):
        value = list(value.values())
    while isinstance(value, list | tuple) and value and isinstance(value[-1], list | tuple):
        value = value[-1]
    if isinstance(value, list | tuple):
        return f"… {value[-1]:,}" if value and isinstance(value[-1], int) else f"{len(value)}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
