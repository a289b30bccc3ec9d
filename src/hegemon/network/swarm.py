"""A network on this machine: one process for each member, on loopback, watched and disturbed from outside."""

import contextlib
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.network.board import Board, Slot
from hegemon.network.faults import FEWEST, NetworkFault, choose
from hegemon.network.keys import new_key
from hegemon.network.member import check_pace
from hegemon.network.rules import neighbours_of
from hegemon.network.wire import require_cryptography
from hegemon.system import require_posix

MOST_MEMBERS = 500  # processes of one network
READY_SECONDS = 60
USUAL_TOTAL = 2000.0  # what all members begin per second unless a rate is given: one machine carries it
SOURCE = str(Path(__file__).parents[2])
SIGNALS = {"kill": "KILL", "leave": "KILL"} | {
    "pause": "STOP", "resume": "CONT", "corrupt": "USR1", "cut": "USR2", "heal": "USR2",
}  # fmt: skip


@dataclass
class Recovery:
    """One fault, and when there was exactly one lasting leader again; None before that."""

    fault: NetworkFault
    struck: list[int]
    at: float
    healed: float | None = None


@dataclass
class View:
    """The whole network at one moment. Leaders and members are those that run and are not isolated."""

    seconds: float
    members: int
    leaders: list[int]
    interactions: int
    elections: int
    refused: int
    dropped: int
    unreachable: int
    one_sided: int
    last_election: float | None
    slots: list[Slot] = field(repr=False, default_factory=list)


class Swarm:
    """Use it as a context: members run from its beginning to its end, and not longer."""

    def __init__(
        self,
        name: str,
        protocol: Protocol,
        topology: Topology,
        *,
        rate: float | None = None,
        patience: float = 1.0,
        start: str | None = None,
        seed: int = 0,
    ):
        require_posix("a network of processes on one machine", "start every member by hegemon agent")
        require_cryptography()
        rules = protocol.model.home("member")
        rate = min(rules.usual_rate, USUAL_TOTAL / protocol.n) if rate is None else rate
        check_pace(rate, patience)
        protocol = rules.informed(protocol, topology)
        rules(protocol).start(start, random.Random(seed))  # raises InvalidInput for an impossible start
        if protocol.n > MOST_MEMBERS:
            raise InvalidInput(
                f"{protocol.n} processes are too many for one machine; at most {MOST_MEMBERS} are started"
            )
        self.n = protocol.n
        self.can_churn = protocol.model.has_interactions and (topology is None or topology.is_complete)
        self.rng = random.Random(seed)
        near = neighbours_of(self.n, topology)
        self.plan = {"protocol": name, "n": self.n, "parameters": protocol.parameters, "neighbours": near}
        self.plan |= {"rate": rate, "patience": patience, "start": start, "key": new_key()}
        self.dead: set[int] = set(range(self.n))
        self.paused: set[int] = set()
        self.cut: set[int] = set()
        self.away: set[int] = set()  # members that have left: no other contacts them
        self.coming: dict[int, int] = {}  # member -> life: started, without a status yet
        self._lives = [0] * self.n
        self._killed = [0] * self.n  # processes that were killed and whose end was not reported yet
        self.recoveries: list[Recovery] = []
        self.alone = self.looks = 0  # samples with exactly one leader, and all samples
        self._earlier = [Slot()] * self.n  # totals over the lives before the present one
        self._newest = [Slot()] * self.n
        self._single_since: float | None = None

    def __enter__(self) -> "Swarm":
        self._stack = contextlib.ExitStack()
        try:
            self._begin()
        except BaseException:
            self._stack.close()  # after an interrupt no process and no file remains
            raise
        return self

    def _begin(self) -> None:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hegemon-network-")))
        self.board = Board(folder / "board", self.n, create=True)
        self._stack.callback(self.board.close)
        path = os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH"))))
        self._fork_server = subprocess.Popen(
            [sys.executable, "-m", "hegemon.network.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
            bufsize=0,
        )
        assert self._fork_server.stdin is not None and self._fork_server.stdout is not None  # both are pipes
        self._to, self._from = self._fork_server.stdin, self._fork_server.stdout
        self._stack.callback(self._end)
        self._said = b""
        self._tell(json.dumps(self.plan | {"board": str(folder / "board")}))
        self._await("ready")
        for member in range(self.n):
            self._start(member)
        self.began = time.time()

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def seconds(self) -> float:
        return time.time() - self.began

    # -- sampling --------------------------------------------------------------------------------------------

    def look(self) -> View:
        """The network now. Recoveries are detected from successive samples."""
        for line in self._listen():
            word, _, number = line.partition(" ")
            if word == "gone":
                self._gone(int(number))
        for member in range(self.n):
            slot = self.board.read(member)
            if slot.lives != self._newest[member].lives:
                self._earlier[member] = _sum(self._earlier[member], self._newest[member])
            self._newest[member] = slot
            if slot.lives >= self.coming.get(member, 0):
                self.coming.pop(member, None)
        slots = self._newest
        totals = [_sum(earlier, slot) for earlier, slot in zip(self._earlier, slots, strict=True)]
        unheard = self.dead | self.paused | self.cut | set(self.coming)
        reachable = [member for member in range(self.n) if member not in unheard]
        leaders = [member for member in reachable if slots[member].is_leader]
        self._follow(len(leaders) == 1)
        last = max((slot.last_event for slot in slots), default=0.0)
        return View(
            seconds=self.seconds,
            members=len(reachable),
            leaders=leaders,
            interactions=sum(slot.responded for slot in totals),
            elections=sum(slot.elections for slot in totals),
            refused=sum(slot.refused for slot in totals),
            dropped=sum(slot.dropped for slot in totals),
            unreachable=sum(slot.unreachable for slot in totals),
            one_sided=sum(slot.responded - slot.completed for slot in totals),
            last_election=last - self.began if last else None,
            slots=list(slots),
        )

    def _gone(self, member: int) -> None:
        """A process has ended: after a signal of ours, or by itself."""
        if self._killed[member]:
            self._killed[member] -= 1
        else:
            self.dead.add(member)
            self.coming.pop(member, None)

    @property
    def came_up(self) -> int:
        """How many members have shown a status."""
        return sum(slot.lives > 0 for slot in self._newest)

    def _follow(self, is_single: bool) -> None:
        now = self.seconds
        self.looks += 1
        self.alone += is_single
        if not is_single or self.coming:  # a member that is starting may be a leader
            self._single_since = None
        elif self._single_since is None:
            self._single_since = now
        for recovery in self.recoveries:
            still = recovery is self.recoveries[-1] or recovery.healed is None
            if still:
                healed = self._single_since
                recovery.healed = None if healed is None else max(0.0, healed - recovery.at)

    # -- disturbing ------------------------------------------------------------------------------------------

    def strike(self, fault: NetworkFault, leaders: list[int]) -> list[int]:
        """Make a fault happen now; returns the members that it struck."""
        struck = choose(fault, leaders, self._suitable(fault.kind), self.rng)
        if fault.kind == "leave":
            struck = struck[: max(0, self.n - len(self.away) - FEWEST)]
        for member in struck:
            if fault.kind in ("join", "leave"):
                self.board.admit(member, fault.kind == "join")
                (self.away.add if fault.kind == "leave" else self.away.discard)(member)
            if fault.kind in ("restart", "join"):
                self._start(member)
                continue
            self._tell(f"signal {member} {SIGNALS[fault.kind]}")
            if fault.kind in ("kill", "leave"):
                self._killed[member] += 1
                self.dead.add(member)
                self.coming.pop(member, None)
                self.paused.discard(member)
                self.cut.discard(member)
            else:
                add, drop = {"pause": self.paused, "cut": self.cut}, {"resume": self.paused, "heal": self.cut}
                add.get(fault.kind, set()).add(member)
                drop.get(fault.kind, set()).discard(member)
        if struck:
            self._single_since = None  # only samples after the fault count
            self.recoveries.append(Recovery(fault, struck, self.seconds))
        return struck

    def _suitable(self, kind: str) -> list[int]:
        running = set(range(self.n)) - self.dead
        able = {
            "restart": self.dead - self.away,
            "join": self.away,
            "leave": running if self.can_churn else set(),
            "resume": self.paused,
            "heal": self.cut,
            "kill": running,
            "pause": running - self.paused,
        }
        listening = running - self.paused - set(self.coming)  # have signal handlers: the signal would end the others
        return sorted(able.get(kind, listening - (self.cut if kind == "cut" else set())))

    # -- the fork_server -----------------------------------------------------------------------------------------

    def _start(self, member: int) -> None:
        self._tell(f"start {member}")
        self._lives[member] += 1
        self.coming[member] = self._lives[member]
        self.dead.discard(member)

    def _tell(self, line: str) -> None:
        try:
            self._to.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise InvalidInput("the process that starts the members has ended; its output is above") from None

    def _listen(self, timeout: float = 0.0) -> list[str]:
        """New lines of the fork_server."""
        ready, _, _ = select.select([self._from], [], [], timeout)
        if not ready:
            return []
        self._said += os.read(self._from.fileno(), 65536)
        *lines, self._said = self._said.split(b"\n")
        return [line.decode() for line in lines]

    def _await(self, word: str) -> None:
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            if word in self._listen(0.1):
                return
            if self._fork_server.poll() is not None:
                break
        raise InvalidInput("the process that starts the members did not come up; try again with fewer members")

    def _end(self) -> None:
        """Kill the fork_server: its members end with it, and have nothing to save."""
        self._fork_server.kill()
        self._fork_server.wait()
        self._to.close()
        self._from.close()


def _sum(earlier: Slot, slot: Slot) -> Slot:
    counted = ("elections", "requested", "completed", "responded", "refused", "dropped", "unreachable")
    return slot._replace(**{name: getattr(earlier, name) + getattr(slot, name) for name in counted})
