"""Pareto fronts: exact where chains fit, measured elsewhere, the published choice beside them."""

import json
import math

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.discovery.improving import TriedParameters, improve, parse_free

FILE = '''
from hegemon import Bit, Group, Parameter, PopulationProtocol, Range, everywhere, exactly


class MyTimer(PopulationProtocol):
    """A timer with two ways to count down."""

    s = Parameter(4, low=1)
    count_down = Parameter(0, low=0, high=1, help="0: both timers together; 1: the initiator's alone")

    class State:
        leader: Bit
        timer: Range(0, "s")

    def interact(a, b, p):
        if a.leader == 1:
            b.leader = 0
            a.timer = b.timer = p.s
        elif b.leader == 1:
            a.timer = b.timer = p.s
        elif a.timer == 0 and b.timer == 0:
            a.leader = 1
            a.timer = b.timer = p.s
        elif p.count_down == 0:
            a.timer = b.timer = max(a.timer, b.timer) - 1
        else:
            a.timer = max(a.timer - 1, 0)

    def start_safe(self, rng):
        """One leader, every timer full."""
        return [Group(1, {"leader": 1, "timer": self.s}), Group(self.n - 1, {"leader": 0, "timer": self.s})]

    safe = exactly(1, lambda a, p: a.leader == 1) & everywhere(lambda a, p: 2 * a.timer >= p.s)
'''


def test_the_front_is_exact_and_nothing_on_it_is_beaten():
    found = improve("timer", "s=2..5", n="3,4", hold=300)
    for one in found.tried:
        answer = hg.verify(hg.Timer(n=one.n, **one.parameters), property="safe")
        assert (one.convergence, one.holding) == (answer.hitting.worst, answer.holding.worst)
        assert one.states == 2 * (one.parameters["s"] + 1)
    for n in (3, 4):
        front = found.front(n)
        for one in found.tried:
            beaten = one.n == n and any(other.dominates(one) for other in found.tried if other.n == n)
            assert (one in front) == (one.n == n and not beaten)
    fastest = found.fastest(3)
    assert fastest.holding >= 300 and all(
        one.convergence >= fastest.convergence for one in found.tried if one.n == 3 and one.holding >= 300
    )
    assert [(n, given) for n, given in found.too_large] == [(3, {"s": 288}), (4, {"s": 384})]  # the published ones


def test_one_choice_is_printed_as_one():
    assert str(improve("timer", "s=2", n=3)).startswith("timer: the front of 1 choice of parameters\n")


def test_one_beats_another_only_if_it_is_nowhere_worse():
    def tried(convergence, holding, states):
        return TriedParameters({}, 3, states, "exact", convergence, holding)

    assert tried(1, 5, 3).dominates(tried(2, 5, 3)) and tried(1, math.inf, 3).dominates(tried(1, 9, 3))
    assert not tried(1, 5, 3).dominates(tried(1, 5, 3)) and not tried(1, 5, 4).dominates(tried(2, 4, 3))


def test_rules_of_a_users_file_are_tried_and_larger_n_are_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    words = ["discover", "--improve", "mine.py", "--free", "s=2,3, rule:count_down", "--n", "3", "--picture", "f.png"]
    assert main([*words, "--measure", "9", "--trials", "2", "--store", "runs", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["free"] == {"s": [2, 3], "count_down": [0, 1]}
    kinds = [(one["n"], one["kind"], one["published"]) for one in content["tried"]]
    assert kinds.count((3, "exact", False)) == 4 and kinds.count((3, "exact", True)) == 1
    assert kinds.count((9, "measured", False)) == 4 and kinds.count((9, "measured", True)) == 1
    assert (tmp_path / "f.png").stat().st_size > 1000 and (tmp_path / "runs").is_dir()
    table = hg.sweep("mine.py", n=9, s=2, count_down=1, trials=2, max_steps=10**6, workers=1)
    (measured,) = [o for o in content["tried"] if o["n"] == 9 and o["parameters"] == {"s": 2, "count_down": 1}]
    assert measured["convergence"] == table["steps"].mean()
    assert main([*words[:-2], "--hold", "1e9"]) == 1
    assert "fastest that holds at least 1e+09 steps: none" in capsys.readouterr().out


def test_values_of_free_parameters():
    assert parse_free("s=2..4, N", hg.Timer, 3) == {"s": [2, 3, 4], "N": [3]}
    assert parse_free("s=2, 4, 8", hg.Timer, 3) == {"s": [2, 4, 8]}
    assert len(parse_free("s", hg.Timer, 3)["s"]) <= 12 and parse_free("s", hg.Timer, 3)["s"][-1] == 288


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--improve", "timer"], "--improve needs --free"),
        (["--improve", "timer", "--free", "t=2"], "timer has no parameter 't'; it has N, s"),
        (["--improve", "timer", "--free", "s=2, s=3"], "--free names s twice"),
        (["--improve", "timer", "--free", "rule:s"], "names a parameter without bounds"),
        (["--improve", "timer", "--free", "s=1..90, N=3..90"], "at most 5,000 are tried"),
        (["--improve", "timer", "--free", "s=500", "--n", "3"], "has at most 200,000 configurations"),
        (["--improve", "herman", "--free", "s=2"], "agents meet in pairs"),
        (["--improve", "exact-majority", "--free", "votes=2"], "improve needs both"),
        (["leader-election", "--improve", "timer", "--free", "s=2"], "has its own goal"),
    ],
)
def test_what_cannot_be_improved_is_refused_in_a_sentence(words, sentence, capsys):
    assert main(["discover", *words, "--quiet"]) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said and said.count("\n") == 0
