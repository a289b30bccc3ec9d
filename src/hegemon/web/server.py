"""The server of the page: loopback, a token in the path, Origin and Host checked; frames to whoever has drawn the last.

A page can only say what `simulation` understands: it never makes the server read a file or run code.
"""

import asyncio
import contextlib
import ipaddress
import json
import secrets
import socket
from importlib.resources import files

from hegemon.errors import InvalidInput
from hegemon.web.film import MODULES

KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
PAGE = {"": "index.html", "style.css": "style.css", **{name: name for name in MODULES}}
LARGEST_COMMAND = 16_000_000  # bytes, a dropped configuration included
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
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


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


class Doorkeeper:
    """Who may come in: the right token, from a page of this server, under a name of this server."""

    def __init__(self, host: str, port: int, token: str):
        self.host, self.port, self.token = host, port, token
        self.open = not is_loopback(host)

    def admits(self, headers, token: str, is_socket: bool = False) -> bool:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not secrets.compare_digest(token.encode(), self.token.encode()) or not self._knows(host):
            return False
        return origin == f"http://{host}" if is_socket else origin in (None, f"http://{host}")

    def _knows(self, host: str) -> bool:
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        name = name or host
        if is_loopback(name):
            return True
        if not self.open:
            return False
        if name in (self.host, socket.gethostname()):
            return True
        with contextlib.suppress(ValueError):
            return bool(ipaddress.ip_address(name.strip("[]")))
        return False


class Hall:
    """Everybody who watches one run, and the simulation that they watch."""

    def __init__(self, connection):
        self.connection = connection
        self.greeting: str | None = None
        self.refused: str | None = None
        self.watchers: dict = {}  # socket -> whether it waits for a frame
        self._answers: dict[int, asyncio.Future] = {}
        self._number = 0
        self._asked = False

    async def follow(self) -> None:
        """Take what the simulation says, until it is gone."""
        loop = asyncio.get_running_loop()
        news: asyncio.Queue = asyncio.Queue()
        loop.add_reader(self.connection.fileno(), self._read, news)
        try:
            while True:
                item = await news.get()
                if item is None:
                    return
                await self._pass_on(item)
        finally:
            with contextlib.suppress(Exception):
                loop.remove_reader(self.connection.fileno())

    def _read(self, news) -> None:
        try:
            news.put_nowait(self.connection.recv())
        except (EOFError, OSError):
            with contextlib.suppress(Exception):
                asyncio.get_running_loop().remove_reader(self.connection.fileno())
            news.put_nowait(None)

    async def _pass_on(self, item: tuple) -> None:
        kind, *content = item
        if kind == "frame":
            self._asked = False
            waiting = [watcher for watcher, waits in self.watchers.items() if waits]
            for watcher in waiting:
                self.watchers[watcher] = False
                await self._send(watcher, content[0])
            return
        if kind == "greeting":
            self.greeting = content[0]
            for watcher in list(self.watchers):
                await self._send(watcher, self.greeting)
        elif kind == "refused":
            self.refused = content[0]
        elif kind == "answer":
            future = self._answers.pop(content[0], None)
            if future is not None and not future.done():
                future.set_result(content[1])

    async def _send(self, watcher, content) -> None:
        try:
            await (watcher.send_bytes(content) if isinstance(content, bytes) else watcher.send_text(content))
        except Exception:
            self.watchers.pop(watcher, None)

    def want_frame(self, watcher, now: bool = False) -> None:
        self.watchers[watcher] = True
        if not self._asked or now:
            self._asked = True
            self.tell({"do": "frame", "now": now})

    def tell(self, command: dict) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.connection.send(command)

    async def ask(self, command: dict):
        """A command and its answer."""
        self._number += 1
        number = self._number
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        self.tell({**command, "id": number})
        return await asyncio.wait_for(future, 60)

    # -- what a watcher says, and what it is told -----------------------------------------------------------

    async def welcome(self, watcher) -> None:
        if self.greeting is not None:
            await watcher.send_text(self.greeting)
        self.want_frame(watcher, now=True)

    async def hear(self, watcher, text: str) -> None:
        try:
            command = json.loads(text) if len(text) <= LARGEST_COMMAND else None
        except (ValueError, RecursionError):
            command = None
        if not isinstance(command, dict) or not isinstance(command.get("do"), str):
            await watcher.send_text(json.dumps({"refused": "the page sent a command that is not understood"}))
            return
        if command["do"] == "frame":
            self.want_frame(watcher)
        elif command["do"] in ("state", "disturbances"):
            asked = command.pop("id", None)
            await watcher.send_text(json.dumps({"answer": asked, **(await self.ask(command))}))
        elif command["do"] != "film":
            asyncio.ensure_future(self._relay(watcher, command))

    async def _relay(self, watcher, command: dict) -> None:
        """A command whose only answer may be a refusal."""
        with contextlib.suppress(Exception):
            result = await self.ask(command)
            if "refused" in result:
                await watcher.send_text(json.dumps(result))


def application(hall: Hall, keeper: Doorkeeper):
    """The routes: the page, its film, its disturbances, and the socket."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocketDisconnect

    page = files("hegemon.web").joinpath("page")

    def refusal():
        return PlainTextResponse(REFUSAL, status_code=403, headers=HEADERS)

    async def show(request):
        if not keeper.admits(request.headers, request.path_params.get("token", "")):
            return refusal()
        name = request.path_params.get("name", "")
        if name == "film.html":
            answer = await hall.ask({"do": "film"})
            headers = {"Content-Disposition": 'attachment; filename="film.html"', "X-Content-Type-Options": "nosniff"}
            return Response(answer["film"], media_type="text/html", headers=headers)
        if name == "disturbances.json":
            answer = await hall.ask({"do": "disturbances"})
            headers = {**HEADERS, "Content-Disposition": 'attachment; filename="disturbances.json"'}
            return JSONResponse(answer, headers=headers)
        if name not in PAGE:
            return PlainTextResponse("there is nothing here\n", status_code=404, headers=HEADERS)
        content = page.joinpath(PAGE[name]).read_bytes()
        return Response(content, media_type=KINDS[PAGE[name].rpartition(".")[2]], headers=HEADERS)

    async def talk(socket):
        if not keeper.admits(socket.headers, socket.path_params["token"], is_socket=True):
            await socket.close(1008)
            return
        await socket.accept()
        try:
            await hall.welcome(socket)
            while True:
                await hall.hear(socket, await socket.receive_text())
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            hall.watchers.pop(socket, None)

    routes = [
        WebSocketRoute("/{token}/socket", talk),
        Route("/{token}/{name:path}", show),
        Route("/{name:path}", show),
    ]
    return Starlette(routes=routes)
