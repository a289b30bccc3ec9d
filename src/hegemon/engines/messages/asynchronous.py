"""Engine `asynchronous`: messages take time, and every one of them is an event of its own.

`round` of the protocol is called once for each message, at the time when it arrives. Messages that arrive at the same
time come in the order in which they were sent, and what one call sends is sent in the order of the ports. `node.round`
is the round that this time lies in, and `wake_at(round)` calls at the end of a round, after its messages. So a link may
carry several messages; one call still sends at most one through each port.
"""

import heapq
import math
from typing import Any

from hegemon.engines.messages.nodes import Nodes
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol
from hegemon.process.messages.links import Delay, happens
from hegemon.process.messages.surroundings import Surroundings


class Asynchronous(Nodes):
    """The engine for every protocol whose messages take time."""

    name = "asynchronous"
    honours = frozenset({"delay", "order", "loss", "duplicate", "crash"})
    kept = (*Nodes.kept, "time", "flying", "latest", "number", "busy", "busiest", "duplicated")

    @classmethod
    def suits(cls, topology: Topology, around: Surroundings) -> bool:
        return around.delay is not None and super().suits(topology, around)

    def __init__(self, protocol: MessageProtocol, topology: Topology, around: Surroundings, seed: int, trial: int):
        super().__init__(protocol, topology, around, seed, trial)
        assert around.delay is not None  # see `suits`
        self.delay: Delay = around.delay
        self.time: float = 0  # of the present or last event
        self.flying: list[
            tuple[float, int, int, int, int, Any]
        ] = []  # a heap: arrival, number, from, to, port, message
        self.number = self.duplicated = self.busiest = 0
        self.latest: dict[tuple[int, int], float] = {}  # the last arrival of each link
        self.busy: dict[int, int] = {}  # how many messages each node has sent

    @property
    def next_round(self) -> int | None:
        ahead = [max(self.round, math.ceil(self.flying[0][0]))] if self.flying else []
        return min([*ahead, *self.beginners, *self.calls], default=None)

    def play_next(self) -> bool:
        """Play all events of the next round that has any; false if there is none."""
        ahead = self.next_round
        if ahead is None:
            return False
        self.round, self._arrived = ahead, []
        for v in self.beginners.pop(ahead, ()):
            self._happens(v, ahead - 1, "begin")
        while self.flying and self.flying[0][0] <= ahead:
            time, _, v, w, port, message = heapq.heappop(self.flying)
            self.time = time
            if self.lives(w):
                self._arrived.append((v, w, message))
                if self.protocol.records_clouds:
                    self._influence(v, w)
                self._happens(w, time, "round", {port: message})
        for v in sorted(self.calls.pop(ahead, ())):
            self._happens(v, ahead, "round", {})
        return True

    def _happens(self, v: int, time: float, function: str, *inbox: dict[int, Any]) -> None:
        """Call one node, and put what it sends on the way."""
        self.time = time
        self._call(v, function, *inbox)
        for port, message in sorted(self.outbox.pop(v, {}).items(), key=lambda pair: pair[0]):
            self._send(v, port, message)

    def _send(self, v: int, port: int, message: Any) -> None:
        w, back = self.ports.cross(v, port)
        self._count(v, message)
        self.busy[v] = self.busy.get(v, 0) + 1
        self.busiest = max(self.busiest, self.busy[v])
        if self.is_lost():
            return
        doubled = happens(self.around.duplicate, self.chance)
        self.duplicated += doubled
        for _ in range(1 + doubled):
            arrival = self.time + self.delay.of(self, v, w, message)
            if self.around.order == "fifo":
                arrival = self.latest[v, port] = max(arrival, self.latest.get((v, port), 0))
            self.number += 1
            heapq.heappush(self.flying, (arrival, self.number, v, w, back, message))

    def measured(self) -> dict[str, Any]:
        return (
            {"time": self.time}
            | super().measured()
            | ({"duplicated": self.duplicated} if self.around.duplicate else {})
        )
