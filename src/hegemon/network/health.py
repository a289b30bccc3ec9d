"""The health of a member, over HTTP: /health for people and supervisors, /ready, /metrics for Prometheus.

A few lines of HTTP/1.0 suffice: one small request per connection, answered at once and within a second, and only under
a name of this machine. Few connections wait at a time: the next one takes the place of the one that has waited longest,
so connections that send nothing keep nobody out. It listens on loopback by default, and never shows the key.
"""

import asyncio
import json
import time
from collections.abc import Callable

from hegemon.errors import InvalidInput
from hegemon.hosts import is_addressed
from hegemon.network.member import Member
from hegemon.network.peers import written

LONGEST_REQUEST = 4096
MOST_CONNECTIONS = 16
MOST_PENDING = 1024  # connections that the operating system keeps until this process accepts them
REQUEST_SECONDS = 1.0
ISOLATED_SECONDS = 10.0
HELP = {
    "requested": "exchanges that this member began",
    "completed": "exchanges that it began and that came to their end",
    "responded": "interactions that it made as responder: over all members, the number of interactions",
    "refused": "exchanges that a promised peer refused",
    "unreachable": "requests without an answer",
    "unanswered": "states without an answer: the interaction was lost or one-sided",
    "elections": "how often this member was elected",
}


class Health:
    """Answers for one member until it is closed."""

    def __init__(self, member: Member, name: str = "127.0.0.1", clock: Callable[[], float] = time.monotonic):
        self.member, self.name, self.clock = member, name, clock  # `name`: the address to listen on, as given
        self.began = self._active = clock()
        self._seen = -1
        self._waiting: list[asyncio.StreamWriter] = []  # connections without a whole request, oldest first

    async def serve(self, address: tuple[str, int]) -> asyncio.Server:
        try:
            return await asyncio.start_server(self._converse, *address, limit=LONGEST_REQUEST, backlog=MOST_PENDING)
        except OSError as error:
            where = written(address)
            raise InvalidInput(
                f"the health endpoint cannot listen on {where}: {error.strerror}; choose another"
            ) from None

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last interaction, as far as earlier requests can show it."""
        metrics = self.member.metrics
        done = metrics["completed"] + metrics["responded"]
        if done != self._seen:
            self._seen, self._active = done, self.clock()
        return self.clock() - self._active

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._waiting) >= MOST_CONNECTIONS:
            self._waiting.pop(0).transport.abort()
        self._waiting.append(writer)
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await reader.readuntil(b"\r\n\r\n")
                self._forget(writer)
                writer.write(b"".join(self.answer(request)))
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # such a request gets no response
        finally:
            self._forget(writer)
            writer.transport.abort()

    def _forget(self, writer: asyncio.StreamWriter) -> None:
        if writer in self._waiting:
            self._waiting.remove(writer)

    def answer(self, request: bytes) -> tuple[bytes, bytes]:
        """The head and the body of the response."""
        first, *lines = request.split(b"\r\n")
        words = first.split()
        fields = [line.partition(b":") for line in lines]
        hosts = [value.strip().decode("latin-1") for name, _, value in fields if name.lower() == b"host"]
        if len(words) < 2 or words[0] not in (b"GET", b"HEAD"):
            return self._worded("405 Method Not Allowed", "text/plain", b"GET /health, /ready or /metrics\n")
        if len(hosts) > 1 or not all(is_addressed(host, self.name) for host in hosts):
            return self._worded("403 Forbidden", "text/plain", b"ask under a name of this machine\n")
        head, body = self._page(words[1])
        return head, b"" if words[0] == b"HEAD" else body

    def _page(self, path: bytes) -> tuple[bytes, bytes]:
        if path == b"/metrics":
            return self._worded("200 OK", "text/plain; version=0.0.4", self.metrics().encode())
        if path in (b"/health", b"/ready"):
            ready = path == b"/health" or self.idle_seconds < ISOLATED_SECONDS
            status = "200 OK" if ready else "503 Service Unavailable"
            return self._worded(status, "application/json", self.health().encode())
        return self._worded("404 Not Found", "text/plain", b"there are /health, /ready and /metrics\n")

    def _worded(self, status: str, kind: str, body: bytes) -> tuple[bytes, bytes]:
        head = f"HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode(), body

    def health(self) -> str:
        member = self.member
        return json.dumps(
            {
                "leader": member.is_leader,
                "fence": member.fence,
                "state": member.state,
                "peers": len(member.peers),
                "idle_seconds": round(self.idle_seconds, 3),
                "up_seconds": round(self.clock() - self.began, 3),
            }
        )

    def metrics(self) -> str:
        lines = []
        for name, value, what in (
            ("leader", int(self.member.is_leader), "whether this member is the leader"),
            ("fence", self.member.fence or 0, "fencing number of the present term, 0 without one"),
            ("peers", len(self.member.peers), "peers that this member asks"),
        ):
            lines += [f"# HELP hegemon_{name} {what}", f"# TYPE hegemon_{name} gauge", f"hegemon_{name} {value}"]
        for name, value in self.member.metrics.items():
            if name in HELP:
                lines += [f"# HELP hegemon_{name}_total {HELP[name]}"]
            lines += [f"# TYPE hegemon_{name}_total counter", f"hegemon_{name}_total {value}"]
        return "\n".join(lines) + "\n"
