"""Drives a study: hands out chunks of trials and receives results, until nothing is missing.

No results are held here: the store alone determines what is done, and is read again before the table is made.
"""

import math
import queue
import time
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from hegemon.errors import InvalidInput, Unfinished
from hegemon.experiments.case import Case
from hegemon.experiments.costs import Costs
from hegemon.experiments.executors.pool import Pool
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.moments import Moments
from hegemon.experiments.store.ranges import Ranges
from hegemon.experiments.store.record_files import MOST_TRIALS, RecordFile
from hegemon.experiments.worker import work

LOOK_SECONDS = 10.0  # between two reads of the records of other drivers
SUSPECT = 2  # a chunk that was lost this many times is tried alone
HOPELESS = 4  # after this many losses its case has failed
LONGEST_FIRST = 64  # trials of the first chunk of a case, while their length is unknown


@dataclass
class CaseState:
    """The progress of one case."""

    case: Case
    key: str
    goal: int  # trials wanted so far
    taken: Ranges = field(default_factory=Ranges)  # done or running
    seconds_per_trial: float | None = None
    done: int = 0
    error: str | None = None

    def next_gap(self, backwards: bool) -> tuple[int, int] | None:
        """The next trials that are neither done nor running."""
        return self.taken.gap(self.goal, last=backwards)


@dataclass(frozen=True)
class Chunk:
    state: CaseState
    first: int
    count: int

    @property
    def name(self) -> tuple[str, int]:
        return self.state.key, self.first


class StudyListener:
    """Receives progress several times a second; the command line draws it."""

    def planned(self, estimate: Any, pool: Pool) -> None: ...

    def moved(self, driver: "StudyDriver") -> None: ...


class StudyDriver:
    """`goals` determines from the store how many trials each case needs (see the module `goals`)."""

    def __init__(
        self, folder: Folder, cases: list[tuple[Case, str]], goals: Any, pool: Pool,
        listener: StudyListener | None = None, backwards: bool = False,
    ):  # fmt: skip
        self.folder, self.goals, self.pool = folder, goals, pool
        self.listener = listener or StudyListener()
        self.states = [CaseState(case, key, 0) for case, key in cases]
        self.backwards = backwards  # start at the end: another driver works on this folder from the front
        self.memory = 0
        self.measured = 0  # trials measured since the start of this driver
        self._losses: Counter[Any] = Counter()
        self._running: dict[Future[Any], Any] = {}
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._file = RecordFile(folder.records)
        self._task = {"folder": str(folder.root.resolve()), "name": folder.name}

    def run(self) -> None:
        """Until every case is done or has failed. A KeyboardInterrupt passes through; what is finished stays."""
        self._executor = self.pool.start()
        ended = False
        try:
            self._catch_up()
            looked = time.monotonic()
            self.listener.moved(self)  # perhaps no trial is missing any more
            while self._hand_out():
                try:
                    self._hear(*self._answers.get(timeout=0.2))
                    while not self._answers.empty():
                        self._hear(*self._answers.get())
                except queue.Empty:
                    pass
                if time.monotonic() - looked > LOOK_SECONDS:
                    self._catch_up()
                    looked = time.monotonic()
                self.listener.moved(self)
            ended = True
        finally:
            self._file.close()
            self.pool.close() if ended else self.pool.abandon()

    def seconds_left(self) -> float | None:
        """The estimated seconds that the rest takes."""
        costs = Costs(
            (state.case, state.seconds_per_trial) for state in self.states if state.seconds_per_trial is not None
        )
        rest = 0.0
        for state in self.states:
            if state.error is None and state.done < state.goal:
                each = costs.of(state.case)
                if each is None:
                    return None
                rest += (state.goal - state.done) * each
        return rest / max(1, self.pool.slots())

    # -- handing out --------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Take the state from the store, with the records of this and other drivers, and set the goals."""
        self.folder.refresh()
        for state in self.states:
            for begin, end in self.folder.done[state.key]:
                state.taken.add(begin, end)
            if state.seconds_per_trial is None:
                state.seconds_per_trial = self.folder.seconds_per_trial(state.key)
            self._set_goal(state)
        order = reversed(self.states) if self.backwards else self.states
        self._open = deque(state for state in order if state.error is None and state.next_gap(self.backwards))

    def _set_goal(self, state: CaseState) -> None:
        state.goal = self.goals.goal(state.key, self.folder)
        state.done = self.folder.done[state.key].count(state.goal)

    def _hand_out(self) -> bool:
        """Keep every worker busy; returns whether anything is running."""
        slots = max(1, self.pool.slots())
        suspects = bool(self._losses) and max(self._losses.values()) >= SUSPECT
        most = 1 if suspects else slots * self.pool.depth  # one at a time shows which chunk kills its worker
        while len(self._running) < most:
            chunk = self._next_chunk(slots)
            if chunk is None:
                break
            self._submit(chunk)
        return bool(self._running)

    def _submit(self, chunk: Chunk) -> None:
        case = chunk.state.case
        task = {
            **self._task, "settings": case.settings, "seed": case.study_seed, "key": chunk.state.key,
            "first": chunk.first, "count": chunk.count, "seconds": self.pool.seconds,
        }  # fmt: skip
        try:
            future = self._executor.submit(work, task)
        except self.pool.lost:
            self._executor = self.pool.start()
            future = self._executor.submit(work, task)
        self._running[future] = chunk
        future.add_done_callback(lambda future: self._answers.put((future,)))

    def _next_chunk(self, slots: int) -> Chunk | None:
        while self._open:
            state = self._open[0]
            gap = None if state.error else state.next_gap(self.backwards)
            if gap is None:
                self._open.popleft()
                continue
            begin, end = gap
            count = min(end - begin, self._size(state, slots))
            if self.backwards:
                begin = end - count
            state.taken.add(begin, begin + count)
            return Chunk(state, begin, count)
        return None

    def _size(self, state: CaseState, slots: int) -> int:
        share = math.ceil(max(1, state.goal - state.done) / slots)
        if state.seconds_per_trial is None:
            return min(share, LONGEST_FIRST)
        return max(1, min(share, MOST_TRIALS, int(self.pool.seconds / max(state.seconds_per_trial, 1e-6))))

    # -- receiving ----------------------------------------------------------------------------------------

    def _hear(self, future: Future[Any]) -> None:
        chunk = self._running.pop(future, None)
        if chunk is None:
            return  # returned to the queue when its pool broke
        try:
            answer = future.result()
        except self.pool.lost as error:
            self._lose(chunk, error)
            return
        except InvalidInput:
            raise
        except Exception as error:  # another machine may fail in any way
            raise Unfinished(f"a worker of {self.pool.name} cannot work: {type(error).__name__}: {error}") from error
        if answer.get("unwritten"):
            raise InvalidInput(answer["unwritten"])
        state, done = chunk.state, answer["done"]
        self._losses.pop(chunk.name, None)
        self.memory = max(self.memory, answer["memory"])
        self.measured += done
        if done:
            place = answer["place"] or self._file.append(answer["line"])
            self.folder.note(state.key, chunk.first, done, tuple(place), Moments(*answer["moments"]))
            state.seconds_per_trial = answer["seconds"] / done
            self._set_goal(state)
        if answer["error"]:
            state.error = answer["error"]
        else:
            self._give_back(chunk, done)

    def _give_back(self, chunk: Chunk, done: int) -> None:
        """Queue the trials that a worker did not reach; a case with missing trials is opened again."""
        state = chunk.state
        state.taken.remove(chunk.first + done, chunk.first + chunk.count)
        if state.next_gap(self.backwards) and state not in self._open:
            self._open.appendleft(state)

    def _lose(self, chunk: Chunk, error: BaseException) -> None:
        """A worker died, and other chunks may be lost with it. The chunk that is lost most often is the cause."""
        self._losses[chunk.name] += 1
        if self._losses[chunk.name] >= HOPELESS and not self._running:
            chunk.state.error = f"the worker died {HOPELESS} times in trials {chunk.first} … (out of memory?): {error}"
            del self._losses[chunk.name]
        else:
            self._give_back(chunk, 0)
