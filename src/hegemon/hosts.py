"""The names under which a server accepts requests, so that pages of other sites cannot reach it by DNS rebinding."""

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

    On loopback this must be a loopback name; elsewhere also the host as given, a numeric address, or the name of
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
