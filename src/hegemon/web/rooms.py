"""The runs behind one address: one that all visitors watch and steer, or one of each visitor's own.

A visitor's own run has a room, whose name is part of the address. Their number is bounded, and so is the size of each
run: rooms that everybody has left make place for new ones.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Callable

from hegemon.web.hall import Hall

MOST_ROOMS = 40
MOST_OWN_AGENTS = 20_000  # in a visitor's own run: with its snapshots it takes some ten megabytes
EMPTY_SECONDS = 600.0  # a room that nobody has been in for so long is closed
ROOM = re.compile(r"[\w-]{8,32}")
FULL = f"all {MOST_ROOMS} places are taken; wait until somebody has left, and load the page again\n"


class Rooms:
    """`open_hall` starts a simulation. `hall` is the first one, which is shared unless `is_own`."""

    def __init__(
        self, hall: Hall, open_hall: Callable[[], Hall], is_own: bool, clock: Callable[[], float] = time.monotonic
    ):
        self.is_own = is_own
        self._open, self._clock = open_hall, clock
        self._spare: Hall | None = hall
        self.halls: dict[str, Hall] = {} if is_own else {"": hall}
        self._left: dict[str, float] = {}  # when the last visitor left a room
        self._following: set[asyncio.Future[None]] = set()

    async def follow(self) -> None:
        """Receive what the shared simulation sends, until it ends; with rooms, until this is cancelled."""
        if self.is_own:
            while True:
                await asyncio.sleep(EMPTY_SECONDS / 10)
                self.tidy()
        await self.halls[""].follow()

    def new_name(self) -> str:
        return secrets.token_urlsafe(8)

    def may_be(self, name: str) -> bool:
        return bool(ROOM.fullmatch(name)) if self.is_own else not name

    def find(self, name: str) -> Hall | None:
        """The run of this room, made if it is new; None if there is no such room, or no place."""
        if name in self.halls or not self.is_own or not self.may_be(name):
            return self.halls.get(name)
        self.tidy()
        if len(self.halls) >= MOST_ROOMS and not self._close_an_empty_one():
            return None
        try:
            hall, self._spare = self._spare or self._open(), None
        except OSError:  # the process that makes the runs has ended
            return None
        self.halls[name], self._left[name] = hall, self._clock()
        following = asyncio.ensure_future(hall.follow())
        self._following.add(following)
        following.add_done_callback(lambda done: self._ended(name, hall, done))
        return hall

    def leave(self, name: str) -> None:
        self._left[name] = self._clock()

    def tidy(self) -> None:
        """Close the rooms that have been empty for long."""
        for name in self._empty():
            if self._clock() - self._left[name] > EMPTY_SECONDS:
                self._close(name)

    def close(self) -> None:
        for hall in [*self.halls.values(), *([self._spare] if self._spare else [])]:
            hall.line.close()

    def _empty(self) -> list[str]:
        return [name for name, hall in self.halls.items() if not hall.spectators and name]

    def _close_an_empty_one(self) -> bool:
        """Close the room that has been empty for longest, if any was entered and left."""
        if empty := self._empty():
            self._close(min(empty, key=lambda name: self._left[name]))
        return bool(empty)

    def _close(self, name: str) -> None:
        self.halls.pop(name).line.close()
        self._left.pop(name, None)

    def _ended(self, name: str, hall: Hall, done: asyncio.Future[None]) -> None:
        self._following.discard(done)
        if self.halls.get(name) is hall:
            self._close(name)
