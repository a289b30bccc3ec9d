"""What the catalogue holds, read off the text of its files: no protocol is executed for a list.

`python -m hegemon.protocols` writes `__init__.pyi`, the names for type checkers; a test asserts that it is current.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hegemon import parts
from hegemon.protocols.cited import CITED

if TYPE_CHECKING:
    from hegemon.models.parameters import Parameter
    from hegemon.models.protocol import Protocol

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
    unsorted = [entry for file in FOLDER.rglob("*.py") for entry in _read(file)]
    return {entry.id: entry for entry in sorted(unsorted, key=lambda entry: (SHELVES.index(entry.shelf), entry.id))}


def _read(file: Path) -> list[Entry]:
    module = ".".join(("hegemon", "protocols", *file.relative_to(FOLDER).with_suffix("").parts))
    listed = []
    for name, kind, summary, body in CLASS.findall(file.read_text("utf-8")):
        texts = {key: ast.literal_eval(value) for key, value in TEXT.findall(body)}
        if "grade" in texts:
            id = texts.get("id", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())
            facts = texts["grade"], texts["shelf"], summary, texts["reference"]
            listed.append(Entry(id, PLURALS.get(kind, kind.lower()), *facts, module, name))
    return listed


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
    """The classes of the catalogue with their parameters, for type checkers and editors. Loads every protocol."""
    from hegemon.protocols import CATALOGUE

    kinds = sorted(CATALOGUE.values(), key=lambda kind: kind.__name__)
    return "\n".join(
        [
            "# Written by `python -m hegemon.protocols`.",
            "from collections.abc import Mapping",
            "from typing import Literal",
            "",
            "from hegemon.models.protocol import Protocol",
            *sorted(f"from {kind.__module__} import {kind.__name__} as _{kind.__name__}" for kind in kinds),
            "",
            "CATALOGUE: Mapping[str, type[Protocol]]",
            "_Number = int | float | str | None  # a number, or an expression over n and other parameters",
            "",
            *map(_stub_of, kinds),
        ]
    )


def _stub_of(kind: "type[Protocol]") -> str:
    """One class: what it is, and its parameters with their meaning."""
    declarations = kind.parameter_declarations.items()
    about = [f"    {name}: {declaration.help}" for name, declaration in declarations if declaration.help]
    summary = (kind.__doc__ or "").strip().split("\n")[0]
    document = ['    """' + summary, "", *about, '    """'] if about else [f'    """{summary}"""']
    held = [f"    {name}: {_held(declaration)}  # type: ignore[assignment]" for name, declaration in declarations]
    taken = [f"        {name}: {_taken(declaration)} = ...," for name, declaration in declarations]
    begin, end = "    def __init__(", ") -> None: ..."
    method = [begin, "        self,", "        n: int | float,", "        *,", *taken, f"    {end}"]
    plain = [f"{begin}self, n: int | float{end}"]
    return "\n".join([f"class {kind.__name__}(_{kind.__name__}):", *document, *held, *(method if taken else plain), ""])


def _taken(declaration: "Parameter") -> str:
    """The type of an argument: a number, or an expression over n and other parameters; or one of some words."""
    words = f"Literal[{', '.join(map(repr, declaration.choices))}]" if declaration.choices else ""
    numbers = "_Number" if declaration.takes_numbers else ""
    return " | ".join(word for word in (numbers, words, "" if numbers else "None") if word)


def _held(declaration: "Parameter") -> str:
    """The type of the attribute."""
    words = "str" if declaration.choices else ""
    numbers = ("float" if declaration.real else "int") if declaration.takes_numbers else ""
    nothing = "None" if declaration.default is None else ""
    return " | ".join(word for word in (numbers, words, nothing) if word)
