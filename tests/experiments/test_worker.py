"""What a worker writes down: the same record, whether trials were made one by one, in blocks, or in parts of blocks."""

import json

import pytest

from hegemon.experiments import worker
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.record_files import Columns, read_records, to_columns
from hegemon.experiments.study import make_study
from hegemon.runs import course

CASES = {
    "met": {"n": 12},
    "limit": {"n": 12, "until": "steps:50"},
    "censored": {"n": 12, "max_steps": 90},
    "random": {"n": 12, "start": "random"},
    "lossy": {"n": 12, "loss": "1/2"},
}


def record_of(tmp_path, axes: dict, name: str, count: int = 60) -> dict:
    study = make_study("timer" if "random" in axes.values() else "pairwise", axes=axes, trials=count)
    folder = Folder(tmp_path / name)
    folder.open(study)
    case = study.cases[0]
    task = {"folder": str(folder.root), "name": folder.name, "settings": case.settings, "seed": 0, "key": case.key}
    worker._prepare.cache_clear()
    worker.stopping.clear()  # an interrupted study of another test leaves it set; whoever starts workers clears it
    answer = worker.work({**task, "first": 0, "count": count, "seconds": 1e6})
    assert answer["error"] is None and answer["done"] == count
    [path] = folder.records.glob(f"{answer['place'][0]}")
    [(_, _, record)] = read_records(path)
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first_steps", [30, 1 << 16])
def test_blocks_give_the_records_of_single_trials(case, first_steps, tmp_path, monkeypatch):
    """With few first steps, engines go on with some trials of every block."""
    monkeypatch.setattr(course, "FIRST_STEPS", first_steps)
    blocks = []
    made = course.StateCourse.block
    monkeypatch.setattr(course.StateCourse, "block", lambda *given: blocks.append(made(*given)) or blocks[-1])
    together = record_of(tmp_path, CASES[case], "together")
    assert any(blocks)
    monkeypatch.setattr(course.StateCourse, "block", lambda *given: None)
    assert record_of(tmp_path, CASES[case], "alone") == together


def test_columns_are_those_of_the_rows():
    rows = [{"a": 1, "b": True}, {"a": 1, "b": 1}, {"c": "x", "a": 1}]
    parts = Columns()
    parts.add({"a": [1, 1], "b": [True, 1]}, 2)
    parts.add({"c": ["x"], "a": [1]}, 1)
    assert json.dumps(parts.content()) == json.dumps(to_columns(rows))
    assert to_columns(rows) == {"a": 1, "b": [True, 1, None], "c": [None, None, "x"]}
    assert type(to_columns([{"b": True}, {"b": 1}])["b"]) is list  # equal, and not the same
