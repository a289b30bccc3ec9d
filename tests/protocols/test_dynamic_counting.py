"""dynamic-counting: a second reading of its rules, the laws of what it draws, and the experiment of its authors."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.protocols.dynamic_counting import DynamicCounting, draw

LAST = 39


def second_reading(u, v, joins, heads_of_u, heads_of_v, start=lambda e: math.floor((1 + math.log(e)) / math.log(2))):
    """The four points of the specification, on dictionaries whose clocks are numbered from 1."""
    if joins:
        u["group"] += 1
    else:
        v["group"] = 1
    for i in range(1, LAST + 1):
        u["clock"][i] = v["clock"][i] = max(max(u["clock"][i], v["clock"][i]) - 1, 0)
    for g in (u["group"], v["group"]):
        u["clock"][g] = v["clock"][g] = 4 * g
    for x, heads in ((u, heads_of_u), (v, heads_of_v)):
        s = start(x["estimate"]) if x["estimate"] > 10 else 2
        x["missing"] = next((i - 1 for i in range(s, LAST + 1) if x["clock"][i] == 0), LAST)
        if x["phase"] != "NORMAL":
            x["timer"] += 1
        if x["timer"] >= 4 * x["missing"]:
            if x["phase"] == "WAITING":
                x["grv"], x["timer"], x["phase"] = 1 + heads, 1, "UPDATING"
            elif x["phase"] == "UPDATING":
                x["estimate"], x["timer"], x["phase"] = x["grv"], 0, "NORMAL"
        if x["phase"] == "NORMAL" and (1.5 * x["missing"] < x["estimate"] or x["missing"] // 4 > x["estimate"]):
            x["phase"] = "WAITING"
    if u["phase"] == v["phase"] == "UPDATING":
        u["grv"] = v["grv"] = max(u["grv"], v["grv"])
    if u["phase"] == v["phase"] == "NORMAL":
        u["grv"] = v["grv"] = u["estimate"] = v["estimate"] = max(u["grv"], v["grv"])


def as_read(state):
    return state | {"clock": [0, *state["clock"]]}


def as_shown(state):
    return state | {"clock": state["clock"][1:]}


states = st.fixed_dictionaries(
    {
        "estimate": st.integers(0, 100),
        "grv": st.integers(0, 31),
        "timer": st.integers(0, 60) | st.integers(0, 156),
        "missing": st.integers(0, LAST),
        "group": st.integers(1, LAST - 1),
        "clock": st.lists(st.integers(0, 8) | st.integers(1, 156), min_size=LAST, max_size=LAST)
        | st.integers(0, LAST).map(lambda k: [5] * k + [0] * (LAST - k)),
        "phase": st.sampled_from(["NORMAL", "WAITING", "UPDATING"]),
    }
)


def differs(u, v, joins, first, second, **reading) -> bool:
    protocol = DynamicCounting(n=2)
    coins = {"joins": joins, "first": (1 << first) - 1, "second": (1 << second) - 1}
    got = protocol.transition(u, v, coins=coins)
    one, other = as_read(u), as_read(v)
    second_reading(one, other, joins, first, second, **reading)
    return tuple(got) != (as_shown(one), as_shown(other))


@settings(max_examples=300, deadline=None)
@given(u=states, v=states, joins=st.integers(0, 1), first=st.integers(0, 30), second=st.integers(0, 30))
def test_one_interaction(u, v, joins, first, second):
    assert not differs(u, v, joins, first, second)


def test_the_reading_catches_another_start_of_the_search():
    """The twin looks for the first silent group from 2 on, whatever the estimate."""
    u = {"estimate": 60, "grv": 1, "timer": 0, "missing": 0, "group": 1, "clock": [5, 0] + [5] * 37, "phase": "NORMAL"}
    assert not differs(u, dict(u), 0, 0, 0)
    assert differs(u, dict(u), 0, 0, 0, start=lambda estimate: 2)


def test_a_draw_is_geometric_up_to_its_bound():
    p = DynamicCounting(n=2, heads=5).p
    assert Counter(draw(tosses, p) for tosses in range(32)) == {1: 16, 2: 8, 3: 4, 4: 2, 5: 1, 6: 1}


@pytest.mark.full
def test_groups_are_geometric():
    """In the long run a fraction 2^-g of the agents is in group g, of 2,000 independent enough agents."""
    run = hg.simulate(DynamicCounting(n=2000), seed=3, until="steps:80000")
    group = run.configuration.agents["group"]
    for g in range(1, 6):
        share = 2.0**-g
        assert abs(np.mean(group == g) - share) < 6 * np.sqrt(share / 2000)


@pytest.mark.parametrize("start", ["initial", "overestimate", "random"])
def test_estimates_come_near_log_n(start):
    run = hg.simulate(DynamicCounting(n=200), seed=2, start=start, until="steps:160000")
    estimates = set(run.configuration.agents["estimate"].tolist())
    assert len(estimates) == 1 and 5 <= estimates.pop() <= 20  # log n is 8


def test_the_experiment_of_its_authors():
    """16 rounds of 8 n floor(log n) interactions; after the ninth only 50 agents are left: their estimate falls."""
    begin, after = 9 * 8 * 2000 * 10, 7 * 8 * 50 * 5
    run = hg.simulate(
        DynamicCounting(n=2000),
        seed=1,
        faults=[hg.Fault(begin, 1950, kind="leave")],
        until=f"steps:{begin + after}",
        at=(begin + 1, begin + after),
    )
    before, now = run.history["estimate"].tolist()[-2:]
    assert before >= 10 and now <= 8 and run.history["least"].tolist()[-1] == run.history["most"].tolist()[-1]
