"""Which figures of the manual are older than their code: `make figures`, or `python -m benchmarks.figures`.

docs/figures.toml names every measured figure: where it stands, the command that gives it, the commit at which it was
measured and the source on which it depends. A figure whose source has changed since is listed with what changed and the
command that measures it again; the exit code is then 1.
"""

import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent.parent
DOCS = HERE / "docs"


@dataclass(frozen=True)
class Figure:
    page: str
    place: str  # a few words that stand there
    command: str
    commit: str
    source: list[str]

    @property
    def is_there(self) -> bool:
        """Whether the page still has it."""
        return self.place in " ".join((DOCS / self.page).read_text(encoding="utf-8").split())

    def changes(self) -> list[str]:
        """The commits since then that changed its source."""
        command = ["git", "log", "--format=%h", f"{self.commit}..HEAD", "--", *self.source]
        found = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if found.returncode:
            sys.exit(f"git cannot say what changed since {self.commit}: {found.stderr.strip()}")
        return found.stdout.split()


def figures() -> list[Figure]:
    return [Figure(**one) for one in tomllib.loads((DOCS / "figures.toml").read_text(encoding="utf-8"))["figure"]]


def main() -> int:
    table = Table("page", "measured at", "commits since", "measure it again with", box=None, pad_edge=False)
    old = 0
    for figure in figures():
        since = figure.changes()
        old += bool(since)
        changed = f"{len(since)} in {', '.join(figure.source)}" if since else "–"
        table.add_row(f"{figure.page}: {figure.place}", figure.commit, changed, figure.command if since else "")
    Console(width=None if sys.stdout.isatty() else 220, highlight=False).print(table)
    print(f"{old} of {len(figures())} figures are older than their code")
    return int(bool(old))


if __name__ == "__main__":
    sys.exit(main())
