"""Proofs for every n: what is proved, what is not, and that neither prover nor checker can be talked into more."""

import json

import pytest
from drawn_protocols import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from mutant_verdicts import mutated_class
from mutants import MUTANTS

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.exact.proofs import checker
from hegemon.exact.proofs.counterexamples import instances
from hegemon.exact.proofs.stages import find_weights
from hegemon.exact.proofs.symbols import Affine, Undecided, Unknown, fact_text
from hegemon.exact.proofs.system import Rule, System
from hegemon.models import Bit, Choice, Group, Parameter, PopulationProtocol, Range, at_least, everywhere, exactly
from hegemon.protocols import CATALOGUE

AT_LEAST_ONE = "count(leader == 1) >= 1"
PROVED = [
    ("pairwise", {}, {}),
    ("pairwise", {}, {"start": AT_LEAST_ONE, "property": "reached"}),
    ("epidemic", {"top": 2}, {}),
    ("epidemic", {"top": 1}, {"graphs": "connected", "start": "random"}),
    ("threshold", {"k": 3}, {}),
    ("exact-majority", {}, {}),
    ("countdown", {"top": 4}, {}),
    ("quick-elimination", {"m": 1}, {"property": "safe"}),
    ("timer", {"s": 4}, {"property": f"closed:{AT_LEAST_ONE}"}),
]
REFUTED = [  # the question, the smallest n, and how many interactions lead there
    ("pairwise", {}, {"graphs": "connected", "property": "reached"}, "n = 3 on a path", 1),
    ("pairwise", {}, {"start": "no-leader", "property": "reached"}, "n = 2", 0),
    ("timer", {"s": 4}, {"property": "closed"}, "n = 3", None),
    ("approximate-majority", {}, {"property": "reached"}, "n = 2, votes = 1", None),
]
NOT_FOUND = [  # true, as far as can be seen, but in circles or by walking marks
    ("timer", {"s": 2}, {"property": "reached"}),
    ("threshold", {"k": 3}, {"graphs": "connected", "property": "reached"}),
]


def prove(name, parameters, options, largest=0):
    return hg.prove(CATALOGUE[name], parameters=parameters, largest=largest, **options)


def statements(proof):
    return [statement for part in proof.parts for statement in part.statements]


def confirm(proof, given, sizes=(2, 3, 4)):
    """Whatever is proved holds on the exact chains of small populations, for every input of its case."""
    for part in proof.parts:
        for statement in part.statements:
            text = statement.start.text
            begins = "all" if statement.start.is_everything else text
            if statement.status != "proved" or begins == "random" or "(" in text:
                continue
            for protocol in (one for n in sizes for one in instances(part.system, given, n)):
                answer = hg.verify(protocol, start=begins, property=f"{statement.question}:{statement.set}")
                assert all(finding.holds for finding in answer.findings), (protocol.parameters, statement)


@pytest.mark.parametrize(("name", "parameters", "options"), PROVED)
def test_what_is_proved_also_holds_on_small_chains(name, parameters, options):
    proof = prove(name, parameters, options)
    assert proof.ok and proof.checked["solvers"] == ["z3", "cvc5"] and not proof.checked["failures"]
    confirm(proof, parameters)


@pytest.mark.parametrize(("name", "parameters", "options", "where", "steps"), REFUTED)
def test_what_is_false_comes_with_the_smallest_counterexample(name, parameters, options, where, steps):
    found = statements(prove(name, parameters, options, largest=4))
    assert all(statement.status == "refuted" for statement in found)
    assert f"false for {where}" in found[0].sentence
    assert steps is None or len(found[0].counterexample.interactions) == steps


@pytest.mark.parametrize(("name", "parameters", "options"), NOT_FOUND)
def test_what_is_not_found_says_at_which_stage(name, parameters, options):
    (statement,) = [one for one in statements(prove(name, parameters, options, largest=3)) if one.status != "proved"]
    assert statement.status == "not found" and statement.sentence.startswith("stage ")
    assert "true for n = " in statement.sentence and statement.counterexample is None


FIXED = {
    "pairwise": {},
    "threshold": {"k": 3},
    "epidemic": {"top": 2},
    "countdown": {"top": 4},
    "quick-elimination": {"m": 1},
}


@pytest.mark.parametrize(
    "protocol",
    [pytest.param(one, marks=pytest.mark.full) if one in ("countdown", "threshold") else one for one in FIXED],
)
def test_no_mutant_is_proved_that_a_small_chain_refutes(protocol):
    unproved = 0
    for mutant in (mutant for mutant in MUTANTS if mutant.protocol == protocol):
        proof = hg.prove(mutated_class(mutant), property="safe", parameters=FIXED[protocol], largest=0)
        unproved += not proof.ok
        confirm(proof, FIXED[protocol], sizes=(2, 3))
    assert unproved >= {"quick-elimination": 1, "countdown": 3, "epidemic": 4}.get(protocol, 4)


@pytest.mark.parametrize("name", ["threshold", "exact-majority", "quick-elimination"])
def test_the_rules_are_those_of_the_protocol(name):
    parameters = {"threshold": {"k": 3}, "quick-elimination": {"m": 2}}.get(name, {})
    system = System(CATALOGUE[name], parameters)
    protocol = CATALOGUE[name](4, **parameters)
    for rule in system.rules:
        assert protocol.transition_codes(rule.a, rule.b) == (rule.c, rule.d)


# -- protocols drawn at random -----------------------------------------------------------------------------


def agrees(size, data):
    made, table, goal = drawn(data, size, [everywhere, lambda c: at_least(1, c), lambda c: at_least(2, c)])
    graphs = data.draw(st.sampled_from(["complete", "connected"]))
    for statement in statements(hg.prove(made, property="safe", graphs=graphs, largest=0)):
        holds = [
            hg.verify(made(n), property=f"{statement.question}:safe", graph=graph).findings[0].holds
            for n in (2, 3, 4)
            for graph in ([f"path:{n}", f"star:{n}"] if graphs == "connected" else [None])
        ]
        assert statement.status != "proved" or all(holds), (table, goal)


@given(st.data())
@settings(max_examples=25)
def test_nothing_false_is_proved(data):
    agrees(3, data)


@pytest.mark.full
@given(st.data())
@settings(max_examples=400)
def test_nothing_false_is_proved_of_many(data):
    agrees(data.draw(st.sampled_from([2, 3, 4])), data)


# -- numbers that are not known ---------------------------------------------------------------------------


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-5, 5), st.integers(1, 9), st.data())
@settings(max_examples=60)
def test_a_comparison_is_decided_only_if_all_numbers_agree(size, share, constant, n, data):
    value = data.draw(st.integers(0, n))
    unknown = Affine("n", size=1) * size + Affine("input", share=1) * share + constant
    try:
        assert (unknown >= 0) == (size * n + share * value + constant >= 0)
    except Undecided as split:
        true = [a * n + b * value + c >= 0 for a, b, c in split.cases]
        assert true.count(True) == 1
    except hg.InvalidInput:
        assert share == 0 and size != 0


def test_facts_are_written_as_people_write_them():
    assert fact_text((-1, 2, -1), "votes") == "2*votes >= n + 1"
    assert fact_text((0, -1, 3), "marked") == "marked <= 3"


def test_unknown_parameters_may_exist_but_not_be_used():
    with pytest.raises(hg.InvalidInput, match="grows with n, through s; fix it"):
        hg.prove(hg.Timer)
    assert hg.prove(hg.Timer, parameters={"s": 3}, property="closed:" + AT_LEAST_ONE).ok  # N is there, unused
    for use in (lambda x: x + 1, lambda x: x == 1, bool, int, lambda x: range(x), lambda x: [0][x]):
        with pytest.raises(hg.InvalidInput):
            use(Unknown("N"))


def test_rules_that_read_n_are_refused():
    class Counting(PopulationProtocol):
        class State:
            x: Range(0, 3)

        def interact(a, b, p):
            a.x = p.n % 4

        safe = everywhere(lambda a, p: a.x == 0)

    with pytest.raises(hg.InvalidInput, match="n itself is used"):
        hg.prove(Counting)


def test_a_protocol_that_is_made_anew_for_every_n_is_refused():
    """Its rules at the smallest n are those of its declarations; at n = 6 the last leader is lost."""

    class Changing(PopulationProtocol):
        fatal = Parameter(0)

        class State:
            leader: Bit = 1

        def __init__(self, n, **given):
            super().__init__(n, **{"fatal": int(n > 5), **given})

        def interact(a, b, p):
            if a.leader == 1 and (b.leader == 1 or p.fatal == 1):
                a.leader = 0

        safe = exactly(1, lambda a, p: a.leader == 1)

    with pytest.raises(InvalidInput, match=r"an __init__ of its own \(test_proofs.py, line"):
        hg.prove(Changing)


def test_values_by_name_mean_what_they_mean_elsewhere():
    class Named(PopulationProtocol):
        default_start = "mixed"
        arbitrary_start = False

        class State:
            colour: Choice("RED", "BLUE")

        def interact(a, b, p):
            if a.colour == "RED":
                b.colour = "RED"

        def start_mixed(self, rng):
            return [Group(1, {"colour": "RED"}), Group(self.n - 1, {"colour": "BLUE"})]

        safe = everywhere(lambda a, p: a.colour == "RED")

    proof = hg.prove(Named, largest=0)
    moves = [(rule.a, rule.b, rule.c, rule.d) for rule in proof.parts[0].system.rules if not rule.is_silent]
    assert proof.ok and moves == [(0, 1, 0, 0)]
    assert not hg.prove(Named, start="all", property="reached", largest=0).ok


def test_whole_predicates_drawn_starts_and_rings_are_refused():
    with pytest.raises(hg.InvalidInput, match="whole array"):
        hg.prove(hg.Ring, parameters={"N": 2})
    with pytest.raises(hg.InvalidInput, match="runs on directed-ring"):
        hg.prove(hg.Ring, parameters={"N": 2}, property="reached:" + AT_LEAST_ONE)

    class Drawn(PopulationProtocol):
        default_start = "some"

        class State:
            leader: Bit

        def interact(a, b, p):
            pass

        def start_some(self, rng):
            return [Group(self.n // 2, {"leader": 1}), Group(self.n - self.n // 2, {"leader": 0})]

        safe = exactly(1, lambda a, p: a.leader == 1)

    with pytest.raises(hg.InvalidInput, match="linear in n"):
        hg.prove(Drawn)


def test_weights_that_rounding_spoils_are_found_exactly():
    chain = [Rule(a, a, a + 1, a + 1) for a in range(30)]  # needs weights that never rise: 30, 29, …
    weights, falling = find_weights(31, chain)
    assert falling == chain and all(rule.change(weights) < 0 for rule in chain)
    doubling = [Rule(a + 1, 0, a, a) for a in range(1, 40)]  # w(a+1) > 2 w(a) - w(0): beyond any small fraction
    weights, falling = find_weights(41, doubling)
    assert all(rule.change(weights) < 0 for rule in falling)


class Declared(PopulationProtocol):
    """Every agent begins as its fields declare."""

    class State:
        kind: Choice("first", "second") = "first"
        level: Range(0, 1).when(kind="first") = 0

    def interact(a, b, p):
        if a.kind == 0 and b.kind == 0:
            b.kind = 1

    def start_drawn(self, rng):
        return [Group(int(rng.integers(1, self.n)), {"kind": "first", "level": 0})]

    safe = exactly(1, lambda a, p: a.kind == 0).described("one first", closed=True)


def test_the_declared_start_is_proved_from():
    assert Declared.default_start == "initial"
    proof = hg.prove(Declared, start="initial", largest=0)
    assert proof.ok and {one.start.text for one in statements(proof)} <= {"initial", "every configuration"}
    confirm(proof, {})


def test_a_start_that_cannot_be_used_names_a_field_that_is_there():
    with pytest.raises(hg.InvalidInput, match=r"count\(kind == first\) >= 1"):
        hg.prove(Declared, start="drawn")
    assert hg.prove(Declared, start="count(kind == first) >= 1", property="reached", largest=0).ok


def test_the_command(tmp_path, capsys):
    file = tmp_path / "pairwise.json"
    assert main(["prove", "pairwise", "--certificate", str(file), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["ok"] and {row["status"] for row in content["statements"]} == {"proved"}
    assert checker.main([str(file)]) == 0 and "accepted" in capsys.readouterr().out
    assert main(["prove", "pairwise", "--graphs", "connected"]) == 1
    assert "refuted" in capsys.readouterr().out
    for words in (["nothing"], ["timer"], ["pairwise", "--graphs", "odd"], ["pairwise", "--property", "odd"],
                  ["pairwise", "--start", "odd"], ["pairwise", "--set", "k=1"], ["pairwise", "--largest", "x"],
                  ["pairwise", "--certificate", "x.txt"], ["flood-max"]):  # fmt: skip
        assert main(["prove", *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert checker.main([str(tmp_path / "none.json")]) == 2
