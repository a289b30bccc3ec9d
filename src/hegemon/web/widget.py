"""The page inside a notebook, wherever its server runs: messages of page and simulation go through the kernel.

An iframe of the page's own address works only where browser and kernel are on one machine; a widget works wherever
the notebook does. It needs anywidget (`pip install 'hegemon[notebook]'`).
"""

import asyncio
import json
from typing import Any

from hegemon.web.film import read_page, whole_page
from hegemon.web.watched_run import Spectator, WatchedRun


def make_widget(watched_run: WatchedRun, loop: asyncio.AbstractEventLoop) -> Any | None:
    """A widget that watches the run of the watched_run; None where anywidget is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class Widget(anywidget.AnyWidget):
        _esm = read_page("widget.js")
        page = traitlets.Unicode().tag(sync=True)

    widget = Widget(page=whole_page("window.HEGEMON_BRIDGE = true;"))
    visitor = Visitor(widget, watched_run)
    widget.on_msg(lambda _, content, buffers: loop.call_soon_threadsafe(visitor.say, content))
    return widget


class Visitor:
    """The widget as a spectator of the watched_run."""

    def __init__(self, widget: Any, watched_run: WatchedRun):
        self._widget, self._watched_run = widget, watched_run
        self._spectator: Spectator | None = None
        self._sending: asyncio.Future[Any] | None = None

    def say(self, content: dict[str, Any]) -> None:
        text = str(content.get("text", ""))
        if is_greeting(text):
            if self._spectator is not None and self._sending is not None:
                self._watched_run.leave(self._spectator)
                self._sending.cancel()
            self._spectator = self._watched_run.welcome(self)
            self._sending = asyncio.ensure_future(self._spectator.send_all())
        elif self._spectator is not None:
            self._watched_run.hear(self._spectator, text)

    async def send_text(self, text: str) -> None:
        self._widget.send({"text": text})

    async def send_bytes(self, content: bytes) -> None:
        self._widget.send({}, [content])


def is_greeting(text: str) -> bool:
    try:
        return json.loads(text) == {"do": "hello"}
    except (ValueError, RecursionError):
        return False
