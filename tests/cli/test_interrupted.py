"""An interrupted command says what was finished, where that is kept, and how to go on."""

import json
from contextlib import contextmanager

import pytest

from hegemon.cli.main import main


def interrupted(capsys, *command) -> tuple[str, str]:
    assert main([str(word) for word in command]) == 130
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.startswith("…")]
    assert lines[-1].startswith("hegemon: interrupted")
    return captured.out, lines[-1]


def after(calls: int, function):
    """A function that is interrupted when it is called for the last of so many times."""
    left = iter(range(calls))

    def called(*given, **named):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return function(*given, **named)

    return called


def test_a_run_without_a_finished_trial_shows_no_empty_table(capsys, monkeypatch):
    from hegemon.runs import trials

    monkeypatch.setattr(trials, "run_trials", lambda *_, **__: trials.Trials([], 0.1, True))
    out, said = interrupted(capsys, "run", "pairwise", "--n", 9)
    assert "None" not in out and "mean" not in out and "pairwise" in out
    assert "after 0 of 1 trials; nothing else is kept: --checkpoint FILE" in said
    for unkept in (["--rate", "corrupt=1e-3", "--until", "steps:9"], ["--observe", "leaders"]):
        _, said = interrupted(capsys, "run", "timer", "--n", 9, *unkept)
        assert "--checkpoint FILE" not in said and "--checkpoint cannot keep" in said


def test_a_search_tells_the_worst_start_so_far_and_where_it_is(capsys, monkeypatch, tmp_path):
    from hegemon.experiments import worst_starts

    out = tmp_path / "worst.json"
    for place in (["--out", out], []):
        monkeypatch.setattr(worst_starts, "beats", after(5, lambda *_: False))
        shown, said = interrupted(capsys, "search-worst", "timer", "--n", 4, "--trials", 8, *place)
        assert "worst start found" in shown and "starts; the worst of them is" in said
        assert (str(out) if place else "--out FILE keeps it") in said
    assert len(json.loads(out.read_text())["agents"]) == 4


def test_points_that_are_finished_are_printed(capsys, monkeypatch):
    from hegemon.experiments import budgets

    monkeypatch.setattr(budgets, "run_trials", after(2, budgets.run_trials))
    out, said = interrupted(capsys, "lower-bound", "--trials", "1", "--n", "50,60", "--json")
    assert len(json.loads(out)) == 2 and "after 2 points, as printed" in said


def test_a_sweep_says_where_it_is_kept(capsys, monkeypatch, tmp_path):
    from hegemon.experiments import sweep

    monkeypatch.setattr(sweep, "compact", after(0, sweep.compact))
    folder = tmp_path / "study"
    _, said = interrupted(capsys, "sweep", "pairwise", "--n", 5, "--trials", 3, "--workers", 1, "--out", folder)
    assert "(3 of 3 trials)" in said and f"kept in {folder}; the same command continues" in said


def test_a_holding_time_says_where_it_is_kept(capsys, monkeypatch, tmp_path):
    from hegemon.experiments.holding import holding

    monkeypatch.setattr(holding, "holding", after(0, holding.holding))
    assert "--checkpoint FILE.json keeps" in interrupted(capsys, "holding", "timer", "--n", 3)[1]
    file = tmp_path / "kept.json"
    assert (
        f"nothing was finished that {file}"
        in interrupted(capsys, "holding", "timer", "--n", 3, "--checkpoint", file)[1]
    )
    file.write_text("{}")
    assert f"kept in {file}" in interrupted(capsys, "holding", "timer", "--n", 3, "--checkpoint", file)[1]


def test_a_reproduction_says_where_it_is_kept(capsys, monkeypatch, tmp_path):
    from hegemon.cli import reproduce

    monkeypatch.setattr(reproduce, "make_claims", after(0, reproduce.make_claims))
    _, said = interrupted(capsys, "reproduce", "--quick", "--only", "to.lemma2", "--out", tmp_path)
    assert f"0 of 1 claims are finished and kept in {tmp_path}" in said


def test_a_network_tells_what_it_saw(capsys, monkeypatch):
    from hegemon.network import swarm

    @contextmanager
    def no_screen(watched):
        yield None

    look = swarm.Swarm.look
    monkeypatch.setattr(swarm.Swarm, "look", after(3, look))
    monkeypatch.setattr("hegemon.cli.network.summary", lambda *_: {"seconds": 0.25})
    monkeypatch.setattr("hegemon.cli.network.screen", no_screen)
    out, said = interrupted(capsys, "network", "pairwise", "--n", 3, "--for", 9, "--json", "--quiet")
    assert json.loads(out) == {"seconds": 0.25} and "after 0.2 of 9 seconds" in said


def test_a_network_that_is_interrupted_while_it_begins_leaves_nothing(monkeypatch, tmp_path):
    from hegemon import Pairwise
    from hegemon.graphs.families import parse
    from hegemon.network import swarm

    monkeypatch.setattr(swarm.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(swarm.Swarm, "_await", after(0, None))
    network = swarm.Swarm("pairwise", Pairwise(n=3), parse("complete:3", None, None))
    with pytest.raises(KeyboardInterrupt):
        network.__enter__()
    assert network._fork_server.poll() is not None and not list(tmp_path.iterdir())
