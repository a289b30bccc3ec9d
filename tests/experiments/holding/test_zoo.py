"""Processes that try to mislead `holding`: estimates cover in every family, and modes that last are noticed."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.coverage import Repetition, too_rarely

import hegemon as hg
from hegemon.compute.randomness import stream
from hegemon.experiments.holding import ensemble
from hegemon.experiments.holding.importance import Rarity, Surprise
from hegemon.experiments.holding.plain import Plain, lower_bound, survey
from hegemon.experiments.holding.process import Crowd, Process, no_losses
from hegemon.experiments.holding.settling import slowest_return

from .zoo import FAMILIES, Case, Hidden, Modes, Parity, covers, exact, exact_modes, measured

RARE, SLOW = Modes(n=2, lose=6, switch=20, then=40), Modes(n=2, lose=18, switch=12, then=20)
CHEAP = [
    Case(RARE),
    Case(SLOW),
    Case(Modes(n=2, lose=6, switch=50, then=100)),  # no plain run enters its mode
    Case(Hidden(n=2, lose=6, switch=20, then=40)),
    Case(Modes(n=2, lose=10, switch=40, then=0)),
]
HELD = [Case(hg.Timer(n=3, s=12)), Case(Modes(n=3, lose=12, switch=3, then=14, back=2))]
BUDGET = 3 * 10**6


@pytest.mark.parametrize("case", CHEAP, ids=str)
def test_a_mode_that_lasts_is_noticed(case):
    found = measured(case, 1, BUDGET)
    assert found.kind == "bound" and found.answer.reasons and covers(found, exact(case))
    assert found.steps_expected is None and found.interval[1] is None


@pytest.mark.parametrize("case", HELD, ids=str)
def test_a_mode_that_is_left_soon_costs_no_estimate(case):
    found = measured(case, 1, BUDGET)
    assert found.kind == "estimate" and covers(found, exact(case)), found.answer


def test_without_its_three_tests_holding_is_misled(monkeypatch):
    """The twin that assumes that ensembles settle, as long as replications agree."""
    monkeypatch.setattr(ensemble, "slowest_return", lambda *_: 0)
    monkeypatch.setattr(Plain, "contradicts", lambda *_: False)
    case = CHEAP[2]
    found = measured(case, 1, BUDGET)
    assert found.kind == "estimate" and found.interval[1] < 1000 < exact(case)


def test_the_other_importance_notices_too():
    found = hg.holding(RARE, importance="surprise", relative=0.5, budget=BUDGET, workers=1)
    assert found.kind == "bound" and found.scouted.slowest is None


@pytest.mark.parametrize("importance", [Rarity(), Surprise()])
def test_what_is_usual_is_what_nearly_all_plain_runs_show(importance):
    """The mode of the first process is entered by one run in twenty, that of the second at once."""
    for protocol, modes in ((Modes(n=2, lose=6, switch=16, then=40), {0}), (SLOW, {1})):
        crowd = Crowd(Process(protocol), importance)
        plain = survey(crowd, crowd.process.key(3), 8 * (5_000 if modes == {0} else 200_000))
        assert {protocol.space.namespace(code).mode for code in plain.states if code} - {0} == modes - {0}
        usual = {"states": plain.states, "moments": plain.moments}
        crowd.model = crowd.model._replace(look=2)
        far = [protocol.space.code(a) for a in (state(leader=1, mode=1 - min(modes)), state(leader=0, mode=0))]
        slowest = slowest_return(crowd, np.array([far], crowd.process.kind), usual, 10, np.uint64(5))
        assert slowest is None


def state(**given) -> SimpleNamespace:
    return SimpleNamespace(**{"tails": 0, "run": 0} | given)


def test_plain_runs_keep_the_times_of_their_losses():
    crowd = Crowd(Process(hg.Timer(n=3, s=3)), Rarity())
    losses = no_losses(1, stream(1, 1), 4096)
    crowd.scatter(stream(1, 0), 50_000, 100, np.empty((500, 3), crowd.process.kind), losses)
    number = int(losses.numbers[0])
    assert losses.clock[0] == 100_000 and 500 < number < 1200
    times = np.diff([0, *losses.times[:number].tolist()])
    assert times.min() > 0 and abs(times.mean() / 120 - 1) < 0.2


LAWS = {
    "exponential": lambda rng, size: rng.exponential(1, size),
    "log-normal": lambda rng, size: rng.lognormal(-2, 2, size),
    "rarely long": lambda rng, size: np.where(rng.random(size) < 0.02, 40, 0.2 / 0.98),
    "nearly always long": lambda rng, size: np.where(rng.random(size) < 0.9, 1 / 0.9, 1e-9),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("number", [1, 8, 200])
def test_the_lower_bound_of_plain_runs_holds_for_any_law(law, number):
    rng = np.random.default_rng(1)
    bounds = np.array([lower_bound(LAWS[law](rng, number)) for _ in range(200)])
    assert np.mean(bounds > 1) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 200)
    if law == "exponential" and number == 200:
        assert np.median(bounds) > 0.7
        poisson = [np.sum(LAWS["rarely long"](rng, 8)) / 3.69 for _ in range(200)]  # what Poisson's law would say
        assert np.mean(np.array(poisson) > 1) > 0.1


def test_the_closed_form_of_modes_is_what_verify_says():
    for protocol in (SLOW, RARE, Modes(n=2, lose=3, switch=2, then=5), Modes(n=2, lose=4, switch=4, then=0)):
        answer = hg.verify(protocol, start="safe", property="holding").holding.from_starts["safe"]
        assert answer == pytest.approx(exact_modes(protocol), rel=1e-9)


def test_parity_and_hidden_are_modes_that_look_otherwise():
    for kind in (Hidden, Parity):
        protocol = kind(n=2, lose=4, switch=3, then=6)
        assert exact(Case(protocol)) == pytest.approx(exact_modes(Modes(n=2, lose=4, switch=3, then=6)), rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
def test_estimates_cover_in_every_family(family):
    """`python -m benchmarks.coverage` counts 100 each."""
    found = [
        Repetition(covers(one, exact(case)), one.kind == "estimate", 1.0)
        for case in FAMILIES[family]
        for one in (measured(case, seed) for seed in range(20))
    ]
    assert not too_rarely(found)
    assert np.mean([one.covers for one in found]) >= 0.9
