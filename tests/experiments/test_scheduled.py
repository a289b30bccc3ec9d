"""Holding and the search for bad starts under a scheduler, against exact answers at small n."""

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput

TIMER = hg.Timer(n=3, s=3)


@pytest.mark.full
def test_holding_under_weighted_pairs_is_the_exact_one():
    exact = {
        text: hg.verify(hg.Timer(n=3, s=5), property="holding", start="all", scheduler=text).holding.from_starts["safe"]
        for text in ("weighted:3,1,1", "uniform")
    }
    found = hg.holding(hg.Timer(n=3, s=5), scheduler="weighted:3,1,1", relative="5%", seed=1, workers=1)
    low, high = found.interval
    assert found.scheduler == "weighted:3,1,1" and low <= exact["weighted:3,1,1"] <= high
    assert not low <= exact["uniform"] <= high  # the twin that follows another scheduler is noticed


def test_what_holding_cannot_follow_is_refused():
    for text in ("matching", "permutation", "bounded:2"):
        with pytest.raises(InvalidInput, match="remembers"):
            hg.holding(TIMER, scheduler=text)


@pytest.mark.parametrize("text", ["weighted:5,1,1", "permutation"])
def test_the_start_found_has_its_exact_time(text):
    found = hg.search_worst(TIMER, scheduler=text, evaluations=40, trials=64, final=800, exact=True)
    low, high = found.interval
    slack = 0.5 * (high - low)  # twice the interval, so that one in many thousand fails
    assert low - slack <= found.exact["found"] <= high + slack and found.exact["found"] <= found.exact["worst"] + 1e-9
    assert found.exact["found"] > 0.8 * found.exact["worst"]
    codes = [dict(state) for state in found.start.configuration]
    other = hg.verify(TIMER, start=codes, property="time").hitting.mean
    assert not low - slack <= other <= high + slack  # uniform pairs take another time
