"""All pages that watch one run: one sending task per page, and a line to the simulation with its own threads.

The event loop never blocks, neither on a page that does not read nor on a simulation that is busy.
"""

import asyncio
import contextlib
import json
import queue
import threading
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol

from hegemon.web.commands import NOT_UNDERSTOOD, parse_command

SEND_SECONDS = 20.0  # a page that receives nothing for so long is dropped
MOST_UNREAD = 256  # unsent messages of one page
MOST_ASKED = 64  # commands of one page without a reply yet
MOST_SPECTATORS = 1000
LARGEST_COMMAND = 16_000_000  # characters, including a configuration dropped onto the page
LARGEST_PARSED = 100_000  # characters; longer commands are parsed by the simulation
MOST_WAITING = 40_000_000  # characters of commands that the simulation has not taken yet
ANSWER_SECONDS = 60.0  # how long a download waits for a busy simulation
LOOK = 0.25  # seconds between two checks of a thread whether to end
BUSY = "the run is busy; pause it, or wait until it has caught up"


class Line:
    """The connection to the simulation. Every call that may block is made by a thread."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self._commands: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0  # characters on their way
        self._closed = self._opened = False

    def open(self, hear: Callable[[tuple[Any, ...] | None], object]) -> None:
        """Call `hear`, from a thread, with every message of the simulation, and with None when it has ended."""
        self._opened = True
        threading.Thread(target=self._listen, args=(hear,), daemon=True).start()
        threading.Thread(target=self._speak, daemon=True).start()

    def send(self, number: int | None, text: str, is_urgent: bool = False) -> bool:
        """Queue a command; returns False, and drops the command, if too much is queued already."""
        with self._lock:
            if not is_urgent and self._waiting + len(text) > MOST_WAITING:
                return False
            self._waiting += len(text)
        self._commands.put((number, text))
        return True

    def close(self) -> None:
        self._closed = True
        self._commands.put(None)
        if not self._opened:
            self._connection.close()

    def _speak(self) -> None:
        with contextlib.suppress(OSError, ValueError, TypeError):  # TypeError: closed during a send
            while (item := self._commands.get()) is not None:
                self._connection.send(item)
                with self._lock:
                    self._waiting -= len(item[1])

    def _listen(self, hear: Callable[[tuple[Any, ...] | None], object]) -> None:
        with contextlib.suppress(EOFError, OSError, RuntimeError):  # RuntimeError: the loop is closed
            try:
                while not self._closed:
                    if self._connection.poll(LOOK):
                        hear(self._connection.recv())
            finally:
                self._connection.close()
                hear(None)


class Socket(Protocol):
    """How messages are sent to a page."""

    async def send_text(self, data: str, /) -> None: ...

    async def send_bytes(self, data: bytes, /) -> None: ...


class Spectator:
    """One page and its unsent messages. Of frames, only the latest is kept."""

    def __init__(self, socket: Socket):
        self.socket = socket
        self.wants_frame = False
        self.asked = 0
        self._texts: deque[str] = deque()
        self._frame: bytes | None = None
        self._news = asyncio.Event()
        self._is_lost = False

    def say(self, text: str) -> None:
        self._is_lost |= len(self._texts) >= MOST_UNREAD
        self._texts.append(text)
        self._news.set()

    def refuse(self, sentence: str) -> None:
        self.say(json.dumps({"refused": sentence}))

    def reply(self, number: Any, content: dict[str, Any]) -> None:
        """Answer a command with a number; of the others only refusals are worth a message."""
        if number is not None:
            self.say(json.dumps({"answer": number, **content}))
        elif "refused" in content:
            self.refuse(content["refused"])

    def greet(self, greeting: str) -> None:
        """Begin another run: an unsent frame of the previous one is dropped."""
        if self._frame is not None:
            self._frame, self.wants_frame = None, True
        self.say(greeting)

    def show(self, frame: bytes) -> None:
        self._frame, self.wants_frame = frame, False
        self._news.set()

    async def send_all(self) -> None:
        """Send each message as it comes, until the page has closed or no longer reads."""
        with contextlib.suppress(Exception):
            while not self._is_lost:
                await self._news.wait()
                self._news.clear()
                while not self._is_lost and (self._texts or self._frame is not None):
                    async with asyncio.timeout(SEND_SECONDS):
                        if self._texts:
                            await self.socket.send_text(self._texts.popleft())
                        elif (frame := self._frame) is not None:
                            self._frame = None
                            await self.socket.send_bytes(frame)


class WatchedRun:
    """All pages that watch one run, and its simulation."""

    def __init__(self, connection: Connection):
        self.line = Line(connection)
        self.greeting: str | None = None
        self.spectators: set[Spectator] = set()
        self._answers: dict[int, Callable[[dict[str, Any], int], object]] = {}
        self._number = 0
        self._asked = False  # a frame was requested and has not come yet

    async def follow(self) -> None:
        """Receive messages of the simulation until it ends."""
        loop, gone = asyncio.get_running_loop(), asyncio.Event()

        def hear(item: tuple[Any, ...] | None) -> None:
            if item is None:
                gone.set()
            else:
                self._pass_on(*item)

        self.line.open(lambda item: loop.call_soon_threadsafe(hear, item))
        await gone.wait()

    def _pass_on(self, kind: str, *content: Any) -> None:
        if kind == "frame":
            self._asked = False
            for spectator in self.spectators:
                if spectator.wants_frame:
                    spectator.show(content[0])
        elif kind == "greeting":
            self.greeting = content[0]
            for spectator in self.spectators:
                spectator.greet(content[0])
            if any(spectator.wants_frame for spectator in self.spectators):
                self._want_frame()
        elif kind == "answer":
            if hears := self._answers.pop(content[0], None):
                hears(content[1], content[2])

    def _want_frame(self, now: bool = False) -> None:
        if not self._asked or now:
            self._asked = True
            self.line.send(None, json.dumps({"do": "frame", "now": now}), is_urgent=True)

    def _command(self, text: str, answer: Callable[[dict[str, Any], int], object]) -> bool:
        """Send a command to the simulation; `answer` receives the reply, and how many commands are obeyed by now."""
        self._number += 1
        self._answers[self._number] = answer
        if self.line.send(self._number, text):
            return True
        del self._answers[self._number]
        return False

    async def ask(self, do: str) -> dict[str, Any]:
        """The simulation's reply to the command of a download, or a refusal."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

        def answer(found: dict[str, Any], obeyed: int) -> None:
            if not future.done():
                future.set_result(found)

        if not self._command(json.dumps({"do": do}), answer):
            return {"refused": BUSY}
        try:
            return await asyncio.wait_for(future, ANSWER_SECONDS)
        except TimeoutError:
            return {"refused": BUSY}

    # -- commands of spectators -------------------------------------------------------------------------------

    def welcome(self, socket: Socket) -> Spectator:
        spectator = Spectator(socket)
        if self.greeting is not None:
            spectator.greet(self.greeting)
        self.spectators.add(spectator)
        spectator.wants_frame = True
        self._want_frame(now=True)
        return spectator

    def leave(self, spectator: Spectator) -> None:
        self.spectators.discard(spectator)

    def hear(self, spectator: Spectator, text: str) -> None:
        """Pass a command of the page to the simulation, and the reply back to the page."""
        if len(text) > LARGEST_COMMAND:
            spectator.refuse(f"the page sent {len(text):,} characters at once; at most {LARGEST_COMMAND:,} are taken")
            return
        command: dict[str, Any] = {}
        if len(text) <= LARGEST_PARSED:
            try:
                command = parse_command(text)
            except ValueError:
                spectator.refuse(NOT_UNDERSTOOD)
                return
        do = command.get("do")
        if do == "frame":
            spectator.wants_frame = True
            self._want_frame()
            return
        number = command.get("id")

        def answer(found: dict[str, Any], obeyed: int) -> None:
            spectator.asked -= 1
            spectator.reply(number, found | {"obeyed": obeyed})

        if do in ("film", "story"):
            spectator.reply(number, {"refused": NOT_UNDERSTOOD})
        elif spectator.asked >= MOST_ASKED or not self._command(text, answer):
            spectator.reply(number, {"refused": BUSY})
        else:
            spectator.asked += 1
