"""Where walkers run: threads of this process, or workers of the experiments' executors; the results are the same."""

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from hegemon.errors import InvalidInput, Unfinished
from hegemon.experiments.executors.pool import open_pool
from hegemon.experiments.fingerprints import code_fingerprint, protocol_fingerprint
from hegemon.experiments.holding.ensemble import Plan, Replication, dense, replicate
from hegemon.experiments.holding.importance import find_importance
from hegemon.experiments.holding.process import Crowd, Process
from hegemon.experiments.holding.scouting import Party, scout
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.protocol import Protocol
from hegemon.protocols.loading import find_protocol, name_of, name_protocol

MOST_DEATHS = 3  # deaths of workers before the work is given up


class Question(NamedTuple):
    """What a worker must know; its `id` is unique, so that a worker prepares once for all its tasks."""

    id: str
    protocol: str
    n: int
    parameters: dict[str, Any]
    topology: Topology
    start: np.ndarray
    importance: str
    code: tuple[str, str]


_prepared: dict[str, "Team"] = {}  # on a worker: the team of the latest question


class Team:
    """One crowd for each thread: kernels release the GIL, and the table of pairs is shared."""

    def __init__(self, process: Process, importance: Any, workers: int | None = None):
        self._process, self.importance = process, importance
        self._workers = workers or os.cpu_count() or 1
        self._crowds: list[Crowd] = []
        self._local = threading.local()
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    @property
    def steps(self) -> int:
        return sum(crowd.steps for crowd in self._crowds)

    @property
    def work(self) -> int:
        return sum(crowd.work for crowd in self._crowds)

    def crowd(self, plan: Plan | None = None) -> Crowd:
        """The crowd of this thread, with what the pilot has learnt if `plan` is given."""
        if not hasattr(self._local, "crowd"):
            with self._lock:
                self._local.crowd = Crowd(self._process, self.importance)
                self._local.crowd.heartbeat = self._heartbeat
                self._crowds.append(self._local.crowd)
                self._local.knows = None
        if plan is None:
            self._local.knows = None
        elif self._local.knows is not plan.importance:
            self.importance.restore(self._local.crowd.model.cells, plan.importance)
            self._local.crowd.merits = dense(plan.merits) if plan.merits else np.empty(0)
            self._local.knows = plan.importance
        return self._local.crowd

    def _heartbeat(self) -> None:
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def scout(self, seed: int, parties: Iterable[int], budget: float, tell: Callable[..., Any]) -> Iterator[Party]:
        """The results of the parties, in their order."""
        return self._map(lambda party: scout(self.crowd(), seed, party, budget, tell), parties)

    def replicate(self, plan: Plan, seed: int, branch: int, numbers: Iterable[int]) -> Iterator[Replication]:
        """Replications in order of their numbers, whatever the number of threads."""
        return self._map(lambda number: replicate(self.crowd(plan), plan, seed, branch, number), numbers)

    def _map(self, function: Callable[..., Any], numbers: Iterable[int]) -> Iterator[Any]:
        pool = ThreadPoolExecutor(self._workers)
        try:
            futures = [pool.submit(function, number) for number in numbers]
            for future in futures:
                yield future.result()
        except BaseException:
            self._stopping.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def close(self, finished: bool) -> None:
        """Does nothing: threads end with their work."""


class Cluster(Team):
    """The same through an executor. Inputs of parties and replications are sent as plain values."""

    def __init__(self, process: Process, importance: Any, cluster: str, workers: int | None = None):
        super().__init__(process, importance, 1)
        protocol = process.protocol
        parameters = {name: protocol.values[name] for name in protocol.parameter_declarations}
        name = name_of(type(protocol))
        if name is None:
            raise InvalidInput(
                f"{protocol.id} is defined where no other process finds it; put its class into a file of its own"
            )
        codes = np.asarray(process.start, np.int64)
        given = name, protocol.n, parameters, process.topology, codes, importance.name, _code_of(protocol)
        self._question = Question(uuid.uuid4().hex, *given)
        self._pool = open_pool(cluster, workers)
        self._executor = self._pool.start()
        self._steps = self._work = 0

    @property
    def steps(self) -> int:
        return super().steps + self._steps

    @property
    def work(self) -> int:
        return super().work + self._work

    def scout(self, seed: int, parties: Iterable[int], budget: float, tell: Callable[..., Any]) -> Iterator[Any]:
        tell(f"scouts out ({self._pool.name})", 0)
        return self._gather([("scout", seed, party, budget) for party in parties])

    def replicate(self, plan: Any, seed: int, branch: int, numbers: Iterable[int]) -> Iterator[Any]:
        return self._gather([("replicate", plan, seed, branch, number) for number in numbers])

    def _gather(self, tasks: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Results in the order of tasks; tasks of a worker that died are repeated by another."""
        deaths = 0
        futures = [self._executor.submit(work, self._question, *task) for task in tasks]
        for place in range(len(tasks)):
            while True:
                try:
                    answer, steps, worked = futures[place].result()
                    break
                except self._pool.lost as error:
                    deaths += 1
                    if deaths > MOST_DEATHS:
                        raise Unfinished(
                            "a worker was ended by the system again and again, probably for lack of memory; run the "
                            "same command again to go on, with fewer --workers"
                        ) from error
                    self._executor = self._pool.start()
                    futures[place:] = [
                        old
                        if old.done() and old.exception() is None
                        else self._executor.submit(work, self._question, *task)
                        for old, task in zip(futures[place:], tasks[place:], strict=True)
                    ]
            self._steps, self._work = self._steps + steps, self._work + worked
            yield answer

    def close(self, finished: bool) -> None:
        self._pool.close() if finished else self._pool.abandon()


def work(question: Question, kind: str, *given: Any) -> tuple[Any, ...]:
    """Runs on a worker: a party of scouts or a replication, with the steps and the work that it took."""
    team = _team_of(question)
    crowd = team.crowd()
    steps, worked = crowd.steps, crowd.work
    answer: Party | Replication
    if kind == "scout":
        seed, party, budget = given
        answer = scout(crowd, seed, party, budget, lambda stage, count, total: None)
    else:
        plan, seed, branch, number = given
        answer = replicate(team.crowd(plan), plan, seed, branch, number)
    return answer, crowd.steps - steps, crowd.work - worked


def _team_of(question: Question) -> Team:
    if question.id not in _prepared:
        kind = find_protocol(name_protocol(question.protocol))  # the name that the user gave to the driver
        given = {key: value for key, value in question.parameters.items() if value is not None}
        protocol = kind(n=question.n, **given)
        if _code_of(protocol) != question.code:
            raise InvalidInput("this worker has other code or libraries than the driver; install the same on both")
        start = Configuration(protocol.space, agents=protocol.space.decode_array(question.start))
        team = Team(Process(protocol, question.topology, start), find_importance(question.importance), 1)
        _prepared.clear()
        _prepared[question.id] = team
    return _prepared[question.id]


def _code_of(protocol: Protocol) -> tuple[str, str]:
    return protocol_fingerprint(type(protocol)), code_fingerprint()
