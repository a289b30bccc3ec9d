"""Churn in a network: its interactions have the law of a simulated run with the same burst; it heals, from a seed."""

import pytest
from scipy import stats

import hegemon as hg
from tests.network.churn import burst, leave, share
from tests.network.population import Population


def interactions(leavers: int, seed: int) -> int:
    """Of eight members that all lead, some leave at once: interactions until one of the others leads alone."""
    population = Population(hg.Pairwise(n=8), seed=seed, start="all-leaders")
    leave(population, population.rng.sample(range(8), leavers))
    population.clock.run(lambda: population.leaders == 1)
    return population.steps


def test_a_burst_has_the_law_of_a_simulated_one():
    gone = [hg.Fault(0, 4, kind="leave")]
    runs = hg.run_trials(hg.Pairwise(n=8), 2000, faults=gone, until="count(leader == 1) == 1", workers=1).runs
    simulated = [run.steps for run in runs]
    assert stats.ks_2samp([interactions(4, seed) for seed in range(150)], simulated).pvalue > 1e-3
    assert stats.ks_2samp([interactions(3, seed) for seed in range(150)], simulated).pvalue < 1e-3  # a twin


@pytest.mark.parametrize(("kind", "members"), [("leader", 0), ("leave", 5), ("join", 5)])
def test_a_network_heals_after_a_burst(kind, members):
    first, second = (burst(hg.Timer(n=8, s=40), kind, members, seed=3) for _ in range(2))
    assert first is not None and first == second


def test_a_protocol_that_makes_no_leader_does_not_heal():
    assert burst(hg.Pairwise(n=4), "leader", 0, seed=1) is None


def test_one_leader_less_often_while_members_come_and_go():
    calm, _ = share(hg.Timer(n=6, s=40), ["leave=1e-9", "join=1e-9"], seconds=60)
    churned, events = share(hg.Timer(n=6, s=40), ["leave=1/20", "join=1/20"], seconds=60)
    assert events > 50 and churned < 0.9 < calm
