"""Which parameters hold a leader: the cheapest that is known to, nothing beyond the table, and the command."""

import itertools
import json
import math

import numpy as np
import pytest
from benchmarks.holding import convergence
from scipy.stats import chi2

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.experiments.holding.advice import Known, advise, table
from hegemon.experiments.holding.importance import Rarity
from hegemon.experiments.holding.plain import survey
from hegemon.experiments.holding.process import Crowd, Process
from hegemon.experiments.holding.proved import log10_holding_of_timer

PROTOCOLS = {"time-optimal": hg.TimeOptimal, "timer": hg.Timer}


def instance(row: Known, n: int | None = None):
    return PROTOCOLS[row.protocol](n=n or row.n, **row.parameters)


def named(row: Known) -> str:
    return f"{row.protocol} {row.n} {row.parameters.get('s', row.parameters.get('tau'))}"


def test_the_cheapest_row_that_meets_the_wish_is_taken():
    for exactly, wish, members in itertools.product((False, True), (1e2, 1e6, 1e10), (2, 3, 10, 30, 100, 1000)):
        good = [row for row in table() if row.low >= math.log10(wish) and row.n >= members]
        good = [row for row in good if row.kind == "proved" or (exactly and row.n == members)]
        found = advise(wish, **{"n" if exactly else "n_at_most": members})
        assert found.known.convergence == min(row.convergence for row in good)
        assert {found.known.protocol, *(row.protocol for row in found.others)} == {row.protocol for row in good}


def test_a_recommendation_holds_at_every_number_of_agents_that_it_is_for():
    """Ten agents with s = 20 hold for 10^13 units, and three with the same parameters for 10^9.72."""
    wish = 1e13
    few = hg.verify(hg.Timer(n=3, N=10, s=20), start="safe", property="holding").holding.from_starts["safe"] / 3
    assert math.log10(few) == pytest.approx(9.72, abs=0.005)
    alone = advise(wish, n=10).known
    assert alone.parameters == {"N": 10, "s": 20} and "how long fewer agents hold is not known" in alone.basis
    for members in (10, 100, 1000):
        found = advise(wish if members < 1000 else 1e12, n_at_most=members)
        for row in (found.known, *found.others):
            assert row.protocol == "timer" and row.fewest == 2 and row.n >= members
            held = [log10_holding_of_timer(n, row.parameters["s"]) for n in range(3, members + 1)]
            assert min(held) >= math.log10(found.wish)
    assert hg.verify(hg.Timer(n=2, N=10, s=4), start="safe", property="holding").holding.from_starts["safe"] == math.inf


def test_a_rate_turns_seconds_into_parallel_time_and_a_risk_asks_for_more():
    plain = advise(1e6, n_at_most=10)
    timed = advise(
        "1e5s", n_at_most=10, interactions_per_second=20
    )  # every agent takes part in two interactions per unit of time
    assert timed.wish == plain.wish and timed.known == plain.known
    assert timed.seconds(timed.wish) == pytest.approx(1e5)
    careful = advise(1e6, n_at_most=10, risk=1e-4)
    assert careful.known.low >= 10 - 1e-3


def test_what_is_not_known_is_refused():
    largest = max(row.n for row in table())
    for wrong in ((1, 9.0), (largest + 1, 9.0), (True, 9.0), (8, 0.0), (8, math.nan), (8, math.inf)):
        with pytest.raises(InvalidInput, match="out of range|cannot be used"):
            advise(wrong[1], n_at_most=wrong[0])
    for given in ({"interactions_per_second": 0.0}, {"risk": 1.0}):
        with pytest.raises(InvalidInput, match="out of range|cannot be used"):
            advise(9.0, n_at_most=8, **given)
    with pytest.raises(InvalidInput, match="the longest known is"):
        advise(1e290, n_at_most=8)


def test_the_command(capsys):
    asked = ["advise", "--n-at-most", "10"]
    assert main([*asked, "--hold", "1e6", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["log10_holding"]["low"] >= 6 and content["holding_seconds"] is None
    given = content["parameters"].items()
    assert all(f"--set {name}={value}" in content["command"] for name, value in given)
    assert main([*asked, "--hold", "1d", "--interactions-per-second", "20"]) == 0
    assert "years" in capsys.readouterr().out
    assert main(["advise", "--n", "1000", "--hold", "1e12"]) == 0
    told = capsys.readouterr().out
    assert "10^16.07" in told and "exactly 1000 agents" in told and "not known" in told
    assert main(["advise", "--n-at-most", "1000", "--hold", "1e12"]) == 0
    assert "at most 1000 agents" in capsys.readouterr().out
    for sizes in ([], ["--n", "5", "--n-at-most", "5"]):
        assert main(["advise", *sizes, "--hold", "1e6"]) == 2
        assert "--n-at-most (most agents" in capsys.readouterr().err
    assert main([*asked, "--hold", "1d"]) == 2
    assert "--interactions-per-second" in capsys.readouterr().err
    assert main([*asked, "--hold", "long"]) == 2


def test_measured_rows_are_intervals_of_instances_that_exist():
    for row in table():
        protocol = instance(row)
        assert protocol.states == row.states
        if row.kind == "proved":
            assert row.holding is row.high is None and row.low == log10_holding_of_timer(row.n, protocol.s)
        else:
            assert row.low <= row.holding <= row.high < row.low + 0.4
        assert row.convergence > 0 and row.trials > 0


def cases(kind: str, cheap) -> list:
    """The rows of a kind; those that are not cheap are asked by `make test-full`."""
    rows = [row for row in table() if kind in (row.kind, "all")]
    return [pytest.param(row, id=named(row), marks=() if cheap(row) else pytest.mark.full) for row in rows]


@pytest.mark.parametrize("row", cases("exact", lambda row: row.n == 3 and row.states < 100))
def test_exact_rows_are_what_verify_says(row):
    value = hg.verify(instance(row), start="safe", property="holding").holding.from_starts["safe"]
    assert math.log10(value / row.n) == pytest.approx(row.holding)


@pytest.mark.parametrize("row", cases("all", lambda row: row.convergence < 60))
def test_convergence_is_what_runs_say(row):
    assert convergence(instance(row)) == pytest.approx(row.convergence, rel=1e-12)


@pytest.mark.parametrize("row", cases("estimate", lambda row: row.low < 5.5))
def test_estimated_rows_are_what_another_method_says(row):
    """Plain runs where these end; else a measurement with other cells and seeds, or for very many agents plain steps,
    which may only contradict."""
    protocol, shift = instance(row), math.log10(row.n)
    if row.low + shift < 7.6:
        times = [run.steps for run in hg.run_trials(protocol, 20, start="safe", until="broken", seed=7).runs]
        ends = chi2.ppf([0.0005, 0.9995], 2 * len(times))
        high, low = np.log10(2 * sum(times) / ends) - shift
        assert low <= row.high and row.low <= high
    elif row.n <= 100:
        found = hg.holding(protocol, relative=0.4, importance="surprise", seed=7)
        low, high = (end and end - shift for end in (found.record()["log10"][name] for name in ("low", "high")))
        assert low - 0.05 <= row.high and (high is None or row.low <= high + 0.05)
    else:
        crowd = Crowd(Process(protocol), Rarity())
        assert survey(crowd, crowd.process.key(7), 10**8).losses == 0
