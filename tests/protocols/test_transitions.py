"""Every pair of states, by the catalogue, compiled, and by the second reading of the paper: all three agree."""

import itertools

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.compilation import specialize
from hegemon.protocols import AG, BK, ApproximateMajority, Dijkstra, ExactMajority, OddRing, OptimalSilent, WarTimer
from tests.protocols import readings, row_readings

SMALL = [
    (hg.Threshold(n=5, k=4, marked=2), readings.threshold),
    (hg.Pairwise(n=5), readings.pairwise),
    (hg.Timer(n=3, N=3, s=7), readings.timer),
    (hg.Epidemic(n=5, top=4), readings.epidemic),
    (hg.Countdown(n=5, top=6), readings.countdown),
    (hg.QuickElimination(n=5, m=3), readings.quick_elimination),
    (hg.TimeOptimal(n=4, m=2, r_max=7, r_mid=5, b_max=4), readings.time_optimal),
    (hg.TimeOptimal(n=3, m=2, r_max=3, r_mid=1, b_max=1), readings.time_optimal),
    (hg.Ring(n=3, N=3), readings.ring),
    (hg.Ring(n=2, N=4), readings.ring),
    (OptimalSilent(n=3, r_max=2, d_max=2, e_max=3), row_readings.optimal_silent),
    (OptimalSilent(n=5, r_max=3, d_max=1, e_max=2), row_readings.optimal_silent),
    (WarTimer(n=3, T=3, V=2, W=2), row_readings.war_timer),
    (OddRing(n=3, k=2), row_readings.odd_ring),
    (OddRing(n=4, k=5), row_readings.odd_ring),
    (Dijkstra(n=4, K=5), row_readings.dijkstra),
    (AG(n=4, m=4), row_readings.ag),
    (BK(n=4, top=3, r=2), row_readings.bk),
    (ApproximateMajority(n=4), row_readings.approximate_majority),
    (ExactMajority(n=4), row_readings.exact_majority),
]
NAMES = [f"{protocol.id}-{index}" for index, (protocol, _) in enumerate(SMALL)]


def meet(first, second, parameters):
    for index in range(len(first)):
        interact(first[index], second[index], parameters[0])  # noqa: F821 - bound by specialize


@pytest.mark.parametrize(("protocol", "reading"), SMALL, ids=NAMES)
def test_every_pair_of_states(protocol, reading):
    space = protocol.space
    pairs = list(itertools.product(range(space.size), repeat=2))
    mappings = [space.mapping(space.namespace(code)) for code in range(space.size)]
    expected = [reading(mappings[a], mappings[b], protocol.values) for a, b in pairs]

    plain = [protocol.transition(mappings[a], mappings[b]) for a, b in pairs]
    assert plain == [tuple(pair) for pair in expected]

    first = space.decode_array(np.array([a for a, _ in pairs]))
    second = space.decode_array(np.array([b for _, b in pairs]))
    specialize(meet, protocol.record_types, interact=protocol.interact)(first, second, protocol.compiled_p)
    for records, index in ((first, 0), (second, 1)):
        assert [space.mapping(record) for record in records] == [pair[index] for pair in expected]


@pytest.mark.parametrize(("protocol", "reading"), SMALL, ids=NAMES)
def test_states_are_counted(protocol, reading):
    p = protocol.values
    formula = {
        "threshold": lambda: p["k"] + 1,
        "pairwise": lambda: 2,
        "timer": lambda: 2 * (p["s"] + 1),
        "epidemic": lambda: p["top"] + 1,
        "countdown": lambda: p["top"] + 1,
        "quick-elimination": lambda: 4 * (2 * p["m"] + 1),
        "time-optimal": lambda: 4 * (p["r_max"] + 1) + 4 * (2 * p["m"] + 1) + 2 * (p["b_max"] + 1),
        "ring": lambda: 24 * (p["N"] + 1),
        "optimal-silent": lambda: 3 * p["n"] + p["e_max"] + 1 + 2 * (p["r_max"] + p["d_max"] + 1),
        "war-timer": lambda: (p["T"] + 1) * (p["V"] + 1) * (1 + 2 * (p["W"] + 1)),
        "odd-ring": lambda: 12 * p["k"],
        "dijkstra": lambda: 2 * p["K"],
        "ag": lambda: 2 * p["m"],
        "bk": lambda: (p["top"] + 1) * (1 + p["r"]),
        "approximate-majority": lambda: 3,
        "exact-majority": lambda: 4,
    }[protocol.id]()
    assert protocol.states == formula


def test_lines_of_time_optimal_by_hand():
    """One interaction per line, as the paper's text tells it."""
    protocol = hg.TimeOptimal(n=4, m=2, r_max=8, r_mid=6, b_max=5)

    def checker(leader=0, timer_r=8, detect=0):
        return {"leader": leader, "phase": "CH", "timer_r": timer_r, "detect": detect}

    def elector(leader=0, level=0, done=0):
        return {"leader": leader, "phase": "EL", "mode": "A", "level": level, "done": done}

    def synchronizer(leader=0, timer_b=5):
        return {"leader": leader, "phase": "EL", "mode": "B", "timer_b": timer_b}

    cases = [
        # line 3: detection spreads; line 4: timers go down together
        (checker(timer_r=5, detect=1), checker(timer_r=3), checker(timer_r=4, detect=1), checker(timer_r=4, detect=1)),
        # lines 5-6 and 16: timeout without detection makes two leaders, which flip at once
        (checker(timer_r=1), checker(timer_r=1), elector(leader=1, level=1), elector(leader=1, done=1)),
        # line 8: an elector meets a fresh checker; detect is a copy of leader
        (elector(leader=1, level=2, done=1), checker(timer_r=6), checker(leader=1, detect=1), checker(timer_r=6)),
        (checker(timer_r=6), synchronizer(leader=1), checker(timer_r=6), checker(detect=0)),
        # line 10: a stale checker follows into the election phase
        (checker(timer_r=5, detect=1), elector(level=3, done=0), elector(level=3), elector(level=3)),
        # line 13: of two equal followers the responder becomes a synchronizer, which ticks at once
        (elector(level=2), elector(level=2), elector(level=2), synchronizer(timer_b=4)),
        # line 15: the larger timer becomes an elector, on a tie the responder; line 18: the other ticks
        (synchronizer(timer_b=4), synchronizer(timer_b=2), elector(), synchronizer(timer_b=1)),
        (synchronizer(timer_b=3), synchronizer(timer_b=3), synchronizer(timer_b=2), elector()),
        # line 17: two done leaders of one level
        (elector(1, 2, 1), elector(1, 2, 1), elector(1, 2, 1), elector(0, 2, 1)),
        # lines 1 and 19: a leading synchronizer yields; its timeout makes it a checker
        (elector(), synchronizer(leader=1, timer_b=1), elector(), checker()),
    ]
    for a, b, after_a, after_b in cases:
        assert protocol.transition(a, b) == (after_a, after_b), (a, b)
