"""Lost and one-sided interactions: exact on small instances, and the sequential reference agrees."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.graphs.families import directed_ring
from tests.models.population_protocols import Relay
from tests.network.expectation import reaching
from tests.network.reference import Sequence, arcs_of


def simulated(protocol, codes, chosen, trials, topology=None, **shares):
    runs = [Sequence(protocol, codes, arcs_of(protocol.n, topology), seed=seed, **shares) for seed in range(trials)]
    for run in runs:
        run.steps_to(chosen, 10**6)
    return np.array([run.steps for run in runs])


@pytest.mark.parametrize(
    ("protocol", "start", "topology"),
    [
        (hg.Pairwise(n=5), "all-leaders", None),
        (hg.Timer(n=3, s=4), "no-leader", None),
        (hg.Ring(n=3), "no-leader", directed_ring(3)),
    ],
)
def test_without_faults_it_is_the_chain_of_verify(protocol, start, topology):
    codes = protocol.space.encode_array(protocol.initial(start, np.random.default_rng(0)).agents).tolist()
    found = reaching(protocol, codes, protocol.safe, topology=topology)
    steps = simulated(protocol, codes, protocol.safe, 1500, topology)
    assert found.is_certain
    assert abs(steps.mean() - found.expected_steps) < 4.5 * steps.std() / np.sqrt(len(steps))


def test_pairwise_by_hand():
    """k leaders among n meet with probability k(k-1)/(n(n-1)); lost interactions stretch the time, one-sided do not."""
    n = 5
    exact = sum(n * (n - 1) / (k * (k - 1)) for k in range(2, n + 1))
    codes, protocol = [1] * n, hg.Pairwise(n=n)
    for lost, one_sided in ((0, 0), (0.5, 0), (0, 0.7), (0.25, 0.25)):
        found = reaching(protocol, codes, protocol.safe, lost=lost, one_sided=one_sided)
        assert found.expected_steps == pytest.approx(exact / (1 - lost), rel=1e-12)


def test_one_sided_interactions_as_in_the_reference():
    protocol = hg.Timer(n=3, s=4)
    codes = [protocol.space.code(protocol.space.parse({"leader": 0, "timer": 4}))] * 3
    whole, faulty = (reaching(protocol, codes, protocol.safe, one_sided=q) for q in (0.0, 0.5))
    assert faulty.is_certain and faulty.expected_steps > 1.2 * whole.expected_steps
    steps = simulated(protocol, codes, protocol.safe, 1500, one_sided=0.5)
    assert abs(steps.mean() - faulty.expected_steps) < 4.5 * steps.std() / np.sqrt(len(steps))
    assert abs(steps.mean() - whole.expected_steps) > 4.5 * steps.std() / np.sqrt(len(steps))  # it can tell


def test_what_only_one_sided_interactions_reach():
    relay = Relay(n=3)
    assert not reaching(relay, [1, 0, 0], relay.two).is_certain
    assert reaching(relay, [1, 0, 0], relay.two).stuck is not None
    assert reaching(relay, [1, 0, 0], relay.two, one_sided=0.1).is_certain


@pytest.mark.parametrize("shares", [{"lost": 1}, {"lost": -0.1}, {"one_sided": 1.5}, {"one_sided": float("nan")}])
def test_shares_are_probabilities(shares):
    with pytest.raises(InvalidInput, match="probability"):
        reaching(hg.Pairwise(n=3), [1, 1, 1], hg.Pairwise.safe, **shares)


@pytest.mark.full
def test_the_exact_numbers_of_verify():
    protocol = hg.Timer(n=3, s=4)
    codes = [protocol.space.code(protocol.space.parse({"leader": 0, "timer": 4}))] * 3
    found = hg.verify(protocol, start="no-leader", property="time:safe")
    answer = found.hitting.values[found.chain.index(codes)]
    assert reaching(protocol, codes, protocol.safe).expected_steps == pytest.approx(float(answer), rel=1e-9)
