"""Random faults over a running network: always back to exactly one leader."""

import os
from collections import Counter

import numpy as np
import pytest

from hegemon.protocols import Pairwise, TimeOptimal, Timer
from tests.network.campaign import KINDS, Campaign
from tests.network.population import Population


def test_every_kind_of_fault_is_survived():
    campaign = Campaign(Population(Timer(n=8, s=80), seed=1, rate=5.0), seed=2, lasts=2.0, settled=2.0)
    for kind in (*KINDS, *KINDS):
        assert campaign.strike(kind).seconds is not None, kind
    totals = campaign.population.totals
    assert totals["unanswered"] > 0 and totals["unreachable"] > 0 and totals["replayed"] > 0


def test_a_protocol_that_does_not_stabilize_is_caught():
    population = Population(Pairwise(n=8), seed=1, rate=5.0)
    campaign = Campaign(population, seed=2, limit=200.0, settled=2.0)
    assert campaign.strike("loss").seconds is not None
    for agent in population.agents.values():
        agent.state = 0
    assert campaign.strike("loss").seconds is None


@pytest.mark.full
def test_a_thousand_faults_over_fifty_members(capsys):
    faults = int(os.environ.get("HEGEMON_FAULTS", "1000"))
    campaign = Campaign(Population(TimeOptimal(n=50), seed=1, rate=5.0), seed=2, settled=5.0)
    outcomes = [campaign.strike() for _ in range(faults)]
    with capsys.disabled():
        for kind in KINDS:
            times = [outcome.seconds for outcome in outcomes if outcome.kind == kind and outcome.seconds is not None]
            if times:
                marks = np.quantile(times, (0.5, 0.9, 1.0)).round(1).tolist()
                print(f"{kind:10} {len(times):4} recoveries: median, 90 %, longest {marks} s")
    assert Counter(outcome.seconds is None for outcome in outcomes) == {False: faults}
