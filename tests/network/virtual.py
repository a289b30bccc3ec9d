"""A network in memory, in virtual time: seeded, as lossy as one likes, and the same every time.

`Clock` and `Port` stand where asyncio's loop and a socket stand otherwise. What happens to a datagram is drawn
when it is sent: lost, sent twice, delayed; delays differ, so datagrams overtake each other.
"""

import heapq
import itertools
import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass


class Timer:
    """The handle that `call_later` returns; a cancelled one is skipped when its time comes."""

    __slots__ = ("callback", "arguments")

    def __init__(self, callback, arguments):
        self.callback, self.arguments = callback, arguments

    def cancel(self) -> None:
        self.callback = None


class Clock:
    """Time that stands still until the next thing happens."""

    def __init__(self):
        self._now = 0.0
        self._queue: list = []
        self._order = itertools.count()

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable, *arguments) -> Timer:
        timer = Timer(callback, arguments)
        heapq.heappush(self._queue, (self._now + delay, next(self._order), timer))
        return timer

    def run(self, until: Callable[[], bool] = lambda: False, seconds: float = float("inf")) -> bool:
        """Let things happen until `until()` holds after one of them, or so many seconds have passed."""
        end = self._now + seconds
        while self._queue and self._queue[0][0] <= end:
            self._now, _, timer = heapq.heappop(self._queue)
            if timer.callback is not None:
                timer.callback(*timer.arguments)
                if until():
                    return True
        if end < float("inf"):
            self._now = end
        return False


@dataclass
class Conditions:
    """How bad the network is. Delays are uniform between `delay` and `delay + jitter` seconds."""

    loss: float = 0.0
    duplication: float = 0.0
    delay: float = 0.0001
    jitter: float = 0.0


class Network:
    """Carries datagrams between ports; `separated(a, b)` says whether two addresses are cut off from each other."""

    def __init__(self, clock: Clock, rng: random.Random, conditions: Conditions | None = None):
        self.clock, self.rng, self.conditions = clock, rng, conditions or Conditions()
        self.receivers: dict[Hashable, Callable] = {}
        self.separated: Callable[[Hashable, Hashable], bool] = lambda a, b: False
        self.tap: Callable[[bytes, Hashable, Hashable], None] | None = None  # an eavesdropper
        self.sent = self.lost = 0

    def port(self, address: Hashable, receive: Callable[[bytes, Hashable], None] | None = None) -> "Port":
        if receive:
            self.receivers[address] = receive
        return Port(self, address)

    def carry(self, datagram: bytes, source: Hashable, target: Hashable) -> None:
        self.sent += 1
        if self.tap:
            self.tap(datagram, source, target)
        conditions, draw = self.conditions, self.rng.random
        if self.separated(source, target) or (conditions.loss and draw() < conditions.loss):
            self.lost += 1
            return
        copies = 2 if conditions.duplication and draw() < conditions.duplication else 1
        for _ in range(copies):
            delay = conditions.delay + (conditions.jitter * draw() if conditions.jitter else 0.0)
            self.clock.call_later(delay, self._deliver, datagram, source, target)

    def _deliver(self, datagram: bytes, source: Hashable, target: Hashable) -> None:
        receive = self.receivers.get(target)
        if receive:
            receive(datagram, source)


class Port:
    """One member's place in the network."""

    def __init__(self, network: Network, address: Hashable):
        self.network, self.address = network, address

    def send(self, datagram: bytes, address: Hashable) -> None:
        self.network.carry(datagram, self.address, address)

    def close(self) -> None:
        self.network.receivers.pop(self.address, None)
