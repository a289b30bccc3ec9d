"""IPv4, IPv6 and both; names; the size of datagrams on the smallest links."""

import asyncio
import contextlib
import socket

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.network import join, new_key
from hegemon.network.peers import parse_address, peers_from, resolve, written
from hegemon.network.wire import DATAGRAM_BYTES
from tests.network.population import Population
from tests.patience import PATIENCE


def has_ipv6() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as made:
        made.bind(("::1", 0))
        return True
    return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def elect(*listening, reached=lambda host: host):
    """Two members listen and hear of each other by `reached(host)`; returns when one has become the only leader."""

    async def play():
        key = new_key()
        async with contextlib.AsyncExitStack() as stack:
            members = [
                await stack.enter_async_context(join(hg.Pairwise(n=2), peers=[], key=key, listen=one, rate=100))
                for one in listening
            ]
            for member, other in (members, reversed(members)):
                host, port = other.address
                member.set_peers([written((reached(host), port))])
            async with asyncio.timeout(PATIENCE):
                while sum(member.is_leader for member in members) != 1:
                    await asyncio.sleep(0.01)
            return [member.metrics["overflowed"] for member in members]

    return asyncio.run(play())


@needs_ipv6
def test_members_over_ipv6():
    assert elect("[::1]:0", "[::1]:0") == [0, 0]


@needs_ipv6
def test_a_member_on_all_addresses_reaches_both_kinds():
    assert elect("[::]:0", "127.0.0.1:0", reached=lambda host: "127.0.0.1") == [0, 0]
    assert elect("[::]:0", "[::1]:0", reached=lambda host: "::1") == [0, 0]


def test_names_resolve_to_what_the_member_reaches(monkeypatch):
    known = {socket.AF_INET: "192.0.2.7", socket.AF_INET6: "2001:db8::7", socket.AF_UNSPEC: "2001:db8::7"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, port, family, kind: [(family, kind, 17, "", (known[family], port))]
    )
    for own, found in (("127.0.0.1", "192.0.2.7"), ("::1", "2001:db8::7"), ("::", "2001:db8::7"), ("", "2001:db8::7")):
        assert resolve("node", 7, own=own) == (found, 7)


@pytest.mark.parametrize(
    ("peer", "own", "sentence"),
    [
        ("[::1]:7401", "127.0.0.1", r"the peer \[::1\]:7401 is an IPv6 address, which a member on 127.0.0.1 does not"),
        ("127.0.0.1:7401", "::1", "is an IPv4 address, which a member on ::1 does not reach"),
        ("[fe80::1]:7401", "::1", "is link-local"),
        ("[fe80::1%1]:7401", "", "is link-local"),
    ],
)
def test_peers_that_cannot_be_reached_are_refused(peer, own, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        peers_from([peer], own)


def test_addresses_are_written_as_they_are_read():
    for text in ("10.0.0.7:7400", "[2001:db8::7]:7400", "[::]:0"):
        assert written(parse_address(text)) == text
    assert peers_from(["10.0.0.7:1"], "::") == [("::ffff:10.0.0.7", 1)]
    assert peers_from([("::ffff:10.0.0.7", 1)], "::") == [("::ffff:10.0.0.7", 1)]  # again, as after a reload
    assert peers_from(["[::ffff:10.0.0.7]:1"], "0.0.0.0") == [("10.0.0.7", 1)]


def test_a_datagram_is_in_one_piece_on_every_link():
    """576 bytes pass every IPv4 link in one piece, 1,280 every IPv6 link; the headers of IPv6 and UDP take 48."""
    sizes = set()
    population = Population(hg.Timer(n=3, s=10), rate=10.0)
    population.network.tap = lambda datagram, source, target: sizes.add(len(datagram))
    population.clock.run(seconds=5)
    assert sizes == {DATAGRAM_BYTES} and DATAGRAM_BYTES + 48 <= 576
