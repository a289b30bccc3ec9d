"""`hegemon run --checkpoint` and `--resume`."""

import json
import time

import pytest

from hegemon.cli.main import main
from hegemon.cli.progress import Progress
from hegemon.runs.checkpoint import Checkpoint, read_checkpoint
from hegemon.runs.trajectory import Trajectory
from tests.sentences import is_one_sentence

RUN = ["run", "pairwise", "--n", "400", "--engine", "agents", "--seed", "5", "--until", "steps:3000000", "--quiet"]


def test_an_interrupted_run_goes_on_to_the_same_numbers(tmp_path, capsys, monkeypatch):
    path = tmp_path / "run.npz"
    assert main([*RUN, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    with monkeypatch.context() as slow:
        advance, offer, show = Trajectory._advance, Checkpoint.offer, Progress.show

        def short(self, goal, *more):
            time.sleep(0.05)
            return advance(self, min(goal, self.engine.step + 50_000), *more)

        def eager(self, *parts):
            self._due = 0.0
            offer(self, *parts)

        def interrupt(self, stage, done=0, total=None):
            show(self, stage, done, total)
            if path_has_state():
                raise KeyboardInterrupt

        keepers = []
        make = Checkpoint.__init__
        slow.setattr(Checkpoint, "__init__", lambda self, *parts: (make(self, *parts), keepers.append(self))[0])
        path_has_state = lambda: keepers and keepers[0].state  # noqa: E731
        slow.setattr(Trajectory, "_advance", short)
        slow.setattr(Checkpoint, "offer", eager)
        slow.setattr(Progress, "show", interrupt)
        assert main([*RUN, "--checkpoint", str(path)]) == 130
    captured = capsys.readouterr()
    assert (
        captured.err.endswith(f"kept in {path}: `hegemon run --resume {path}` continues it\n")
        and "None" not in captured.out
    )
    state = read_checkpoint(path)[1]
    assert 0 <= state["engine"][0] < 3_000_000
    assert main(["run", "--resume", str(path), "--json", "--quiet"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["trials"] == whole["trials"] and again["summary"] == whole["summary"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["pairwise", "--n", "9", "--trials", "2", "--checkpoint", "c.npz"], "sweep"),
        (["--resume", "nothing.npz"], "nothing.npz"),
        (["pairwise", "--resume", "nothing.npz"], "there is no checkpoint"),
        (["--resume", "nothing.npz", "--n", "9"], "drop --n"),
        (["--resume", "nothing.npz", "--until", "steps:5"], "drop --until"),
        (["--resume", "nothing.npz", "--seed", "3"], "drop --seed"),
        ([], "which protocol"),
    ],
)
def test_bad_input_is_one_sentence(arguments, word, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *arguments]) == 2
    message = capsys.readouterr().err
    assert word in message and is_one_sentence(message)
