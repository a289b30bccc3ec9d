"""The runs behind one address: one that all visitors watch and steer, or one of each visitor's own.

A visitor's own run has a room, whose name is part of the address. Their number is bounded, and so is the size of each
run: rooms that everybody has left make place for new ones.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Callable

from hegemon.web.watched_run import WatchedRun

MOST_ROOMS = 40
MOST_OWN_AGENTS = 20_000  # in a visitor's own run: with its snapshots it takes some ten megabytes
EMPTY_SECONDS = 600.0  # a room that nobody has been in for so long is closed
ROOM = re.compile(r"[\w-]{8,32}")
FULL = f"all {MOST_ROOMS} places are taken; wait until somebody has left, and load the page again\n"


class Rooms:
    """`open_run` starts a simulation. `watched_run` is the first one, which is shared unless `is_own`."""

    def __init__(
        self,
        watched_run: WatchedRun,
        open_run: Callable[[], WatchedRun],
        is_own: bool,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.is_own = is_own
        self._open, self._clock = open_run, clock
        self._spare: WatchedRun | None = watched_run
        self.watched_runs: dict[str, WatchedRun] = {} if is_own else {"": watched_run}
        self._left: dict[str, float] = {}  # when the last visitor left a room
        self._following: set[asyncio.Future[None]] = set()

    async def follow(self) -> None:
        """Receive what the shared simulation sends, until it ends; with rooms, until this is cancelled."""
        if self.is_own:
            while True:
                await asyncio.sleep(EMPTY_SECONDS / 10)
                self.tidy()
        await self.watched_runs[""].follow()

    def new_name(self) -> str:
        return secrets.token_urlsafe(8)

    def may_be(self, name: str) -> bool:
        return bool(ROOM.fullmatch(name)) if self.is_own else not name

    def find(self, name: str) -> WatchedRun | None:
        """The run of this room, made if it is new; None if there is no such room, or no place."""
        if name in self.watched_runs or not self.is_own or not self.may_be(name):
            return self.watched_runs.get(name)
        self.tidy()
        if len(self.watched_runs) >= MOST_ROOMS and not self._close_an_empty_one():
            return None
        try:
            watched_run, self._spare = self._spare or self._open(), None
        except OSError:  # the process that makes the runs has ended
            return None
        self.watched_runs[name], self._left[name] = watched_run, self._clock()
        following = asyncio.ensure_future(watched_run.follow())
        self._following.add(following)
        following.add_done_callback(lambda done: self._ended(name, watched_run, done))
        return watched_run

    def leave(self, name: str) -> None:
        self._left[name] = self._clock()

    def tidy(self) -> None:
        """Close the rooms that have been empty for long."""
        for name in self._empty():
            if self._clock() - self._left[name] > EMPTY_SECONDS:
                self._close(name)

    def close(self) -> None:
        for watched_run in [*self.watched_runs.values(), *([self._spare] if self._spare else [])]:
            watched_run.line.close()

    def _empty(self) -> list[str]:
        return [name for name, watched_run in self.watched_runs.items() if not watched_run.spectators and name]

    def _close_an_empty_one(self) -> bool:
        """Close the room that has been empty for longest, if any was entered and left."""
        if empty := self._empty():
            self._close(min(empty, key=lambda name: self._left[name]))
        return bool(empty)

    def _close(self, name: str) -> None:
        self.watched_runs.pop(name).line.close()
        self._left.pop(name, None)

    def _ended(self, name: str, watched_run: WatchedRun, done: asyncio.Future[None]) -> None:
        self._following.discard(done)
        if self.watched_runs.get(name) is watched_run:
            self._close(name)
