"""A start file: the states of all agents as JSON or CSV and, in JSON, prescribed steps. It is read once."""

import csv
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import note_reading

ENDINGS = (".json", ".csv")
SHIPPED = Path(__file__).parents[1] / "claims"  # its folder errata/ holds the counterexamples that come with hegemon


class StartFile:
    """`rows` are the states, each with its place in the file; `listed` returns what the file prescribes."""

    def __init__(self, path: str | Path):
        self.path = located(path)
        text = _text(self.path)
        if self.path.suffix.lower() == ".csv":
            self._content: dict[str, Any] = {}
            self.rows = list(_cells(self.path, text))
        else:
            content = _json(self.path, text)
            self._content = content if isinstance(content, dict) else {}
            states = self._content.get("agents") if isinstance(content, dict) else content
            if not isinstance(states, list) or not all(isinstance(row, dict) for row in states):
                raise InvalidInput(f'{path} must hold a list of states such as [{{"leader": 1}}, …]')
            self.rows = [(f"entry {index}", row) for index, row in enumerate(states)]

    def __str__(self) -> str:
        return str(self.path)

    def listed(self, name: str) -> list[Any]:
        """The entries prescribed under this name, such as `interactions`: one for each step."""
        found = self._content.get(name)
        if found is not None and not isinstance(found, list):
            raise InvalidInput(f"{self}: {name} must be a list, one for each step")
        return found or []


def located(path: str | Path) -> Path:
    """The user's file if it exists, else one that comes with hegemon, such as `errata/trains-lemma-4-3.json`."""
    given = Path(path)
    shipped = SHIPPED / given
    is_shipped = given.parts[:-1] == ("errata",) and not given.exists() and shipped.is_file()
    return shipped if is_shipped else given


def opened(start: Any, known: Collection[str]) -> Any:
    """A start as it was given, or the file that it names, read; names of starts come first."""
    names_file = isinstance(start, str | Path) and str(start) not in known
    return StartFile(start) if names_file and Path(start).suffix.lower() in ENDINGS else start


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise InvalidInput(
                f"there is no configuration file {path}; give a JSON or CSV file, or the name of a start"
            )
        note_reading(path)
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise InvalidInput(f"{path} cannot be read as text ({error}); give a JSON or CSV file") from None


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidInput(f"{path} is not valid JSON ({reason}); give a list of states") from None


def _cells(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
            if None in row or None in row.values():
                raise InvalidInput(f"{path}, line {number}: the number of cells differs from the header's")
            cells = {name.strip(): cell.strip() for name, cell in row.items() if cell.strip() != ""}
            yield f"line {number}", {name: _number(cell) for name, cell in cells.items()}
    except csv.Error as error:
        raise InvalidInput(f"{path} is not a readable CSV table ({error}); give one column per field") from None


def _number(cell: str) -> int | str:
    """A cell as a whole number, or as it is: the name of a value."""
    try:
        return int(cell)
    except ValueError:
        return cell
