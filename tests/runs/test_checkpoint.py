"""A run that goes on from a checkpoint, in another engine object, ends where an uninterrupted one does."""

import numpy as np
import pytest

from hegemon import Fault, Pairwise, Timer, Trains, simulate
from hegemon.errors import InvalidInput
from hegemon.runs.checkpoint import Checkpoint, read_checkpoint
from hegemon.runs.driver import Driver

CASES = [
    (Pairwise(n=300), {"engine": "agents"}),
    (Pairwise(n=300), {"engine": "batch"}),
    (Pairwise(n=60), {"engine": "events", "graph": "ring:60", "until": "steps:40000"}),
    (Pairwise(n=60), {"graph": "ring:60", "until": "steps:40000"}),
    (Pairwise(n=3000), {}),
    (Timer(n=30), {"start": "random", "faults": (Fault(2000, 7), Fault(9000, 9))}),
    (Trains(n=9), {"graph": "grid:3x3", "start": "random"}),
]


def stride(monkeypatch, steps: int) -> None:
    """The engine stands still every so many steps, as it does every fraction of a second in a long run."""
    reach = Driver._reach
    monkeypatch.setattr(Driver, "_reach", lambda self, goal: reach(self, min(goal, self.engine.step + steps)))


class Eager(Checkpoint):
    """Takes a snapshot whenever the engine stands still."""

    def __init__(self, path, state=None):
        super().__init__(path, {"test": 1}, state)

    def offer(self, *parts):
        self._due = 0.0
        super().offer(*parts)


@pytest.mark.parametrize(("protocol", "options"), CASES, ids=lambda value: getattr(value, "id", ""))
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_going_on_is_exact(protocol, options, share, tmp_path, monkeypatch):
    whole = simulate(protocol, seed=3, **options)
    stride(monkeypatch, max(1, whole.steps // 30))
    path = tmp_path / "c.npz"
    keeper = Eager(path)
    parts = 0
    for _ in range(3):  # interrupted, gone on, interrupted, gone on
        stop_at = (keeper.state["engine"][0] if keeper.state else 0) + max(1, int(share * whole.steps / 2))
        cut = simulate(protocol, seed=3, **options, checkpoint=keeper, progress=lambda step, at=stop_at: step >= at)
        if not cut.interrupted:
            break
        parts += 1
        keeper.write()
        about, state = read_checkpoint(path)
        assert about == {"test": 1}
        keeper = Eager(path, state)
    ended = simulate(protocol, seed=3, **options, checkpoint=keeper)
    assert parts and ended.record() == whole.record() and ended.engine == whole.engine
    ours, theirs = ended.configuration.agents, whole.configuration.agents
    assert np.array_equal(ours, theirs)


def test_a_damaged_file_is_refused(tmp_path, monkeypatch):
    stride(monkeypatch, 500)
    path = tmp_path / "c.npz"
    keeper = Eager(path)
    simulate(Pairwise(n=300), seed=3, engine="agents", checkpoint=keeper, progress=lambda step: step > 2000)
    keeper.write()
    text = path.read_bytes()
    read_checkpoint(path)
    for damaged in (text[:-40], b"", text[:200] + bytes([text[200] ^ 1]) + text[201:], b"PK rubbish"):
        path.write_bytes(damaged)
        with pytest.raises(InvalidInput):
            read_checkpoint(path)
    with pytest.raises(InvalidInput):
        read_checkpoint(tmp_path / "nothing")
    np.savez(path, text=np.array([{}], object), allow_pickle=True)
    with pytest.raises(InvalidInput):
        read_checkpoint(path)
