"""Holding times against exact ones: intervals cover, estimates are unbiased, and what is not known is not said."""

import dataclasses
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.compute.randomness import stream
from hegemon.errors import InvalidInput
from hegemon.experiments.holding import replications, settling, sketch
from hegemon.experiments.holding.ensemble import dense, replicate
from hegemon.experiments.holding.holding import agree, holding
from hegemon.experiments.holding.importance import Rarity
from hegemon.experiments.holding.kept import KIND
from hegemon.experiments.holding.kernels import lose
from hegemon.experiments.holding.merits import LARGEST_PART, Generation, merits, tamed
from hegemon.experiments.holding.plain import Plain, survey
from hegemon.experiments.holding.process import LEAST, Crowd, Process, no_losses
from hegemon.experiments.holding.scouting import scout, unseen
from hegemon.kept import read_kept, write_kept
from hegemon.runs.setting import topology_for

from .zoo import Candle, Case, covers
from .zoo import exact as exact_case

SHORT = hg.Timer(n=3, s=12)
CHEAP = 10**7  # steps of a pilot


def exact(protocol) -> float:
    return exact_case(Case(protocol))


def test_an_interval_covers_the_exact_value_and_is_the_same_for_any_number_of_threads():
    found = holding(SHORT, seed=3, relative=0.3, budget=CHEAP)
    assert found.kind == "estimate" and covers(found, exact(SHORT)) and found.reached
    again = holding(SHORT, seed=3, relative=0.3, budget=CHEAP, workers=1)
    assert again.replications == found.replications
    other = holding(SHORT, seed=2, relative=0.2, budget=CHEAP, workers=1)
    assert other.answer.log_steps != found.answer.log_steps


def scouted(protocol, importance, seed: int):
    """A crowd that is guided by what one party of scouts found, and the plan that they made."""
    crowd = Crowd(Process(protocol), importance)
    usual = survey(crowd, crowd.process.key(seed), 10**5)
    plan = dataclasses.replace(
        scout(crowd, seed, 0, CHEAP, lambda *_: None).plan, usual={"states": usual.states, "moments": usual.moments}
    )
    if plan.merits:
        crowd.merits = dense(plan.merits)
    return crowd, plan


def estimates(protocol, importance, number: int, seed: int = 5, broken=None) -> np.ndarray:
    """So many independent estimates of the losses per step, times the exact holding time: 1 on average."""
    crowd, plan = scouted(protocol, importance, seed)
    if broken:
        broken(crowd)
    rates = [replicate(crowd, plan, seed, 2, k).rate for k in range(number)]
    return np.exp(np.array(rates) + math.log(exact(protocol)))


def unbiased(values: np.ndarray) -> bool:
    return abs(values.mean() - 1) <= 4 * values.std(ddof=1) / math.sqrt(len(values))


def test_an_estimate_is_unbiased_and_one_that_invents_weight_is_caught():
    def inventive(crowd):
        inner = crowd._deal

        def deal(now, then, *rest):
            inner(now, then, *rest)
            then.weights[:] += 0.002  # as if a cell were given a little more than it had

        crowd._deal = deal

    protocol = hg.Timer(n=3, s=8)
    assert unbiased(estimates(protocol, Rarity(), 40))
    assert not unbiased(estimates(protocol, Rarity(), 40, broken=inventive))


def test_every_cell_keeps_its_weight_on_average_and_a_forgetful_roulette_is_caught():
    """Twenty cells for six walkers, most of which go to one cell: the others keep one now and then, for all of them."""
    crowd = Crowd(Process(SHORT), Rarity())
    crowd.begin(crowd.process.key(1), 3, 64)
    crowd.iterate(1, 100)
    keys, weights = np.arange(60) % 20, np.linspace(-30, 0, 60)
    merit = np.where(np.arange(20) == 7, 1.0, 0.0)
    truth = np.bincount(keys, np.exp(weights))

    def mean(forgets: bool) -> np.ndarray:
        found = np.zeros((4_000, 20))
        for time in range(len(found)):
            sorting = crowd.sorting
            sorting.keys[:60], crowd._now.weights[:60] = keys, weights
            total, cells = crowd._divide(crowd._now, 60, 1, 1, 6, merit, np.uint64(5), time, sorting)
            if forgets:
                np.maximum(sorting.shares, 1.0, out=sorting.shares)
            crowd._deal(crowd._now, crowd._then, cells, np.uint64(5), time, sorting)
            found[time] = np.bincount(keys[sorting.parents[:total]], np.exp(crowd._then.weights[:total]), 20)
        return (found.mean(axis=0) / truth - 1) / np.maximum(found.std(axis=0) / truth, 1e-9) * math.sqrt(len(found))

    assert np.abs(mean(forgets=False)).max() < 4.5
    assert np.abs(mean(forgets=True)).max() > 20


def test_what_two_parties_missed_is_told_by_what_only_one_found():
    assert unseen(1.0, 1.0, 1.0) == unseen(1.2, 0.5, 1.0) == 0
    assert unseen(0.3, 0.7, 1.0) == 1  # nothing in common: anything may be hidden
    assert unseen(0.9, 0.8, 1.0) == pytest.approx(0.1 * 0.2 / 0.7 / (1 + 0.1 * 0.2 / 0.7))


def test_merits_go_where_losses_are_decided():
    """Cell 0 sends one of two walkers to cell 1, from which all is lost, and one to cell 2, from which nothing is."""
    none = [-math.inf] * 2
    generations = [
        Generation(*map(np.array, row))
        for row in (
            ([0, 0], [0.0, 0.0], none, [0, 1]),
            ([1, 2], [0.0, 0.0], none, [0, 1]),
            ([3, 2], [0.0, 0.0], [0.0, -math.inf], [0, 1]),
        )
    ]
    assert merits(generations, 4).tolist() == [1, 0, 0, 0]
    assert merits([one._replace(lost=np.array(none)) for one in generations], 4) is None


def test_no_single_loss_counts_for_more_than_its_part():
    rng = np.random.default_rng(1)
    for _ in range(200):
        losses = np.exp(rng.normal(0, rng.uniform(0, 6), size=rng.integers(1, 60)))
        most = tamed(losses)
        whole = np.minimum(losses, most).sum()
        if len(losses) * LARGEST_PART <= 1:
            assert most == losses.min()
        elif most < losses.max():
            assert most == pytest.approx(LARGEST_PART * whole)
        else:
            assert most <= LARGEST_PART * whole * (1 + 1e-6)


def test_stein_keeps_the_scatter_of_the_first_stage():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        rates = rng.gamma(25, 1 / 25, size=400)  # mean 1, relative scatter 0.2
        number = replications.enough(np.log(rates[:8]).tolist(), 0.05)
        answer = replications.answer(np.log(rates[:number]).tolist(), plain(1))
        covered += answer.log_low <= 0 <= answer.log_high
    assert covered >= 0.93 * 400


def test_an_ensemble_that_has_not_settled_is_noticed():
    """Forty flames of a candle go out one by one: before that, nothing is lost, and a mean would be too low."""
    crowd, plan = scouted(Candle(n=8, height=40), Rarity(), 1)
    short = dataclasses.replace(plan, burn=24, length=24)
    for asked, answer in ((short, False), (dataclasses.replace(plan, burn=200, length=200), True)):
        found = [replicate(crowd, asked, 1, 2, k) for k in range(8)]
        drift = settling.early_drift([one.rate for one in found], [one.early for one in found])
        assert settling.harmless(*drift, 0.5) == answer
    with np.errstate(invalid="raise"):
        for compare in (settling.early_drift, settling.drift):
            for given in ([[-math.inf] * 3, [0.0, 0.1, -0.1]], [[0.0, 0.1, -0.1], [-math.inf] * 3]):
                assert not settling.harmless(*compare(*given), 0.5)


def test_replications_that_scatter_are_taken_together():
    rng = np.random.default_rng(2)
    rates = rng.normal(-20, 0.8, size=64)  # a relative scatter of 0.95
    few, all_ = replications.answer(rates[:8].tolist(), plain(1)), replications.answer(rates.tolist(), plain(1))
    assert few.kind == "at most" and replications.enough(rates[:8].tolist(), 0.5) > 8
    assert all_.kind == "estimate" and all_.scatter < 0.5
    assert all_.log_steps == pytest.approx(20 - 0.8**2 / 2, abs=0.3)


def plain(steps: int = 10**6, losses: int = 0) -> Plain:
    return Plain(steps, losses, 9.0, [], [])


def test_scattered_replications_give_bounds_that_hold_if_ensembles_had_settled():
    found = replications.answer([-math.inf] * 7 + [-20.0], plain())
    assert found.kind == "at most" and found.log_low == 9 and len(found.reasons) == 1
    assert found.log_high == pytest.approx(20 + math.log(8) + math.log(replications.MARKOV))
    none = replications.answer([-math.inf] * 8, plain())
    assert none.kind == "bound" and none.log_high is None and none.log_low == 9
    even = [-20.0, -20.1] * 8
    assert replications.answer(even, plain()).kind == "estimate"
    hidden = replications.answer(even, plain(), hidden=True)
    assert hidden.kind == "at most" and hidden.log_low == 9 and "hidden" in hidden.reasons[0]
    assert hidden.log_high == replications.answer(even, plain()).log_high
    for serious in (False, True):
        falling = replications.answer(even, plain(), doubts=[replications.Doubt("it was falling", serious)])
        assert falling.kind == ("bound" if serious else "at most") and falling.reasons == ("it was falling",)
        assert (falling.log_high is None) == serious
    uneven = replications.answer([-20.0] * 7 + [-60.0], plain())  # their mean scatters little, their logarithms much
    assert uneven.kind == "at most" and uneven.log_high == pytest.approx(20 + math.log(8 / 7 * replications.MARKOV))
    silent = [*even[:7], -math.inf]  # one that lost nothing: only means of several are of use
    assert replications.answer(silent, plain()).kind == "at most" and replications.enough(silent, 0.5) == 16
    assert replications.answer(silent + even[:8], plain()).kind == "estimate"


@pytest.mark.parametrize(
    "losses, kind", [(0, "bound"), (60, "bound"), (84, "estimate"), (100, "estimate"), (160, "bound")]
)
def test_plain_runs_that_contradict_replications_leave_no_estimate(losses, kind):
    """Replications say a hundred losses in a million steps, within 11 %."""
    rates = [-math.log(10**4) + step for step in (-0.12, -0.08, -0.04, 0, 0, 0.04, 0.08, 0.12)]
    found = replications.answer(rates, plain(10**6, losses))
    assert found.kind == kind and (kind == "estimate") == (not found.reasons)
    assert kind == "estimate" or f"{losses} losses in 1,000,000 steps" in found.reasons[0]


def test_replications_are_trusted_only_if_those_before_them_agreed_too():
    even = [-20.0, -20.1] * 4
    assert replications.answer(even, plain(), tried=0.4).kind == "estimate"
    lucky = replications.answer(even, plain(), tried=1.2)
    assert lucky.kind == "at most" and lucky.log_high > 20 + math.log(replications.MARKOV)
    assert replications.enough(even, 0.5, tried=1.2) > 8 == replications.enough(even, 0.5, tried=0.4)
    assert replications.answer(even * 8, plain(), tried=1.2).kind == "estimate"  # as means of eight


@pytest.mark.parametrize("spread", [0.1, 0.3, 0.5, 0.7])
def test_eight_replications_with_a_long_tail_cover_their_mean(spread):
    rates = np.random.default_rng(3).normal(-(spread**2) / 2, spread, size=(2000, 8))
    half = [replications.width(row, 8) for row in rates]
    missed = np.abs([replications.relative(row)[0] for row in rates]) > half
    assert missed.mean() <= 0.06


def test_a_checkpoint_goes_on_and_belongs_to_its_question(tmp_path):
    place = tmp_path / "held.json"
    whole = holding(SHORT, relative=0.2, budget=CHEAP, checkpoint=place, workers=1)
    content = read_kept(place, KIND)
    content["replications"] = content["replications"][:7]
    write_kept(place, KIND, content)
    again = holding(SHORT, relative=0.2, budget=CHEAP, checkpoint=place, workers=1)
    assert again.answer == whole.answer and again.steps < whole.steps
    with pytest.raises(InvalidInput, match="another question"):
        holding(SHORT, seed=9, checkpoint=place)
    place.write_text("[]")
    with pytest.raises(InvalidInput, match="no whole checkpoint"):
        holding(SHORT, checkpoint=place)


def test_the_ways_of_losing_and_a_path_that_can_be_run_again(tmp_path):
    found = holding(SHORT, relative=0.5, budget=CHEAP, workers=1, path=True)
    assert sum(way["share"] for way in found.ways) == pytest.approx(1)
    assert found.ways[0]["before"] == [{"leader": 0, "timer": 0}] * 2
    found.path.save(tmp_path / "path.json")
    run = hg.simulate(SHORT, start=str(tmp_path / "path.json"), until="broken", seed=3)
    assert run.steps == len(found.path.interactions) and run.leaders == 2


def test_the_rarest_trait_names_the_cell():
    process = Process(hg.Timer(n=4, s=20))
    tables = sketch.blank(process)
    usual, odd, odder = (
        [process.space.code(SimpleNamespace(leader=0, timer=t)) for t in timers]
        for timers in ([20, 20, 20, 20], [20, 20, 20, 3], [20, 20, 20, 2])
    )
    for population, weight in ((usual, 0.0), (odd, -9.0)):
        sketch.rarest_trait(population, tables, weight, True)
    tables.rarity[:] = sketch.rarity_of(tables.seen)
    cells = [sketch.rarest_trait(population, tables, 0.0, False) for population in (usual, odd, odder)]
    assert len(set(cells)) == 3
    assert tables.rarity.min() == 0 and np.isclose(tables.rarity, 9.0).any()


@pytest.mark.full
def test_two_importances_agree_on_time_optimal():
    protocol = hg.TimeOptimal(n=4, r_max=8, b_max=8)
    found = holding(protocol, relative=0.3, seed=1)  # how often intervals cover is asked elsewhere
    assert found.kind == "estimate" and covers(found, exact(protocol))
    other = holding(protocol, relative=0.3, importance="surprise", seed=1)
    assert other.kind == "estimate" and covers(other, exact(protocol)) and agree(found, other)


def test_what_cannot_be_asked_is_refused():
    for protocol, message in (
        (hg.Pairwise(n=5), "forever"),
        (hg.Epidemic(n=5), "elects no leader"),
        (hg.Ring(n=5, N=5), "forever"),
    ):
        with pytest.raises(InvalidInput, match=message):
            holding(protocol)
    with pytest.raises(InvalidInput, match="exactly one"):
        holding(SHORT, start="all-leaders")


def test_the_command(capsys):
    asked = ["holding", "timer", "--n", "3", "-q"]
    assert main([*asked, "--set", "s=12", "--relative", "30%", "--budget", "1e7", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["low"] <= exact(SHORT) <= content["high"] and content["kind"] == "estimate"
    assert content["walkers"] >= LEAST and content["cells"] <= content["walkers"]
    for wrong in (["--relative", "lots"], ["--compare", "danger"]):
        assert main([*asked, *wrong]) == 2
    assert main([*asked, "--set", "s=60", "--relative", "100%", "--budget", "3e8"]) == 0
    assert "e2" in capsys.readouterr().out


def test_meetings_are_kept_in_proportion_to_their_weights():
    losses = no_losses(256, stream(1, 2))
    for k in range(4_000):
        lose(losses, math.log(9) if k % 2 else 0.0, k % 2, 0, 0, 0)
    assert losses.numbers[0] == 4_000 and losses.weight[1] * math.exp(losses.weight[0]) == pytest.approx(20_000)
    assert abs(losses.ends[:, 0].mean() - 0.9) < 0.08


def test_a_random_graph_is_that_of_the_seed():
    """As in every run; once it was the graph of seed 0, whatever the seed."""
    protocol, graph = hg.Timer(n=12, s=20), "regular:12,3"
    arcs = [Process(protocol, graph, seed=seed).topology.targets.tolist() for seed in (0, 5)]
    assert arcs == [topology_for(protocol, graph, seed).targets.tolist() for seed in (0, 5)] and arcs[0] != arcs[1]
