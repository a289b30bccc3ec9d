"""The health endpoint as a stranger finds it, and the files that a member reads."""

import asyncio
import os
from types import SimpleNamespace

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.files import read_regular
from hegemon.hosts import is_addressed
from hegemon.network import health as endpoint
from hegemon.network import join, new_key
from hegemon.network.health import Health
from hegemon.network.keys import OpenKey, read_keys
from hegemon.network.peers import read_peers
from tests.patience import PATIENCE

MEMBER = SimpleNamespace(
    is_leader=True, fence=7, state={"leader": 1}, peers=[], metrics={"completed": 0, "responded": 0, "elections": 1}
)


async def asked(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def serving(play):
    async def main():
        server = await Health(MEMBER).serve(("127.0.0.1", 0))
        try:
            return await play(server.sockets[0].getsockname()[1])
        finally:
            server.close()

    return asyncio.run(main())


def test_who_is_answered_and_how():
    async def play(port):
        get = await asked(port, b"GET /health HTTP/1.1\r\nHost: localhost:1\r\n\r\n")
        head = await asked(port, b"HEAD /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert get.startswith(b"HTTP/1.0 200") and get.endswith(b"}")
        assert head.startswith(b"HTTP/1.0 200") and head.endswith(b"\r\n\r\n") and head.count(b"Content-Length: 0") == 0
        assert (await asked(port, b"GET /ready HTTP/1.0\r\n\r\n")).startswith(b"HTTP/1.0 200")
        for host in (b"Host: evil.example", b"Host: evil.example:80", b"Host: localhost\r\nHost: evil", b"Host:"):
            refused = await asked(port, b"GET /health HTTP/1.1\r\n" + host + b"\r\n\r\n")
            assert refused.startswith(b"HTTP/1.0 403") and b"leader" not in refused
        assert (await asked(port, b"POST /health HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.0 405")
        assert (await asked(port, b"GET /key HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.0 404")

    serving(play)


def test_connections_that_send_nothing_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(endpoint, "REQUEST_SECONDS", 10 * PATIENCE)  # no idle connection ends by itself

    async def play(port):
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
        for _, writer in idle[::2]:
            writer.write(b"GET")  # and no more
        assert (await asked(port, b"GET /health HTTP/1.0\r\n\r\n")).startswith(b"HTTP/1.0 200")
        dropped = [asyncio.ensure_future(reader.read()) for reader, _ in idle]
        await asyncio.wait(dropped[: -endpoint.MOST_CONNECTIONS], timeout=PATIENCE)  # only a few are kept
        assert all(read.done() for read in dropped[: -endpoint.MOST_CONNECTIONS])
        for read in dropped:
            read.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        for _, writer in idle:
            writer.close()

    serving(play)


def test_who_takes_too_long_or_asks_too_much_gets_no_answer(monkeypatch):
    monkeypatch.setattr(endpoint, "REQUEST_SECONDS", 0.05)

    async def play(port):
        assert await asked(port, b"GET /health HTTP/1.0\r\n") == b""  # never finished
        assert await asked(port, b"x" * 2 * endpoint.LONGEST_REQUEST) == b""

    serving(play)


def test_names_of_this_machine():
    name = os.uname().nodename
    assert is_addressed("localhost:80", "127.0.0.1") and is_addressed("[::1]", "127.0.0.1")
    assert not is_addressed("192.168.0.7:80", "127.0.0.1") and not is_addressed(f"{name}:80", "127.0.0.1")
    for header in ("192.168.0.7:80", "[2001:db8::1]:80", name, f"{name.partition('.')[0]}.example:80", "given:80"):
        assert is_addressed(header, "given")
    assert not is_addressed("evil.example", "0.0.0.0") and not is_addressed("", "0.0.0.0")


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path):
    fifo, folder, file = tmp_path / "fifo", tmp_path, tmp_path / "file"
    os.mkfifo(fifo)  # nobody will ever write to it
    file.write_bytes(b"x" * 100)
    assert read_regular(file, 100) == b"x" * 100
    for place, most in ((fifo, 10), (folder, 10), ("/dev/zero", 10), (file, 99)):
        with pytest.raises((InvalidInput, IsADirectoryError)):
            read_regular(place, most)
    for read in (read_keys, read_peers):
        for place in (fifo, folder, "/dev/zero", tmp_path / "nowhere"):
            with pytest.raises(InvalidInput):
                read(place)
    file.write_text("# nobody\n\n")
    with pytest.raises(InvalidInput, match="names no peer"):
        read_peers(file)


def test_a_key_that_everybody_can_read_is_warned_about(tmp_path, recwarn):
    file = tmp_path / "key"
    file.write_text(new_key())
    file.chmod(0o640)
    read_keys(file)
    assert not recwarn
    file.chmod(0o604)
    with pytest.warns(OpenKey, match="chmod 600"):
        read_keys(file)


def test_peers_and_keys_change_together_or_not_at_all(tmp_path):
    async def play():
        key = new_key()
        async with join(hg.Pairwise(n=4), peers=["127.0.0.1:9"], key=key) as member:
            sealing = member._agent.wire._own
            for change in ({"peers": ["127.0.0.1:19"], "key": "none"}, {"peers": ["nonsense"], "key": new_key()}):
                with pytest.raises(InvalidInput):
                    member.reconfigure(**change)
                assert member.peers == [("127.0.0.1", 9)] and member._agent.wire._own is sealing
            member.reconfigure(peers=["127.0.0.1:19"], key=new_key())
            assert member.peers == [("127.0.0.1", 19)] and member._agent.wire._own is not sealing

    asyncio.run(play())
