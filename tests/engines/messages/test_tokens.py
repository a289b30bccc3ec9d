"""Engine `tokens` against engine `nodes`, and what must hold on every graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hegemon import Walks, run_trials, simulate
from hegemon.compute.randomness import stream
from hegemon.engines.messages.tokens import movers
from hegemon.graphs.families import parse
from hegemon.graphs.random import gnp


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("regular:30,3", {}),
        pytest.param("torus:4x6", {}, marks=pytest.mark.full),
        ("lollipop:10,8", {"mixing_time": 12}),
        pytest.param("complete:30", {}, marks=pytest.mark.full),
        ("ring:24", {"mixing_time": 9, "candidates": 3}),
        ("star:16", {"candidates": 4, "walks": 5}),
    ],
)
def test_both_engines_agree_in_distribution(spec, options):
    graph = parse(spec, None, np.random.default_rng(4))
    protocol = Walks(n=graph.n, **options)
    fast = run_trials(protocol, 200, seed=1, graph=graph, engine="tokens", workers=1).runs
    slow = run_trials(protocol, 200, seed=2, graph=graph, engine="nodes", workers=1).runs
    for runs in (fast, slow):
        assert {run.steps for run in runs if run.measures["candidates"]} == {2 * runs[0].measures["mixing_time"]}
    assert list(fast[0].measures) == list(slow[0].measures)
    for name in ("messages", "bits", "shared_referees"):
        samples = ([run.measures[name] for run in runs] for runs in (fast, slow))
        assert stats.ks_2samp(*samples, method="asymp").pvalue > 1e-3, name
    leaders = [np.bincount([min(run.leaders, 3) for run in runs], minlength=4) for runs in (fast, slow)]
    table = np.array(leaders)[:, np.sum(leaders, axis=0) > 0]
    if table.shape[1] > 1:
        assert stats.chi2_contingency(table).pvalue > 1e-3


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 25),
    probability=st.floats(0.15, 1),
    steps=st.integers(1, 40),
    walks=st.integers(1, 60),
    lazy=st.sampled_from(["auto", "yes", "no"]),
    engine=st.sampled_from(["tokens", "nodes"]),
    seed=st.integers(0, 2**32),
)
def test_on_every_graph_the_highest_rank_is_elected(n, probability, steps, walks, lazy, engine, seed):
    """Whatever the length of the walks: its tokens are never discarded, and all of them are counted back."""
    graph = gnp(n, probability, np.random.default_rng(seed))
    if not graph.is_connected:
        return
    run = simulate(Walks(n=n, mixing_time=steps, walks=walks, lazy=lazy), graph=graph, seed=seed, engine=engine)
    candidates = run.measures["candidates"]
    assert run.leaders <= candidates
    if candidates and run.measures["cause"] != "equal ranks":
        assert run.leaders >= 1
    assert run.steps == (2 * steps if candidates else 1)
    assert run.measures["messages"] <= 2 * steps * candidates * walks


def test_one_candidate_alone_sends_and_counts_every_walk():
    """On a path of two nodes, one lazy walk: a message per move, one back if it ended on the other side."""
    runs = run_trials(Walks(n=2, candidates=1, walks=1, mixing_time=1), 400, seed=3, graph="path:2").runs
    alone = [run for run in runs if run.measures["candidates"] == 1]
    assert {run.measures["messages"] for run in alone} == {0, 2} and all(run.reached for run in alone)
    assert stats.binomtest(sum(run.measures["messages"] == 2 for run in alone), len(alone), 0.5).pvalue > 1e-3


def test_lazy_tokens_flip_fair_coins():
    rng = stream(1)
    moved = np.array([movers(100, rng) for _ in range(4000)])
    assert moved.min() >= 0 and moved.max() <= 100
    edges = [0, 42, 45, 47, 49, 50, 51, 53, 55, 58, 101]
    seen, _ = np.histogram(moved, edges)
    expected = 4000 * np.diff(stats.binom.cdf(np.array(edges) - 1, 100, 0.5))
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-3


def test_the_number_of_workers_does_not_matter():
    one, two = (run_trials(Walks(n=64), 20, seed=9, graph="hypercube:6", workers=k).runs for k in (1, 2))
    assert [run.record() for run in one] == [run.record() for run in two]


def test_a_run_is_cut_off_at_the_limit():
    run = simulate(Walks(n=64), graph="hypercube:6", seed=1, max_steps=20)
    assert (run.steps, run.leaders, run.reached, run.measures["cause"]) == (20, 0, False, "round limit")
    whole = simulate(Walks(n=64), graph="hypercube:6", seed=1)
    assert whole.measures["messages"] >= run.measures["messages"]


def test_a_long_run_can_be_interrupted():
    run = simulate(Walks(n=300), graph="ring:300", seed=1, progress=lambda round: round >= 2000)
    assert run.interrupted and 2000 <= run.steps < 2 * 12777


def test_an_implicit_complete_graph_is_walked_without_its_arcs():
    run = simulate(Walks(n=10**6), seed=1)
    assert run.engine == "tokens" and run.reached and run.steps == 4
