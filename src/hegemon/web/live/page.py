"""A live page as one HTML file: the front end of the page, the kernels, and what the protocol needs.

Nothing in it is made from data as code: what is known of the protocol is one compressed text, and the browser knows
which scripts it may run, by their digests, and that it may load nothing.
"""

import base64
import hashlib
import json
import os
import struct
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.files import write_text
from hegemon.models.protocol import Protocol
from hegemon.runs import kinds
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import Graph, Start
from hegemon.web.colours import looks
from hegemon.web.film import plain_script, read_page, scripts
from hegemon.web.frames import greeting
from hegemon.web.live.content import absent, content_of, require_live
from hegemon.web.session import Session

MODULES = ("seeds.js", "machine.js", "rules.js", "laboratory.js", "desk.js", "worker.js")  # of the Worker
# The looks of rules that are typed: followers of eight classes, then leaders of these classes.
PALETTE: list[dict[str, Any]] = [
    {"part": "leader", "name": "output", "labels": ["", "leader"], "colours": ()},
    {"part": "class", "name": "state", "labels": [*"01234567"], "colours": ()},
]


QUOTED_NONE = "'none'"


def read_file(name: str) -> bytes:
    return files("hegemon.web.live").joinpath(name).read_bytes()


@cache
def kernels() -> bytes:
    """The module that is shipped; InvalidInput if the file is not the one that was built."""
    module, about = read_file("kernels.wasm"), json.loads(read_file("kernels.json"))
    if hashlib.sha256(module).hexdigest() != about["sha256"]:
        raise InvalidInput(
            f"kernels.wasm is not the file that was shipped: reinstall hegemon, or run {about['command']}"
        )
    return module


def worker_script() -> str:
    """What runs beside the page, as one text."""
    return "\n".join(plain_script(read_file(f"page/{name}").decode()) for name in MODULES)


class LivePage:
    """A page that runs by itself: `save(path)`; in a notebook it shows itself."""

    def __init__(self, record: RunRecord):
        require_live(record)
        options = {name: value for name, value in record.given.items() if name != "engine"}
        session = Session(record.protocol, engine="agents", **options)
        content, arrays = content_of(session)
        self.protocol, self.absent = record.protocol.id, absent(session.record, content)
        self.laboratory = packed(self._greeting(session, content), content, arrays)

    def _greeting(self, session: Session, content: dict[str, Any]) -> dict[str, Any]:
        """What the page shows of its run at first: as the server's page, without what needs Python."""
        told = greeting(session)
        given = {"protocol": told["protocol"], "parameters": [], "graph": "", "graphs": [], "engines": []}
        sizes = list(map(str, sorted(content["sizes"])))
        given |= {"starts": {name: told["choices"]["starts"][name] for name in _starts(content)}}
        given |= {"wakes": [], "schedulers": [], "rates": False, "faults": False, "sizes": sizes}
        told |= {"choices": given | {"start": told["choices"]["start"]}, "protocols": {told["protocol"]: ""}}
        told |= {"reason": "a live page runs engine agents, in WebAssembly", "absent": self.absent}
        told["palette"] = looks(PALETTE)
        observables = [name for name, values in content["observables"].items() if values is not None]
        return told | {"observables": {name: told["observables"][name] for name in observables}, "rows": []}

    def html(self, dark: bool | None = None) -> str:
        """The page as one text. Without `dark` the viewer's choice."""
        theme = "" if dark is None else f"window.HEGEMON_THEME = {json.dumps('dark' if dark else 'light')};\n"
        found = [f"{theme}window.HEGEMON_LIVE = true;", scripts()]
        style = f"\n{read_page('style.css')}"
        policy = policy_of(found, style)
        head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
        page = read_page("index.html").replace('<link rel="stylesheet" href="style.css">', head)
        data = f'<script type="text/plain" id="laboratory">{self.laboratory}</script>\n'
        data += f'<script type="text/plain" id="worker">{_worker_text()}</script>\n'
        data += f'<script>{found[0]}</script>\n<script type="module">{found[1]}</script>'
        return page.replace('<script type="module" src="main.js"></script>', data)

    def save(self, path: str | os.PathLike[str], dark: bool | None = None) -> None:
        """Write the page, as .html."""
        check_live_path(path)
        write_text(path, self.html(dark))

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="720" style="border:0" title="hegemon live"></iframe>'


def check_live_path(path: str | os.PathLike[str]) -> None:
    if not str(path).lower().endswith((".html", ".htm")):
        raise InvalidInput(f"a live page is saved as .html, not as {path}")


def packed(told: dict[str, Any], content: dict[str, Any], arrays: list[np.ndarray]) -> str:
    """Greeting, content, kernels and arrays as one compressed text of letters and digits."""
    first = json.dumps({"greeting": told, "content": content}, separators=(",", ":")).encode()
    parts = [first, kernels(), *(array.tobytes() for array in arrays)]
    text = struct.pack("<5I", *map(len, parts)) + b"".join(parts)
    return base64.b64encode(zlib.compress(text, 9)).decode()


def policy_of(texts: list[str], style: str) -> str:
    """What a page may do: run these scripts and the kernels, look like this, and make no request."""
    allowed = " ".join([f"'sha256-{_digest(text)}'" for text in texts] + ["'wasm-unsafe-eval'"] * bool(texts))
    return (
        f"default-src 'none'; script-src {allowed or QUOTED_NONE}; style-src 'sha256-{_digest(style)}'; "
        "worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _starts(content: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for size in content["sizes"].values() for name in size["starts"]))


def _worker_text() -> str:
    """The worker's script within an element of the page, which ends at the first `</`."""
    text = worker_script()
    if "</script" in text.lower() or "<!--" in text:
        raise InvalidInput("the worker's script cannot stand in a page: it contains the end of an element")
    return text


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@kinds.door()
def live(protocol: Protocol, *, graph: Graph = None, start: Start = None, seed: Any = 0) -> LivePage:
    """A page that runs this protocol by itself, without Python, a server or an installation; `save(path)` writes it.

    Seed, start and, where the rules do not depend on it, n can be changed on the page.
    """
    return LivePage(RunRecord(protocol, graph=graph, start=start, seed=seed))
