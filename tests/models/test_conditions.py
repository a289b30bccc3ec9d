"""Stops written as text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.models.conditions import absence_note, parse_set, unguarded
from hegemon.models.functions import condition
from hegemon.process.membership import Membership
from hegemon.process.stopping import parse_stop

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
        ("1 <= count(leader == 1) < 2", True),
        ("n / 2 - 1 == count(leader == 1)", True),
        ("count(leader == 1) == n / 3", False),  # no whole number
        ("count(leader == 1) <= n / 3", True),
        ("none(1 < level ^ 2 % 10 // 2 < 4)", True),
        ("all(max(leader, 0) <= 1 and abs(leader - 1) <= 1)", True),
        # a comparison that reads what a state does not have is false
        ("count(timer_r >= 0) == 3", True),
        ("count(level <= 3) == 1", True),
        ("count(not level <= 3) == 3", True),
        ("count(level) == 1", True),
        ("count(present(level)) == 1 and count(present(leader)) == 4", True),
        ('count(mode == "A") == 1 and count(mode != "A") == 0', True),
        # statements about several counts
        ("count(leader == 1) != 1", False),
        ("count(leader == 1) < count(leader == 0)", True),
        ("count(leader == 1) == 2 or all(phase == 'CH') or not none(timer_r == 7)", True),
        ("not (count(leader == 1) == 1 and all(leader <= 1))", False),
        ("2 * count(timer_r >= 0) + count(present(level)) == n + 3 and count(leader == 1) == 1", True),
    ):
        assert holds(text, mixed) == expected, text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("count(boss) == 1", "mentions 'boss'"),
        ("count(leader) == x", "not understood"),
        ("all(leader", "ends too early"),
        ("all(__import__('os'))", "no function '__import__'"),
        ("all((1).real)", "not understood"),
        ('all(phase == "XX")', "phase of time-optimal has no value 'XX'"),
        ('all(leader == "CH")', "leader of time-optimal has no value 'CH'"),
        ("all(leader / 0 == 1)", "divides by zero"),
        ("all(leader % (n - 4) == 1)", "divides by zero"),
        ("all(1 / leader == 1)", "by a field"),
        ("all(leader << -1)", "makes no sense"),
        ("all(timer_r ^ 40 == 1)", "beyond 2.62"),
        ("all(2 ^ timer_r == 1)", "by a field"),
        ("all(timer_r ^ 0.5 == 1)", "whole power"),
        ("all(leader == 9**9**9)", "digits"),
        ("all((leader == 1) + 1 == 2)", "where a number belongs"),
        ("all(sqrt(timer_r) == 1)", "where a number belongs"),
        ("all(present(tau))", "present asks"),
        ("count(leader) == 1 or leader == 1", "no statement about numbers"),
        ("count(leader) == 1 or n == 4", "no statement about numbers"),
        ("count(leader) > count(boss)", "mentions 'boss'"),
        ("count(leader) / count(phase) > 1", "by a field"),
        ("not count(leader)", "no statement about all agents"),
        ("everything", "choose safe"),
        ("rounds:5", "counts steps"),
        ("steps:-1", "steps"),
    ],
)
def test_bad_texts_are_named(text, part):
    with pytest.raises(hg.InvalidInput, match=part):
        parse_stop(text, PROTOCOL)


def test_a_text_says_what_it_reads_unguarded():
    for text, expected in (
        ("count(timer_r >= 1) <= 0", ["timer_r"]),
        ("all(timer_r == 5)", ["timer_r"]),  # the same at both ends of the range
        ("count(timer_r >= 0) > count(leader == 1)", ["timer_r"]),  # true of every number, false of none
        ('all(phase == "CH" and timer_r >= 1)', []),
        ('all(phase == "EL" or timer_r >= 1)', []),
        ('none(phase == "EL" and level > 3)', ["level"]),  # a synchronizer has no level
        ("none(present(level) and level > 3)", []),
        ("count(leader == 1) == 1", []),
    ):
        assert unguarded(text, PROTOCOL) == expected, text


def test_the_note_about_absent_fields():
    note = absence_note("count(timer_r >= 1) <= 0", PROTOCOL)
    assert note.endswith("reads timer_r also in states that do not have it, where every comparison is false; "
                         "present(timer_r) asks for it")  # fmt: skip
    assert absence_note("count(leader == 1) == 1", PROTOCOL) is absence_note("safe", PROTOCOL) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_absent_fields_never_decide(data):
    """The function made from a random text answers the same whatever absent fields hold."""
    space = PROTOCOL.space
    text = data.draw(texts(space))
    function = condition(text, PROTOCOL)
    for code in range(space.size):
        state = space.namespace(code)
        answers = set()
        for end in (0, 1):
            for name in set(space.names) - space.present(vars(state)):
                setattr(state, name, space.bounds[name][end])
            answers.add(function(state, PROTOCOL.p))
        assert len(answers) == 1 and answers <= {True, False}, text


@st.composite
def texts(draw, space, depth=2):
    if depth and draw(st.booleans()):
        joined = draw(st.sampled_from(["({} and {})", "({} or {})", "not ({}) and {}"]))
        return joined.format(draw(texts(space, depth - 1)), draw(texts(space, depth - 1)))
    names = st.sampled_from(space.names)
    if draw(st.integers(0, 4)) == 0:
        return f"present({draw(names)})"
    left, right = (f"{draw(names)} {draw(st.sampled_from('+-*'))} {draw(st.integers(0, 9))}" for _ in range(2))
    return f"{left} {draw(st.sampled_from(['==', '!=', '<', '>=']))} {right}"


@given(st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_sets_are_joined_as_sets(opinions):
    protocol = hg.ApproximateMajority(n=5)
    agents = [protocol.space.namespace(code) for code in opinions]
    inside = {name: chosen.contains(agents, protocol.p, protocol.values) for name, chosen in protocol.sets.items()}
    for text, expected in (
        ("all_X or all_Y", inside["all_X"] or inside["all_Y"]),
        ("not (all_X or all_Y)", not (inside["all_X"] or inside["all_Y"])),
        ("safe and not all_Y", inside["safe"] and not inside["all_Y"]),
        ("count(opinion == X) > count(BLANK == opinion)", opinions.count(0) > opinions.count(2)),
    ):
        joined = parse_set(text, protocol)
        assert joined.contains(agents, protocol.p, protocol.values) == expected
        assert joined.closed == (text == "all_X or all_Y")


def test_joined_sets_in_machine_code():
    runs = [hg.simulate(hg.Ring(n=5), until=text, seed=3).steps for text in ("safe", "safe or (C_NI and safe)")]
    assert runs[0] == runs[1] > 0


def test_a_name_that_is_no_set_is_one_sentence():
    for text in ("safe or nothing", "not broken", "safe and"):
        with pytest.raises(hg.InvalidInput, match="is not understood"):
            parse_stop(text, PROTOCOL)
