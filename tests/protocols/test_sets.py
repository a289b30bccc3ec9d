"""The named predicates of the ring paper and the safe sets, against definitions written out once more."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.process.membership import Membership
from hegemon.process.stopping import parse_stop


def d_left(ring, i):
    return next((j for j in range(len(ring)) if ring[(i - j) % len(ring)]["leader"]), None)


def d_right(ring, i):
    return next((j for j in range(len(ring)) if ring[(i + j) % len(ring)]["leader"]), None)


def peaceful(ring, i):
    d = d_left(ring, i)
    return d is not None and ring[i - d]["shield"] == 1 and all(ring[i - j]["signal"] == 0 for j in range(d + 1))


def modest(ring, i):
    return peaceful(ring, i) and all(
        ring[i - j]["distL"] <= d_left(ring, (i - j) % len(ring)) for j in range(d_left(ring, i) + 1)
    )


def secure(ring, i, bound):
    if ring[i]["leader"]:
        return ring[i]["distL"] == 0
    return d_right(ring, i) is not None and ring[i]["distL"] <= bound - d_right(ring, i)


def by_definition(ring, bound):
    leaders = sum(agent["leader"] for agent in ring)
    live = [i for i, agent in enumerate(ring) if agent["bullet"] == 2]
    in_pb = leaders >= 1 and all(peaceful(ring, i) for i in live)
    in_ni = in_pb and all(secure(ring, i, bound) for i in range(len(ring))) and all(modest(ring, i) for i in live)
    return {"C_PB": in_pb, "C_NI": in_ni, "safe": in_ni and leaders == 1}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_ring_sets_follow_their_definitions(data):
    n = data.draw(st.integers(2, 6))
    bound = data.draw(st.integers(n, n + 3))
    protocol = hg.Ring(n=n, N=bound)
    agent = st.fixed_dictionaries(
        {
            "leader": st.sampled_from([0, 0, 1]),
            "bullet": st.sampled_from([0, 0, 1, 2]),
            "shield": st.integers(0, 1),
            "signal": st.sampled_from([0, 0, 0, 1]),
            "distL": st.integers(0, data.draw(st.integers(0, bound))),
        }
    )
    ring = data.draw(st.lists(agent, min_size=n, max_size=n))
    records = protocol.space.decode_array(np.array([protocol.space.code(protocol.space.parse(a)) for a in ring]))
    for name, expected in by_definition(ring, bound).items():
        assert Membership(protocol, parse_stop(name, protocol)).holds(records) == expected, name


def test_every_ring_configuration_of_two_agents():
    protocol = hg.Ring(n=2, N=2)
    inside = dict.fromkeys(("C_PB", "C_NI", "safe"), 0)
    membership = {name: Membership(protocol, parse_stop(name, protocol)) for name in inside}
    for codes in itertools.product(range(protocol.states), repeat=2):
        ring = [protocol.space.mapping(protocol.space.namespace(code)) for code in codes]
        records = protocol.space.decode_array(np.array(codes))
        for name, expected in by_definition(ring, 2).items():
            assert membership[name].holds(records) == expected
            inside[name] += expected
            if expected:  # closed: both interactions stay inside
                for i, j in ((0, 1), (1, 0)):
                    after = list(ring)
                    after[i], after[j] = protocol.transition(ring[i], ring[j])
                    assert by_definition(after, 2)[name]
    assert inside["C_PB"] > inside["C_NI"] > inside["safe"] > 0


@pytest.mark.parametrize(
    "protocol",
    [
        hg.Timer(n=6, s=9),
        hg.TimeOptimal(n=6),
        hg.Ring(n=6),
        hg.Ring(n=6, N=11),
        hg.Pairwise(n=6),
        hg.QuickElimination(n=6),
    ],
    ids=lambda protocol: protocol.id,
)
def test_safe_starts_are_safe(protocol):
    for start in ("safe", "barely-safe"):
        if start in protocol.starts:
            run = hg.simulate(protocol, start=start, until="safe", seed=1)
            assert (run.steps, run.reached, run.leaders) == (0, True, 1)


def test_time_optimal_safe_set_needs_each_clause():
    protocol = hg.TimeOptimal(n=3, m=2, r_max=8, r_mid=6, b_max=4)
    follower = {"leader": 0, "phase": "CH", "timer_r": 6, "detect": 0}
    leader = {**follower, "leader": 1, "detect": 1}
    good = [leader, follower, follower]
    bad = [
        [follower, follower, follower],
        [leader, leader, follower],
        [{**leader, "detect": 0}, follower, {**follower, "detect": 1}],
        [leader, {**follower, "timer_r": 5}, follower],
        [leader, {"leader": 0, "phase": "EL", "mode": "A", "level": 0, "done": 0}, follower],
    ]
    assert hg.simulate(protocol, start=good, seed=0).steps == 0
    for configuration in bad:
        assert hg.simulate(protocol, start=configuration, seed=0).steps > 0


@pytest.mark.parametrize("s", [7, 8])
def test_timer_safe_set_at_its_edge(s):
    """Every timer at least s/2: for odd s the half is not a timer value."""
    protocol = hg.Timer(n=2, s=s)
    edge = -(-s // 2)
    leader, follower = {"leader": 1, "timer": s}, {"leader": 0, "timer": edge}
    assert hg.simulate(protocol, start=[leader, follower], seed=0).steps == 0
    assert hg.simulate(protocol, start=[leader, {**follower, "timer": edge - 1}], seed=0).steps > 0
