"""What `hegemon holding` prints: a bound is never shown as a value."""

import json

import numpy as np

from hegemon.cli import progress
from hegemon.cli.main import main
from hegemon.protocols.loading import find_protocol

LINE = ["holding", "timer", "--n", "3", "--relative", "40%", "--budget", "3e6", "--quiet"]


def test_bounds_are_shown_as_bounds(capsys):
    for s, holds, kind in ((3, "1", "estimate"), (400, "at least ", "bound")):
        assert main([*LINE, "--set", f"s={s}"]) == 0
        rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if "  " in line.strip())
        assert rows["holds"].strip().startswith(holds)
        assert ("no estimate" in rows) == (kind == "bound") and ("hidden" in rows) == (kind == "estimate")
        assert main([*LINE, "--set", f"s={s}", "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert content["kind"] == kind and bool(content["why_no_estimate"]) == (kind == "bound")
        assert (content["steps"] is None) == (content["high"] is None) == (kind == "bound")


def test_a_protocol_without_a_start_of_one_leader_is_told_what_to_write(tmp_path, capsys):
    text = """
from hegemon import Bit, Group, PopulationProtocol

class Mine(PopulationProtocol):
    class State:
        leader: Bit = 1

    def interact(a, b, p):
        if a.leader == b.leader:
            a.leader, b.leader = 1, 0
"""
    (tmp_path / "mine.py").write_text(text)
    assert main(["holding", str(tmp_path / "mine.py"), "--n", "4"]) == 2
    said = capsys.readouterr().err
    start = said[said.index("def start_safe") :].split("`")[0]
    assert start.endswith("[Group(1, {'leader': 1}), Group(self.n - 1, {'leader': 0})]")
    (tmp_path / "mine.py").write_text(f"{text}\n    {start}\n")
    protocol = find_protocol(str(tmp_path / "mine.py"))(4)
    assert sorted(protocol.initial("safe", np.random.default_rng(0)).agents["leader"].tolist()) == [0, 0, 0, 1]


def test_progress_says_how_long_a_stage_may_still_take(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = progress.Progress(quiet=True)
    shown.show("first", 1, 10)
    now[0] = 130.0
    shown.show("second", 0, 10)
    assert shown._left(130.0) == ""
    shown.show("second", 2, 10)
    assert shown._left(140.0) == ", about 40 s left"
    shown.show("second", 2, 1000)
    assert shown._left(140.0) == ", about 83 min left"
