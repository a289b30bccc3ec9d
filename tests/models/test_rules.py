"""Rules as dictionaries, text and functions: the same tables, the laws of ppsim, and refusals with the reason."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ks_2samp

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.models.naming import address
from hegemon.models.rule_reading import probability, read_rules
from hegemon.models.rule_writing import protocol_text
from hegemon.protocols.loading import find_protocol, name_protocol

MAJORITY = {("A", "B"): ("U", "U"), ("A", "U"): ("A", "A"), ("B", "U"): ("B", "B")}
SHARES = {"A": 3, "B": 2}
RANDOM = {("A", "B"): {("A", "A"): 0.3, ("U", "U"): "1/3"}, ("A", "U"): {("A", "A"): 0.5}, ("U", "U"): ("B", "U")}


def table(given, start=None, leader=None, order="symmetric", **parameters):
    return read_rules(given, start, leader, order, parameters)


def test_two_lines_are_a_protocol_that_runs_verifies_and_proves():
    election = hg.rules({("L", "L"): ("L", "F")})
    assert hg.verify(election(n=5)).hitting.worst == pytest.approx(16)
    assert hg.simulate(election(n=12), seed=1).leaders == 1
    assert hg.prove(election).ok


def test_text_and_dictionary_and_function_are_the_same_table():
    text = table("A + B -> 2 U  # both orders\n\nA + U -> A + A;\nB+U >> 2*B\n", SHARES)

    def function(a, b):
        return MAJORITY.get((a, b))

    from_function = table(function, SHARES)
    for other in (table(MAJORITY, SHARES), from_function):
        names = [text.states.index(name) for name in other.states]
        renamed = {
            (names[a], names[b]): tuple((chance, (names[x], names[y])) for chance, (x, y) in outcomes)
            for (a, b), outcomes in other.rules.items()
        }
        assert renamed == text.rules
    assert len(table(MAJORITY, SHARES, order="asymmetric").rules) == 3
    assert len(table("A, B -> U, U\nA, U -> A, A\nB, U -> B, B").rules) == 3  # a comma is for one order alone


def test_probabilities_and_rates_are_fractions():
    assert probability(0.1, "") == Fraction(1, 10) and probability(1 / 3, "") == Fraction(1, 3)
    rates = table("A + B -> A + A @ 2\nA + B -> B + B @ 1\nA + U -> A + A @ 0.5")
    at = rates.states.index
    assert [chance for chance, _ in rates.rules[at("A"), at("B")]] == [Fraction(2, 3), Fraction(1, 3)]
    assert rates.rules[at("U"), at("A")][0][0] == Fraction(1, 6) and rates.denominator == 6
    both = table("A + B <-> C + D @ 2, 1")
    assert len(both.rules) == 4


def test_the_rules_of_the_catalogue_have_its_law():
    """Exact expected steps, from the same start, of a protocol of the catalogue and of its rules as text."""
    mine = hg.rules("I + S -> I + I", start={"I": 1, "S": 5})
    ours = hg.verify(hg.Epidemic(n=6), start="one-source", property="time:safe").hitting
    assert hg.verify(mine(n=6), property="time:safe").hitting.worst == pytest.approx(ours.worst, rel=1e-12)


def expected_steps(rules, start, states, n):
    """Steps until nothing changes any more on a complete graph, from the definition."""
    waiting, index, rows = [start], {start: 0}, {}
    while waiting:
        counts = waiting.pop()
        row = rows[counts] = {}
        for a in states:
            for b in states:
                weight = counts[a] * (counts[b] - (a == b)) / (n * (n - 1))
                for chance, (x, y) in rules.rules.get((a, b), ()) if weight else ():
                    after = [*counts]
                    for state, change in ((a, -1), (b, -1), (x, 1), (y, 1)):
                        after[state] += change
                    row[tuple(after)] = row.get(tuple(after), 0) + weight * float(chance)
        row[counts] = row.get(counts, 0) + 1 - sum(row.values())
        for after in row:
            if after not in index:
                index[after] = len(index)
                waiting.append(after)
    moving = [counts for counts in index if rows[counts].get(counts, 0) < 1 - 1e-12]
    matrix = np.eye(len(moving))
    for k, counts in enumerate(moving):
        for after, chance in rows[counts].items():
            if after in moving:
                matrix[k, moving.index(after)] -= chance
    return float(np.linalg.solve(matrix, np.ones(len(moving)))[moving.index(start)])


@pytest.mark.parametrize(
    ("given", "start"),
    [(RANDOM, (3, 2, 0)), ("A + B -> 2 U @ 1\nA + U -> 2 A @ 1/3\nB + U -> 2 B @ 2", (3, 2, 0))],
)
def test_random_outcomes_have_their_probabilities_as_branches_and_as_a_table(monkeypatch, given, start):
    rules = table(given, dict(zip("ABU", start, strict=True)))
    by_hand = expected_steps(rules, tuple(start["ABU".index(name)] for name in rules.states), range(3), 5)
    for most in (60, 0):
        monkeypatch.setattr("hegemon.models.rule_writing.MOST_BRANCHES", most)
        mine = hg.rules(given, start=dict(zip("ABU", start, strict=True)), name=f"Written{most}")
        assert hg.verify(mine(n=5), property="time:safe").hitting.worst == pytest.approx(by_hand, rel=1e-9)


def test_large_tables_are_looked_up_and_states_may_be_any_objects():
    @dataclass(frozen=True)
    class Agent:
        leader: bool
        level: int

    def rule(a, b, most):
        level = min(max(a.level, b.level) + 1, most)
        return Agent(a.leader, level), Agent(b.leader and not a.leader, level)

    election = hg.rules(rule, start=Agent(True, 0), leader=lambda one: one.leader, most=6)
    protocol = election(n=4)
    assert protocol.states == 13 and hg.simulate(protocol, seed=2).leaders == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("A -> B", "line 1, `A -> B`: one agent changes alone"),
        ("A + B -> A + B\nA + B -> C", "line 2, `A + B -> C`: two agents become 1"),
        ("A + B + C -> 3 A", "3 agents meet"),
        ("A + B -> 3 C", "two agents become 3"),
        ("A + B -> ∅", "two agents become 0"),
        ("A + B", "write one reaction on a line"),
        ("A + A -> B + B\nA + A -> C + C", "give all reactions rates"),
        ("A + B -> C + D @ quick", "the rate is"),
        ({("A",): ("B", "B")}, "a rule is for two agents that meet"),
        ({("A", "B"): "CC!"}, "the rule of ('A', 'B') must give two agents"),
        ({("A", "B"): {("C", "C"): 0.7, ("D", "D"): 0.5}}, "add up to 6/5"),
        ({("A", "B"): ("A", "B")}, "no rule changes anything"),
        ({(1, "1"): ("1", "1")}, "two states are both written '1'"),
        (7, "given = 7 cannot be used; give a text"),
        (lambda a, b: (a, b), "need the states of the start"),
    ],
)
def test_what_is_no_population_protocol_is_refused_with_the_reason(given, said):
    with pytest.raises(InvalidInput) as refusal:
        hg.rules(given)
    assert said in str(refusal.value)


def test_a_rule_that_reaches_states_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("hegemon.models.rule_reading.MOST_STATES", 40)
    with pytest.raises(InvalidInput, match="more than 40 states"):
        hg.rules(lambda a, b: (a + 1, b), start=0)


def test_names_cannot_become_code():
    evil = 'x"); import os; os.abort() #'
    mine = hg.rules({(evil, evil): (evil, "\\"), ("\\", '"""'): (evil, evil)}, start=evil)
    assert mine(n=3).states == 3
    with pytest.raises(InvalidInput, match="no name of a class"):
        hg.rules({("A", "A"): ("A", "B")}, name="x(object): pass #")


def test_rules_in_a_file_are_found_by_their_variable(tmp_path):
    place = tmp_path / "mine.py"
    place.write_text('import hegemon as hg\n\nElection = hg.rules({("L", "L"): ("L", "F")})\n')
    found = find_protocol(name_protocol(str(place)))
    assert address(found) == f"{place}:Election" and find_protocol(address(found)) is not None


def test_import_writes_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reactions.txt").write_text("A + B -> 2 U\nA + U -> 2 A\nB + U -> 2 B\n")
    assert main(["import", "reactions.txt", "--start", "A=4,B=2"]) == 0
    assert "reactions.py defines Reactions: 6 rules, 3 states" in capsys.readouterr().out
    written = find_protocol(name_protocol("reactions.py"))
    expected = protocol_text(
        table(MAJORITY, {"A": 4, "B": 2}), "Reactions", "Written by `hegemon import reactions.txt`."
    )
    assert hg.verify(written(n=6), property="time:safe").hitting.worst == pytest.approx(
        hg.verify(hg.rules(MAJORITY, start={"A": 4, "B": 2})(n=6), property="time:safe").hitting.worst
    )
    assert expected.splitlines()[0] == (tmp_path / "reactions.py").read_text().splitlines()[0]
    assert main(["import", "reactions.txt"]) == 2 and "already" in capsys.readouterr().err
    (tmp_path / "script.py").write_text(
        "init = {1: 3, 0: 1}\n\ndef rule(a, b):\n    return (a, 0) if a == b == 1 else (a, b)\n"
    )
    assert main(["import", "script.py:rule", "--out", "mine.py", "--start", "init", "--leader", "1"]) == 0
    assert hg.simulate(find_protocol(name_protocol("mine.py"))(n=8)).leaders == 1
    capsys.readouterr()
    assert main(["import", "script.py:none", "--out", "other.py"]) == 2
    assert "script.py has no 'none'" in capsys.readouterr().err


@pytest.mark.parametrize("given", [MAJORITY, RANDOM], ids=["majority", "random"])
def test_a_dictionary_has_the_law_that_ppsim_gives_it(given):
    """How many agents are in state A after three units of parallel time, in both programs."""
    ppsim = pytest.importorskip("ppsim", reason="ppsim is not installed")
    n, trials = 40, 250
    plain = {
        pair: {one: float(Fraction(chance)) for one, chance in after.items()} if isinstance(after, dict) else after
        for pair, after in given.items()
    }
    simulation = ppsim.Simulation({"A": 24, "B": 16}, plain, seed=1)
    theirs = simulation.sample_future_configuration(3, trials)["A"].to_numpy()
    mine = hg.rules(given, start={"A": 24, "B": 16})(n=n)
    runs = [hg.simulate(mine, until="steps:120", seed=1, trial=k, engine="agents") for k in range(trials)]
    ours = np.array([sum(one["state"] == "A" for one in run.configuration.mappings()) for run in runs])
    assert ks_2samp(ours, theirs).pvalue > 1e-3
    assert ks_2samp(ours, np.roll(theirs, 1) + 4).pvalue < 1e-6  # the same test catches another law
