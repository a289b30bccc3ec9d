"""Coins of any rational probability: exact in every engine of populations and in verify."""

from fractions import Fraction

import numpy as np
import pytest

import hegemon as hg
from hegemon.models import Bit, Coin, Parameter, PopulationProtocol, Range, exactly
from hegemon.models.coins import CoinSpace
from hegemon.models.description import describe_coins


def leads(a, p):
    return a.leader == 1


class Hesitant(PopulationProtocol):
    """Of two leaders that meet, the responder yields with probability p."""

    arbitrary_start = False
    chance = Parameter(1 / 3, low=0, high=1, real=True)

    class State:
        leader: Bit = 1

    class Coins:
        heads: Coin("chance")
        other: Range(1, 2)

    def interact(a, b, p, coins):
        if a.leader == 1 and b.leader == 1 and coins.heads == 1:
            b.leader = 0

    safe = exactly(1, leads).described("one leader", closed=True)


@pytest.mark.parametrize("chance", ["1/3", 0.3, "1/2", 1, "2/7"])
def test_expected_steps_are_those_of_the_fraction(chance):
    protocol = Hesitant(n=5, chance=float(Fraction(str(chance))))
    worst = hg.verify(protocol, property="time:safe").hitting.worst
    assert worst == pytest.approx(float(16 / Fraction(str(chance))), rel=1e-12)


def test_a_coin_counts_as_many_values_as_its_denominator():
    coins = Hesitant(n=3, chance=0.3).coins
    assert isinstance(coins, CoinSpace) and coins.size == 20
    shown = [coins.value(number).heads for number in range(10)]
    assert shown == [1] * 3 + [0] * 7
    assert all(coins.value(coins.number({"heads": h, "other": 2})) == (h, 2) for h in (0, 1))
    with pytest.raises(hg.InvalidInput, match="never shows 0"):
        Hesitant(n=3, chance=1.0).coins.number({"heads": 0, "other": 1})


@pytest.mark.parametrize("engine", ["agents", "events", "batch"])
def test_every_engine_tosses_it_right(engine):
    """The mean of many trials against (n - 1)² / p; a fair coin in its place is caught."""
    exact, trials = 25 * 3, 400
    steps = np.array([run.steps for run in hg.run_trials(Hesitant(n=6), trials, engine=engine, seed=5).runs])
    error = steps.std() / trials**0.5
    assert abs(steps.mean() - exact) < 4.5 * error
    fair = np.array([r.steps for r in hg.run_trials(Hesitant(n=6, chance=0.5), trials, engine=engine, seed=5).runs])
    assert abs(fair.mean() - exact) > 4.5 * error


def test_refusals():
    with pytest.raises(hg.InvalidInput, match="declare it in `class Coins:`"):

        class Wrong(PopulationProtocol):
            class State:
                heads: Coin("1/3")

            def interact(a, b, p):
                pass

    class Impossible(PopulationProtocol):
        class State:
            leader: Bit = 1

        class Coins:
            heads: Coin("n")

        def interact(a, b, p, coins):
            b.leader = coins.heads

    with pytest.raises(hg.InvalidInput, match="has probability 4; it must be in 0..1"):
        Impossible(n=4)
    assert "1 with probability 1/3" in describe_coins(Hesitant(n=4))
