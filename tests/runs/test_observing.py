"""Rows of a history that an engine collects by itself are those that are made one by one; erring twins are caught."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.engines.population.agents import Agents
from hegemon.engines.population.codes import Codes
from hegemon.models import Choice, PopulationProtocol, count, exactly, maximum, mean, minimum
from hegemon.process.membership import Watcher
from hegemon.runs.history import History
from tests.engines.random_protocols import Drawn

WATCHED = {
    "leaders": count(lambda a, p: a.leader == 1),
    "least": minimum(lambda a, p: a.kind - p.n),
    "most": maximum(lambda a, p: 2 * a.kind + a.done),
    "average": mean(lambda a, p: a.kind + 10 * a.leader),
}
THIRDS = {"average": mean(lambda a, p: a.kind / 3)}  # sums depend on the order


def columns(protocol, **options) -> tuple:
    run = hg.simulate(protocol, **options)
    assert run.watched is not None
    return run.steps, {name: (column.dtype, column.tolist()) for name, column in run.watched.columns.items()}


def both_ways(protocol, **options) -> tuple:
    collected = columns(protocol, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Agents, "advance_counting", lambda *given: None)
        return collected, columns(protocol, **options)


CASES = {
    "to the stop": {"until": "count(leader == 1) == 2", "every": 3},
    "every step": {"until": "count(leader == 1) == 2", "every": 1},
    "steps": {"until": "steps:100", "every": 10},
    "no multiple": {"until": "steps:103", "every": 10},
    "spread": {"until": "steps:5000"},
    "thinned": {"until": "steps:1000", "every": 2, "most_rows": 37},
    "faults": {"until": "steps:200", "every": 5, "faults": (hg.Fault(20, 2), hg.Fault(33, 1))},
    "recovery": {"until": "count(leader == 1) == 2", "every": 2, "faults": (hg.Fault(50, 4),), "max_steps": 400},
    "named engine": {"until": "steps:300", "every": 4, "engine": "agents", "graph": "ring:7"},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_collected_rows_are_the_same(case, seed):
    protocol = Drawn(n=7, key=17 + seed)
    collected, one_by_one = both_ways(protocol, seed=seed, start="random", observe=WATCHED, **CASES[case])
    assert collected == one_by_one


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 12), st.integers(2, 40), st.integers(1, 300))
def test_random_histories_are_the_same(key, n, every, most, steps):
    options = {"until": f"steps:{steps}", "every": every, "most_rows": most, "start": "random"}
    collected, one_by_one = both_ways(Drawn(n=n, key=key), observe=WATCHED, **options)
    assert collected == one_by_one


def test_rows_are_collected_where_that_is_exact(monkeypatch):
    """Most rows of this file are; sums of thirds are not, since they depend on the order of the agents."""
    rows = []
    true = History.record_counts
    monkeypatch.setattr(
        History, "record_counts", lambda self, steps, census: (rows.append(steps), true(self, steps, census))
    )
    columns(Drawn(n=7), until="steps:1000", every=2, start="random", observe=WATCHED)
    assert sum(map(len, rows)) > 490
    rows.clear()
    columns(Drawn(n=7), until="steps:1000", every=2, start="random", observe=THIRDS)
    assert not rows


def late(self, *given):
    """A twin whose rows show the configuration before."""
    census, rest, ended = true_observe(self, *given)
    return np.roll(census, 1, axis=0), rest, ended


def careless(self, census):
    """A twin that finds extremes among all states, even those without agents."""
    found = true_measure(self, census)
    return found | {"least": [float(self.of_states["least"].min())] * len(census)}


true_observe, true_measure = Codes.observe, Watcher.measure_counts


@pytest.mark.parametrize(("owner", "name", "twin"), [(Codes, "observe", late), (Watcher, "measure_counts", careless)])
def test_a_twin_that_errs_is_caught(owner, name, twin, monkeypatch):
    monkeypatch.setattr(owner, name, twin)
    settings = {"until": "steps:100", "every": 3, "start": "random", "observe": WATCHED}
    collected, one_by_one = both_ways(Drawn(n=3, key=5), **settings)
    assert collected != one_by_one


def test_a_fault_between_rows_is_seen_in_the_next():
    """Rows after a fault are collected from what it left."""
    run = hg.simulate(
        hg.Pairwise(n=9),
        start="no-leader",
        until="steps:40",
        observe=True,
        every=2,
        faults=(hg.Fault(9, 9, {"leader": 1}),),
    )
    assert run.watched is not None
    leaders = next(column for name, column in run.watched.columns.items() if name not in ("step", "parallel_time"))
    assert set(run.watched.columns["step"][:5]) == {0, 2, 4, 6, 8} and leaders[-1] < 9


def test_one_name_is_one_observable():
    protocol = hg.Ring(n=5)
    assert set(hg.simulate(protocol, observe="leaders", seed=1).history) == set(
        hg.simulate(protocol, observe=["leaders"], seed=1).history
    )
    both = hg.simulate(protocol, observe="leaders, signals", seed=1).history
    assert {"leaders", "signals"} <= set(both)


class Lettered(PopulationProtocol):
    class State:
        state: Choice("a", "b") = "a"

    def interact(a, b, p):
        if a.state == "a" and b.state == "a":
            b.state = "b"

    safe = exactly(1, lambda a, p: a.state == "a")


def test_observables_and_sets_of_a_caller_may_name_values():
    """As those of the class: the word of a Choice was a raw error of Numba here."""
    letters = {"first": hg.count(lambda a, p: a.state == "a")}
    run = hg.simulate(Lettered(n=5), observe=letters, every=2, until=exactly(1, lambda a, p: a.state == "a"))
    declared = hg.simulate(Lettered(n=5), observe=["state=a"], every=2)
    assert run.watched.columns["first"].tolist() == declared.watched.columns["state=a"].tolist()
    assert run.reached and run.watched.columns["first"][-1] == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"observe": {"z": hg.count(lambda a, p: a.nope == 1)}}, "there is no field 'nope'"),
        ({"observe": {"z": hg.count(lambda a, p: a.state == "zork")}}, "no value 'zork'"),
        ({"observe": {"z": hg.count(lambda a, p: [a.state])}}, "must return True, False or a number"),
        ({"observe": {"z": hg.count(lambda a: 1)}}, "takes other arguments"),
        ({"observe": {"z": 5}}, "cannot be used"),
        ({"observe": {5: hg.count(lambda a, p: 1)}}, "cannot be used"),
        ({"until": exactly(1, lambda a, p: a.nope == 1)}, "there is no field 'nope'"),
        ({"until": exactly(1, lambda a: 1)}, "takes other arguments"),
        ({"until": exactly(1, 5)}, "is not a function"),
    ],
)
def test_what_a_caller_gives_is_checked_as_what_a_class_declares(options, sentence):
    with pytest.raises(hg.InvalidInput, match=sentence):
        hg.simulate(Lettered(n=5), every=2, **options)
