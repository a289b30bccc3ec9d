"""The peers of a member: addresses as people write them, in a list or in a file with one per line."""

import ipaddress
import socket
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import read_regular

MOST_PEERS = 100_000
LARGEST_FILE = 300 * MOST_PEERS  # bytes


def parse_address(text: str, what: str = "the address") -> tuple[str, int]:
    """`host:port` or `[v6]:port`; the host may be a name."""
    host, colon, port = str(text).strip().rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not host or not port.isascii() or not port.isdecimal() or not 0 <= int(port[:6]) <= 65535:
        raise InvalidInput(f"{what} {str(text)[:80]!r} is not understood; write host:port, for example 10.0.0.7:7400")
    return host, int(port)


def written(address: tuple[str, int]) -> str:
    """The inverse of `parse_address`."""
    return f"[{address[0]}]:{address[1]}" if ":" in address[0] else f"{address[0]}:{address[1]}"


def resolve(host: str, port: int, what: str = "the address", own: str = "") -> tuple[str, int]:
    """The numeric address to which a host's name resolves now, as a socket on the address `own` reaches it: IPv4 from
    IPv4, IPv6 from IPv6, and either from `::`."""
    where = f"{what} {written((host, port))}"
    family = socket.AF_UNSPEC if own in ("", "::") else socket.AF_INET6 if ":" in own else socket.AF_INET
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        found = ipaddress.ip_address(_looked_up(host, port, where, family))
    found = getattr(found, "ipv4_mapped", None) or found
    if found.version == 6 and found.is_link_local:
        raise InvalidInput(
            f"{where} is link-local, which holds on one cable only; give a global address or one of fd00::/8"
        )
    if own and found.version != (6 if ":" in own else 4):
        if own != "::":
            raise InvalidInput(
                f"{where} is an IPv{found.version} address, which a member on {own} does not reach; let it listen on "
                f"an IPv{found.version} address, or on [::], which reaches both"
            )
        return f"::ffff:{found}", port
    return str(found), port


def _looked_up(host: str, port: int, where: str, family: int) -> str:
    try:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(f"{where} cannot be found ({error}); give a name that resolves, or a number") from None
    return str(found[0][4][0])


def peers_from(given: Any, own: str = "") -> list[tuple[str, int]]:
    """Numeric addresses from a list of strings or pairs, or from the Path of a peers file; each once, in order. `own`
    is the address on which the member listens, if it is known."""
    if isinstance(given, Path):
        return read_peers(given, own)
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InvalidInput("peers must be a list of addresses such as ['10.0.0.7:7400'], or the Path of a peers file")
    parsed = [parse_address(one, "the peer") if isinstance(one, str) else tuple(one)[:2] for one in given]
    return list(dict.fromkeys(resolve(host, port, "the peer", own) for host, port in parsed))


def read_peers(path: Path, own: str = "") -> list[tuple[str, int]]:
    """The peers of a file: one `host:port` per line; empty lines and lines that begin with # are skipped."""
    try:
        lines = read_regular(path, LARGEST_FILE).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInput(f"the peers file {path} cannot be read: {reason}; write one host:port per line") from None
    if len(lines) > MOST_PEERS:
        raise InvalidInput(f"the peers file {path} has {len(lines)} lines; at most {MOST_PEERS} are read")
    found = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            what = f"{path}, line {number}: the peer"
            found.append(resolve(*parse_address(text, what), what, own))
    if not found:
        raise InvalidInput(f"the peers file {path} names no peer; write one host:port per line")
    return list(dict.fromkeys(found))
