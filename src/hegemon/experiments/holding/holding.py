"""The front door: the expected holding time of a protocol from a start, with an interval that means what it says."""

import dataclasses
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hegemon.errors import InvalidInput
from hegemon.exact.traces import Trace
from hegemon.experiments.holding import replications
from hegemon.experiments.holding.ensemble import FINER, MEASURED, TUNING, Plan, Replication, lay_out, replicate
from hegemon.experiments.holding.importance import find_importance
from hegemon.experiments.holding.kept import KeptReplications
from hegemon.experiments.holding.process import Crowd, Process
from hegemon.experiments.holding.replications import FIRST, GOOD, Answer
from hegemon.experiments.holding.ways import typical_path, ways
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.protocol import Protocol

TUNINGS, ATTEMPTS = 4, 6  # replications that tell whether an ensemble is large and long enough, and how often
FINE = 0.15  # a scatter below which more looks are not tried
FINER_SHARE = 0.4  # of the budget, at most, to try them
MOST_REPLICATIONS = 4096
BUDGET = 2 * 10**10  # steps
LAST = 12  # lines of a path that are shown

Tell = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Holding:
    """Expected steps until the leader is no longer the same unique one; logarithms are natural."""

    protocol: Protocol
    graph: str
    start: str
    importance: str
    sentence: str
    plan: Plan
    answer: Answer
    replications: tuple[Replication, ...]
    precision: float
    seed: int
    steps: int  # of all walks, the pilot's included
    ways: tuple[dict, ...]
    path: Trace | None
    seconds: float

    @property
    def steps_expected(self) -> float | None:
        """None where only a bound is known; infinite where floating point ends: `answer.log_steps` goes on."""
        return _exp(self.answer.log_steps)

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """With 95 % confidence; None for no upper end."""
        return _exp(self.answer.log_low), _exp(self.answer.log_high)

    @property
    def kind(self) -> str:
        return self.answer.kind

    @property
    def reached(self) -> bool:
        """Whether the precision that was asked for is reached."""
        if self.kind != "estimate" or self.answer.log_high is None:
            return False
        return (self.answer.log_high - self.answer.log_low) / 2 <= math.log1p(self.precision) * 1.0001

    def record(self) -> dict:
        plan, answer = self.plan, self.answer
        n = self.protocol.n
        log10 = [None if x is None or x == -math.inf else x / math.log(10) for x in
                 (answer.log_steps, answer.log_low, answer.log_high)]  # fmt: skip
        low, high = self.interval
        value = self.steps_expected
        return {
            "protocol": self.protocol.id,
            "n": n,
            "parameters": self.protocol.parameters,
            "graph": self.graph,
            "start": self.start,
            "kind": answer.kind,
            "steps": value,
            "low": low,
            "high": high,
            "log10": {"steps": log10[0], "low": log10[1], "high": log10[2]},
            "parallel_time": None if value is None else value / n,
            "confidence": 0.95,
            "precision": self.precision,
            "reached": self.reached,
            "importance": self.importance,
            "importance_is": self.sentence,
            "cells": plan.cells,
            "walkers": plan.walkers,
            "look": plan.look,
            "iterations": plan.length,
            "plain_steps": plan.plain_steps,
            "plain_losses": plan.plain_losses,
            "replications": len(self.replications),
            "scatter": answer.scatter if math.isfinite(answer.scatter) else None,
            "losses": sum(one.losses for one in self.replications),
            "ways": list(self.ways),
            "path": self.path.lines()[-LAST:] if self.path else None,
            "path_steps": len(self.path.interactions) if self.path else None,
            "simulated_steps": self.steps,
            "saved": None if value is None else value * len(self.replications) / max(1, self.steps),
            "seed": self.seed,
            "seconds": self.seconds,
        }


def _exp(logarithm: float | None) -> float | None:
    if logarithm is None:
        return None
    return math.exp(logarithm) if logarithm < 709 else math.inf


def holding(
    protocol: Protocol,
    *,
    graph: Topology | str | None = None,
    start: str | Path | Configuration | Sequence[Mapping] = "safe",
    precision: float = 0.1,
    importance: str = "auto",
    seed: int = 0,
    budget: int = BUDGET,
    workers: int | None = None,
    checkpoint: str | Path | None = None,
    path: bool = False,
    progress: Tell | None = None,
) -> Holding:
    """The expected number of steps from a start until the leader is no longer the same unique one.

    protocol    a population protocol, such as hegemon.TimeOptimal(n=1000, tau=2).
    graph       a topology or its name; without it, the protocol's own.
    start       one configuration with exactly one leader: a named start, a file, a configuration or a list of states.
    precision   0.1: an interval to within a factor of 1.1 on each side, if the budget allows.
    importance  how configurations are told apart: "auto", or a name that docs/holding.md explains.
    budget      steps that are simulated at most, about, each look counting as some.
    workers     threads; without it, all cores.
    checkpoint  a .json file from which an interrupted measurement goes on.
    path        also one path to a loss; `result.path.save(FILE)` writes what `hegemon run --start FILE` follows.

    The result has `steps_expected`, `interval`, `record()`, and `kind`:
    "estimate"  an interval of Student's kind from independent replications;
    "at most"   replications scatter too much for it, or the importance is one that may miss a way to the loss: the
                upper end holds, the lower end is from plain steps;
    "bound"     no loss was seen; only a lower bound is known.
    """
    begin = time.perf_counter()
    if not 0.001 <= precision <= 10:
        raise InvalidInput(f"relative = {precision} is out of range; give a number in 0.001..10, such as 0.1")
    tell: Tell = progress or (lambda stage, done, total: None)
    _refuse_for_ever(protocol, start)
    process = Process(protocol, graph, start)
    kept = KeptReplications(checkpoint, protocol, process, importance, seed)
    leads = find_importance(importance, protocol)
    team = Team(process, leads, workers)
    if kept.plan is None:
        pilot = team.crowd()
        plan = lay_out(pilot, seed, budget, lambda stage, count: tell(stage, count, None))
        plan = dataclasses.replace(tuned(team, plan, seed, budget, precision), work=team.work)
    else:
        plan = kept.plan
    kept.save(plan)
    found = list(kept.replications)
    goal = FIRST
    while len(found) < goal:
        tell("replications", len(found), goal)
        for one in team.replicate(plan, seed, MEASURED, range(len(found), goal)):
            found.append(one)
            kept.save(plan, found)
            tell("replications", len(found), goal)
        needed = replications.enough([one.rate for one in found], precision)
        spent = sum(one.work for one in found)
        affordable = max(FIRST, (budget - plan.work) * len(found) // max(1, spent))
        goal = min(needed, affordable, MOST_REPLICATIONS)
    rates, early = [one.rate for one in found], [one.early for one in found]
    vouched = leads.vouched and replications.settled(rates, early, precision)
    answer = replications.answer(rates, plan.plain_steps, plan.plain_losses, vouched)
    return Holding(
        protocol=protocol,
        graph=process.topology.name,
        start=start if isinstance(start, str) else "given",
        importance=leads.name,
        sentence=leads.sentence,
        plan=plan,
        answer=answer,
        replications=tuple(found),
        precision=precision,
        seed=seed,
        steps=team.steps,
        ways=tuple(ways(process.space, found)),
        path=typical_path(team.crowd(plan), plan, seed, found) if path else None,
        seconds=time.perf_counter() - begin,
    )


def agree(first: Holding, second: Holding) -> bool:
    """Whether two answers about one question can both be right: their intervals meet."""
    high = [math.inf if one.answer.log_high is None else one.answer.log_high for one in (first, second)]
    return first.answer.log_low <= high[1] and second.answer.log_low <= high[0]


def _refuse_for_ever(protocol, start) -> None:
    safe = protocol.sets.get("safe")
    if (
        safe is not None
        and safe.closed
        and protocol.model == "population"
        and protocol.elects_leader
        and start == "safe"
    ):
        raise InvalidInput(
            f"{protocol.id} says that its safe set is never left, so its leader is held for ever; "
            "`hegemon verify` or `hegemon prove` checks that claim"
        )


def tuned(team: "Team", plan: Plan, seed: int, budget: int, precision: float) -> Plan:
    """More looks and more walkers where replications scatter, more iterations until an ensemble settles.

    The replications that tell are not used again.
    """
    wished = min(GOOD, math.sqrt(4 * FIRST) * math.log1p(precision) / replications.student(0.975, FIRST - 1))
    made = 0

    def tried(plan: Plan) -> tuple[float, bool, float]:
        """The scatter of a few replications, whether they had settled, and the work of one."""
        nonlocal made
        found = list(team.replicate(plan, seed, TUNING, range(made, made + TUNINGS)))
        made += TUNINGS
        rates, early = [one.rate for one in found], [one.early for one in found]
        _, scatter = replications.relative(rates)
        work = sum(one.work for one in found) / TUNINGS
        return scatter, replications.settled(rates, early, precision, doubt=1), work

    scatter, settled, work = tried(plan)
    while plan.look > 1 and scatter > FINE and FINER * TUNINGS * work < FINER_SHARE * budget:
        finer = max(1, plan.look // FINER)
        times = plan.look // finer
        candidate = dataclasses.replace(plan, look=finer, burn=plan.burn * times, length=plan.length * times)
        other = tried(candidate)
        if other[0] >= scatter:
            break
        plan, (scatter, settled, work) = candidate, other
    for _ in range(ATTEMPTS):
        most = (budget - team.work) / (2 * FIRST * work)
        more = min(4.0, most, (scatter / wished) ** 2)
        longer = 1.0 if settled else min(2.0, most)
        if longer < 1.5 and more < 1.5:
            break
        clones = max(1, round(math.sqrt(more)))
        longer *= max(1.0, more / clones)
        plan = dataclasses.replace(
            plan, each=plan.each * clones, walkers=plan.walkers * clones,
            burn=int(plan.burn * longer), length=int(plan.length * longer),
        )  # fmt: skip
        scatter, settled, work = tried(plan)
    return plan


class Team:
    """One crowd for each thread: kernels hold no lock, and the table of pairs is shared."""

    def __init__(self, process: Process, importance, workers: int | None):
        self._process, self._importance = process, importance
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
        """The crowd of this thread, which knows what the pilot has learnt."""
        if not hasattr(self._local, "crowd"):
            with self._lock:
                self._local.crowd = Crowd(self._process, self._importance)
                self._local.crowd.heartbeat = self._heartbeat
                self._crowds.append(self._local.crowd)
                self._local.knows = None
        if plan is not None and self._local.knows is not plan.importance:
            self._importance.restore(self._local.crowd.model.cells, plan.importance)
            self._local.knows = plan.importance
        return self._local.crowd

    def _heartbeat(self) -> None:
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def replicate(self, plan: Plan, seed: int, branch: int, numbers: range):
        """Replications in order of their numbers, whatever the number of threads."""
        pool = ThreadPoolExecutor(self._workers)
        try:
            futures = [pool.submit(lambda k: replicate(self.crowd(plan), plan, seed, branch, k), k) for k in numbers]
            for future in futures:
                yield future.result()
        except BaseException:
            self._stopping.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
