"""Trials until precise: inspections follow the order of trials, and censored trials are shown."""

import numpy as np
import pytest

from hegemon.analysis.sequences import FIRST, looks
from hegemon.errors import InvalidInput
from hegemon.experiments.goals import goals_of
from hegemon.experiments.precision import parse_precision, share
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.record_files import encode_record, to_columns
from hegemon.experiments.study import make_study, read_study
from hegemon.experiments.sweep import run_study, sweep


def test_texts():
    assert parse_precision("2%").relative == 0.02 and parse_precision("2%").what == "mean"
    assert parse_precision("5% of quantile 0.9").level == 0.9
    assert parse_precision("1.5 % of median").label == "q50"
    assert parse_precision("3% of mean messages").measure == "messages"
    for text in ("", "2", "0%", "100%", "-1%", "2% of", "2% of mode", "2% of quantile 1", "1.2.3%", ".%"):
        with pytest.raises(InvalidInput):
            parse_precision(text)


def goal_after(tmp_path, values, reached, precise, most=10_000, pieces=7) -> tuple:
    folder = Folder(tmp_path)
    folder.open(make_study("pairwise", axes={"n": 8}, trials=most, relative=precise))
    rows = [{"steps": int(v), "reached": bool(r)} for v, r in zip(values, reached, strict=True)]
    order = np.random.default_rng(pieces).permutation(np.arange(0, len(rows), pieces))
    goals = goals_of(precise, most)
    for first in order:  # whoever is fast
        part = rows[first : first + pieces]
        record = {"case": "k", "first": int(first), "count": len(part), "columns": to_columns(part)}
        with open(folder.records / "a.jsonl", "ab") as file:
            file.write(encode_record(record))
        folder.refresh()
        goals.goal("k", folder)
    return goals.goal("k", folder), goals.is_precise("k")


def test_the_order_in_which_trials_arrive_does_not_matter(tmp_path):
    values = np.random.default_rng(1).geometric(0.01, 4000)
    everyone = np.ones(4000, bool)
    answers = {goal_after(tmp_path / str(p), values, everyone, "8%", pieces=p) for p in (7, 100, 4000)}
    ((goal, precise),) = answers
    assert precise and FIRST < goal < 4000 and goal in [k for k, _ in zip(looks(), range(60), strict=False)]
    shuffled = goal_after(tmp_path / "s", np.sort(values), everyone, "8%")
    assert shuffled[0] != goal  # the order of the trials themselves does matter: the test can fail


def test_cut_off_trials(tmp_path):
    values, reached = np.random.default_rng(2).geometric(0.01, 4000), np.ones(4000, bool)
    reached[3] = False
    assert goal_after(tmp_path / "mean", values, reached, "8%") == (FIRST, False)
    assert goal_after(tmp_path / "median", values, reached, "15% of median")[1]
    assert goal_after(tmp_path / "share", values, reached, "5% of share")[1]
    assert goal_after(tmp_path / "most", values, np.ones(4000, bool), "0.1%", most=300) == (300, False)


def test_a_precise_study_is_the_same_from_every_crew(tmp_path):
    study = make_study("pairwise", axes={"n": [8, 12]}, relative="20%")
    first = run_study(study, tmp_path / "a", workers=1)
    table = first.folder.table.read_bytes()
    again = make_study("pairwise", axes={"n": [8, 12]}, relative="20%")
    from hegemon.experiments.executors.local import Threads

    before, Threads.seconds = Threads.seconds, 0.0
    try:
        assert run_study(again, tmp_path / "b", workers=1).folder.table.read_bytes() == table
    finally:
        Threads.seconds = before
    with pytest.raises(InvalidInput, match="nothing"):
        sweep("pairwise", n=8, relative="5% of mean nothing", workers=1)


def test_the_former_words_are_refused_with_the_new_ones(tmp_path):
    for old, new in (("precise", "relative"), ("zipped", "zip")):
        with pytest.raises(InvalidInput, match=f"{old} is called {new} now"):
            sweep("pairwise", n=8, workers=1, **{old: "2%"})
    file = tmp_path / "study.toml"
    file.write_text('protocol = "pairwise"\nprecise = "2%"\n[axes]\nn = 8\n')
    with pytest.raises(InvalidInput, match="'precise', which is called relative now"):
        read_study(file)
    assert make_study("pairwise", axes={"n": 8}, relative=0.02).relative == "2%"
    assert share("20%") == share(0.2) == share("0.2") == 0.2
