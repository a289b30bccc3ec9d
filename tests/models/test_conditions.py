"""Stops written as text."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.engines.membership import Membership
from hegemon.engines.stopping import parse_stop

PROTOCOL = hg.TimeOptimal(n=4, m=2, r_max=8, r_mid=6, b_max=4)


def holds(text, configuration):
    codes = [PROTOCOL.space.code(PROTOCOL.space.parse(state)) for state in configuration]
    return Membership(PROTOCOL, parse_stop(text, PROTOCOL)).holds(PROTOCOL.space.decode_array(np.array(codes)))


def test_texts_mean_what_they_say():
    leader = {"leader": 1, "phase": "CH", "timer_r": 7, "detect": 1}
    stale = {"leader": 0, "phase": "CH", "timer_r": 2, "detect": 0}
    elector = {"leader": 0, "phase": "EL", "mode": "A", "level": 3, "done": 0}
    mixed = [leader, stale, stale, elector]
    for text, expected in (
        ("count(leader == 1) == 1", True),
        ("count(leader == 1) > 1", False),
        ("count(leader) < 2", True),
        ('count(phase == "CH") >= 3', True),
        ('count(phase == "CH") <= 2', False),
        ('all(phase == "CH")', False),
        ('none(phase == "EL" and level > 3)', True),
        ('all(phase == "EL" or timer_r <= r_mid + 1)', True),
        ("count(leader == 1) == 1 and none(timer_r == 7)", False),
        ("count(not leader) == 3 and count(-timer_r + 2 * 3 == 4) == 2", True),
    ):
        assert holds(text, mixed) == expected, text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("count(boss) == 1", "speaks of 'boss'"),
        ("count(leader) == x", "not understood"),
        ("count(leader) != 1", "not understood"),
        ("all(leader", "not a condition"),
        ("all(__import__('os'))", "may only"),
        ("all((1).real)", "may only"),
        ('all(phase == "XX")', "no field of time-optimal has a value 'XX'"),
        ("everything", "choose safe"),
        ("rounds:5", "counts steps"),
        ("steps:-1", "steps"),
    ],
)
def test_bad_texts_are_named(text, part):
    with pytest.raises(hg.InvalidInput, match=part):
        parse_stop(text, PROTOCOL)
