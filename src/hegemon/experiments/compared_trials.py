"""The trials of a comparison: those of every start, which choose the slowest, and fresh ones of that start.

The trials that made a start the slowest flatter it, so its row is of the fresh ones.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hegemon.experiments.store.table import read_table
from hegemon.experiments.study import make_study
from hegemon.experiments.study_driver import StudyListener
from hegemon.experiments.sweep import run_study

if TYPE_CHECKING:
    import pandas

Key: TypeAlias = tuple[str, int]  # a protocol with its parameters, and n
Settings: TypeAlias = dict[str, Any]


@dataclass
class ComparedTrials:
    """`rows` has the trials of each row, and `every` all trials: those of rows are `shown`."""

    rows: "dict[Key, pandas.DataFrame]" = field(default_factory=dict)
    every: "list[pandas.DataFrame]" = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Comparer:
    """Runs cases, a list of starts for every key, in a folder."""

    trials: int
    seed: int
    root: Path
    workers: int | None = None
    listener: StudyListener | None = None

    def compare(self, cases: dict[Key, list[Settings]]) -> ComparedTrials:
        found = ComparedTrials()
        slowest: dict[Key, Settings] = {}
        for key, parts in self._measure(found, cases, self.seed, self.root).items():
            if len(cases[key]) == 1:
                found.rows[key] = parts[0][1]
            else:
                slowest[key] = max(parts, key=lambda one: one[1]["_time"].mean())[0]
        if slowest:
            place = self.root / f"slowest-{_digest(slowest)[:8]}"
            again = {key: [settings] for key, settings in slowest.items()}
            fresh = self._measure(found, again, int(_digest(["fresh", self.seed])[:12], 16), place)
            found.rows |= {key: parts[0][1] for key, parts in fresh.items()}
        shown = {id(part) for part in found.rows.values()}
        found.every = [part.assign(shown=id(part) in shown) for part in found.every]
        return found

    def _measure(
        self, found: ComparedTrials, cases: dict[Key, list[Settings]], seed: int, root: Path
    ) -> "dict[Key, list[tuple[Settings, pandas.DataFrame]]]":
        """The trials of each case that can run; every part of the table, and what failed, is added to `found`."""
        keyed = [(key, settings) for key, several in cases.items() for settings in several]
        study = make_study(trials=self.trials, seed=seed, cases=[settings for _, settings in keyed])
        outcome = run_study(study, root, workers=self.workers, listener=self.listener)
        found.failed += [{**case.shown, "error": error} for case, error in outcome.failed]
        if not outcome.trials:
            return {}
        table = read_table(outcome.folder)
        clocks = [name for name in ("steps", "rounds") if name in table]  # each trial has one of them
        starts = table["start"].fillna("") if "start" in table else ""
        table = table.assign(_time=table[clocks].max(axis=1), start=starts)
        broken = [case for case, _ in outcome.failed]
        sound = [pair for case, pair in zip(study.cases, keyed, strict=True) if case not in broken]
        parts: dict[Key, list[Any]] = {}
        for number, (key, settings) in enumerate(sound):
            part = table[table["case"] == number]
            parts.setdefault(key, []).append((settings, part))
            found.every.append(part)
        return parts


def _digest(content: Any) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()
