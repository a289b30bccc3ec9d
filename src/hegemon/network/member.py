"""A member as a program uses it: join, read `is_leader`, receive events of elections, leave.

    async with hegemon.network.join(hg.TimeOptimal(n=64), peers=[…], key=Path("key")) as member:
        async for event in member.events():
            ...

The guarantee: from any states, after a while exactly one member is the leader, and remains so for very long.
While the network recovers there can be none, or several: a leader's writes should carry `member.fence`.
"""

import asyncio
import contextlib
import os
import random
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.network.agent import Agent
from hegemon.network.keys import keys_from
from hegemon.network.peers import parse_address, peers_from, resolve
from hegemon.network.rules import MemberRules
from hegemon.network.synchronizer import Synchronizer
from hegemon.network.terms import Event
from hegemon.network.udp import UdpPort
from hegemon.network.wire import Wire, fingerprint_of, require_cryptography

LARGEST_BACKLOG = 1024  # unread events; if there are more, the oldest are dropped


class Member:
    """One agent of a running network. Made by `join`."""

    _agent: Agent | Synchronizer

    def __init__(self, rules: MemberRules, port: UdpPort):
        self._rules, self._port = rules, port
        self._callbacks: list[Callable[[Event], object]] = []
        self._readers: list[tuple[deque[Any], asyncio.Event]] = []
        self._closed = False
        self.dropped_events = 0
        self.last_event: Event | None = None
        self.elections = 0

    @property
    def is_leader(self) -> bool:
        return self._agent.terms.fence is not None

    @property
    def fence(self) -> int | None:
        """The fencing number of the present term; None when this member is not the leader."""
        return self._agent.terms.fence

    @property
    def state(self) -> dict[str, Any]:
        """The state in readable form."""
        return self._rules.shown(self._agent)

    @property
    def code(self) -> int:
        """The state, as a number."""
        return self._agent.state

    @property
    def is_cut_off(self) -> bool:
        return self._port.is_cut_off

    @property
    def address(self) -> tuple[str, int]:
        return self._port.address

    @property
    def peers(self) -> list[tuple[str, int]]:
        return list(self._agent.peers)

    @property
    def metrics(self) -> dict[str, int]:
        """Counters since the start. Over a whole network, `responded` is the number of interactions."""
        return {
            **self._agent.counters,
            "overflowed": self._port.overflowed,
            "dropped_events": self.dropped_events,
            "elections": self.elections,
        }

    async def events(self) -> AsyncIterator[Event]:
        """Every `elected` and `deposed` from now on; first an `elected` if this member is the leader now."""
        waiting: deque[Event] = deque(maxlen=LARGEST_BACKLOG)
        signal = asyncio.Event()
        if self.is_leader and self.last_event:
            waiting.append(self.last_event)
            signal.set()
        reader = (waiting, signal)
        self._readers.append(reader)
        try:
            while not self._closed or waiting:
                await signal.wait()
                while waiting:
                    yield waiting.popleft()
                signal.clear()
                if self._closed:
                    return
        finally:
            self._readers.remove(reader)

    def on_event(self, callback: Callable[[Event], object]) -> None:
        """Call `callback(event)` at every change, on the loop: it must not block."""
        self._callbacks.append(callback)

    def set_peers(self, peers: Any) -> None:
        """Replace the peers: a list of addresses, or the Path of a peers file."""
        self.reconfigure(peers=peers)

    def set_keys(self, key: Any) -> None:
        """Replace the keys, as in a rotation."""
        self.reconfigure(key=key)

    def reconfigure(self, *, peers: Any = None, key: Any = None) -> None:
        """Replace the peers, the keys or both; if either is refused, nothing changes."""
        keys = None if key is None else keys_from(key)
        chosen = None if peers is None else self._others(peers)
        if self._rules.elects_once and chosen is not None and self._agent.peers and chosen != self._agent.peers:
            raise InvalidInput(f"a member of {self._rules.protocol.id} elects once, over the ports it began with")
        if keys is not None:
            self._agent.wire.use(keys)
        if chosen is not None:
            self._agent.peers = chosen

    def _others(self, peers: Any) -> list[tuple[str, int]]:
        own = self.address
        return [peer for peer in peers_from(peers, own[0]) if peer != own]

    def corrupt(self, state: int | None = None) -> None:
        """Inject a fault: the state becomes `state`, or a random one."""
        self._agent.state = self._agent.rng.randrange(self._rules.size) if state is None else state

    def cut_off(self, is_cut_off: bool = True) -> None:
        """Inject a fault: no datagram is sent or received."""
        self._port.is_cut_off = is_cut_off

    def _tell(self, event: Event) -> None:
        self.last_event = event
        self.elections += event.kind == "elected"
        for waiting, signal in self._readers:
            self.dropped_events += len(waiting) == LARGEST_BACKLOG
            waiting.append(event)
            signal.set()
        for callback in self._callbacks:
            try:
                callback(event)
            except Exception as error:  # a user's callback must not end the member; the loop reports it
                asyncio.get_running_loop().call_exception_handler({"message": "an event callback", "exception": error})

    def _close(self) -> None:
        self._closed = True
        self._agent.stop()
        self._agent.terms.follow(False)
        self._port.close()
        for _, signal in self._readers:
            signal.set()


@contextlib.asynccontextmanager
async def join(
    protocol: Protocol,
    *,
    peers: Any,
    key: Any,
    listen: str | tuple[str, int] | socket.socket = "127.0.0.1:0",
    rate: float | None = None,
    start: str | None = None,
    patience: float = 1.0,
) -> AsyncIterator[Member]:
    """Be a member of a network as long as the block lasts.

    `protocol` is an instance, such as `hg.TimeOptimal(n=64)`, equal at all members; its n is an upper bound on their
    number. `peers` are the members that this one asks (a list of "host:port", or the Path of a file with one per
    line); this member's own address among them is passed over. `key` is what all share: the Path of a key file,
    or what `new_key()` returned. `rate` is how many interactions per second this member begins (50 if it is left out);
    it takes part in about twice as many. `start` is its first state: `random` (the default where the protocol
    stabilizes from anywhere) or a start in which all agents are alike. `patience` is for how many seconds a silent peer
    is asked. A protocol that works in rounds makes at most `rate` (10) rounds per second with its peers, who must have
    this member among theirs; one that is silent for `patience` leaves the round. One that passes messages elects once,
    among members that begin within `patience` of each other.
    """
    require_cryptography()
    rules = protocol.model.home("member")(protocol)
    rate = rules.usual_rate if rate is None else rate
    check_pace(rate, patience)
    wire = Wire(keys_from(key), fingerprint_of(protocol), most_senders=4 * min(protocol.n, 100_000) + 64)
    first = rules.start(start, random.Random(os.urandom(16)))
    if not isinstance(listen, socket.socket):
        listen = resolve(*(parse_address(listen) if isinstance(listen, str) else listen))
    known = peers_from(peers, (listen.getsockname() if isinstance(listen, socket.socket) else listen)[0])
    port = await UdpPort.open(listen)
    member = Member(rules, port)
    loop = asyncio.get_running_loop()
    options = {"tell": member._tell, "rate": rate, "patience": patience}
    member._agent = rules.agent(first, len(member._others(known)), wire, port, loop, **options)
    try:
        member.set_peers(known)
        port.receive = member._agent.receive
        member._agent.start()
        yield member
    finally:
        member._close()


def check_pace(rate: float, patience: float) -> None:
    for name, value, most in (("rate", rate, 100_000), ("patience", patience, 3600)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
            raise InvalidInput(f"{name} = {value!r} is out of range; it must be a number above 0, at most {most}")


@contextlib.contextmanager
def join_in_thread(protocol: Protocol, **options: Any) -> "Iterator[MemberThread]":
    """The same for programs without asyncio: the member lives in a thread of its own, and the block gets a handle
    with `is_leader`, `fence`, `state`, `metrics`, and `wait(timeout)` for the next event."""
    require_cryptography()
    handle = MemberThread(protocol, options)
    handle.start()
    try:
        yield handle
    finally:
        handle.stop()


class MemberThread:
    """A member in a thread; its properties may be read from any thread."""

    def __init__(self, protocol: Protocol, options: dict[str, Any]):
        self._protocol, self._options = protocol, options
        self._ready = threading.Event()
        self._member: Any = None
        self._error: BaseException | None = None
        self._waiting: deque[Event] = deque(maxlen=LARGEST_BACKLOG)
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="hegemon member", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()
        if self._error:
            raise self._error

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    is_leader = property(lambda self: self._member.is_leader)
    fence = property(lambda self: self._member.fence)
    state = property(lambda self: self._member.state)
    metrics = property(lambda self: self._member.metrics)
    address = property(lambda self: self._member.address)

    def set_peers(self, peers: list[Any] | Path) -> None:
        known = peers_from(peers, self.address[0])
        self._loop.call_soon_threadsafe(self._member.set_peers, known)

    def wait(self, timeout: float | None = None) -> Event | None:
        """The next event, or None if none came within `timeout`."""
        with self._news:
            self._news.wait_for(lambda: self._waiting, timeout)
            return self._waiting.popleft() if self._waiting else None

    def _run(self) -> None:
        try:
            asyncio.run(self._run_member())
        except BaseException as error:  # the thread's end is raised where the member is waited for
            self._error = error
        finally:
            self._ready.set()

    async def _run_member(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with join(self._protocol, **self._options) as member:
            self._member = member
            if member.last_event:
                self._hear(member.last_event)
            member.on_event(self._hear)
            self._ready.set()
            await self._end.wait()

    def _hear(self, event: Event) -> None:
        with self._news:
            self._waiting.append(event)
            self._news.notify_all()
