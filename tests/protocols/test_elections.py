"""The elections by messages do what their theorems say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hegemon import AfekGafni, FloodMax, InvalidInput, Referees, Walks, mixing_time, run_trials, simulate
from hegemon.analysis.statistics import sublinear_scale, wilson
from hegemon.graphs.families import parse

GRAPHS = ("complete:64", "hypercube:6", "regular:64,4", "torus:8x8", "lollipop:24,24", "ring:48")


def failures_are_rare(runs, n):
    """At most one in n trials fails (Theorems 1 and 2): not refuted by what was seen."""
    failed = sum(not run.reached for run in runs)
    return stats.binomtest(failed, len(runs), 1 / n, alternative="greater").pvalue > 1e-3


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_referees_elect_one_leader_in_two_rounds(n):
    runs = run_trials(Referees(n=n), 300, seed=1).runs
    assert failures_are_rare(runs, n)
    assert {run.steps for run in runs} == {2}
    # Each of 2 ln n candidates asks 2 √(n ln n) referees, and every referee answers once.
    assert np.mean([run.measures["messages"] for run in runs]) < 8.5 * sublinear_scale(n)


def test_the_explicit_variant_informs_every_node_with_n_more_messages():
    n = 5000
    implicit, explicit = (run_trials(Referees(n=n, variant=v), 50, seed=4).runs for v in ("implicit", "explicit"))
    for one, other in zip(implicit, explicit, strict=True):
        assert other.reached and other.steps == 3 and other.measures["informed"] == n
        assert other.measures["messages"] == one.measures["messages"] + n - 1


def test_every_node_knows_the_leader_in_the_reference_engine_too():
    run = simulate(Referees(n=200, variant="explicit"), seed=1, engine="nodes")
    assert run.reached and run.measures["informed"] == 200


def schedules(n):
    """What an adversary might try: bursts, the last first, one node long before the others, late crowds."""
    return {
        "all": "all",
        "one by one": "one-by-one",
        "random": "random",
        "reversed": [n - v for v in range(n)],
        "one first": [1] + [50] * (n - 1),
        "two waves": [1 + v % 2 for v in range(n)],
        "bursts": [1 + 10 * (v // 50) for v in range(n)],
        "doubling": [1 + max(v, 1).bit_length() for v in range(n)],
    }


@pytest.mark.parametrize("schedule", schedules(2))
def test_wake_up_keeps_the_leader_unique(schedule):
    n = 600
    runs = run_trials(Referees(n=n, variant="wakeup"), 150, seed=5, wake=schedules(n)[schedule]).runs
    assert failures_are_rare(runs, n)
    assert np.mean([run.measures["messages"] for run in runs]) < 8.5 * sublinear_scale(n)


class Watched(Referees):
    """Tells when its leaders decided."""

    def measure(self, nodes):
        return {"decisions": {node.decision for node in nodes if node.status == "ELECTED"}}


def test_the_leader_is_of_the_first_wave_that_has_a_candidate():
    """Those who wake up later find every referee that they share taken, whatever their rank."""
    n = 200
    protocol = Watched(n=n, variant="wakeup", candidates=100)
    runs = run_trials(protocol, 20, seed=2, wake=[7 if v < 100 else 3 for v in range(n)], engine="nodes").runs
    assert all(run.reached and run.measures["decisions"] == {4} for run in runs)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
def test_tiny_networks_run_and_say_what_happened(n):
    for protocol in (Referees(n=n), Referees(n=n, variant="explicit"), Walks(n=n)):
        for run in run_trials(protocol, 100, seed=1).runs:
            assert run.reached == (run.leaders == 1) == (run.measures["cause"] is None)


def test_referees_need_a_complete_graph():
    with pytest.raises(InvalidInput, match="complete graphs only"):
        simulate(Referees(n=10), graph="ring:10")
    with pytest.raises(InvalidInput, match="complete graphs only"):
        simulate(AfekGafni(n=10), graph="ring:10")


@pytest.mark.parametrize("spec", GRAPHS)
def test_walks_elect_one_leader_on_every_graph_in_twice_the_mixing_time(spec):
    graph = parse(spec, None, np.random.default_rng(1))
    runs = run_trials(Walks(n=graph.n, mixing_time="exact"), 60, seed=3, graph=graph).runs
    assert wilson(sum(run.reached for run in runs), 60)[1] >= 0.99
    assert {run.steps for run in runs if run.measures["candidates"]} == {2 * mixing_time(graph, method="exact").high}
    assert {run.measures["guarantee"] for run in runs} == {"holds"}
    assert {run.measures["lazy"] for run in runs} == {graph.is_bipartite}


@pytest.mark.parametrize(("spec", "worse"), [("hypercube:8", 0.6), ("torus:16x16", 0.9), ("ring:128", 0.95)])
def test_walks_that_are_ten_times_too_short_elect_several(spec, worse):
    graph = parse(spec, None, None)
    short = mixing_time(graph, method="exact").high // 10
    runs = run_trials(Walks(n=graph.n, mixing_time=short), 100, seed=3, graph=graph).runs
    assert np.mean([run.reached for run in runs]) < worse
    assert {run.measures["cause"] for run in runs} == {None, "several ranks elected"}
    assert all(run.measures["guarantee"].startswith("void") for run in runs)


def test_what_is_known_of_a_given_mixing_time():
    facts = lambda k, **given: Walks(n=1024, mixing_time=k, **given).adapt(parse("hypercube:10", None, None)).facts  # noqa: E731
    assert facts("spectral")["mixing_time"] == 73 and facts("spectral")["guarantee"] == "holds"
    assert facts(73)["guarantee"] == "holds"
    assert facts(6)["guarantee"] == "void: the mixing time is at least 7"
    assert facts(20)["guarantee"] == "unknown: the mixing time is between 7 and 73"
    assert "not lazy" in facts(20, lazy="no")["guarantee"]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 80), st.integers(0, 2**32))
def test_afek_gafni_elects_the_highest_rank(n, seed):
    run = simulate(AfekGafni(n=n), seed=seed)
    assert run.leaders == 1 or run.measures["cause"] == "equal ranks"
    if run.leaders == 1:
        assert run.steps == 2 * math.ceil(math.log2(n))
        assert run.measures["messages"] <= 3 * n * (1 + math.log2(n))


def test_the_classical_algorithms_are_not_sublinear():
    flood = [simulate(FloodMax(n=n, diameter=1), seed=1).measures["messages"] for n in (50, 100)]
    assert flood == [50 * 49, 100 * 99]
    capture = [simulate(AfekGafni(n=n), seed=1).measures["messages"] for n in (500, 1000, 2000)]
    assert all(messages > 3 * n for messages, n in zip(capture, (500, 1000, 2000), strict=True))


@pytest.mark.full
@pytest.mark.parametrize("n", [10**3, 10**4, 10**5])
def test_theorem_1_at_length(n):
    assert failures_are_rare(run_trials(Referees(n=n), 2000, seed=11).runs, n)


@pytest.mark.full
def test_the_messages_of_theorem_1_keep_their_order_up_to_a_thousand_million_nodes():
    ratios = []
    for k in range(3, 10):
        runs = run_trials(Referees(n=10**k), 200 if k < 8 else 10, seed=12).runs
        ratios.append(np.mean([run.measures["messages"] for run in runs]) / sublinear_scale(10**k))
    assert min(ratios) > 5 and max(ratios) < 9.5  # 8 in the limit; less while referees are shared


@pytest.mark.full
@pytest.mark.parametrize(
    "spec", ["complete:256", "hypercube:8", "regular:256,4", "torus:16x16", "lollipop:64,64", "ring:128"]
)
def test_theorem_2_at_length(spec):
    graph = parse(spec, None, np.random.default_rng(1))
    runs = run_trials(Walks(n=graph.n, mixing_time="exact"), 500, seed=13, graph=graph).runs
    assert sum(run.reached for run in runs) >= 495


@pytest.mark.full
def test_theorem_3_at_length():
    """With one candidate expected and n^a messages, a <= 1/2, one leader is elected with probability about 1/e."""
    for exponent in (0.2, 0.3, 0.4, 0.5):
        runs = run_trials(Referees(n=10**8, candidates=1, messages=f"n^{exponent}"), 2000, seed=14).runs
        assert stats.binomtest(sum(run.reached for run in runs), 2000, math.exp(-1)).pvalue > 1e-3
