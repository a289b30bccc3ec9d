"""A film: a watched run as one HTML file that plays offline, with the page's own front end inside.

The length of a run is not known beforehand, so a recorder keeps evenly spread frames by dropping every second
one whenever there are twice as many as wanted. Large rasters are downsampled.
"""

import base64
import json
import math
import struct
import time
import zlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput, choose, meant
from hegemon.models.expressions import whole_number
from hegemon.web.frames import frame, greeting

if TYPE_CHECKING:
    from hegemon.web.session import Session

FRAMES = 150
MOST_PIXELS = 120 * 120  # in the raster of one frame
MOST_MESSAGES = 300  # per frame
LONGEST_FILM = 10_000  # rounds: the length of a film by default
FAR = 1 << 62  # steps
TAIL = 0.1  # the share of the film that shows the time after its end is reached
HEAD = (
    "step", "last", "note", "silent", "readAt", "values", "lamps", "healing", "events", "agents", "bands", "messages",
    "disturbances", "command", "texts", "places",
)  # fmt: skip
LIVE = ("setup", "choices", "protocols")  # what only a live page uses
MODULES = (
    "look.js",
    "pens.js",
    "pixels.js",
    "torus.js",
    "stage.js",
    "curves.js",
    "panels.js",
    "introduction.js",
    "setup.js",
    "choosing.js",
    "typing.js",
    "many.js",
    "settings.js",
    "sources.js",
    "main.js",
)


class Recorder:
    """Frames of one time line, in order."""

    def __init__(self, greeting: dict[str, Any] | None = None):
        self.clear(greeting)

    def clear(self, greeting: dict[str, Any] | None) -> None:
        self.greeting: dict[str, Any] = greeting or {}
        self.frames: list[tuple[dict[str, Any], bytes]] = []
        self.stride, self._skip = 1, 0

    def add(self, head: dict[str, Any], picture: bytes) -> bool:
        """Keep every `stride`-th frame that comes; returns whether the frames have just been thinned."""
        if self.frames and head["step"] <= self.frames[-1][0]["step"]:  # the run went back in time
            self.frames = [kept for kept in self.frames if kept[0]["step"] < head["step"]]
            self._skip = 0
        if self._skip:
            self._skip -= 1
            return False
        self._skip = self.stride - 1
        kept = {name: head[name] for name in HEAD if name in head}
        if len(kept.get("messages", ())) > MOST_MESSAGES:
            kept["messages"] = kept["messages"][:: len(kept["messages"]) // MOST_MESSAGES + 1]
        self.frames.append((kept, self._small(picture)))
        if len(self.frames) <= 2 * FRAMES:
            return False
        self.frames = self.frames[::2]
        self.stride *= 2
        return True

    def _small(self, picture: bytes) -> bytes:
        width = self.greeting.get("width")
        if width is None or self.greeting["n"] <= MOST_PIXELS:
            return picture
        step = math.ceil(math.sqrt(width * math.ceil(self.greeting["n"] / width) / MOST_PIXELS))
        height = math.ceil(len(picture) / width)  # of the agents that are present
        whole = np.zeros(width * height, np.uint8)
        whole[: len(picture)] = np.frombuffer(picture, np.uint8)
        return whole.reshape(height, width)[::step, ::step].tobytes()

    def film(self) -> dict[str, Any]:
        """The greeting and the frames, as `film_page` and the pictures take them."""
        content = {name: value for name, value in self.greeting.items() if name not in LIVE} | {"rows": []}
        width = content.get("width")
        if width is not None and content["n"] > MOST_PIXELS:
            height = math.ceil(content["n"] / width)
            step = math.ceil(math.sqrt(width * height / MOST_PIXELS))
            content |= {"width": math.ceil(width / step), "downsampled": step}
        return {
            "greeting": content,
            "heads": [head for head, _ in self.frames],
            "pictures": [p for _, p in self.frames],
        }


def shoot(
    session: "Session",
    until: str | None = None,
    max_steps: int | None = None,
    seconds: float = 60.0,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Run a session without a page, and film it: to its end, or to the limit.

    Without a given length, it ends after 10,000 rounds (of n interactions each) or some seconds. If a film
    ends before what it should show, its key `unfinished` holds a sentence on that.
    """
    recorder = Recorder(greeting(session))
    limit, lamp, is_bounded = _end(session, until, max_steps)
    spacing, tail, deadline = 1, None, math.inf
    while True:
        readings = session.readings()
        picture = frame(session, **readings)
        recorder.stride = 1
        if recorder.add(*picture):
            spacing *= 2
            recorder.stride = 1
        if progress and progress(session.step):
            break
        if tail is None and session.all_given and (readings["lamps"].get(lamp) or session.world.is_silent):
            tail = 0 if session.world.is_silent else max(4, int(TAIL * len(recorder.frames)))
        if tail is not None:
            tail -= 1
            if tail < 0:
                break
        if session.step >= limit or time.monotonic() > deadline:
            break
        session.advance(min(limit, session.step + spacing), deadline, tell=session.world.kind == "graph")
        if is_bounded and deadline == math.inf:  # the clock starts here, when everything is compiled
            deadline = time.monotonic() + seconds
    film = recorder.film()
    entry = session.readings()["healing"].get("step")
    film["end"] = entry if lamp == "safe" and entry is not None else session.step
    if lamp and tail is None and (is_bounded or until):
        reached = f"the film ends at {session.moment(session.step)}, and `{lamp}` is not reached"
        unit = session.protocol.time_unit
        film["unfinished"] = f"{reached}; give --until {unit}:K or --max-steps K to choose its length"
        film["heads"][-1]["note"] = reached
    return film


def shoot_moments(session: "Session", steps: Sequence[int]) -> dict[str, Any]:
    """A film of these steps alone, each exactly."""
    recorder = Recorder(greeting(session))
    for step in sorted(set(steps)):
        if not session.go_to(step):
            raise InvalidInput(f"{session.moment(step)} is too far: {session.note}; give an earlier one")
        recorder.add(*frame(session, **session.readings()))
        recorder.stride, recorder._skip = 1, 0
    return recorder.film()


def _end(session: "Session", until: str | None, max_steps: int | None) -> tuple[int, str, bool]:
    """The last step, the lamp that may end the film earlier, and whether the default length applies."""
    protocol, unit = session.protocol, session.protocol.time_unit
    longest = LONGEST_FILM if session.world.is_rounds else LONGEST_FILM * protocol.n
    limit = longest if max_steps is None else max_steps
    if until is None and session.schedule:
        return min(len(session.schedule), FAR if max_steps is None else max_steps), "", False
    if until is not None and until.startswith(f"{unit}:"):
        asked = whole_number(until.partition(":")[2], f"until {unit}")
        return min(asked, FAR if max_steps is None else max_steps), "", False
    lamps = session.world.readings()[1]
    lamp = until or ("safe" if "safe" in lamps else "finished")
    if until is not None and lamp not in lamps:
        raise InvalidInput(f"until {until!r} is not known; {choose([*lamps, f'{unit}:K'])}{meant(until, lamps)}")
    return limit, lamp, max_steps is None


def read_page(name: str) -> str:
    return files("hegemon.web").joinpath("page", name).read_text(encoding="utf-8")


def film_page(film: dict[str, Any], dark: bool | None = None) -> str:
    """The film as one HTML text: the front end inlined, the frames compressed. Without `dark` the viewer's choice."""
    text = json.dumps({"greeting": film["greeting"], "heads": film["heads"]}, separators=(",", ":")).encode()
    sizes = [len(picture) for picture in film["pictures"]]
    index = struct.pack("<II", len(text), len(sizes)) + struct.pack(f"<{len(sizes)}I", *sizes)
    blob = base64.b64encode(zlib.compress(index + text + b"".join(film["pictures"]), 9)).decode()
    theme = "" if dark is None else f"window.HEGEMON_THEME = {json.dumps('dark' if dark else 'light')};"
    return whole_page(f'{theme}window.HEGEMON_FILM = "{blob}";')


def whole_page(first: str) -> str:
    """The front end as one HTML text that needs nothing else; `first` is run before everything."""
    page = read_page("index.html")
    page = page.replace('<link rel="stylesheet" href="style.css">', f"<style>\n{read_page('style.css')}</style>")
    data = f'<script>{first}</script>\n<script type="module">\n{scripts()}\n</script>'
    return page.replace('<script type="module" src="main.js"></script>', data)


def scripts() -> str:
    """The front end's modules as one."""
    return "\n".join(plain_script(read_page(name)) for name in MODULES)


def plain_script(text: str) -> str:
    """A module as part of a larger one: imports go, exports become plain."""
    lines = [line.removeprefix("export ") for line in text.split("\n") if not line.startswith("import ")]
    return "\n".join(lines)
