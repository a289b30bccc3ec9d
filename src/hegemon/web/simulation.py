"""The simulation next to the server: takes commands, runs at the wanted speed, sends a frame on request.

It communicates over a connection and is independent of browsers. It is a process or, for protocols that another
process could not import, a thread.
"""

import contextlib
import json
import math
import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.runs.option import MOST_AGENTS
from hegemon.runs.record import RunRecord
from hegemon.web.choosing import prescribed, story, successors
from hegemon.web.commands import NOT_UNDERSTOOD, number_in, parse_command, refused
from hegemon.web.film import Recorder, film_page
from hegemon.web.frames import frame, greeting, packed
from hegemon.web.making import Maker
from hegemon.web.session import FAR, Jump, Session
from hegemon.web.setup import changed, choices, kind_named

FRAME = 1 / 45  # least seconds between two frames
SLICE = 0.01  # seconds of work between two checks for commands
SHARE = 5  # readings take at most this fraction of the time (one part in SHARE), while it plays
TOLD = 400  # steps per second: up to this speed each shown step is described
MOST_ARCS = 100  # per agent that a run may have, on average
LARGEST_START = 200_000  # states in a configuration dropped onto the page
MOST_LATER = 64  # commands that wait for the end of a jump
RETRACED = 40  # readings on the way back to the step at which a run should have stopped
LOOK = 1.0  # seconds between two readings while no page is open: healing is found by replaying from the last one
AT_ONCE = {
    "frame",
    "choices",
    "state",
    "film",
    "disturbances",
    "pause",
    "speed",
    "focus",
    "stop_at_safe",
    "write",
}  # commands that are obeyed even during a jump
MAKING = (0, None)  # the course of a jump that makes another run


def serve_alone(connection: Connection, build: Callable[[], Session]) -> None:
    """`serve` in a process of its own, which ends at once when its parent ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serve(connection, build)


def serve_each(control: Connection, build: Callable[[], Session], most: int) -> None:
    """A run of its own for every connection that comes over `control`, each in a thread; all end with the parent."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            threading.Thread(target=serve, args=(control.recv(), build, most), daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # there is nothing to save


def serve(connection: Connection, build: Callable[[], Session], most: int = MOST_AGENTS) -> None:
    """Serve until the other side closes. `build()` returns a Session; no page makes one of more than `most` agents."""
    try:
        session = build()
    except InvalidInput as error:
        connection.send(("refused", str(error)))
        return
    try:
        Simulation(connection, session, most).run()
    except (EOFError, BrokenPipeError, OSError, KeyboardInterrupt):
        return


class Simulation:
    """No call takes long: longer work is a jump, which is made in slices and can be stopped."""

    def __init__(self, connection: Connection, session: Session, most: int = MOST_AGENTS):
        self.connection, self.session, self.most = connection, session, most
        self.playing, self.speed = False, default_speed(session)  # steps per second; infinite: as fast as possible
        self.wanted = False  # a frame was requested
        self.newcomer = False  # the next frame must include the curves so far
        self.changed = True
        self.stops_at_safe, self._played_from = False, 0
        self.recorder = Recorder()
        self._jump: Jump | None = None  # the jump in progress
        self._course: tuple[int, int | None] = (0, None)  # its first step and, if known, its last
        self._jumper: int | None = None  # the number of the command that started it
        self._maker = Maker()
        self._obeyed = 0  # commands: a page compares this number with that of its own command
        self._later: deque[tuple[int | None, dict[str, Any]]] = deque()
        self._debt, self._then = 0.0, time.monotonic()
        self._sent = self._read = -math.inf
        self._readings: dict[str, Any] = {}
        self._cost = 0.0
        self._greet()

    def _greet(self) -> None:
        self._is_prepared = self._is_read = False
        content = greeting(self.session)
        self.recorder.clear(content)
        self.connection.send(("greeting", json.dumps(content)))

    def run(self) -> None:
        while True:
            while self.connection.poll(self._pause()):
                self._take(*self.connection.recv())
            now = time.monotonic()
            elapsed, self._then = now - self._then, now
            if self.wanted and self.changed and now - self._sent >= FRAME:  # frames go first: pages wait for them
                self._send_frame()
                if not self._is_prepared:  # compile while the first picture is shown
                    self.session.world.prepare()
                    self._is_prepared = self.changed = True
            if self._jump is not None:
                self._jump_on()
            elif self.playing:
                self._play(elapsed)
            else:
                continue
            if now - self._read > max(LOOK, SHARE * self._cost):
                self._look()

    def _pause(self) -> float:
        """How long to wait for a command before other work is due."""
        if self._jump is not None or self.playing and (math.isinf(self.speed) or self._debt >= 1):
            return 0.0
        next_frame = max(0.0, self._sent + FRAME - time.monotonic())
        if self.wanted and self.changed:
            return next_frame
        if not self.playing:
            return 5.0
        return min(0.25, max(next_frame if self.wanted else FRAME, (1 - self._debt) / self.speed))

    def _play(self, elapsed: float) -> None:
        session = self.session
        if session.is_over:
            self.playing, self.changed = False, True
            session.note = "nothing will ever change again"
            return
        before = session.step
        self._film_beginning()
        try:
            now = time.monotonic()
            self._advance(elapsed, min(now + SLICE, max(now, self._sent + FRAME)) if self.wanted else now + SLICE)
        except InvalidInput as error:  # the author's code failed: report it, and stay at this step
            self.playing, self.changed = False, True
            session.note = str(error)
        self.changed |= session.step != before
        if before < len(session.schedule) <= session.step:
            self.playing, session.note = False, "the story ends here; from here on the seed decides"

    def _advance(self, elapsed: float, deadline: float) -> None:
        session, before = self.session, self.session.step
        end = len(session.schedule) if before < len(session.schedule) else FAR
        if math.isinf(self.speed):
            session.advance(end, deadline)
            return
        self._debt = min(self._debt + elapsed * self.speed, 0.25 * self.speed + 1)
        if self._debt >= 1:
            session.advance(min(end, before + int(self._debt)), deadline, tell=self.speed <= TOLD)
            self._debt -= session.step - before

    def _send_frame(self) -> None:
        self._sent, self.wanted, self.changed = time.monotonic(), False, False
        head, picture = self._frame()
        if self.newcomer:
            head["rows"], self.newcomer = list(self.session.rows), False
        self.connection.send(("frame", packed(head, picture)))

    def _film_beginning(self) -> None:
        """Record the first frame before any step, so that a film always begins where its run does."""
        if not self.recorder.frames:
            self._frame()

    def _frame(self) -> tuple[dict[str, Any], bytes]:
        """The present frame, which is also added to the film."""
        session = self.session
        if not (self.playing or self._jump) or time.monotonic() - self._read > SHARE * self._cost:
            self._look()
        head, picture = frame(
            session,
            playing=self.playing,
            speed=None if math.isinf(self.speed) else self.speed,
            start=str(session.start),
            branch=session.branch,
            rate=[session.rate, session.rate_agents],
            stopsAtSafe=self.stops_at_safe,
            jump=self._course if self._jump and not self._is_making else None,
            making=self._is_making,
            obeyed=self._obeyed,
            preparing=not self._is_prepared,
            **self._readings,
        )
        self.recorder.add(head, picture)
        return head, picture

    def _look(self) -> None:
        """Read the observables and the lamps; stop if the run should stop here."""
        begin = time.monotonic()
        self._readings = self.session.readings()
        self._read = time.monotonic()
        self._cost = self._read - begin if self._is_read else 0.0  # the first reading may include compilation
        self._is_read = True
        entry = self._readings["healing"].get("step", 0)
        if self.playing and self.stops_at_safe and entry > self._played_from:
            self.playing, self.changed = False, True
            if entry < self.session.step:  # the loop makes the jump: this frame still shows the present step
                self._jump, self._course = self._retraced(entry), (self.session.step, entry)

    def _retraced(self, entry: int) -> Jump:
        """Go back to the step at which the run should have stopped, reading the curves up to there again."""
        session = self.session
        session.forget_rows(entry)
        begin = session.rows[-1][0] if session.rows else 0
        for part in range(1, RETRACED + 1):
            yield from session.jump(begin + (entry - begin) * part // RETRACED)
            session.readings()
        self.newcomer = True  # the curves are sent again as a whole
        return True

    # -- jumps ------------------------------------------------------------------------------------------

    @property
    def _is_making(self) -> bool:
        return self._jump is not None and self._course is MAKING

    @property
    def _goal(self) -> str:
        if self._is_making:
            return "the new run"
        return "the next change" if self._course[1] is None else self.session.moment(self._course[1])

    def _begin(self, jump: Jump, course: tuple[int, int | None], number: int | None) -> None:
        self._jump, self._course, self._jumper = jump, course, number
        self._jump_on()  # short ones are over at once

    def _jump_on(self) -> None:
        """Make a slice of the jump; when the jump ends, run the commands that waited for it."""
        self.changed |= not self._is_making
        answer: dict[str, Any] = {}
        try:
            next(self._jump)  # type: ignore[arg-type]
            return
        except StopIteration:
            pass
        except Exception as error:  # a command that fails is refused on the page; the run goes on
            answer = refused(error)
        self.changed = True
        self._end_jump(answer)
        while self._later and self._jump is None:
            self._take_now(*self._later.popleft())

    def _end_jump(self, answer: dict[str, Any]) -> None:
        number, self._jump, self._jumper = self._jumper, None, None
        self._answer(number, answer)

    def _give_up(self) -> None:
        """Stop the jump where it is; commands that waited for its end are dropped."""
        if self._jump is None:
            return
        self._jump.close()
        self.session.note = f"stopped on the way to {self._goal}"
        self._end_jump({})
        while self._later:
            self._answer(self._later.popleft()[0], {})

    # -- commands ---------------------------------------------------------------------------------------

    def _take(self, number: int | None, text: str) -> None:
        """Obey one command of the page; a wrong command is refused with a sentence."""
        try:
            command = parse_command(text)
        except ValueError:
            self._answer(number, {"refused": NOT_UNDERSTOOD})
            return
        if self._jump is None or command["do"] in AT_ONCE:
            self._take_now(number, command)
        elif len(self._later) < MOST_LATER:
            self._later.append((number, command))
        else:
            way = f"the run is on its way to {self._goal}; pause it, or wait until it is there"
            self._answer(number, {"refused": way})

    def _take_now(self, number: int | None, command: dict[str, Any]) -> None:
        self._obeyed += command["do"] != "frame"
        try:
            answer = self._obey(number, command)
        except Exception as error:  # a command that fails is refused on the page; the run goes on
            answer = refused(error)
        if answer is not None:
            self._answer(number, answer)

    def _answer(self, number: int | None, answer: dict[str, Any]) -> None:
        if number is not None:
            self.connection.send(("answer", number, answer, self._obeyed))

    def _obey(self, number: int | None, command: dict[str, Any]) -> dict[str, Any] | None:
        """The reply to a command; None if a jump will send it at its end."""
        session, do = self.session, command["do"]
        if do == "frame":
            self.wanted = True
            self.newcomer |= bool(command.get("now"))
            self.changed |= self.newcomer
            return {}
        if do == "state":
            agent = self._agent(command)
            return {"agent": agent, "state": session.world.state(agent), "neighbours": session.world.neighbours(agent)}
        if do == "film":
            return {"film": film_page(self.recorder.film())}
        if do == "choices":
            return choices(kind_named(str(command["protocol"]), type(session.protocol)))
        if do == "successors":
            pair = command.get("pair")
            node = None if command.get("node") is None else int(number_in(command, "node", 0, session.protocol.n - 1))
            return successors(session, self._pair(pair) if pair is not None else None, node)
        if do == "story":
            return story(session).record()
        if do == "disturbances":
            return {"disturbances": session.disturbances()}
        if do == "focus":
            session.focus = None if command["agent"] is None else self._agent(command)
            return {}
        self.changed = True
        self._then, self._debt = time.monotonic(), 0.0
        if do in ("play", "pause"):
            self.playing, session.note, self._played_from = do == "play", "", session.step
            self._give_up()
        elif do == "speed":
            unlimited = command["value"] is None
            self.speed = math.inf if unlimited else number_in(command, "value", 0.1, 10**18, is_whole=False)
        elif do == "write":
            session.write(str(command["name"]))
        elif do == "stop_at_safe":
            self.stops_at_safe = command["value"] is True
        elif do == "rate":
            rate = number_in(command, "rate", 0, 1000, is_whole=False)
            session.set_rate(rate, self._agents(command))
        else:
            return self._change(do, number, command)
        return {}

    def _agent(self, command: dict[str, Any]) -> int:
        return int(number_in(command, "agent", 0, self.session.protocol.n - 1))

    def _pair(self, pair: Iterable[Any]) -> tuple[int, int]:
        first, second = ({"agent": agent} for agent in pair)
        return self._agent(first), self._agent(second)

    def _agents(self, command: dict[str, Any]) -> int:
        return int(number_in(command, "agents", 1, self.session.protocol.n))

    def _change(self, do: str, number: int | None, command: dict[str, Any]) -> dict[str, Any] | None:
        session = self.session
        jumps = do in ("step", "goto", "change") or do == "start" and "states" not in command
        if do == "step":
            count = int(number_in({"count": 1} | command, "count", -FAR, FAR))
            target = min(FAR, max(0, session.step + count))
        elif do == "goto":
            target = int(number_in(command, "step", 0, FAR))
        self.playing, session.note = False, ""
        self._film_beginning()
        if do == "change":
            self._begin(session.jump_to_change(), (session.step, None), number)
        elif do == "start":
            self._start_over(command, number)
        elif jumps:
            self._begin(session.jump(target), (session.step, target), number)
        elif do == "set":
            value = command["value"]
            if type(value) not in (int, str):
                raise ValueError
            session.set_field(self._agent(command), str(command["field"]), value)
        elif do == "corrupt":
            session.corrupt(self._agents(command))
        elif do == "choose":
            session.choose(prescribed(session, command))
        elif do == "kill":
            session.kill_leader()
        else:
            raise ValueError
        return None if jumps else {}

    def _start_over(self, command: dict[str, Any], number: int | None) -> None:
        if "states" not in command:
            record = changed(self.session.record, command["values"])
            if record.protocol.n > self.most:
                raise InvalidInput(
                    f"a run of one's own has at most {self.most:,} agents here, not {record.protocol.n:,}"
                )
            self._begin(self._made(record), MAKING, number)
            return
        states = command["states"]
        rows = states.get("agents") if isinstance(states, dict) else states
        if not isinstance(rows, list) or len(rows) > LARGEST_START or not all(isinstance(r, dict) for r in rows):
            raise InvalidInput("the dropped file must hold a list of states, one per agent")
        self.session.start_over(rows, shown=str(command.get("file", "dropped.json"))[:100])
        self._greet()

    def _made(self, record: RunRecord) -> Jump:
        session = yield from self._maker.make(record)
        if not session.topology.is_complete and session.topology.arcs > MOST_ARCS * self.most:
            raise InvalidInput(f"{session.topology.name} has {session.topology.arcs:,} arcs, too many for this page")
        self._take_over(session)
        return True

    def _take_over(self, session: Session) -> None:
        before = self.session
        session.branch += before.branch
        if before.writing in session.world.writable():
            session.writing = before.writing
        if (type(session.protocol), session.world.kind) != (type(before.protocol), before.world.kind):
            self.speed = default_speed(session)
        self.session = session
        self._greet()


def default_speed(session: Session) -> float:
    """A round a second for small populations, more for large ones; rounds are slower to understand."""
    if session.schedule:
        return 1.0
    if session.world.is_rounds:
        return 1.0 if session.protocol.model.wakes else 10.0
    return float(10 ** min(6, max(1, len(str(session.protocol.n)) - 1))) if session.world.kind != "bands" else math.inf
