"""The simulation beside the server: takes commands, runs at the wanted speed, sends frames when asked for one.

It talks through a connection and knows nothing of browsers; it may be a process or, for protocols that another
process could not import, a thread.
"""

import json
import math
import multiprocessing
import os
import threading
import time

from hegemon.errors import InvalidInput
from hegemon.web.film import Recorder, film_page
from hegemon.web.frames import frame, greeting, packed
from hegemon.web.session import Session

FRAME = 1 / 45  # seconds between two frames at least
SLICE = 0.01  # seconds of work between two looks at the commands
SHARE = 5  # readings take at most one part in so many of the time, while it plays
TOLD = 400  # steps per second up to which each shown step is told
LARGEST_START = 200_000  # states in a dropped configuration


def serve_alone(connection, build) -> None:
    """`serve` in a process of its own, which ends with its parent, whatever it is doing at that moment."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serve(connection, build)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # it has nothing to keep


def serve(connection, build) -> None:
    """Until the other side is gone. `build()` answers a Session."""
    try:
        session = build()
    except InvalidInput as error:
        connection.send(("refused", str(error)))
        return
    try:
        Simulation(connection, session).run()
    except (EOFError, BrokenPipeError, OSError, KeyboardInterrupt):
        return


class Simulation:
    def __init__(self, connection, session: Session):
        self.connection, self.session = connection, session
        self.playing, self.speed = False, default_speed(session)  # steps per second; infinite: as fast as it goes
        self.wanted = False  # somebody waits for a frame
        self.newcomer = False  # and has not seen the curves so far
        self.changed = True
        self.recorder = Recorder()
        self._debt, self._then = 0.0, time.monotonic()
        self._sent = self._read = -math.inf
        self._readings: dict = {}
        self._cost = 0.0
        self._greet()

    def _greet(self) -> None:
        content = greeting(self.session)
        self.recorder.clear(content)
        self.connection.send(("greeting", json.dumps(content)))

    def run(self) -> None:
        is_ready = False
        while True:
            while self.connection.poll(self._pause()):
                self._take(self.connection.recv())
            now = time.monotonic()
            elapsed, self._then = now - self._then, now
            if self.wanted and self.changed and now - self._sent >= FRAME:  # first: somebody waits
                self._send_frame()
                if not is_ready:  # while somebody looks at the first picture
                    self.session.world.prepare()
                    is_ready = True
            if self.playing:
                self._play(elapsed)

    def _pause(self) -> float:
        """How long to wait for a command before there is something else to do."""
        if self.playing and (math.isinf(self.speed) or self._debt >= 1):
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
        except InvalidInput as error:  # the author's code failed: say so, and stay here
            self.playing, self.changed = False, True
            session.note = str(error)
        self.changed |= session.step != before
        if before < len(session.schedule) <= session.step:
            self.playing, session.note = False, "the story ends here; from here on the seed decides"

    def _advance(self, elapsed: float, deadline: float) -> None:
        session, before = self.session, self.session.step
        end = len(session.schedule) if before < len(session.schedule) else 1 << 200
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
        """Before anything moves: a film begins where its run does, however soon the first command came."""
        if not self.recorder.frames:
            self._frame()

    def _frame(self) -> tuple[dict, bytes]:
        """What there is to see now; the film has it too."""
        now, session = time.monotonic(), self.session
        if not self.playing or now - self._read > SHARE * self._cost:
            self._readings, self._read = session.readings(), now
            self._cost = time.monotonic() - now
        head, picture = frame(
            session,
            playing=self.playing,
            speed=None if math.isinf(self.speed) else self.speed,
            command=session.command(),
            start=str(session.start),
            disturbances=len(session.disturbances()),
            branch=session.branch,
            rate=[session.rate, session.rate_agents],
            **self._readings,
        )
        self.recorder.add(head, picture)
        return head, picture

    # -- commands ---------------------------------------------------------------------------------------

    def _take(self, command: dict) -> None:
        """One command of the page; what it asks wrongly is answered by a sentence."""
        try:
            answer = self._obey(command)
        except InvalidInput as error:
            answer = {"refused": str(error)}
        except (KeyError, TypeError, ValueError, OverflowError):
            answer = {"refused": "the page sent a command that is not understood"}
        if command.get("id") is not None:
            self.connection.send(("answer", command["id"], answer or {}))

    def _obey(self, command: dict):
        session, do = self.session, command["do"]
        if do == "frame":
            self.wanted = True
            self.newcomer |= bool(command.get("now"))
            self.changed |= self.newcomer
            return None
        if do == "state":
            agent = int(command["agent"])
            session.require_agent(agent)
            return {"agent": agent, "state": session.world.state(agent), "neighbours": session.world.neighbours(agent)}
        if do == "film":
            return {"film": film_page(self.recorder.film())}
        if do == "disturbances":
            return {"disturbances": session.disturbances()}
        self.changed = True
        self._then, self._debt = time.monotonic(), 0.0
        if do in ("play", "pause"):
            self.playing = do == "play"
            session.note = ""
        elif do == "speed":
            value = command["value"]
            self.speed = math.inf if value is None else min(1e18, max(0.1, float(value)))
        elif do == "focus":
            session.focus = None if command["agent"] is None else int(command["agent"])
        elif do == "rate":
            session.set_rate(float(command["rate"]), int(command["agents"]))
        else:
            self.playing = False
            self._change(do, command)
        return None

    def _change(self, do: str, command: dict) -> None:
        session = self.session
        session.note = ""
        self._film_beginning()
        if do == "step":
            count = int(command.get("count", 1))
            if abs(count) > 10**18:
                raise ValueError
            session.go_to(max(0, session.step + count))
        elif do == "goto":
            session.go_to(max(0, int(command["step"])))
        elif do == "change":
            session.go_to_change()
        elif do == "set":
            value = command["value"]
            if type(value) not in (int, str):
                raise ValueError
            session.set_field(int(command["agent"]), str(command["field"]), value)
        elif do == "corrupt":
            session.corrupt(int(command["agents"]))
        elif do == "kill":
            session.kill_leader()
        elif do == "start":
            self._start_over(command)
        else:
            raise ValueError

    def _start_over(self, command: dict) -> None:
        session, protocol = self.session, self.session.protocol
        states = command.get("states")
        if states is None:
            name = command.get("name", session.start)
            if protocol.model == "messages":
                session.start_over()
            elif name in protocol.starts:  # a name, never a path: the page cannot make anyone read a file
                session.start_over(str(name))
            else:
                raise InvalidInput(f"{protocol.id} has no start {name!r}; choose {', '.join(protocol.starts)}")
        else:
            rows = states.get("agents") if isinstance(states, dict) else states
            if not isinstance(rows, list) or len(rows) > LARGEST_START or not all(isinstance(r, dict) for r in rows):
                raise InvalidInput("the dropped file must hold a list of states, one per agent")
            session.start_over(rows, shown=str(command.get("file", "dropped.json"))[:100])
        self._greet()


def default_speed(session: Session) -> float:
    """A round a second for small populations, more for large ones; rounds are slower to understand."""
    if session.schedule:
        return 1.0
    if session.world.is_rounds:
        return 1.0 if session.protocol.model == "messages" else 10.0
    return float(10 ** min(6, max(1, len(str(session.protocol.n)) - 1))) if session.world.kind != "bands" else math.inf
