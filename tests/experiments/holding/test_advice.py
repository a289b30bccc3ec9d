"""Which parameters hold a leader: the cheapest that is known to, nothing beyond the table, and the command."""

import json
import math

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.experiments.holding.advice import advise, table
from hegemon.experiments.holding.proved import log10_holding_of_timer


def test_the_cheapest_row_that_meets_the_wish_is_taken():
    for wish in (1e2, 1e6, 1e10):
        for members in (3, 10, 30, 100, 1000):
            good = [row for row in table() if row.n >= members and row.low >= math.log10(wish)]
            if good:
                found = advise(members, wish)
                assert found.known.convergence == min(row.convergence for row in good)
                assert found.known.low >= math.log10(wish) and found.known.n >= members
                assert {found.known.protocol, *(row.protocol for row in found.others)} == {row.protocol for row in good}


def test_a_rate_turns_seconds_into_parallel_time_and_a_risk_asks_for_more():
    plain = advise(10, 1e6)
    timed = advise(10, 1e5, interactions_per_second=20)  # every agent takes part in two interactions per unit of time
    assert timed.wish == plain.wish and timed.known == plain.known
    assert timed.seconds(timed.wish) == pytest.approx(1e5)
    careful = advise(10, 1e6, risk=1e-4)
    assert careful.known.low >= 10 - 1e-3


def test_what_is_not_known_is_refused():
    largest = max(row.n for row in table())
    for wrong in ((1, 9.0), (largest + 1, 9.0), (True, 9.0), (8, 0.0), (8, math.nan), (8, math.inf)):
        with pytest.raises(InvalidInput, match="out of range"):
            advise(*wrong)
    for given in ({"interactions_per_second": 0.0}, {"risk": 1.0}):
        with pytest.raises(InvalidInput, match="out of range"):
            advise(8, 9.0, **given)
    with pytest.raises(InvalidInput, match="the longest known is"):
        advise(8, 1e290)


def test_exact_rows_are_what_verify_says():
    rows = [row for row in table() if row.kind == "exact" and row.n == 3]
    assert rows
    for row in rows:
        protocol = {"time-optimal": hg.TimeOptimal, "timer": hg.Timer}[row.protocol](n=row.n, **row.parameters)
        value = hg.verify(protocol, start="safe", property="holding").holding.from_starts["safe"]
        assert math.log10(value / row.n) == pytest.approx(row.holding) and protocol.states == row.states


def test_the_command(capsys):
    asked = ["advise", "--n-at-most", "10"]
    assert main([*asked, "--hold", "1e6", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["log10_holding"]["low"] >= 6 and content["holding_seconds"] is None
    given = content["parameters"].items()
    assert all(f"--set {name}={value}" in content["command"] for name, value in given)
    assert main([*asked, "--hold", "1d", "--interactions-per-second", "20"]) == 0
    assert "years" in capsys.readouterr().out
    assert main(["advise", "--n-at-most", "1000", "--hold", "1e12"]) == 0
    assert "10^16.07" in capsys.readouterr().out
    assert main([*asked, "--hold", "1d"]) == 2
    assert "--interactions-per-second" in capsys.readouterr().err
    assert main([*asked, "--hold", "long"]) == 2


def test_fewer_agents_with_the_same_parameters_hold_no_shorter():
    """What a row for N agents says of fewer; the figures stand in docs/holding.md."""
    held = []
    for n in (3, 4, 5, 6):
        answer = hg.verify(hg.Timer(n=n, N=6, s=7), start="safe", property="holding").holding
        held.append(answer.from_starts["safe"] / n)
    assert [round(one) for one in held] == [3280, 3872, 2646, 1842]
    assert min(held) == held[-1]


def test_measured_rows_are_intervals_of_instances_that_exist():
    for row in table():
        protocol = {"time-optimal": hg.TimeOptimal, "timer": hg.Timer}[row.protocol](n=row.n, **row.parameters)
        assert protocol.states == row.states
        if row.kind == "proved":
            assert row.holding is row.high is None and row.low == log10_holding_of_timer(row.n, protocol.s)
        else:
            assert row.low <= row.holding <= row.high < row.low + 0.4
        assert row.convergence > 0 and row.trials > 0
