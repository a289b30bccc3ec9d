"""Under which names a server may be asked: what keeps a page of another site from reaching it by a name of its own."""

import contextlib
import ipaddress
import socket


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def is_addressed(header: str, host: str) -> bool:
    """Whether the header `Host` of a request names the server that listens on `host`.

    On loopback that is a loopback name; elsewhere also the host as it was given, a numeric address, or the name of
    this machine, with a domain or without.
    """
    name = header if header.endswith("]") else header.rpartition(":")[0] or header
    if is_loopback(name):
        return True
    if is_loopback(host):
        return False
    if name == host or name.partition(".")[0] == socket.gethostname().partition(".")[0]:
        return True
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name.strip("[]")))
    return False
