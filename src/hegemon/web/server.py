"""The server of the page: loopback, a token in the path, Origin and Host checked. A page gets the next frame when it
has drawn the last.

A page can only send the commands of `simulation`: none makes the server read a file or run code.
"""

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from hegemon.errors import InvalidInput
from hegemon.hosts import is_addressed
from hegemon.web.film import MODULES
from hegemon.web.rooms import FULL, Rooms
from hegemon.web.watched_run import MOST_SPECTATORS, Spectator, WatchedRun

if TYPE_CHECKING:  # installed with hegemon[web] alone
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
PAGE = {"": "index.html", "style.css": "style.css", **{name: name for name in MODULES}}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
DOWNLOADS = ("film.html", "disturbances.json", "story.json")
REFUSAL = "This page is private to the terminal that opened it: use the whole address printed there, token included.\n"


def require_web() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError:
        raise InvalidInput("the page needs a web server: pip install 'hegemon[web]'") from None


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, before anything else is started."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(64)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InvalidInput(f"cannot listen on {host} port {port}: {error}; give another --host or --port") from None
    return listener


class Doorkeeper:
    """Decides which requests are admitted: right token, from a page of this server, under a name of this server."""

    def __init__(self, host: str, port: int, token: str):
        self.host, self.port, self.token = host, port, token

    def admits(self, headers: Mapping[str, str], token: str, is_socket: bool = False) -> bool:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not secrets.compare_digest(token.encode(), self.token.encode()) or not is_addressed(host, self.host):
            return False
        return origin == f"http://{host}" if is_socket else origin in (None, f"http://{host}")


def application(rooms: Rooms, keeper: Doorkeeper) -> "Starlette":
    """The routes: the page, its film, its disturbances, and the socket."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocketDisconnect

    page = files("hegemon.web").joinpath("page")

    def refusal() -> "Response":
        return PlainTextResponse(REFUSAL, status_code=403, headers=HEADERS)

    async def show(request: "Request") -> "Response":
        if not keeper.admits(request.headers, request.path_params.get("token", "")):
            return refusal()
        name, room = request.path_params.get("name", ""), request.path_params.get("room", "")
        if rooms.is_own and not room and not name:
            return RedirectResponse(f"{rooms.new_name()}/", headers=HEADERS)
        if name in DOWNLOADS:
            if (watched_run := rooms.find(room)) is None:
                return PlainTextResponse(FULL, status_code=503, headers=HEADERS)
            answer = await watched_run.ask(name.partition(".")[0])
            if "refused" in answer:
                return PlainTextResponse(answer["refused"] + "\n", status_code=503, headers=HEADERS)
        if name == "film.html":
            headers = {"Content-Disposition": 'attachment; filename="film.html"', "X-Content-Type-Options": "nosniff"}
            return Response(answer["film"], media_type="text/html", headers=headers)
        if name in DOWNLOADS:
            headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
            return JSONResponse(answer, headers=headers)
        if name not in PAGE or not rooms.may_be(room):
            return PlainTextResponse("there is nothing here\n", status_code=404, headers=HEADERS)
        content = page.joinpath(PAGE[name]).read_bytes()
        return Response(content, media_type=KINDS[PAGE[name].rpartition(".")[2]], headers=HEADERS)

    async def listen(watched_run: WatchedRun, socket: "WebSocket", spectator: Spectator) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, KeyError):  # KeyError: bytes instead of text
            while True:
                watched_run.hear(spectator, await socket.receive_text())

    async def talk(socket: "WebSocket") -> None:
        if not keeper.admits(socket.headers, socket.path_params["token"], is_socket=True):
            await socket.close(1008)
            return
        room = socket.path_params.get("room", "")
        watched_run = rooms.find(room)
        if watched_run is None or len(watched_run.spectators) >= MOST_SPECTATORS:
            await socket.close(1013)
            return
        await socket.accept()
        spectator = watched_run.welcome(socket)
        both = [asyncio.ensure_future(work) for work in (spectator.send_all(), listen(watched_run, socket, spectator))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            watched_run.leave(spectator)
            rooms.leave(room)
            for task in both:
                task.cancel()

    routes = [
        WebSocketRoute("/{token}/socket", talk),
        WebSocketRoute("/{token}/{room}/socket", talk),
        Route("/{token}/{room}/{name:path}", show),
        Route("/{token}/{name:path}", show),
        Route("/{name:path}", show),
    ]
    return Starlette(routes=routes)
