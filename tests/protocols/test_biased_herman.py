"""Herman's ring with biased coins and speed reducers: the rules read a second time, and every figure known of them."""

import itertools

import numpy as np
import pytest

import hegemon as hg
from hegemon.protocols import CATALOGUE

BIASED, REDUCER = CATALOGUE["biased-herman"], CATALOGUE["speed-reducer"]


def test_the_rules_of_biased_rings():
    for x, left, heads in itertools.product((0, 1), repeat=3):
        near = [{"x": left}, {"x": 0}]
        drawn = (0 if heads else 1) if x == left else left
        assert BIASED(3).transition({"x": x}, near, {"heads": heads}) == {"x": drawn}
        passed = x ^ heads if x == left else x
        assert BIASED(3, passing=1).transition({"x": x}, near, {"heads": heads}) == {"x": passed}


def test_the_rules_of_speed_reducers():
    for x, left, slow, heads, slow_heads, slows, wakes in itertools.product((0, 1), repeat=7):
        coins = {"heads": heads, "slow_heads": slow_heads, "slows": slows, "wakes": wakes}
        me, near = {"x": x, "mode": ("NORMAL", "SLOW")[slow]}, [{"x": left, "mode": "SLOW"}, {"x": 0, "mode": "SLOW"}]
        mode = ("NORMAL", "SLOW")[slow ^ (wakes if slow else slows)]
        bit = left if x != left else x if slow else 1 - heads
        assert REDUCER(3, slow_chance=0.5).transition(me, near, coins) == {"x": bit, "mode": mode}
        passed = x if x != left else x ^ (slow_heads if slow else 1)
        assert REDUCER(3, passing=1, slow_chance=0.5).transition(me, near, coins) == {"x": passed, "mode": mode}


MEANS = {
    (0.5, 0): (1 / 3, 29 / 15, 4.49332660),
    (0.5, 1): (1 / 3, 29 / 15, 4.49332660),
    (0.3, 0): (0.396825, 2.157772, 4.801571),
    (0.3, 1): (0.396825, 2.305606, 5.365178),
    (0.1, 0): (0.925926, 4.318851, 8.953380),
    (0.1, 1): (0.925926, 5.402930, 12.619123),
}


@pytest.mark.parametrize(("chance", "passing"), MEANS)
def test_mean_rounds_from_random_bits(chance, passing):
    for n, known in zip((3, 5, 7), MEANS[chance, passing], strict=True):
        found = hg.verify(BIASED(n, chance=chance, passing=passing), property="time:safe").hitting.mean
        assert found == pytest.approx(known, abs=6e-7)


def test_fair_is_best_on_small_rings():
    for n, passing in itertools.product((3, 5, 7), (0, 1)):
        times = [
            hg.verify(BIASED(n, chance=chance, passing=passing), property="time:safe").hitting.mean
            for chance in (0.4, 0.45, 0.5, 0.55, 0.6)
        ]
        assert min(times) == times[2]


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({}, (0.33760816, 1.91359451)),
        ({"passing": 1}, (0.84765625, 5.09325384)),
        ({"passing": 1, "slow_chance": 0.5}, (1.14299234, 7.65289501)),
    ],
    ids=["bit", "pass", "pass 2"],
)
def test_mean_rounds_with_speed_reducers(given, known):
    for n, expected in zip((3, 5), known, strict=True):
        protocol = REDUCER(n, **given)
        answer = hg.verify(protocol, property="time:safe")
        normal = np.array([protocol.space.mapping_of(code)["mode"] == "NORMAL" for code in range(protocol.space.size)])
        begins = normal[answer.chain.codes].all(axis=1)
        assert begins.sum() == 2**n
        assert answer.hitting.values[begins].mean() == pytest.approx(expected, abs=6e-9)


def test_runs_have_the_exact_mean():
    """And the runs of the other kind of ring have another one."""
    for passing, same in ((0, True), (1, False)):
        runs = hg.run_trials(REDUCER(5, passing=passing), 800, start="normal", seed=2).runs
        times = np.array([run.steps for run in runs])
        assert (abs(times.mean() - 1.91359451) < 4.5 * times.std() / len(times) ** 0.5) == same
