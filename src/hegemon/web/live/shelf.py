"""A folder of live pages, one for every protocol of the catalogue that can be live, and an index with the reasons why
the others are not."""

import html
import os
from collections.abc import Callable
from pathlib import Path

from hegemon.errors import InvalidInput
from hegemon.files import write_text
from hegemon.models.protocol import Protocol
from hegemon.protocols import CATALOGUE
from hegemon.runs.record import RunRecord
from hegemon.web.film import read_page
from hegemon.web.live.content import require_live, require_model
from hegemon.web.live.page import LivePage, policy_of

STYLE = "main { display: block; max-width: 60rem; } td { padding: .2rem 1rem .2rem 0; vertical-align: top; }"
NUMBERS = (40, 20, 12, 8, 6)  # of agents: the first with which a protocol is live


def record_of(kind: type[Protocol]) -> RunRecord:
    """The run with which a protocol begins on the shelf; InvalidInput, with the first reason, if no page can run it."""
    require_model(kind)
    reason: InvalidInput | None = None
    for n in NUMBERS:
        try:
            record = RunRecord(kind(n=n))
            require_live(record)
            return record
        except InvalidInput as error:
            reason = reason or error
    raise reason or InvalidInput(f"{kind.id} cannot be live")


def make_shelf(folder: str | os.PathLike[str], tell: Callable[[str, int, int], object]) -> tuple[int, int]:
    """Write `index.html` and a page for every protocol; how many are live, and how many are not."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{place} is no folder that can be written ({error.strerror}); give another one") from None
    live, others = [], []
    for number, (name, kind) in enumerate(sorted(CATALOGUE.items())):
        tell(f"making the page of {name}", number, len(CATALOGUE))
        about = html.escape(kind.summary())
        try:
            LivePage(record_of(kind)).save(place / f"{name}.html")
            live.append(f'<tr><td><a href="{name}.html">{name}</a></td><td>{about}</td></tr>')
        except InvalidInput as error:
            reason = html.escape(str(error).partition("; ")[0])
            others.append(f"<tr><td>{name}</td><td>{about}</td><td>{reason}.</td></tr>")
    write_text(place / "index.html", _index(live, others))
    return len(live), len(others)


def _index(live: list[str], others: list[str]) -> str:
    style = f"\n{read_page('style.css')}\n{STYLE}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy_of([], style)}">
<title>hegemon: live protocols</title>
<style>{style}</style>
</head>
<body>
<header><div class="title"><h1>Protocols that run in this browser</h1></div></header>
<main>
<table>
{chr(10).join(live)}
</table>
<h2>Not as live pages</h2>
<table>
{chr(10).join(others)}
</table>
</main>
</body>
</html>
"""
