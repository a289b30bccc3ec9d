"""One erratum as a page of LaTeX that can be sent to the authors, and the script that shows it."""

import re
from pathlib import Path

from hegemon.claims.errata import FOLDER
from hegemon.claims.errata.listing import Erratum, erratum_of
from hegemon.claims.formulas import in_text, parsed
from hegemon.claims.registry import PAPERS, Table
from hegemon.errors import InvalidInput
from hegemon.files import write_text

PREAMBLE = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=19mm]{geometry}
\usepackage{amsmath,amssymb,graphicx}
\setlength{\parindent}{0pt}
\setlength{\parskip}{3.5pt plus 1pt}
\pagestyle{empty}
\emergencystretch=2em
\renewcommand{\arraystretch}{1.15}
\begin{document}
"""
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$", "*": "$*$",
}  # fmt: skip
BEYOND_ASCII = {
    "−": "$-$", "·": r"$\cdot$", "…": r"\dots{}", "“": "``", "”": "''", "Θ": r"$\Theta$", "²": "$^2$", "⊥": r"$\bot$",
    "×": r"$\times$", "≥": r"$\ge$", "≤": r"$\le$", "Ξ": r"$\Xi$", "′": "$'$", "⁻": "$^-$", "⁶": "$^6$", "⁹": "$^9$",
}  # fmt: skip
MARKS = re.compile(r"`([^`]*)`|\*\*(.+?)\*\*")


def write_note(claim: str, folder: str | Path) -> tuple[Path, Path]:
    """Write the note about a claim and its script into a folder, which is made; return both paths."""
    one = erratum_of(claim)
    place, script = Path(folder), FOLDER / "scripts" / one.script
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made ({error}); give --out another folder") from None
    note = place / f"{one.claims[0]}.tex"
    write_text(note, latex(one))
    write_text(place / one.script, script.read_text(encoding="utf-8"))
    return note, place / one.script


def latex(one: Erratum) -> str:
    """The whole document. Every text goes through `escaped`, and every formula through the reader of formulas."""
    lines = [PREAMBLE + r"{\large\bfseries " + escaped(one.title) + r"\par}"]
    lines.append(rf"A note on {escaped(one.place)} of \emph{{{escaped(PAPERS[one.paper])}}}.")
    lines.append(rf"The copy that was read: {escaped(one.source.line)}.")
    for heading, text in one.parts[:-1]:
        if text == one.survives and one.survives_in_short:
            text = one.survives_in_short
        lines.append(rf"\textbf{{{escaped(heading)}}} {escaped(text)}")
        if text == one.fails and one.shown:
            lines.append(table(one.shown))
    name = one.claims[0]
    argument = f" {name}" if one.script not in ("ring.py", "survey.py") else ""
    lines.append(
        rf"\textbf{{To see it.}} \texttt{{python {escaped(one.script + argument)}}} shows the error; the script has at "
        r"most 100 lines and needs nothing but Python. It and this note were written by "
        rf"\texttt{{hegemon reproduce -{{}}-note {escaped(name)}}}."
    )
    return "\n\n".join(lines) + "\n" + r"\end{document}" + "\n"


def table(shown: Table) -> str:
    columns = " ".join("l" for _ in shown.columns)
    rows = [" & ".join(map(escaped, cells)) + r" \\" for cells in (shown.columns, *shown.rows)]
    body = "\n".join([rows[0], r"\hline", *rows[1:]])
    return (
        rf"{{\small {escaped(shown.title)}:\par\smallskip\centerline{{\resizebox{{\ifdim\width>\linewidth\linewidth"
        rf"\else\width\fi}}{{!}}{{\begin{{tabular}}{{{columns}}}" + "\n" + body + "\n" + r"\end{tabular}}}\par}"
    )


def escaped(text: str) -> str:
    """Text for LaTeX: `code`, **bold** and formulas are kept, everything else is only what it says."""
    return in_text(text, _marked, _formula)


def _formula(source: str) -> str:
    parsed(source)  # refuses whatever it does not know
    return f"${source}$"


def _marked(text: str) -> str:
    pieces, place = [], 0
    for match in MARKS.finditer(text):
        pieces.append(_plain(text[place : match.start()]))
        command, inner = (r"\texttt", match[1]) if match[1] is not None else (r"\textbf", match[2])
        pieces.append(f"{command}{{{_plain(inner)}}}")
        place = match.end()
    return "".join([*pieces, _plain(text[place:])])


def _plain(text: str) -> str:
    return "".join(map(_character, re.sub(r'"([^"]*)"', r"“\1”", text)))


def _character(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if character in BEYOND_ASCII:
        return BEYOND_ASCII[character]
    if character.isprintable() and character.isascii():
        return character
    raise InvalidInput(f"a note has no LaTeX for the character {character!r}; write it as a formula")
