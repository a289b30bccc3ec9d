"""Recomputed chains give the same results as stored ones; checkpoints save time and are never trusted."""

import json
import math
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from drawn_protocols import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.cli.main import main
from hegemon.exact import instance, recomputed
from hegemon.exact.configurations import Configurations
from hegemon.exact.hitting import first_largest, first_smallest
from hegemon.exact.instance import Instance
from hegemon.exact.recomputed import RecomputedChain, can_be_recomputed
from hegemon.runs.setting import topology_for


def nothing_is_stored(patch) -> None:
    """Every chain that can be recomputed is."""
    patch.setattr(instance, "estimate", lambda space: SimpleNamespace(gib=math.inf))
    patch.setattr(instance, "can_be_recomputed", lambda space, memory: True)


@pytest.fixture
def unstored(monkeypatch):
    """Verify as if nothing could be stored."""

    def verify(protocol, **options):
        with monkeypatch.context() as patch:
            nothing_is_stored(patch)
            answer = hg.verify(protocol, **options)
        assert isinstance(answer.chain, RecomputedChain)
        return answer

    return verify


def compare(stored, other):
    assert other.chain.size == stored.chain.size and other.chain.labelled_size == stored.chain.labelled_size
    assert len(stored.findings) == len(other.findings)
    for one, two in zip(stored.findings, other.findings, strict=True):
        assert (one.question, one.set, one.holds, one.claimed) == (two.question, two.set, two.holds, two.claimed)
        if one.question != "reached":
            assert one.sentence == two.sentence
        if one.counterexample and one.question != "reached":
            assert len(one.counterexample.interactions) == len(two.counterexample.interactions)
            replay(other, two)
    if stored.hitting:
        for name in ("worst", "mean", "probability"):
            assert getattr(other.hitting, name) == pytest.approx(getattr(stored.hitting, name), rel=1e-8), name
        assert other.hitting.from_starts == pytest.approx(stored.hitting.from_starts, rel=1e-8)
        assert other.hitting.error < 1e-8


def replay(answer, finding):
    """A counterexample is walked by the hand tool along edges of the graph."""
    protocol, graph = answer.protocol, answer.case.topology
    agents = [dict(state) for state in finding.counterexample.configuration]
    for step in finding.counterexample.interactions:
        i, j = step.initiator, step.responder
        assert j in graph.neighbours(i) and (agents[i], agents[j]) == step.before
        agents[i], agents[j] = protocol.transition(agents[i], agents[j])
        assert (agents[i], agents[j]) == step.after
    if finding.question == "closed":
        states = [protocol.space.parse(state) for state in agents]
        assert not protocol.sets[finding.set].contains(states, protocol.p, protocol.values)


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        (hg.Ring(n=2, N=3), {}),
        (hg.Ring(n=3, N=3), {"property": "closed"}),
        (hg.Timer(n=3, s=2), {"graph": "path:3"}),
        (hg.Timer(n=4, s=1), {"graph": "ring:4"}),
        (hg.Pairwise(n=4), {"graph": "path:4", "start": "all"}),
        (hg.Epidemic(n=4, top=2), {"graph": "star:4", "start": "all"}),
        (hg.Timer(n=3, s=2), {"graph": "path:3", "property": "leader:count(leader == 1) >= 1"}),
    ],
    ids=lambda value: value.id if hasattr(value, "id") else "-".join(map(str, value.values())),
)
def test_the_same_answers(protocol, options, unstored):
    compare(hg.verify(protocol, **options), unstored(protocol, **options))


@given(st.data())
@settings(max_examples=30)
def test_the_same_answers_for_any_protocol(data):
    size, n = data.draw(st.integers(2, 3)), data.draw(st.integers(3, 4))
    made, _, _ = drawn(data, size, closed=True)
    graph = data.draw(st.sampled_from([f"path:{n}", f"star:{n}", "ring:4" if n == 4 else "path:3"]))
    stored = hg.verify(made(n), graph=graph)
    with pytest.MonkeyPatch.context() as patch:
        nothing_is_stored(patch)
        compare(stored, hg.verify(made(n), graph=graph))


def test_what_fits_is_stored_and_what_does_not_is_recomputed():
    ring = hg.Ring(n=3, N=3)
    space = Configurations(ring, topology_for(ring))
    assert can_be_recomputed(space, 0.05) and not can_be_recomputed(space, 0.001)
    assert type(Instance(ring, memory=4).chain).__name__ == "Chain"
    assert isinstance(Instance(ring, memory=0.05).chain, RecomputedChain)
    with pytest.raises(hg.InvalidInput, match="more than the 0.001 GiB"):
        Instance(ring, memory=0.001)


def test_an_interrupted_run_goes_on_from_its_checkpoint(unstored, tmp_path, monkeypatch):
    ring, file = hg.Ring(n=2, N=3), tmp_path / "values.npz"
    monkeypatch.setattr(recomputed, "SAVED_EVERY", 0.0)
    left_behind = tmp_path / ".values.npz.abc.partial"  # by a kill in the middle of writing
    left_behind.touch()
    passes = []

    def interrupted(stage, done, total):
        if stage.startswith("expected steps, pass 3 "):
            raise KeyboardInterrupt
        passes.append(stage)

    with pytest.raises(KeyboardInterrupt):
        unstored(ring, property="time", checkpoint=file, progress=interrupted)
    first = len({stage for stage in passes if stage.startswith("expected")})
    whole, passes = passes, []
    resumed = unstored(ring, property="time", checkpoint=file, progress=lambda stage, *_: passes.append(stage))
    alone: list = []
    fresh = unstored(ring, property="time", progress=lambda stage, *_: alone.append(stage))
    assert resumed.hitting.worst == pytest.approx(fresh.hitting.worst, rel=1e-8) and whole and first == 2
    count = [len({stage for stage in list_ if stage.startswith("expected")}) for list_ in (passes, alone)]
    assert count[0] < count[1] and not left_behind.exists()


def test_a_checkpoint_is_never_believed(unstored, tmp_path):
    ring, file = hg.Ring(n=2, N=3), tmp_path / "values.npz"
    case = Instance(ring)
    stored = hg.verify(ring, property="time")
    chain = RecomputedChain(case.space)
    store = recomputed.KeptValues(chain, file, "safe")
    rng = np.random.default_rng(1)
    for lies in (rng.uniform(0, 1e6, chain.size), np.full(chain.size, np.nan), np.full(chain.size, -5.0)):
        store.save(lies)
        answer = unstored(ring, property="time", checkpoint=file)
        assert answer.hitting.worst == pytest.approx(stored.hitting.worst, rel=1e-8)
    with pytest.raises(hg.InvalidInput, match="another question"):
        unstored(hg.Ring(n=2, N=4), property="time", checkpoint=file)
    file.write_text("nonsense")
    with pytest.raises(hg.InvalidInput, match="no whole checkpoint"):
        unstored(ring, property="time", checkpoint=file)


def test_a_wrong_solution_is_noticed(unstored, monkeypatch):
    """The residual, not the iteration, is what proves: stop too early, and the answer is refused."""
    monkeypatch.setattr(recomputed, "MOST_PASSES", 3)
    with pytest.raises(hg.InvalidInput, match="the solver gives up after at most 3 passes"):
        unstored(hg.Ring(n=2, N=4), property="time")


def test_what_needs_a_stored_chain_is_refused(unstored, tmp_path, capsys):
    with pytest.raises(hg.InvalidInput, match="stored"):
        unstored(hg.Ring(n=2, N=2), quantiles=(0.5,))
    with pytest.raises(hg.InvalidInput, match="stored"):
        unstored(hg.Ring(n=2, N=2), property="holding")
    words = ["export", "ring", "--n", "3", "--memory", "0.05"]
    assert main([*words, "--to", "drn", "--out", str(tmp_path / "x.drn")]) == 2
    assert "stored" in capsys.readouterr().err


# -- the same bytes on any number of cores --------------------------------------------------------------------


def printed(words, cores, monkeypatch, capsys):
    """What `verify --json` prints on so many cores, apart from the seconds; ranges are small, so there are many."""
    with monkeypatch.context() as patch:
        nothing_is_stored(patch)
        patch.setattr(recomputed, "WORDS", 3)
        patch.setattr(recomputed.os, "cpu_count", lambda: cores)
        main(["verify", *words, "--json"])
    return re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', capsys.readouterr().out)


WORDS = [
    ["ring", "--n", "2", "--set", "N=3"],
    ["timer", "--n", "4", "--set", "s=2", "--graph", "path:4"],
    ["pairwise", "--n", "8", "--graph", "path:8", "--start", "all"],
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_the_same_bytes_on_any_number_of_cores(words, monkeypatch, capsys):
    switching = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-5)
        first = printed(words, 1, monkeypatch, capsys)
        assert json.loads(first)["stored"] is False
        for cores in (2, 2, 5, 16):
            assert printed(words, cores, monkeypatch, capsys) == first
    finally:
        sys.setswitchinterval(switching)


def test_sweeps_that_follow_the_cores_are_noticed(monkeypatch, capsys):
    """The twin freezes as many ranges as there are cores."""
    found = set()
    for cores in (1, 2, 16):
        monkeypatch.setattr(recomputed, "TOGETHER", cores)
        found.add(printed(WORDS[1], cores, monkeypatch, capsys))
    assert len(found) > 1


def test_of_equal_starts_the_first_is_shown():
    values = np.array([3.0, 5 - 1e-13, 5.0, 5 + 1e-13, 1 + 1e-14, 1.0])
    assert first_largest(values, 1e-12) == 1 and first_smallest(values, 1e-12) == 4
    assert first_largest(np.array([1.0, np.inf, np.inf]), 1e-12) == 1
