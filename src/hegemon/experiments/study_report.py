"""A study as one page: what was run, the table, the laws and the picture. It loads nothing from elsewhere."""

import base64
import shlex
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from hegemon.analysis.scaling import Law
from hegemon.display import counted, figure
from hegemon.errors import InvalidInput
from hegemon.experiments.result_pictures import draw_results
from hegemon.experiments.results import StudyResults
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.provenance import drivers
from hegemon.files import write_text

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #8885; }
th:first-child, td:first-child { text-align: left; } img { max-width: 100%; background: white; }
code { overflow-wrap: anywhere; } .not { border-left: 4px solid #c33; padding-left: 0.7rem; }
"""
HIDDEN = ("share_reached_ci95", "standard_error")  # --json and --csv have them


def write_report(
    found: StudyResults, roots: Sequence[str | Path], path: str | Path, curves: Sequence[Law] = ()
) -> None:
    """Write the page of a study, or of several together."""
    title = f"{', '.join(found.protocols)}: {found.of} of {sum(row['trials'] for row in found.rows):,} trials"
    parts = [f"<h1>{escape(title)}</h1>"]
    if found.missing:
        parts.append(f'<p class="not">This study is not finished: {escape(found.unfinished)}.</p>')
    parts += [f'<p class="not">Failed: {escape(_failure(row))}</p>' for row in found.failed]
    parts.append(_picture(found, curves))
    parts.append(f"<h2>Measured</h2>{_table(found.rows)}<p>{escape(_about(found))}</p>")
    if found.fits:
        parts.append(
            "<h2>Growth with n</h2>" + "".join(f"<p>{escape(fit.sentence(found.of))}.</p>" for fit in found.fits)
        )
    parts += [_origin(Folder(root)) for root in roots]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    page = (
        f"<head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>{chr(10).join(parts)}</body>"
    )
    write_text(path, f'<!doctype html>\n<html lang="en">{page}</html>\n')


def _picture(found: StudyResults, curves: Sequence[Law]) -> str:
    with tempfile.TemporaryDirectory(prefix="hegemon-") as scratch:
        place = Path(scratch) / "picture.svg"
        try:
            draw_results(found, place, curves)
        except InvalidInput as error:  # a study without an axis of numbers
            return f"<p>No picture: {escape(str(error))}.</p>"
        content = base64.b64encode(place.read_bytes()).decode()
    what = f"the mean of {found.of} over {found.by[0]}, with its interval and the range of 8 of 10 trials"
    return f'<img src="data:image/svg+xml;base64,{content}" alt="{escape(what, quote=True)}">'


def _table(rows: list[dict[str, Any]]) -> str:
    names = [name for name in rows[0] if name not in HIDDEN and any(row.get(name) is not None for row in rows)]
    heads = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    lines = ["".join(f"<td>{escape(figure(row.get(name)))}</td>" for name in names) for row in rows]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _about(found: StudyResults) -> str:
    if found.precision is not None:
        return f"Trials were made until the interval was narrow enough; {found.precision.method}."
    return (
        "ci95: the 95 % interval of the mean (Student's, on the scale of the logarithm; independent trials). q10 and "
        "q90: 8 of 10 trials lie between. A trial that did not meet its stop is censored, and infinite in quantiles."
    )


def _failure(row: dict[str, Any]) -> str:
    return f"{', '.join(f'{name} = {value}' for name, value in row['case'].items())}: {row['error']}"


def _origin(folder: Folder) -> str:
    """How the study was made: the commands, the seed, the versions."""
    study = folder.study()
    facts = [f"{counted(len(study.cases), 'case')}, {study.trials:,} trials of each at most, seed {study.seed}"]
    for driver in drivers(folder.drivers):
        versions = ", ".join(f"{name} {version}" for name, version in driver.get("versions", {}).items())
        command = shlex.join(["hegemon", *map(str, driver.get("command", [])[1:])])
        facts.append(f"<code>{escape(command)}</code>, {escape(str(driver.get('started', '')))}, {escape(versions)}")
    first, *others = facts
    listed = "".join(f"<li>{line}</li>" for line in others)
    return f"<h2>Made by</h2><p>{escape(str(folder.root))}: {escape(first)}.</p><ul>{listed}</ul>"
