"""Disturbances: faults that name their agents or their state, as a file that repeats them exactly."""

import json

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.runs.disturbances import read_disturbances, record

FAULTS = (hg.Fault(40, (3, 5), {"leader": 1}), hg.Fault(40, 2), hg.Fault(90, 1, {"leader": 0}, {"leader": 1}))


def save(faults, path):
    path.write_text(json.dumps({"disturbances": [record(fault) for fault in faults]}))


def test_a_file_gives_back_the_same_faults(tmp_path):
    save(FAULTS, tmp_path / "faults.json")
    assert read_disturbances(tmp_path / "faults.json") == FAULTS


def test_named_agents_get_the_values_and_no_others():
    before = hg.simulate(hg.Pairwise(n=9), start="safe", until="steps:0", engine="agents").configuration.agents
    run = hg.simulate(
        hg.Pairwise(n=9), start="safe", until="steps:0", engine="agents", faults=(hg.Fault(0, (4, 7), {"leader": 1}),)
    )
    changed = np.flatnonzero(run.configuration.agents != before)
    assert set(changed) <= {4, 7} and run.leaders == len({0, 4, 7})


def test_a_fault_on_counts_moves_agents_from_one_state_to_another():
    fault = hg.Fault(0, 10, {"leader": 1}, {"leader": 0})
    for engine in ("batch", "agents"):
        run = hg.simulate(hg.Pairwise(n=100), start="safe", until="steps:0", engine=engine, faults=(fault,))
        assert run.leaders == 11


@pytest.mark.parametrize(
    ("fault", "engine", "says"),
    [
        (hg.Fault(0, (4, 4), {"leader": 1}), "agents", "different"),
        (hg.Fault(0, (9,), {"leader": 1}), "agents", "0..8"),
        (hg.Fault(0, (4,), {"leader": 1}), "batch", "counts"),
        (hg.Fault(0, 2, {"leader": 0}, {"leader": 1}), "agents", "there are 1"),
        (hg.Fault(0, 2, {"leader": "x"}), "agents", "not a value"),
    ],
)
def test_what_makes_no_sense_is_refused(fault, engine, says):
    with pytest.raises(InvalidInput, match=says):
        hg.simulate(hg.Pairwise(n=9), start="safe", until="steps:0", engine=engine, faults=(fault,))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"step": -1, "agents": 1}]', '[{"step": 1, "agents": [true]}]', "[" * 9999]
)
def test_a_bad_file_is_one_sentence(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InvalidInput, match="bad.json"):
        read_disturbances(tmp_path / "bad.json")


def test_a_saved_file_is_plain_json(tmp_path):
    save(FAULTS, tmp_path / "faults.json")
    assert json.loads((tmp_path / "faults.json").read_text())["disturbances"][1] == {"step": 40, "agents": 2}
