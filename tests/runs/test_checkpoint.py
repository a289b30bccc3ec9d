"""A run that goes on from a checkpoint, in another engine object, ends where an uninterrupted one does."""

import numpy as np
import pytest

import hegemon.engines.messages.compiled.engine as compiled
import hegemon.engines.messages.contacts as contacts
import hegemon.engines.messages.tokens as tokens
import hegemon.engines.population.objects as objects
from hegemon import Fault, Pairwise, Timer, Trains, simulate
from hegemon.compute.portraits import Unkept, classes_of, portray, revive
from hegemon.engines.pacing import Pace
from hegemon.errors import InvalidInput
from hegemon.protocols import CATALOGUE
from hegemon.runs.checkpoint import Checkpoint, read_checkpoint
from hegemon.runs.trajectory import Trajectory

CASES = [
    (Pairwise(n=300), {"engine": "agents"}),
    (Pairwise(n=300), {"engine": "batch"}),
    (Pairwise(n=60), {"engine": "events", "graph": "ring:60", "until": "steps:40000"}),
    (Pairwise(n=60), {"graph": "ring:60", "until": "steps:40000"}),
    (Pairwise(n=3000), {}),
    (Timer(n=30), {"start": "random", "faults": (Fault(2000, 7), Fault(9000, 9))}),
    (Timer(n=30), {"start": "random", "rates": ["corrupt=1e-3", "leave=1e-4", "join=1e-4"], "until": "steps:40000"}),
    (Trains(n=9), {"graph": "grid:3x3", "start": "random"}),
]


def stride(monkeypatch, steps: int) -> None:
    """The engine stands still every so many steps, as it does every fraction of a second in a long run."""
    advance = Trajectory._advance

    def short(self, goal, *more):
        return advance(self, min(goal, self.engine.step + steps), *more)

    monkeypatch.setattr(Trajectory, "_advance", short)


class Eager(Checkpoint):
    """Takes a snapshot whenever the engine stands still."""

    def __init__(self, path, state=None):
        super().__init__(path, {"test": 1}, state)

    def offer(self, *parts):
        self._due = 0.0
        super().offer(*parts)


class Few:
    """In place of a deadline: over after some steps."""

    def __init__(self):
        self.asked = 0

    @property
    def is_over(self) -> bool:
        self.asked += 1
        return self.asked > 64


class Once(Checkpoint):
    """Takes a snapshot every so many times."""

    def __init__(self, path, every: int, state=None):
        super().__init__(path, {"test": 1}, state)
        self._every, self._calls = every, 0

    def offer(self, *parts):
        self._calls += 1
        self._due = 0.0 if self._calls % self._every == 0 else float("inf")
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


PLAIN = [
    ("referees", 60, {"engine": "nodes"}),
    ("flood-max", 60, {"engine": "compiled", "graph": "ring:60"}),
    ("referees", 300, {"engine": "contacts", "wake": "one-by-one"}, {"variant": "wakeup"}),
    ("walks", 40, {"engine": "nodes", "graph": "regular:40,4"}),
    ("walks", 40, {"engine": "tokens", "graph": "regular:40,4"}),
    ("afek-gafni", 25, {}),
    ("itai-rodeh", 9, {"graph": "oriented-ring:9"}),
    ("sublinear-ranking", 6, {"start": "random"}, {"H": 2}),
]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: f"{case[0]}-{case[2].get('engine', 'auto')}")
def test_messages_and_objects_go_on_exactly(case, tmp_path, monkeypatch):
    """Interrupted a few times where the engine stands still, and gone on from the file in another engine."""
    name, n, options, *values = case
    protocol = CATALOGUE[name](n=n, **(values[0] if values else {}))
    monkeypatch.setattr(objects, "Deadline", Few)
    monkeypatch.setattr(contacts, "AT_ONCE", 64)
    monkeypatch.setattr(compiled, "LEAST_CALLS", 16)
    monkeypatch.setattr(tokens, "Pace", lambda amount: Pace(1))
    looks: list[int] = []
    whole = simulate(protocol, seed=3, **options, progress=looks.append)
    path = tmp_path / "c.npz"
    every = max(1, len(looks) // 8)
    keeper, parts = Once(path, every), 0
    while True:
        seen: list[int] = []
        cut = simulate(
            protocol, seed=3, **options, checkpoint=keeper,
            progress=lambda step, seen=seen: seen.append(step) or len(seen) > len(looks) // 3,
        )  # fmt: skip
        if not cut.interrupted:
            break
        parts += 1
        assert keeper.state and not keeper.unkept
        keeper.write()
        keeper = Once(path, every, read_checkpoint(path)[1])
    assert parts and cut.record() == whole.record() and cut.engine == whole.engine


def test_a_going_on_with_other_coins_is_noticed(tmp_path):
    """The comparison above can fail: gone on from the snapshot of another run, this one ends elsewhere."""
    protocol, options = CATALOGUE["afek-gafni"](n=25), {}
    whole = simulate(protocol, seed=3, **options)
    other = Eager(tmp_path / "c.npz")
    simulate(protocol, seed=4, **options, checkpoint=other, progress=lambda round: round >= 3)
    ended = simulate(protocol, seed=3, **options, checkpoint=other)
    assert ended.record() != whole.record()


def test_values_come_back_as_they_were():
    from types import SimpleNamespace

    shared = [1, {"a": (2.5, None)}, frozenset([3, 4])]
    value = {"x": shared, "y": (shared, {2: "b"}, {5, 6}), 7: np.int64(9), "agent": SimpleNamespace(big=2**90)}
    again = revive(portray(value, classes_of(portray)), classes_of(portray))
    assert again == value and again["x"] is again["y"][0] and type(again[7]) is np.int64
    loop: list = []
    loop.append(loop)
    for odd in (loop, object(), {1: lambda: 0}, Pairwise):
        with pytest.raises(Unkept):
            portray(odd, classes_of(portray))


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
