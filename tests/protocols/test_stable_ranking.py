"""stable-ranking: exact expectations, states, and what the differences between the report and the program do."""

import pytest

import hegemon as hg
from hegemon.protocols import StableRanking

SMALL = {"W": 1, "R": 1, "D": 1, "L": 2, "E": 4}


@pytest.mark.parametrize("n", [2, 3, 16, 100, 1024])
def test_the_number_of_states_is_a_sum_over_kinds(n):
    p = StableRanking(n=n)
    assert p.states == n + 2 * (p.L + 1) * (p.W + p.K) + 2 * p.E * (p.K + 2) + 2 * (p.R + p.D)
    assert {16: 680, 1024: 4604}.get(n, p.states) == p.states


def test_expected_steps_of_two_agents():
    times = hg.verify(StableRanking(n=2)).hitting
    assert times.worst == pytest.approx(46.00191571, rel=1e-9)
    assert times.from_starts["fresh"] == pytest.approx(40.88014847, rel=1e-9)


@pytest.mark.full
def test_expected_steps_of_three_agents():
    answer = hg.verify(StableRanking(n=3, **SMALL))
    assert answer.ok and answer.hitting.worst == pytest.approx(3328.18110583, rel=1e-9)
    assert answer.hitting.from_starts["fresh"] == pytest.approx(3310.67264339, rel=1e-9)
    assert answer.hitting.from_starts["duplicate"] == pytest.approx(3327.00446687, rel=1e-9)


def test_without_line_2_of_protocol_4_waiting_agents_wait_without_end():
    assert hg.verify(StableRanking(n=2)).ok
    assert not hg.verify(StableRanking(n=2, waiting_resets=0)).ok


def test_a_win_at_one_head_more_never_comes_between_two_agents():
    assert not hg.verify(StableRanking(n=2, extra_head=1)).ok


@pytest.mark.parametrize("start", ["random", "duplicate", "elected", "all-waiting", "fresh"])
def test_every_start_ends_ranked(start):
    trials = hg.run_trials(StableRanking(n=8), 5, start=start, seed=1)
    assert all(run.reached and run.leaders == 1 for run in trials.runs)
