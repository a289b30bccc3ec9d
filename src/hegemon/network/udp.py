"""Datagrams over UDP, on whatever loop asyncio runs: uvloop's where it is installed."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.network.peers import written

LARGEST_QUEUE = 1 << 18  # unsent bytes; beyond that, datagrams are dropped, which UDP permits


class UdpPort(asyncio.DatagramProtocol):
    """A socket; `receive(datagram, address)` is called with each datagram."""

    def __init__(self) -> None:
        self.receive: Callable[[bytes, tuple[Any, ...]], None] = lambda datagram, address: None
        self.is_cut_off = False  # an injected fault: nothing is sent, nothing is received
        self.overflowed = 0
        self._transport: Any = None  # a DatagramTransport; in every loop it has `get_write_buffer_size`

    @classmethod
    async def open(cls, address: tuple[str, int] | socket.socket) -> "UdpPort":
        """A port on an address, or on a socket that is bound already."""
        loop = asyncio.get_running_loop()
        if isinstance(address, socket.socket):
            return (await loop.create_datagram_endpoint(cls, sock=address))[1]
        try:
            _, port = await loop.create_datagram_endpoint(cls, local_addr=address)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidInput(f"cannot listen on {written(address)}: {reason}; choose another address") from None
        return port

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._transport.get_extra_info("sockname")[:2]
        return host, port

    def send(self, datagram: bytes, address: Any) -> None:
        if self.is_cut_off or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > LARGEST_QUEUE:
            self.overflowed += 1
            return
        try:
            self._transport.sendto(datagram, address)
        except OSError:
            self.overflowed += 1  # an unreachable network is a lost datagram

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    # -- called by asyncio ----------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        if not self.is_cut_off:
            self.receive(data, addr[:2])

    def error_received(self, exc: Exception) -> None:
        """Ignored: the system reports an unreachable peer, which the exchange treats as a lost datagram."""


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """`asyncio.run`, on uvloop where it is installed: about three times the datagrams per second."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)
