"""Engine `contacts` against engine `nodes`: word for word on the same coins, and in distribution on others."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hegemon import InvalidInput, Referees, run_trials, simulate
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.messages.contacts import NEVER, ContactsEngine, draw_contacts, draw_ranks
from hegemon.engines.messages.nodes import Nodes
from hegemon.graphs.families import complete
from hegemon.process.messages.surroundings import Surroundings


class Prompted:
    """Coins that fall as the compiled engine's did: ranks and ports in the order in which candidates begin."""

    def __init__(self, ranks, ports):
        self.ranks, self.ports = iter(ranks), iter(ports)

    def randint(self, low, high):
        return next(self.ranks)

    def sample(self, population, number):
        chosen = next(self.ports)
        assert len(chosen) == number == len(set(chosen))
        return chosen


def both_engines(protocol, wake, seed, limit=None):
    """The outcomes of the two engines on the same candidates, ranks and contacts."""
    topology, schedule = complete(protocol.n), Surroundings(protocol, wake=wake)
    fast = ContactsEngine(protocol, topology, schedule, seed, 0)
    nodes, rounds = fast.nodes.copy(), fast.rounds.copy()
    slow = Nodes(protocol, topology, schedule, seed, 0)
    assert {round: list(chosen) for round, chosen in slow.beginners.items()} == {
        int(round): nodes[rounds == round].tolist() for round in set(rounds)
    }
    keys = np.empty(len(nodes) * protocol.chosen, np.int64)
    specialize(draw_contacts)(nodes, 0, len(nodes), protocol.n, protocol.chosen, stream(seed, 0, KERNEL), keys)
    contacts = {i: [] for i in range(len(nodes))}
    for key in keys:
        w, i = divmod(int(key), len(nodes))
        contacts[i].append(w - (w > int(nodes[i])))
    order = sorted(contacts, key=lambda i: (rounds[i], nodes[i]))
    slow.rng = Prompted([1 + int(fast.ranks[i]) for i in order], [contacts[i] for i in order])
    return fast.run(limit, None), slow.run(limit, None)


@settings(max_examples=120, deadline=None)
@given(
    n=st.integers(2, 40),
    variant=st.sampled_from(["implicit", "explicit", "wakeup"]),
    wake=st.sampled_from(["one-by-one", "random", "listed"]),
    share=st.floats(0, 1),
    candidates=st.floats(0, 1),
    limit=st.none() | st.integers(0, 45),
    seed=st.integers(0, 2**32),
)
def test_both_engines_tell_the_same_story(n, variant, wake, share, candidates, limit, seed):
    protocol = Referees(n=n, variant=variant, referees=int(share * (n - 1)), candidates=candidates * n)
    schedule = [1 + v * v % 5 for v in range(n)] if wake == "listed" else wake
    fast, slow = both_engines(protocol, schedule if variant == "wakeup" else "all", seed, limit)
    assert fast.measures == slow.measures
    assert (fast.leaders, fast.finished, fast.rounds) == (slow.leaders, slow.finished, slow.rounds)


@pytest.mark.parametrize(
    "options",
    [
        {"n": 30, "referees": 4},
        {"n": 60, "messages": "n^0.9", "candidates": 2},
        {"n": 40, "variant": "explicit"},
        {"n": 50, "variant": "wakeup", "referees": 8},
    ],
    ids=str,
)
def test_both_engines_agree_in_distribution(options):
    protocol = Referees(**options)
    wake = "random" if protocol.variant == "wakeup" else "all"
    fast = run_trials(protocol, 400, seed=1, engine="contacts", wake=wake, workers=1).runs
    slow = run_trials(protocol, 400, seed=2, engine="nodes", wake=wake, workers=1).runs
    for name in ("messages", "bits", "shared_referees", "largest_cloud"):
        if name in fast[0].measures:
            samples = ([run.measures[name] for run in runs] for runs in (fast, slow))
            assert stats.ks_2samp(*samples, method="asymp").pvalue > 1e-3, name
    top = max(run.leaders for run in fast + slow)
    table = [np.bincount([run.leaders for run in runs], minlength=top + 1) for runs in (fast, slow)]
    table = np.array(table)[:, np.sum(table, axis=0) > 0]
    if table.shape[1] > 1:
        assert stats.chi2_contingency(table).pvalue > 1e-3


@pytest.mark.parametrize("engine", ["contacts", "nodes"])
def test_two_candidates_miss_each_other_as_often_as_they_should(engine):
    n, s = 24, 4
    protocol = Referees(n=n, referees=s, candidates=2)
    runs = run_trials(protocol, 2000, seed=3, engine=engine, workers=1).runs
    pairs = [run for run in runs if run.measures["candidates"] == 2 and run.measures["cause"] != "equal ranks"]
    missed = sum(run.leaders == 2 for run in pairs)
    # The first contacts the second (who then is no referee of its own) with probability s/(n-1).
    hit = s / (n - 1)
    disjoint = hit * math.comb(n - s, s) + (1 - hit) * math.comb(n - 1 - s, s)
    assert stats.binomtest(missed, len(pairs), disjoint / math.comb(n - 1, s)).pvalue > 1e-3


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.floats(0, 1), st.integers(1, 5), st.integers(0, 2**32))
def test_contacts_are_different_and_never_oneself(n, share, number, seed):
    nodes = np.unique(np.random.default_rng(seed).integers(n, size=number))
    s = round(share * (n - 1))
    keys = np.empty(len(nodes) * s, np.int64)
    specialize(draw_contacts)(nodes, 0, len(nodes), n, s, stream(seed), keys)
    for index, v in enumerate(nodes):
        chosen = keys[keys % len(nodes) == index] // len(nodes)
        assert len(set(chosen.tolist())) == s and v not in chosen
        assert s == 0 or (chosen.min() >= 0 and chosen.max() < n)


def test_every_set_of_contacts_is_equally_likely():
    counts = {}
    rng, keys = stream(5), np.empty(3, np.int64)
    for _ in range(7000):
        specialize(draw_contacts)(np.array([2]), 0, 1, 8, 3, rng, keys)
        counts[tuple(sorted(keys.tolist()))] = counts.get(tuple(sorted(keys.tolist())), 0) + 1
    assert len(counts) == math.comb(7, 3)
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_ranks_of_any_size_keep_their_order_and_their_ties():
    assert sorted(draw_ranks(50, 10**40, 0, 0)) == list(range(50))
    assert set(draw_ranks(50, 1, 0, 0)) == {0}
    few = draw_ranks(1000, 4, 1, 0)
    assert stats.chisquare(np.bincount(few)).pvalue > 1e-3


def test_what_went_wrong_is_said():
    causes = {run.measures["cause"] for run in run_trials(Referees(n=3, referees=1), 400, seed=1).runs}
    assert causes == {None, "no candidate", "several ranks elected", "equal ranks"}


def test_without_referees_every_candidate_is_elected():
    """A budget of no messages leaves Theorem 3's bound: exactly one of n candidates with probability 1/e."""
    runs = run_trials(Referees(n=10**6, candidates=1, messages=0), 3000, seed=7).runs
    assert all(run.leaders == run.measures["candidates"] and run.measures["messages"] == 0 for run in runs)
    assert stats.binomtest(sum(run.reached for run in runs), 3000, math.exp(-1)).pvalue > 1e-3


@pytest.mark.parametrize("engine", ["contacts", "nodes"])
def test_thousands_of_clouds_are_only_counted(engine):
    run = simulate(Referees(n=5000, candidates=3000, referees=1), seed=1, engine=engine)
    assert 2001 < run.measures["clouds"] == run.measures["candidates"] and run.measures["mean_cloud"] is None


def test_too_many_contacts_are_refused():
    with pytest.raises(InvalidInput, match="do not fit in memory"):
        simulate(Referees(n=10**15), seed=0)


def test_a_limit_beyond_machine_numbers_is_none():
    given = {"seed": 3, "engine": "contacts"}
    assert simulate(Referees(n=9), max_steps=10**36, **given).steps == simulate(Referees(n=9), **given).steps


def test_rounds_beyond_the_limit_do_not_happen():
    protocol = Referees(n=10**6, variant="wakeup")
    whole = simulate(protocol, wake="one-by-one", seed=1)
    cut = simulate(protocol, wake="one-by-one", seed=1, max_steps=100_000)
    assert whole.steps < NEVER and cut.steps == 100_000 and not cut.reached
    assert cut.measures["cause"] == "round limit" and cut.measures["messages"] < whole.measures["messages"]
