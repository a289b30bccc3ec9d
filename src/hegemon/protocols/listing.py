"""What the catalogue holds, read off the text of its files: no protocol is executed for a list.

`python -m hegemon.protocols` writes `__init__.pyi`, the names for type checkers; a test asserts that it is current.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hegemon import parts
from hegemon.protocols.cited import CITED

FOLDER = Path(__file__).parent
SHELVES = ("survey", "toolbox", "complete graphs", "rings", "any graph", "messages")  # in this order
CLASS = re.compile(r'^class (\w+)\((\w+)Protocol\):\n    """(.+?)(?:"""|\n)(.*?)(?=^\S|\Z)', re.MULTILINE | re.DOTALL)
TEXT = re.compile(r'^    (id|grade|shelf|reference) = ("[^"\n]*"|\(\n.*?\n    \))$', re.MULTILINE | re.DOTALL)
PLURALS = {"Message": "messages", "Object": "objects"}  # every other base class has the name of its model


class Entry(NamedTuple):
    """One protocol of the catalogue; `name` is that of its class."""

    id: str
    model: str
    grade: str
    shelf: str
    summary: str
    reference: str
    module: str
    name: str


@cache
def entries() -> dict[str, Entry]:
    """Every protocol by its id, shelf by shelf."""
    found = [entry for file in FOLDER.rglob("*.py") for entry in _read(file)]
    return {entry.id: entry for entry in sorted(found, key=lambda one: (SHELVES.index(one.shelf), one.id))}


def _read(file: Path) -> list[Entry]:
    module = ".".join(("hegemon", "protocols", *file.relative_to(FOLDER).with_suffix("").parts))
    found = []
    for name, kind, summary, body in CLASS.findall(file.read_text("utf-8")):
        texts = {key: ast.literal_eval(value) for key, value in TEXT.findall(body)}
        if "grade" in texts:
            id = texts.get("id", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())
            told = texts["grade"], texts["shelf"], summary, texts["reference"]
            found.append(Entry(id, PLURALS.get(kind, kind.lower()), *told, module, name))
    return found


def rows() -> list[dict]:
    """What `hegemon list` shows: every protocol that runs, then those that are only cited."""
    columns = ("id", "model", "grade", "shelf", "summary", "reference")
    ours = [{name: getattr(entry, name) for name in columns} for entry in entries().values()]
    ours += [
        {
            "id": name,
            "model": kind.model.name,
            "grade": getattr(kind, "grade", None) or "not graded",
            "shelf": "other packages",
            "summary": (kind.__doc__ or "").strip().split("\n")[0],
            "reference": getattr(kind, "reference", None) or "",
        }
        for name, kind in parts.loaded("protocols")
    ]
    cited = [
        {
            "id": row.id,
            "model": None,
            "grade": "cited",
            "shelf": None,
            "summary": row.summary,
            "reference": row.reference,
        }
        for row in CITED.values()
    ]
    return [*ours, *cited]


def stub() -> str:
    """The names of the catalogue for type checkers and editors."""
    imports = sorted(f"from {entry.module} import {entry.name} as {entry.name}" for entry in entries().values())
    return "\n".join(
        [
            "# Written by `python -m hegemon.protocols`.",
            "from collections.abc import Mapping",
            "",
            "from hegemon.models.protocol import Protocol",
            *imports,
            "",
            "CATALOGUE: Mapping[str, type[Protocol]]",
            "",
        ]
    )
