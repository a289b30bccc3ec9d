"""A protocol as a LaTeX document: what it is, its parameters, its states, its rules as pseudo-code or as a table.

Only packages of every distribution are used; the parts between the marks can be copied into a paper.
"""

import inspect
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.exact.exports.pseudocode import escaped, pseudocode
from hegemon.models.description import describe, rule_functions, source_of
from hegemon.models.protocol import Protocol

MOST_STATES = 12  # of a transition table
HEAD = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=25mm]{geometry}
\usepackage{booktabs}
\setlength{\parindent}{0pt}
\begin{document}
"""


def latex(protocol: Protocol) -> str:
    """The document; it compiles without changes."""
    content = describe(protocol)
    lines = [HEAD, rf"\section*{{{escaped(content['protocol'])}}}", escaped(content["summary"]), ""]
    if content["reference"]:
        lines += [rf"\medskip\emph{{{escaped(content['reference'])}}}", ""]
    about = [f"n = {protocol.n:,}", f"graph: {content['topology']}"]
    about += [f"{content['states']:,} states"] if content["states"] else []
    about += [f"assumes: {'; '.join(content['assumes'])}"] if content["assumes"] else []
    lines += [rf"\medskip {escaped('; '.join(about))}.", ""]
    if content["parameters"]:
        lines += ["% parameters", *table(content["parameters"], ("name", "value", "allowed", "help"), "Parameters")]
    if content["fields"]:
        lines += ["% fields", *table(content["fields"], ("name", "domain", "in"), "Fields of a state")]
    lines += _transitions(protocol)
    lines += [r"\subsection*{Rules}", *_rules(type(protocol)), r"\end{document}"]
    return "\n".join(lines) + "\n"


def table(rows: list[dict[str, Any]], columns: tuple[str, ...], heading: str) -> list[str]:
    """A table of text; the last column may take several lines."""
    width = rf"p{{{0.45 if len(columns) > 3 else 0.3}\textwidth}}"
    lines = [rf"\subsection*{{{heading}}}", rf"\begin{{tabular}}{{@{{}}{'l' * (len(columns) - 1)}{width}@{{}}}}"]
    lines += [r"\toprule", " & ".join(columns) + r" \\", r"\midrule"]
    for row in rows:
        cells = [f"{value:,}" if isinstance(value := row[column], int) else str(value) for column in columns]
        lines.append(" & ".join(escaped(cell) for cell in cells) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}", ""]


def _rules(kind: type) -> list[str]:
    """Every rule with the functions that it calls, line by line."""
    lines = []
    for function in rule_functions(kind):
        try:
            written = pseudocode(source_of(function))
        except (OSError, SyntaxError, TypeError):
            raise InvalidInput(f"the source of {function.__name__} cannot be read; put it into a file") from None
        remark = (inspect.getdoc(function) or "").split("\n")[0]
        lines += [rf"\medskip% {function.__name__}"]
        for number, line in enumerate(written):
            mark = rf"\makebox[2em][r]{{\scriptsize {number}}}" if number else r"\makebox[2em]{}"
            remarked = rf"\quad\emph{{\small {escaped(remark)}}}" if remark and not number else ""
            ending = r"\par" if number else r"\par\nopagebreak"
            lines.append(rf"{mark}\quad\hspace*{{{1.5 * line.depth}em}}{line.text}{remarked}{ending}")
    return lines


def _transitions(protocol: Any) -> list[str]:
    """What two states become, for protocols of a few states without coins."""
    if not hasattr(protocol, "transition_codes") or protocol.coin_fields or protocol.states > MOST_STATES:
        return []
    names = [label(protocol, code) for code in range(protocol.states)]
    changed = []
    for a in range(protocol.states):
        for b in range(protocol.states):
            if (after := protocol.transition_codes(a, b)) != (a, b):
                changed.append((a, b, *after))
    lines = ["% transitions", r"\subsection*{Transitions that change a state}"]
    lines += [r"\begin{tabular}{@{}llcll@{}}", r"\toprule", r"initiator & responder & & initiator & responder \\"]
    lines += [r"\midrule"]
    for a, b, x, y in changed:
        cells = [escaped(names[code]) for code in (a, b, x, y)]
        lines.append(rf"{cells[0]} & {cells[1]} & \(\to\) & {cells[2]} & {cells[3]} \\")
    return [*lines, r"\bottomrule", r"\end{tabular}", ""]


def label(protocol: Protocol, code: int) -> str:
    """A state in few letters: values alone where there is one field, `field=value` otherwise."""
    mapping = protocol.space.mapping_of(code)
    if len(mapping) == 1 and isinstance(next(iter(mapping.values())), str):
        return str(next(iter(mapping.values())))
    return " ".join(f"{name}={value}" for name, value in mapping.items())
