"""The engineer's usual alternative: it elects as fast, forgets the dead, and two equal identities stay two leaders."""

import numpy as np
import pytest

from hegemon.protocols import GossipIdentity
from tests.network.population import Population
from tests.network.reference import Sequence, arcs_of

PROTOCOL = GossipIdentity(n=8, bits=10)


@pytest.mark.parametrize("start", ["random", "no-leader", "all-leaders"])
def test_over_the_network_the_highest_identity_leads(start):
    population = Population(PROTOCOL, seed=3, start=start)
    assert population.steps_to(PROTOCOL.safe, 20_000) is not None
    highest = max(population.configuration(), key=lambda state: state.me)
    assert highest.best == highest.me
    population.clock.run(seconds=1)  # the last answer is on its way when the set is reached
    assert population.leaders == 1


def test_the_identity_of_a_dead_leader_is_forgotten():
    agents = PROTOCOL.initial("no-leader", np.random.default_rng(1)).agents
    codes = PROTOCOL.space.encode_array(agents).tolist()
    run = Sequence(PROTOCOL, codes, arcs_of(8), seed=1)
    assert not run.is_in(PROTOCOL.safe)
    assert run.steps_to(PROTOCOL.safe, 20_000) is not None


def test_equal_identities_are_two_leaders_for_ever():
    state = {"me": 1023, "best": 1023, "beat": PROTOCOL.life}
    others = {"me": 5, "best": 1023, "beat": PROTOCOL.life}
    codes = [PROTOCOL.space.code(PROTOCOL.space.parse(one)) for one in [state] * 2 + [others] * 6]
    run = Sequence(PROTOCOL, codes, arcs_of(8), seed=1)
    assert run.steps_to(PROTOCOL.safe, 5000) is None
    leaders = [PROTOCOL.output(PROTOCOL.space.namespace(code), PROTOCOL.p) for code in run.codes]
    assert sum(map(bool, leaders)) == 2


def test_only_the_order_of_identities_matters():
    """Why short identities do for 128 bits: whatever keeps the order of identities commutes with an interaction."""
    long, short = GossipIdentity(n=8, bits=26), GossipIdentity(n=8, bits=10)
    rng = np.random.default_rng(5)
    for _ in range(300):
        places = np.sort(rng.choice(2**26, size=4, replace=False)).tolist()  # the identities that occur, in order
        codes = np.sort(rng.choice(2**10, size=4, replace=False)).tolist()
        picks = rng.integers(4, size=4).tolist()
        beats = rng.integers(short.life + 1, size=2).tolist()

        def pair(names, picks=picks, beats=beats):
            return [{"me": names[picks[2 * k]], "best": names[picks[2 * k + 1]], "beat": beats[k]} for k in (0, 1)]

        told = dict(zip(places, codes, strict=True))
        after = long.transition(*pair(places))
        shortened = tuple({**one, "me": told[one["me"]], "best": told[one["best"]]} for one in after)
        assert shortened == tuple(short.transition(*pair(codes)))
