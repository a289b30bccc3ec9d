"""What is printed: tables or JSON, and the sheet that keeps them when standard output cannot be written."""

import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


GAP = 2  # between two columns of a table
PRINTED: list[tuple[list[str], list[list[str]]]] = []  # the tables of this command, headings and rows (see `tables`)


class Sheet(io.TextIOBase):
    """Standard output that remembers: when a disk is full, what was to be printed is not lost."""

    def __init__(self, under: Any):
        self._under = under
        self._written: list[str] = []
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        self._written.append(text)
        self._try(lambda: self._under.write(text))
        return len(text)

    def flush(self) -> None:
        self._try(self._under.flush)

    def _try(self, action: Callable[..., Any]) -> None:
        if self.failure is None:
            try:
                action()
            except OSError as error:
                self.failure = error

    @property
    def text(self) -> str:
        return "".join(self._written)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._under, "encoding", "utf-8")

    def isatty(self) -> bool:
        return not self._under.closed and self._under.isatty()  # libraries ask at the very end, too

    def fileno(self) -> int:
        return int(self._under.fileno())

    def writable(self) -> bool:
        return True


def print_json(content: Any) -> None:
    json.dump(plain(content), sys.stdout, indent=2, allow_nan=False)
    print()


def plain(value: Any) -> Any:
    """As JSON can say it: what is no finite number is null, numbers of libraries are plain ones."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | str | int):
        return value
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def console() -> "Console":
    """Tables as wide as they need to be where output goes to no terminal and COLUMNS is not set."""
    import os

    from rich.console import Console

    wide = None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit() else 160
    return Console(highlight=False, width=wide, markup=False, emoji=False)


def new_table(*columns: Any, **options: Any) -> "Table":
    """A table without a frame; a column is its heading, or a heading and the options of rich."""
    from rich.table import Table

    rows: list[list[str]] = []

    class Kept(Table):
        def add_row(self, *cells: Any, **more: Any) -> None:
            super().add_row(*cells, **more)
            rows.append([str(cell) for cell in cells])

    table = Kept(box=None, pad_edge=False, **options)
    for column in columns:
        heading, more = (column, dict[str, Any]()) if isinstance(column, str) else column
        table.add_column(heading, **{"overflow": "fold", **more})  # never cut
    PRINTED.append(([str(column.header) for column in table.columns if table.show_header], rows))
    return table


def figures(
    width: int, names: Sequence[str], rows: list[list[str]], left: tuple[str, ...] = ()
) -> "tuple[Table, list[Any]]":
    """A table of figures, none of which is cut: columns for which there is no room are left out, and returned."""
    headings = [name.replace("_", " ") for name in names]
    widths = [
        max(len(cell) for cell in (*heading.split(), *(row[k] for row in rows))) for k, heading in enumerate(headings)
    ]
    shown: list[int] = []
    room = width + GAP
    for k, needed in enumerate(widths):
        if needed + GAP <= room or not shown:
            shown.append(k)
            room -= needed + GAP
    table = new_table(
        *((headings[k], {"justify": "left" if names[k] in left else "right", "width": widths[k]}) for k in shown)
    )
    for row in rows:
        table.add_row(*(row[k] for k in shown))
    PRINTED[-1] = headings, rows  # a file has room for all columns
    return table, [heading for k, heading in enumerate(headings) if k not in shown]


def print_figures(screen: "Console", names: Sequence[str], rows: list[list[str]], left: tuple[str, ...] = ()) -> None:
    """A table of figures; columns for which there is no room are named below."""
    table, missing = figures(screen.width, names, rows, left)
    screen.print(table)
    if missing:
        screen.print(f"no room for {', '.join(missing)}: --json has all, and so has a wider terminal")


def facts(rows: dict[str, Any]) -> "Table":
    """A two-column table of names and values."""
    table = new_table(("", {"style": "bold"}), ("", {"overflow": "fold"}), show_header=False)
    for name, value in rows.items():
        table.add_row(name, str(value))
    return table
