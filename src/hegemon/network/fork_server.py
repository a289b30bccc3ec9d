"""The process from which the members of a network on one machine are forked: `python -m hegemon.network.fork_server`.

It loads what a member needs once, opens every member's socket, and then follows commands, a line at a time:
`start 7`, `signal 7 KILL`. It replies `started 7` and `gone 7`. When its input ends, all members end with it.
"""

import asyncio
import ctypes
import json
import os
import random
import select
import signal
import socket
import time
from pathlib import Path
from typing import Any

from hegemon.network.agent import DROPS
from hegemon.network.board import Board, Slot
from hegemon.network.member import Member, join
from hegemon.network.udp import run
from hegemon.protocols.loading import find_protocol, name_protocol

BEAT_SECONDS = 0.1
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class ForkServer:
    def __init__(self, plan: dict[str, Any]):
        self.plan = plan
        self.protocol = find_protocol(name_protocol(plan["protocol"]))(n=plan["n"], **plan["parameters"])
        self.protocol.require_sound()
        self.neighbours = plan["neighbours"]
        self.sockets = [_socket() for _ in self.neighbours]
        self.addresses = [one.getsockname()[:2] for one in self.sockets]
        self.board = Board(Path(plan["board"]), len(self.sockets))
        self.children: dict[int, int] = {}  # process id -> member
        self.lives = [0] * len(self.sockets)

    def serve(self) -> None:
        rest = b""
        while True:
            ready, _, _ = select.select([0], [], [], 0.05)
            self._reap()
            if not ready:
                continue
            read = os.read(0, 65536)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                self._obey(line.decode().split())

    def close(self) -> None:
        for child in self.children:
            os.kill(child, signal.SIGKILL)
        while self.children:
            self._reap()
            time.sleep(0.01)

    def _obey(self, words: list[str]) -> None:
        member = int(words[1])
        running = {who: child for child, who in self.children.items()}
        if words[0] == "start" and member not in running:
            self._start(member)
        elif words[0] == "signal" and member in running:
            os.kill(running[member], getattr(signal, f"SIG{words[2]}"))
            if words[2] == "KILL":  # wait until it has ended: the next command may start it again
                os.waitpid(running[member], 0)
                self._gone(running[member])

    def _start(self, member: int) -> None:
        self.lives[member] += 1
        here = os.getpid()
        child = os.fork()
        if child:
            self.children[child] = member
            _say(f"started {member} {child}")
            return
        code = 1
        try:
            _die_with_parent()
            if os.getppid() == here:  # the parent may have ended before prctl took effect
                run(self._run_member(member))
            code = 0
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while self.children:
            child, _ = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            self._gone(child)

    def _gone(self, child: int) -> None:
        _say(f"gone {self.children.pop(child)}")

    async def _run_member(self, number: int) -> None:
        """Run a member, in its own process."""
        _drain(self.sockets[number])
        options = {name: self.plan[name] for name in ("key", "patience", "start")}
        degrees = [len(near) for near in self.neighbours]
        rate = self.plan["rate"] * max(1, degrees[number]) * len(degrees) / max(1, sum(degrees))
        loop, parent = asyncio.get_running_loop(), os.getppid()
        present = self.board.present()
        async with join(
            self.protocol, peers=self._peers(number, present), listen=self.sockets[number], rate=rate, **options
        ) as member:
            loop.add_signal_handler(signal.SIGUSR1, member.corrupt)
            loop.add_signal_handler(signal.SIGUSR2, lambda: member.cut_off(not member.is_cut_off))
            member.on_event(lambda event: self._show(number, member))
            while os.getppid() == parent:
                self._show(number, member)
                if (now := self.board.present()) != present:
                    present = now
                    member.set_peers(self._peers(number, now))
                await asyncio.sleep(BEAT_SECONDS)

    def _peers(self, number: int, present: bytes) -> list[tuple[str, int]]:
        """The neighbours of a member that belong to the network."""
        return [self.addresses[other] for other in self.neighbours[number] if present[other]]

    def _show(self, number: int, member: Member) -> None:
        counts = member.metrics
        self.board.write(
            number,
            Slot(
                lives=self.lives[number],
                beat=time.time(),
                last_event=member.last_event.time if member.last_event else 0.0,
                is_leader=int(member.is_leader),
                is_cut_off=int(member.is_cut_off),
                state=member.code,
                fence=member.fence or 0,
                elections=counts["elections"],
                requested=counts["requested"],
                completed=counts["completed"],
                responded=counts["responded"],
                refused=counts["refused"],
                dropped=sum(counts[name] for name in DROPS),
                unreachable=counts["unreachable"],
                peers=len(member.peers),
            ),
        )


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.setblocking(False)
    return made


def _drain(port: socket.socket) -> None:
    """Discard the datagrams that were sent to an earlier life."""
    for _ in range(100_000):
        try:
            port.recv(1)
        except BlockingIOError:
            return


def _die_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor handles Ctrl-C in the terminal
    random.seed()
    try:
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    except (OSError, AttributeError):
        pass  # on systems other than Linux a member checks its parent's process id instead


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(0, "rb", buffering=0, closefd=False) as line:  # later lines must stay visible to `select`
        fork_server = ForkServer(json.loads(line.readline()))
    _say("ready")
    try:
        fork_server.serve()
    finally:
        fork_server.close()


if __name__ == "__main__":
    main()
