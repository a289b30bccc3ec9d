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

    def start_marked(self, rng):
        return [Group(self.MARKED, {"leader": 1}), Group(self.n - self.MARKED, {"leader": 0})]

    def start_largest(self, rng):
        return [Group(self.max, {"leader": 1}), Group(self.n - self.max, {"leader": 0})]

    def start_listed(self, rng, listed=[2]):  # noqa: B006 - it changes
        return [Group(listed[0], {"leader": 1}), Group(self.n - listed[0], {"leader": 0})]


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


@pytest.mark.parametrize("start, name", [("marked", "MARKED"), ("largest", "max")])
def test_an_attribute_is_no_constant_of_the_same_name(start, name):
    for chosen in (1, 1, 1, 4):
        protocol = Marked(n=9)
        setattr(protocol, name, chosen)
        assert int(next(Starts(protocol, start, 1).of(range(1))).agents["leader"].sum()) == chosen


def test_a_default_that_changes_in_place_is_seen():
    default = Marked.start_listed.__defaults__[0]
    for default[0] in (2, 2, 2, 5):
        assert leaders("listed") == default[0]


def test_what_is_around_a_start_may_change_in_place():
    held = [1]

    class Around(Marked):
        def start_held(self, rng):
            return [Group(held[0], {"leader": 1}), Group(self.n - held[0], {"leader": 0})]

    for held[0] in (1, 1, 1, 6):
        assert int(next(Starts(Around(n=9), "held", 1).of(range(1))).agents["leader"].sum()) == held[0]


def test_what_an_author_makes_of_a_start_is_made_anew(monkeypatch):
    class Changed(Marked):
        def initial(self, *given):
            made = super().initial(*given)
            made.agents["leader"][:MARKED] = 0
            return made

    for removed, left in ((3, 9), (3, 9), (3, 9), (5, 7)):
        monkeypatch.setitem(globals(), "MARKED", removed)
        assert int(next(Starts(Changed(n=12), "initial", 1).of(range(1))).agents["leader"].sum()) == left


def test_code_that_is_replaced_in_place_is_read_again(monkeypatch):
    class Replaced(Marked):
        def start_replaced(self, rng):
            return [Group(2, {"leader": 1}), Group(self.n - 2, {"leader": 0})]

    def number():
        return int(next(Starts(Replaced(n=9), "replaced", 1).of(range(1))).agents["leader"].sum())

    assert [number() for _ in range(3)] == [2] * 3
    monkeypatch.setitem(globals(), "_calls", itertools.count())
    Replaced.start_replaced.__code__ = Marked.start_counted.__code__  # as a notebook reloads a module
    assert [number() for _ in range(7)] == [0, 0, 0, 1, 1, 1, 2]


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
