"""Starts that are kept for later runs: only those that cannot have changed."""

import itertools

import pytest

import hegemon as hg
from hegemon.models import Bit, Group, Parameter, PopulationProtocol
from hegemon.runs import setting
from hegemon.runs.setting import FEW, Starts

MARKED = 3
_calls = itertools.count()


def marked(n):
    return [Group(MARKED, {"leader": 1}), Group(n - MARKED, {"leader": 0})]


class Marked(PopulationProtocol):
    extra = Parameter(0, low=0)

    class State:
        leader: Bit = 1

    def interact(a, b, p):
        pass

    def start_constant(self, rng):
        return [Group(MARKED, {"leader": 1}), Group(self.n - MARKED, {"leader": 0})]

    def start_given(self, rng):
        return [Group(self.extra, {"leader": 1}), Group(self.n - self.extra, {"leader": 0})]

    def start_helped(self, rng):
        return marked(self.n)

    def start_counted(self, rng):
        ones = next(_calls) // 3  # the same twice, then another
        return [Group(ones, {"leader": 1}), Group(self.n - ones, {"leader": 0})]

    def start_own(self, rng):
        return [Group(self.chosen, {"leader": 1}), Group(self.n - self.chosen, {"leader": 0})]


def leaders(start, as_multiset=False, n=20, **given):
    """Those at the start of a run: of one trial, as most runs are."""
    made = Starts(Marked(n=n, **given), start, 1, as_multiset)
    return int(next(made.of(range(1))).weighted()[0]["leader"].sum()) if not as_multiset else made


@pytest.mark.parametrize("start", ["constant", "given", "initial"])
def test_the_third_run_draws_nothing(start, monkeypatch):
    first = [leaders(start, extra=2) for _ in range(2)]
    monkeypatch.setattr(setting, "generators", None)  # a call would fail
    assert leaders(start, extra=2) == first[0] == first[1]
    with pytest.raises(TypeError):
        leaders(start, extra=5)


def test_a_constant_that_changes_is_seen(monkeypatch):
    assert [leaders("constant") for _ in range(3)] == [3, 3, 3]
    monkeypatch.setitem(globals(), "MARKED", 7)
    assert [leaders("constant") for _ in range(3)] == [7, 7, 7]
    assert [leaders("helped") for _ in range(2)] == [7, 7]
    monkeypatch.setitem(globals(), "MARKED", 8)
    assert leaders("helped") == 8


def test_what_may_depend_on_more_is_made_anew():
    assert [leaders("counted") for _ in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    for chosen in (1, 1, 1, 4):
        protocol = Marked(n=9)
        protocol.chosen = chosen
        assert int(next(Starts(protocol, "own", 1).of(range(1))).agents["leader"].sum()) == chosen
    for extra in (2, 2, 2, 5):
        protocol = Marked(n=9, extra=2)
        protocol.extra = extra
        assert int(next(Starts(protocol, "given", 1).of(range(1))).agents["leader"].sum()) == extra


def test_large_starts_are_not_kept():
    for _ in range(3):
        assert leaders("constant", n=FEW + 1) == MARKED
    assert Starts(Marked(n=FEW + 1), "constant", 1).fixed is None
    for _ in range(2):
        next(leaders("constant", as_multiset=True, n=10**6).of(range(1)))
    assert Starts(Marked(n=10**6), "constant", 1, True).fixed is not None  # two states


def test_runs_from_a_kept_start_are_the_same():
    def run(seed):
        made = hg.simulate(hg.Pairwise(n=30), seed=seed)
        return made.steps, made.configuration.agents.tolist()

    before = [run(seed) for seed in range(4)]
    assert [run(seed) for seed in range(4)] == before
    assert len({steps for steps, _ in before}) == 4
