"""The public function `holding`: the expected holding time of a protocol from a start, with a valid interval."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon import display, doors
from hegemon.errors import InvalidInput
from hegemon.experiments.holding import replications, settling
from hegemon.experiments.holding.ensemble import MEASURED, Replication
from hegemon.experiments.holding.importance import find_importance
from hegemon.experiments.holding.kept import KeptReplications
from hegemon.experiments.holding.process import Process
from hegemon.experiments.holding.replications import FIRST, Answer
from hegemon.experiments.holding.scouting import MOST_HIDDEN, Scouted, explore
from hegemon.experiments.holding.teams import Cluster, Team
from hegemon.experiments.holding.ways import typical_path, ways
from hegemon.experiments.precision import share
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.runs import kinds
from hegemon.runs.option import seed_of
from hegemon.runs.stories import Trace

if TYPE_CHECKING:
    from hegemon.runs.option import Seed

BUDGET = 10**11  # steps
LAST = 12  # lines of a path that are printed

Tell = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Holding:
    """Expected steps until the leader is no longer the same unique one; logarithms are natural."""

    protocol: Protocol
    graph: str
    scheduler: str
    start: str
    importance: str
    sentence: str
    scouted: Scouted
    answer: Answer
    replications: tuple[Replication, ...]
    relative: float
    seed: int
    steps: int  # of all walks, including the pilot's
    ways: tuple[dict[str, Any], ...]
    path: Trace | None
    seconds: float

    @property
    def steps_expected(self) -> float | None:
        """None where only bounds are known; infinite where floating point ends: `answer.log_steps` goes on."""
        return _exp(self.answer.log_steps) if self.kind == "estimate" else None

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """With 95 % confidence; None for no upper end."""
        return _exp(self.answer.log_low), _exp(self.answer.log_high)

    @property
    def kind(self) -> str:
        return self.answer.kind

    @property
    def reached(self) -> bool:
        """Whether the interval is as narrow as was asked for."""
        if self.kind != "estimate" or self.answer.log_high is None:
            return False
        return (self.answer.log_high - self.answer.log_low) / 2 <= math.log1p(self.relative) * 1.0001

    def __str__(self) -> str:
        ends = (self.answer.log_low, self.answer.log_high)
        low, high = map(_power, ends)
        steps = {"estimate": f"{_power(self.answer.log_steps)} on average", "at most": f"at most {high} on average"}
        about = {
            "expected steps": steps.get(self.kind, f"at least {low} on average"),
            "95 % interval": f"{low or 0} … {high or 'no upper end'}",
            "start": f"{self.start} on {self.graph}",
            "replications": len(self.replications),
            "seed": str(self.seed),
        }
        about |= {"no estimate": "; ".join(self.answer.reasons)} if self.answer.reasons else {}
        return display.plain(f"{self.protocol.id}, n = {self.protocol.n:,}: how long a leader is held", about)

    def record(self) -> dict[str, Any]:
        scouted, plan, answer = self.scouted, self.scouted.plan, self.answer
        n = self.protocol.n
        known = answer.log_steps if self.kind == "estimate" else None
        log10 = [None if x is None or x == -math.inf else x / math.log(10) for x in
                 (known, answer.log_low, answer.log_high, answer.log_steps)]  # fmt: skip
        low, high = self.interval
        slowest = _slowest(scouted, self.replications) * plan.look
        value, said = self.steps_expected, _exp(answer.log_steps)
        return {
            "protocol": self.protocol.id,
            "n": n,
            "parameters": self.protocol.parameters,
            "graph": self.graph,
            "scheduler": self.scheduler,
            "start": self.start,
            "kind": answer.kind,
            "steps": value,
            "low": low,
            "high": high,
            "log10": {"steps": log10[0], "low": log10[1], "high": log10[2], "said": log10[3]},
            "parallel_time": None if value is None else value / n,
            "confidence": 0.95,
            "relative": self.relative,
            "reached": self.reached,
            "importance": self.importance,
            "importance_is": self.sentence,
            "cells": plan.cells,
            "walkers": plan.walkers,
            "look": plan.look,
            "iterations": plan.length,
            "plain_steps": scouted.plain.steps,
            "plain_losses": scouted.plain.losses,
            "slowest_return": slowest if math.isfinite(slowest) else None,
            "burn_in": plan.burn * plan.look,
            "why_no_estimate": list(answer.reasons),
            "hidden": scouted.hidden,
            "replications": len(self.replications),
            "scatter": answer.scatter if math.isfinite(answer.scatter) else None,
            "losses": sum(one.losses for one in self.replications),
            "ways": list(self.ways),
            "path": self.path.lines()[-LAST:] if self.path else None,
            "path_steps": len(self.path.interactions) if self.path else None,
            "simulated_steps": self.steps,
            "saved": None
            if said is None or self.kind == "bound"
            else said * len(self.replications) / max(1, self.steps),
            "seed": self.seed,
            "seconds": self.seconds,
        }


def _power(logarithm: float | None) -> str | None:
    """A number of any size, from its natural logarithm."""
    if logarithm is None or logarithm == -math.inf:
        return None
    whole, rest = divmod(logarithm / math.log(10), 1)
    return f"{math.exp(logarithm):,.4g}" if abs(whole) < 5 else f"{10**rest:.3g}e{whole:.0f}"


def _exp(logarithm: float | None) -> float | None:
    if logarithm is None:
        return None
    return math.exp(logarithm) if logarithm < 709 else math.inf


@kinds.door(importance=doors.text, budget=doors.whole(1), path=kinds.FLAG)
def holding(
    protocol: Protocol, *, graph: Topology | str | None = None,
    start: str | Path | Configuration | Sequence[Mapping[str, Any]] = "safe", relative: float | str = 0.1,
    scheduler: "str | Scheduler | None" = None,
    importance: str = "auto", seed: "Seed" = 0, budget: int = BUDGET, workers: int | None = None,
    cluster: str | None = None, checkpoint: str | Path | None = None, path: bool = False,
    progress: Tell | None = None,
) -> Holding:  # fmt: skip
    """The expected number of steps from a start until the leader is no longer the same unique one.

    protocol    a population protocol, such as hegemon.TimeOptimal(n=1000, tau=2).
    graph       a topology or its name; without it, the protocol's own.
    start       one configuration with exactly one leader: a named start, a file, a configuration or a list of states.
    relative    0.1 or "10%": an interval to within a factor of 1.1 on each side, if the budget allows.
    scheduler   who meets next: uniform, or one that remembers nothing, such as "weighted:2,1,1" (docs/worlds.md).
    importance  how configurations are distinguished: "auto", or a name that docs/holding.md explains.
    budget      steps that are simulated at most, about, each look counting as some.
    workers     threads; without it, all cores.
    cluster     "dask:tcp://HOST:8786" and the like (docs/clusters.md): parties and replications are made there.
    checkpoint  a .json file from which an interrupted measurement goes on.
    path        also one path to a loss; `result.path.save(FILE)` writes what `hegemon run --start FILE` follows.

    The result has `steps_expected`, `interval`, `record()`, and `kind`:
    "estimate"  a 95 % interval of Student's kind from independent replications, which plain runs do not contradict;
    "at most"   replications scatter too much for that, or ways to a loss may be hidden. The upper end holds if the
                ensembles had settled, and nothing spoke against that; the lower end is from plain runs;
    "bound"     only the lower end is known, from plain runs, whatever the law of the holding time is.
    `answer.reasons` says why it is no estimate, and `answer.log_steps` what replications say.
    """
    begin = time.perf_counter()
    relative, seed = share(relative), seed_of(seed)
    tell: Tell = progress or (lambda stage, done, total: None)
    _refuse_for_ever(protocol, start)
    process = Process(protocol, graph, start, scheduler, seed)
    if cluster and not process.scheduler.even:
        raise InvalidInput(
            f"workers of a cluster know the uniform scheduler alone, not {process.scheduler}; drop --cluster"
        )
    kept = KeptReplications(checkpoint, protocol, process, importance, seed)
    leads = find_importance(importance)
    team = Cluster(process, leads, cluster, workers) if cluster else Team(process, leads, workers)
    finished = False
    try:
        scouted, found = _measure(team, kept, seed, budget, relative, tell)
        finished = True
    finally:
        team.close(finished)
    rates, early = [one.rate for one in found], [one.early for one in found]
    slowest = _slowest(scouted, found)
    doubts = settling.doubts(rates, early, scouted.fresh, slowest / scouted.plan.burn, relative)
    answer = replications.answer(rates, scouted.plain, scouted.scatter, doubts, scouted.hidden > MOST_HIDDEN)
    return Holding(
        protocol=protocol,
        graph=process.topology.name,
        scheduler=str(process.scheduler),
        start=start if isinstance(start, str) else "given",
        importance=leads.name,
        sentence=leads.sentence,
        scouted=scouted,
        answer=answer,
        replications=tuple(found),
        relative=relative,
        seed=seed,
        steps=team.steps,
        ways=tuple(ways(process.space, found)),
        path=typical_path(team.crowd(scouted.plan), scouted.plan, seed, found) if path else None,
        seconds=time.perf_counter() - begin,
    )


def _measure(
    team: Team, kept: KeptReplications, seed: int, budget: int, relative: float, tell: Tell
) -> tuple[Scouted, list[Replication]]:
    """The scouts' result, and as many replications as the interval needs and the budget allows."""
    scouted = kept.scouted or explore(
        team, seed, budget, relative, lambda stage, done, total=None: tell(stage, done, total)
    )
    kept.save(scouted)
    found = list(kept.replications)
    goal = FIRST
    while len(found) < goal:
        tell("replications", len(found), goal)
        for one in team.replicate(scouted.plan, seed, MEASURED, range(len(found), goal)):
            found.append(one)
            kept.save(scouted, found)
            tell("replications", len(found), goal)
        needed = replications.enough([one.rate for one in found], relative, scouted.scatter)
        spent = sum(one.work for one in found)
        affordable = max(FIRST, (budget - scouted.work) * len(found) // max(1, spent))
        goal = min(needed, affordable, replications.MOST_REPLICATIONS)
    return scouted, found


def _slowest(scouted: Scouted, found: Sequence[Replication]) -> float:
    """Samples until all walkers were usual again; infinite if one was not."""
    looks = [scouted.slowest, *(one.slowest for one in found)]
    return max(math.inf if one is None else one for one in looks)


def agree(first: Holding, second: Holding) -> bool:
    """Whether two results for one question can both be right: their intervals meet."""
    high = [math.inf if one.answer.log_high is None else one.answer.log_high for one in (first, second)]
    return first.answer.log_low <= high[1] and second.answer.log_low <= high[0]


def _refuse_for_ever(protocol: Protocol, start: Any) -> None:
    safe = protocol.sets.get("safe")
    if (
        safe is not None
        and safe.closed
        and protocol.model.has_interactions
        and protocol.elects_leader
        and start == "safe"
    ):
        raise InvalidInput(
            f"{protocol.id} says that its safe set is never left, so its leader is held forever; "
            "`hegemon verify` or `hegemon prove` checks that claim"
        )
