"""`hegemon agent`: one member for a real deployment; also `python -m hegemon.cli.agent`.

Read by argparse, so that a member loads nothing that it does not need. SIGHUP reads peers and keys again; SIGTERM
and Ctrl-C leave.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
import warnings
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hegemon.cli import failures
from hegemon.errors import InvalidInput, meant
from hegemon.system import on_signal

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.models.protocol import Protocol
    from hegemon.network.member import Member

DEFAULT_HEALTH = "127.0.0.1:0"


def main(arguments: list[str] | None = None) -> int:
    """Run a member; 0: its time is over, 2: bad input, 130 and 143: ended by a signal."""
    try:
        options = parser().parse_args(arguments)
        if options.new_key is not None:
            make_key(options.new_key)
            return 0
        for name in ("protocol", "n", "peers", "key", "listen"):
            if getattr(options, name) is None:
                raise InvalidInput(f"{name} is missing; see hegemon agent --help")
        protocol = make_protocol(options)
        from hegemon.network.keys import OpenKey
        from hegemon.network.udp import run

        warnings.simplefilter("always", OpenKey)
        warnings.showwarning = lambda message, *place: log("warning", str(message))

        return int(run(live(protocol, options)))
    except KeyboardInterrupt:
        return 130
    except SystemExit as error:  # argparse has said why
        return error.code if isinstance(error.code, int) else 2
    except Exception as error:  # the program's last line: a sentence, and an exit code
        code, text = failures.sentence(error)
        print(f"hegemon: {text}", file=sys.stderr)
        return code


class SingleValue(argparse.Action):
    """One value; a second one is refused: the last would win in silence."""

    given = False

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
        option_string: str | None = None,
    ) -> None:  # fmt: skip
        if self.given:
            raise InvalidInput(f"{option_string} is given more than once and takes one value; give it once")
        self.given = True
        setattr(namespace, self.dest, values)


class Words(argparse.ArgumentParser):
    """A parser that refuses in one sentence, as every other command does."""

    def __init__(self, **given: Any):
        super().__init__(**given)
        self.register("action", None, SingleValue)

    def error(self, message: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        raise InvalidInput(f"{message}{meant(message.rpartition(': ')[2], known)}; see {self.prog} --help")


def parser() -> argparse.ArgumentParser:
    made = Words(
        prog="hegemon agent",
        description="Be one member of a network that elects a leader. SIGHUP reads peers and keys again.",
        epilog="Examples:\n  hegemon agent --new-key key\n"
        "  hegemon agent time-optimal --n 64 --peers peers --key key --listen 10.0.0.7:7400",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "protocol", nargs="?", metavar="PROTOCOL", help="an id of `hegemon list`, or your_file.py:YourClass"
    )
    made.add_argument("--n", type=int, metavar="INTEGER", help="largest number of members; the same at all of them")
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter; repeatable")
    made.add_argument("--peers", metavar="FILE", help="whom to ask: one host:port per line")
    made.add_argument("--key", metavar="FILE", help="what all members share: one key per line, the first one seals")
    made.add_argument("--listen", metavar="HOST:PORT", help="where this member is found")
    made.add_argument("--rate", type=float, metavar="NUMBER", help="interactions it begins per second (50; 10 rounds)")
    made.add_argument(
        "--patience", type=float, default=1.0, metavar="SECONDS", help="how long a silent peer is retried (1)"
    )
    made.add_argument("--start", help="its first state: random, or a start of equals")
    made.add_argument("--health", default=DEFAULT_HEALTH, metavar="HOST:PORT", help="HTTP endpoint, or off (loopback)")
    made.add_argument("--for", dest="seconds", type=float, metavar="SECONDS", help="leave after that many seconds")
    made.add_argument("--new-key", nargs="?", const="-", metavar="FILE", help="make a key, print or write it, and end")
    return made


def make_key(place: str) -> None:
    """A fresh key on standard output, or in a new file that nobody else can read."""
    import os
    import tempfile

    from hegemon.files import MARK
    from hegemon.network.keys import new_key

    beside = None
    try:
        if place == "-":
            print(new_key(), flush=True)
            return
        handle, beside = tempfile.mkstemp(prefix=".key.", suffix=MARK, dir=os.path.dirname(os.path.abspath(place)))
        with os.fdopen(handle, "w") as file:
            file.write(new_key() + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, place)  # which fails if there is such a file: a key is never overwritten, nor half written
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"the key file {place} cannot be made: {reason}; give the name of a new file") from None
    finally:
        if beside is not None:
            os.unlink(beside)


def make_protocol(options: argparse.Namespace) -> "Protocol":
    from hegemon.models.expressions import assignments
    from hegemon.protocols.loading import find_protocol, name_protocol

    values = assignments(options.set)
    if not values.keys().isdisjoint({"n", "self"}):
        raise InvalidInput("--set gives the parameters of a protocol; say how many members there are with --n")
    return find_protocol(name_protocol(options.protocol))(n=options.n, **values)


def go(leave: asyncio.Future[Any], code: int) -> None:
    if not leave.done():
        leave.set_result(code)


async def live(protocol: "Protocol", options: argparse.Namespace) -> int:
    """Be a member until a signal."""
    from hegemon.network.health import Health
    from hegemon.network.member import join
    from hegemon.network.peers import parse_address, resolve, written

    if options.seconds is not None and not options.seconds > 0:
        raise InvalidInput(f"--for {options.seconds} is out of range; give a number of seconds above 0")
    loop, leave = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
    given = {"peers": Path(options.peers), "key": Path(options.key)}
    async with join(
        protocol, peers=given["peers"], key=given["key"], listen=options.listen, start=options.start,
        rate=options.rate, patience=options.patience,
    ) as member:  # fmt: skip
        member.on_event(lambda event: log(event.kind, f"fence {event.fence}", event.time))
        server = None
        if options.health != "off":
            name, port = parse_address(options.health, "--health")
            server = await Health(member, name).serve(resolve(name, port))
            log("health", f"http://{written(server.sockets[0].getsockname()[:2])}")
        log("member", f"{protocol.id} on {written(member.address)}, {len(member.peers)} peers")
        if member.is_leader:
            log("elected", f"fence {member.fence}")
        for number in (signal.SIGINT, signal.SIGTERM):
            on_signal(loop, number.name, partial(go, leave, 128 + number))
        told = asyncio.Event()
        reloading = asyncio.ensure_future(reload_when_told(member, given, told))
        on_signal(loop, "SIGHUP", told.set)
        try:
            async with asyncio.timeout(options.seconds):
                return int(await leave)
        except TimeoutError:
            return 0
        finally:
            reloading.cancel()
            if server:
                server.close()


async def reload_when_told(member: "Member", given: Any, told: asyncio.Event) -> None:
    """Peers and keys from their files again, each time; beside the loop, since a file or a name server may be slow."""
    while True:
        await told.wait()
        told.clear()
        try:
            peers, keys = await asyncio.to_thread(read_both, given, member.address[0])
            if set(peers) <= {member.address}:
                raise InvalidInput(f"the peers file {given['peers']} names no other member")
            member.reconfigure(peers=peers, key=keys)
            log("reloaded", f"{len(member.peers)} peers")
        except InvalidInput as error:
            log("not reloaded", str(error))


def read_both(given: Any, own: str) -> tuple[Any, ...]:
    from hegemon.network.keys import keys_from
    from hegemon.network.peers import peers_from

    return peers_from(given["peers"], own), keys_from(given["key"])


def log(what: str, more: str, when: float | None = None) -> None:
    now = datetime.now(UTC) if when is None else datetime.fromtimestamp(when, UTC)
    with contextlib.suppress(OSError):
        print(f"{now.isoformat(timespec='milliseconds')} {what}: {more}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
