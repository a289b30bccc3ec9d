"""How far a study is: its cases with the trials that are there, from its folder alone. Nothing is imported."""

import copy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon.experiments.case import Case
from hegemon.experiments.goals import goals_of
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.table import compact, read_table
from hegemon.experiments.study import Study
from hegemon.experiments.sweep import check_cases, fill, says

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class StudyProgress:
    """`states` has a row for every case, `failed` those that cannot go on, `elsewhere` the trials of no case."""

    cases: list[tuple[Case, str]]
    goals: Any
    states: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    elsewhere: int

    @property
    def missing(self) -> list[dict[str, Any]]:
        """The cases that do not have all their trials."""
        return [state for state in self.states if state["done"] < state["goal"]]


def progress_of(folder: Folder, study: Study) -> StudyProgress:
    """The progress of every case. A case of a user's own file is identified by the key that the driver has written."""
    ours = [case for case in study.cases if not case.file]
    sound, failed = check_cases(ours) if ours else ([], [])
    own = folder.own()
    for case in (case for case in study.cases if case.file):
        if case.label() in own:
            sound.append((case, own[case.label()]["key"]))
        else:
            failed.append((case, None, f"it has not begun, and nothing here imports {case.file}"))
    folder.read_again()
    goals = goals_of(study.relative, study.trials)
    states = []
    for case, key in sound:
        goal = goals.goal(key, folder)
        known = goals.interval(key, folder)
        states.append({**case.shown, "done": folder.done[key].count(goal), "goal": goal})
        states[-1] |= {"estimate": known and known[0], "ci95": list(known[1:]) if known else None}
        if key in folder.errors and states[-1]["done"] < goal:
            failed.append((case, key, folder.errors[key]))
    failures = [{"case": case.shown, "error": error} for case, _, error in failed]
    return StudyProgress(sound, goals, states, failures, folder.elsewhere({key for _, key in sound}))


def table_so_far(folder: Folder, study: Study, progress: StudyProgress) -> "pandas.DataFrame | None":
    """The trials that are there, as the finished table will have them; None if there are none."""
    own = folder.own()
    rows = []
    for case, key in progress.cases:
        columns = own.get(case.label(), {}).get("columns") if case.file else says(case)
        if columns is not None and folder.done[key].count(limit := progress.goals.final(key, folder)):
            rows.append((columns, key, limit))
    if not rows:
        return None
    filled = fill([columns for columns, _, _ in rows])
    with tempfile.TemporaryDirectory(prefix="hegemon-") as scratch:
        view = copy.copy(folder)
        view.table, view.digest = (Path(scratch) / place.name for place in (folder.table, folder.digest))
        compact(view, [(one, key, limit) for one, (_, key, limit) in zip(filled, rows, strict=True)], study.content())
        return read_table(view)
