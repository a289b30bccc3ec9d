"""Where experiments are made: runs trials, keeps every measured row, remembers what was measured before."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hegemon.analysis import sequences
from hegemon.claims.canonical import digest, plain
from hegemon.models.protocol import Protocol
from hegemon.runs.record import RunRecord
from hegemon.runs.run import Run
from hegemon.runs.trials import run_trials

Cases = Sequence[tuple[Any, ...]]  # what an experiment tries one by one, as its claim lists it
Definition = Any  # the class of a protocol: the published one, or a broken one in its place

SEED = 2021
FEW = 4
LARGEST_BATCH = 50_000_000  # agents in the configurations of trials that are kept at one time


@dataclass(frozen=True)
class Sample:
    """The times of the trials that met the stop at one size, and when the others were stopped."""

    n: int
    values: np.ndarray
    cut: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def missed(self) -> int:
        return len(self.cut)

    @property
    def mean(self) -> float:
        return float(self.values.mean()) if len(self.values) else float("nan")

    def scaled(self, factor: float) -> "Sample":
        return Sample(self.n, self.values * factor, self.cut * factor)


def pooled(samples: list[Sample]) -> Sample:
    """Several samples of one size as one."""
    return Sample(
        samples[0].n, np.concatenate([one.values for one in samples]), np.concatenate([one.cut for one in samples])
    )


def counted(samples: Iterable[Sample]) -> tuple[int, int]:
    """How many trials met the stop, of how many."""
    samples = list(samples)
    good = sum(len(sample.values) for sample in samples)
    return good, good + sum(sample.missed for sample in samples)


def all_ended(samples: Iterable[Sample]) -> bool:
    """Whether there are times at every size, and no trial was censored."""
    return all(len(sample.values) and not sample.missed for sample in samples)


class Laboratory:
    """`store` has `load(key)` and `save(key, rows)`; `report(text)` receives progress."""

    def __init__(
        self,
        seed: int = SEED,
        workers: int | None = None,
        store: Any = None,
        report: Callable[[str], object] | None = None,
    ):
        self.seed, self.workers, self.store = seed, workers, store
        self.report = report or (lambda text: None)
        self.rows: list[dict[str, Any]] = []

    def seed_for(self, *description: object) -> int:
        """The seed of a measurement. Each has its own, so that different sizes are independent."""
        return int(digest([self.seed, *description])[:8], 16)

    def trials(
        self,
        protocol: Protocol,
        trials: int,
        *,
        first: int = 0,
        label: str | None = None,
        measure: Callable[[Run], dict[str, Any]] | None = None,
        **options: Any,
    ) -> list[dict[str, Any]]:
        """One row per trial. `label` names a start that is no name; `measure(run)` adds columns to the row.

        Seeds and keys are made from names and numbers: `until` and `start` are strings, a graph goes by its name.
        """
        start = label or options.get("start") or options.get("wake") or protocol.default_start
        graph = options.get("graph")
        named = getattr(graph, "name", graph)
        others = {name: value for name, value in options.items() if name not in ("start", "graph")}
        described = RunRecord(protocol, **others).settings()
        seed = self.seed_for(protocol.id, protocol.n, protocol.parameters, start, options.get("until", "safe"), named)
        context = {"protocol": protocol.id, "n": protocol.n, **protocol.parameters, "start": start}
        if graph is not None:
            context["graph"] = named
        key = [context, described, seed, first, trials]
        rows = self.remember(key, lambda: self._run(protocol, trials, first, seed, context, measure, options))
        self.rows += rows
        return rows

    def _run(
        self,
        protocol: Protocol,
        trials: int,
        first: int,
        seed: int,
        context: dict[str, Any],
        measure: Callable[[Run], dict[str, Any]] | None,
        options: dict[str, Any],
    ) -> list[dict[str, Any]]:
        rows = []
        batch = max(1, min(trials, LARGEST_BATCH // protocol.n))
        for begin in range(first, first + trials, batch):
            size = min(batch, first + trials - begin)
            done = run_trials(
                protocol,
                size,
                first=begin,
                seed=seed,
                workers=self.workers,
                report=self._progress(f"{protocol.id} n = {protocol.n:,}, {context['start']}", begin - first, trials),
                keep_all=measure is not None,
                **options,
            )
            if done.interrupted:
                raise KeyboardInterrupt
            for run in done.runs:
                record = run.record()
                given = {name if name not in record else f"{name}_given": value for name, value in context.items()}
                row = {**given, "seed": seed, **record, "engine": run.engine}
                rows.append({**row, **measure(run)} if measure else row)
        return rows

    def _progress(self, text: str, before: int, trials: int) -> Callable[[int, int], object]:
        return lambda finished, steps: self.report(f"{text}: {before + finished} of {trials}")

    def remember(self, key: list[Any], compute: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """The rows measured under this key before an interruption, or else those that `compute` measures now."""
        name = digest(key)[:24]
        rows = self.store.load(name) if self.store else None
        if rows is None:
            rows = plain(compute())
            if self.store:
                self.store.save(name, rows)
        return rows

    def times(
        self, protocol: Protocol, trials: int, *, most: int | None = None, relative: float = 0.03, **options: Any
    ) -> Sample:
        """At least `trials` trials; more, up to `most`, until the mean is known to within `relative`, by a confidence
        sequence that is inspected each time the number of trials has doubled.

        If none of the first few meets the stop, no more are made, so that a broken protocol does not cost an hour.
        """
        rows = self.trials(protocol, min(trials, FEW), **options)
        if len(rows) < trials and any(row["reached"] for row in rows):
            rows = rows + self.trials(protocol, trials - len(rows), first=len(rows), **options)
        while most and len(rows) < most and all(row["reached"] for row in rows) and not narrow(rows, trials, relative):
            rows = rows + self.trials(protocol, min(len(rows), most - len(rows)), first=len(rows), **options)
        return Sample(protocol.n, _times(rows), _times(rows, reached=False))

    def note(self, **row: Any) -> None:
        """Add a row of data that is not from a trial, such as an exact value or a count."""
        self.rows.append(row)


def narrow(rows: list[dict[str, Any]], first: int, relative: float) -> bool:
    """Whether the mean is known well enough, with inspections at `first` trials and at each doubling."""
    return sequences.mean(_times(rows), [first, len(rows)][len(rows) == first :])[-1].relative <= relative


def _times(rows: list[dict[str, Any]], reached: bool = True) -> np.ndarray:
    unit = "rounds" if rows and "rounds" in rows[0] else "steps"
    return np.array([row[unit] for row in rows if row["reached"] == reached], float)
