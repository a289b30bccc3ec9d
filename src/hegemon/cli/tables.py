"""`--latex` and `--csv`: the tables that a command prints, as files. Every command that prints tables has both."""

import csv
import inspect
import io
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from hegemon.cli.common import outputs
from hegemon.cli.options import NAMED, path
from hegemon.cli.output import PRINTED
from hegemon.errors import InvalidInput
from hegemon.files import write_text

KINDS = {
    "latex": (".tex", "write the printed tables (.tex, booktabs)"),
    "csv": (".csv", "write the last printed table (.csv)"),
}
SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\^{}", "<": "$<$", ">": "$>$", "|": r"$\vert$", "–": "--", "−": "$-$",
    "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "→": r"$\to$", "≈": r"$\approx$", "Ω": r"$\Omega$",
    "√": r"$\surd$", "λ": r"$\lambda$", "τ": r"$\tau$", "Θ": r"$\Theta$", "∞": r"$\infty$", "±": r"$\pm$",
    "…": r"\dots{}", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$",
    "⌈": r"$\lceil$", "⌉": r"$\rceil$", "₂": r"\textsubscript{2}", "·": r"$\cdot$", "Δ": r"$\Delta$",
}  # fmt: skip
FIGURES = "≥≤−-+ "  # what may stand before a number


def with_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with those of the two options that it does not have itself."""
    own = inspect.signature(command).parameters
    kinds = [kind for kind in KINDS if kind not in own]

    @wraps(command)
    def writing(*words: Any, **given: Any) -> Any:
        asked = {kind: given.pop(kind) for kind in kinds}
        wanted = {kind: place for kind, place in asked.items() if place is not None}
        if not wanted:
            return command(*words, **given)
        outputs(**{kind: (place, (KINDS[kind][0],)) for kind, place in wanted.items()})
        if given.get("json"):
            raise InvalidInput(f"--{next(iter(wanted))} writes the tables that are printed; drop --json")
        PRINTED.clear()
        try:
            answer = command(*words, **given)
        except typer.Exit:  # a verdict, such as that a claim does not hold
            write(wanted)
            raise
        write(wanted)
        return answer

    more = [
        inspect.Parameter(
            kind, NAMED, default=None, annotation=Annotated[str | None, path(f"--{kind}", KINDS[kind][1])]
        )
        for kind in kinds
    ]
    writing.__signature__ = inspect.Signature([*own.values(), *more])  # type: ignore[attr-defined]
    return writing


def write(wanted: dict[str, str]) -> None:
    """Write the tables that were printed: all of them as LaTeX, the last one as CSV."""
    if not PRINTED:
        raise InvalidInput(f"--{next(iter(wanted))}: no table was printed, so there is none to write")
    made = {"latex": latex_tables, "csv": csv_table}
    for kind, place in wanted.items():
        write_text(place, made[kind]())


def latex_tables() -> str:
    """For a paper (booktabs)."""
    made = []
    for headings, rows in PRINTED:
        width = max(map(len, (headings, *rows)))
        columns = ("r" if is_figures([row[k] for row in rows if k < len(row)]) else "l" for k in range(width))
        lines = [rf"\begin{{tabular}}{{{''.join(columns)}}}", r"\toprule"]
        if any(headings):
            lines += [" & ".join(map(latex, headings)) + r" \\", r"\midrule"]
        lines += [" & ".join(map(latex, row)) + r" \\" for row in rows]
        made.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""]))
    return "\n".join(made)


def latex(cell: Any) -> str:
    """A text as LaTeX shows it."""
    return "".join(SPECIAL.get(letter, letter) for letter in str(cell).replace("\n", " "))


def csv_table() -> str:
    """Cells as they were printed; numbers without commas."""
    (headings, rows), file = PRINTED[-1], io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    if any(headings):
        writer.writerow(headings)
    writer.writerows([cell.replace(",", "") if is_figures([cell]) else cell for cell in row] for row in rows)
    return file.getvalue()


def is_figures(cells: list[str]) -> bool:
    """Whether all cells are numbers; a dash stands for none."""
    found = [cell.lstrip(FIGURES).replace(",", "") for cell in cells if cell not in ("–", "")]
    return bool(found) and all(cell[:1].isdigit() and " " not in cell for cell in found)
