"""`hg.watch(protocol)`: open the page of a run, from a terminal, from Python or in a notebook."""

import contextlib
import html
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon import doors
from hegemon.analysis.pictures import FORMATS as PICTURES
from hegemon.display import in_notebook
from hegemon.errors import InvalidInput, choose, meant
from hegemon.experiments.request import make_record
from hegemon.files import reserve, write_text
from hegemon.models.protocol import Protocol
from hegemon.runs import kinds
from hegemon.runs.option import MOST_AGENTS
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import Graph, Start
from hegemon.web.film import film_page, shoot
from hegemon.web.layout import require_watchable
from hegemon.web.rooms import MOST_OWN_AGENTS, Rooms
from hegemon.web.server import Doorkeeper, application, bind, require_web
from hegemon.web.session import Session
from hegemon.web.simulation import serve, serve_alone, serve_each
from hegemon.web.watched_run import WatchedRun

if TYPE_CHECKING:  # installed with hegemon[web] alone
    import uvicorn

    from hegemon.runs.option import Seed

PICTURE_KINDS = ("moment", "strip", "space-time")
PATIENCE = 120  # seconds within which a simulation must send its greeting


class Builder:
    """Makes the session, in this or another process, from the record of the run (pickled in its written form)."""

    def __init__(self, record: RunRecord):
        require_watchable(record.protocol, record.graph, record.engine)
        self.record = record

    def __getstate__(self) -> dict[str, Any]:
        return self.record.written()

    def __setstate__(self, written: dict[str, Any]) -> None:
        from hegemon.protocols.loading import name_protocol

        name_protocol(written["protocol"])  # by the name that the parent process was given
        self.record = make_record(written)

    @property
    def can_travel(self) -> bool:
        """Whether another process can make the same run."""
        if type(self.record.protocol).__module__ == "__main__":
            return False
        try:
            self.record.written()
        except InvalidInput:
            return False
        return True

    def __call__(self) -> Session:
        return Session(**vars(self.record))


@contextlib.contextmanager
def nameless_main() -> Iterator[None]:
    """Without this, a new process would run the caller's script again, which the simulation does not need."""
    main: dict[str, Any] = vars(sys.modules["__main__"])
    kept: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(kept)


class Watching:
    """A page that is being served: `url`, `stop()`; in a notebook it shows itself."""

    def __init__(self, builder: Builder, host: str = "127.0.0.1", port: int = 0, each: bool = False):
        require_web()
        self._each = each  # whether every visitor has a run of their own
        if each and builder.record.protocol.n > MOST_OWN_AGENTS:
            n = builder.record.protocol.n
            raise InvalidInput(f"a run for each visitor has at most {MOST_OWN_AGENTS:,} agents, not {n:,}")
        self._listener = bind(host, port)
        self.host, self.port = host, self._listener.getsockname()[1]
        self.token = secrets.token_urlsafe(16)
        self._here, there = Pipe()
        self._builder = builder
        self._worker: BaseProcess | threading.Thread
        self._control: Connection | None = None  # of the process that makes a run for each visitor
        if builder.can_travel:
            work: dict[str, Any] = {"target": serve_alone, "args": (there, builder)}
            if each:
                self._control, end = Pipe()
                work = {"target": serve_each, "args": (end, builder, MOST_OWN_AGENTS)}
            self._worker = get_context("spawn").Process(**work, daemon=True)
            with nameless_main():
                self._worker.start()
            if self._control is not None:
                end.close()
                self._control.send(there)
            there.close()
        else:
            self._worker = self._thread_with(there)
        self._server: uvicorn.Server | None = None
        self._rooms: Rooms | None = None
        self._opened: list[Path] = []  # files that lead to the page
        self._watched_run = WatchedRun(self._here)
        try:
            self._wait_for_greeting()
        except BaseException:
            self._end_simulation()
            self._listener.close()
            raise

    def _thread_with(self, connection: Connection) -> threading.Thread:
        most = MOST_OWN_AGENTS if self._each else MOST_AGENTS
        thread = threading.Thread(target=serve, args=(connection, self._builder, most), daemon=True)
        thread.start()
        return thread

    def _open_run(self) -> WatchedRun:
        """A run of its own for one more visitor."""
        here, there = Pipe()
        if self._control is None:
            self._thread_with(there)
        else:
            self._control.send(there)
            there.close()
        return WatchedRun(here)

    def _wait_for_greeting(self) -> None:
        """Wait for the simulation's greeting; bad input raises InvalidInput here, before any page is open."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self._here.poll(0.1):
                try:
                    kind, content = self._here.recv()
                except EOFError:
                    break
                if kind == "refused":
                    raise InvalidInput(content)
                self._watched_run.greeting = content
                return
            if not self._worker.is_alive():
                break
        raise InvalidInput("the simulation ended before it began; run the same with `hegemon run` to see why")

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{self.token}/"

    def open(self) -> None:
        """Open the page in the browser."""
        from hegemon.web.opening import open_privately

        self._opened.append(open_privately(self.url))

    def run(self, ready: Callable[[], object] | None = None) -> None:
        """Serve until interrupted."""
        import asyncio

        import uvicorn

        async def everything() -> None:
            rooms = self._rooms = Rooms(self._watched_run, self._open_run, self._each)
            app = application(rooms, Doorkeeper(self.host, self.port, self.token))
            config = uvicorn.Config(
                app, log_level="critical", ws="websockets-sansio", ws_per_message_deflate=False, lifespan="off",
                timeout_graceful_shutdown=0, access_log=False,
            )  # fmt: skip
            self._server = server = uvicorn.Server(config)
            self._loop = asyncio.get_running_loop()
            following = asyncio.ensure_future(rooms.follow())
            following.add_done_callback(lambda _: setattr(server, "should_exit", True))
            if ready:
                ready()
            await server.serve(sockets=[self._listener])
            following.cancel()

        try:
            asyncio.run(everything())
        finally:
            self._end_simulation()
            self._listener.close()

    def start(self) -> "Watching":
        """Serve in the background, from a thread."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self.run, args=(ready.set,), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join(5)
        self._end_simulation()

    def _end_simulation(self) -> None:
        while self._opened:
            self._opened.pop().unlink(missing_ok=True)
        self._watched_run.line.close()
        if self._rooms is not None:
            self._rooms.close()
        if hasattr(self._worker, "kill"):
            self._worker.kill()  # there is nothing to save

    def widget(self) -> Any | None:
        """The page as a widget of a notebook; None where anywidget is not installed."""
        from hegemon.web.widget import make_widget

        if self._each:
            return None
        return make_widget(self._watched_run, self._loop)

    def _repr_mimebundle_(self, **kinds: Any) -> Any:
        shown = self.widget() if in_notebook() else None
        return None if shown is None else shown._repr_mimebundle_(**kinds)

    def _repr_html_(self) -> str:
        address = html.escape(self.url, quote=True)
        return f'<iframe src="{address}" width="100%" height="720" style="border:0" title="hegemon watch"></iframe>'


class Film:
    """A run on film: `save(path)`; in a notebook it plays itself."""

    def __init__(self, content: dict[str, Any]):
        self.content = content

    def save(
        self, path: str | os.PathLike[str], kind: str = "", order: str = "number", dark: bool | None = None
    ) -> None:
        """Save a film (.html, .gif, .mp4) or a picture; a picture's `kind` is `moment`, `strip` or `space-time`."""
        save_film(self.content, path, kind, order, dark)

    def _repr_html_(self) -> str:
        page = html.escape(film_page(self.content), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="720" style="border:0" title="hegemon film"></iframe>'


def check_film_path(path: str | os.PathLike[str]) -> None:
    if not str(path).lower().endswith((".html", ".gif", ".mp4", *PICTURES)):
        raise InvalidInput(
            f"a film is saved as .html, .gif or .mp4, or as a picture ({', '.join(PICTURES)}), not as {path}"
        )
    if str(path).lower().endswith(".mp4"):
        from hegemon.web.animation import require_ffmpeg

        require_ffmpeg()
    reserve(path)


def picture_kind(path: str | os.PathLike[str], kind: str, moments: Sequence[int] = ()) -> str:
    """The kind of picture for a file of this name, or "" for a film; InvalidInput if name and kind do not fit."""
    is_picture = str(path).lower().endswith(PICTURES)
    if kind not in ("", *PICTURE_KINDS):
        raise InvalidInput(f"--as {kind} is not known; {choose(PICTURE_KINDS)}{meant(kind, PICTURE_KINDS)}")
    if not is_picture:
        if kind:
            raise InvalidInput(f"{path} is a film; a {kind} is saved as {', '.join(PICTURES)}")
        return ""
    if moments and kind in ("moment", "space-time") and (kind == "space-time" or len(moments) > 1):
        raise InvalidInput(f"--moments are those of a strip; leave --as {kind} out")
    return kind or ("strip" if moments else "space-time")


def save_film(
    content: dict[str, Any],
    path: str | os.PathLike[str],
    kind: str = "",
    order: str = "number",
    dark: bool | None = None,
) -> int:
    """As HTML that plays offline, as an animated picture, or as a picture of this kind; returns its frames."""
    check_film_path(path)
    kind = picture_kind(path, kind)
    if order != "number" and kind != "space-time":
        raise InvalidInput(f"--sorted {order} is for space–time diagrams ({', '.join(PICTURES)}); leave it out")
    if str(path).lower().endswith(".html"):
        write_text(path, film_page(content, dark))
    elif kind == "space-time":
        from hegemon.web.spacetime import space_time

        space_time(content, order, bool(dark)).save(path)
    elif kind:
        from hegemon.web.stills import still

        still(content, bool(dark)).save(path)
    else:
        from hegemon.web.animation import save_animation

        return save_animation(content, path, dark=bool(dark))
    return len(content["heads"])


@kinds.door(
    film=kinds.FLAG,
    until=kinds.TEXT,
    max_steps=kinds.STEPS,
    host=doors.text,
    port=doors.whole(0, 65535),
    browser=kinds.FLAG,
    each=kinds.FLAG,
)
def watch(
    protocol: Protocol, *, graph: Graph = None, start: Start = None, wake: Any = "all", seed: "Seed" = 0,
    engine: str = "auto", scheduler: Any = None, rates: Sequence[Any] = (),
    faults: Sequence[Any] = (), film: bool = False,
    until: str | None = None, max_steps: int | None = None, host: str = "127.0.0.1", port: int = 0,
    browser: bool = True, each: bool = False,
) -> Watching | Film:  # fmt: skip
    """Watch a run of a protocol on a page; returns the page, which `stop()` ends.

    In a notebook the answer shows itself. With `each=True` every visitor has a run of their own.
    With `film=True` nothing is served: the run is made to its end (or
    `until` a set or `steps:K`, or `max_steps`) and the answer is a film that can be saved or shown.
    """
    options: dict[str, Any] = {"graph": graph, "start": start, "wake": wake, "seed": seed, "engine": engine}
    builder = Builder(RunRecord(protocol, **options, scheduler=scheduler, rates=rates, faults=faults))
    if not film and (until is not None or max_steps is not None):
        raise InvalidInput("until and max_steps say where a film ends: give film=True, or leave them out")
    if film:
        return Film(shoot(builder(), until, max_steps))
    page = Watching(builder, host, port, each).start()
    if browser and not in_notebook():
        page.open()
    return page
