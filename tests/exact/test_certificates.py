"""The checker of certificates is not to be deceived."""

import copy
import json

import pytest

import hegemon as hg
from hegemon.exact.proofs import checker
from hegemon.protocols import CATALOGUE


@pytest.fixture(scope="module")
def certificate():
    return hg.prove(CATALOGUE["exact-majority"], largest=0).certificate


def reached(certificate):
    """A statement with weights, starved pairs and invariants."""
    found = (one for part in certificate["parts"] for one in part["statements"] if len(one["stages"]) > 2)
    return next(found)


def without_invariants(certificate):
    reached(certificate)["invariants"] = []


def without_the_last_stage(certificate):
    reached(certificate)["stages"].pop()


def without_the_starved(certificate):
    del reached(certificate)["stages"][1]


def all_pairs_starved(certificate):
    stages = reached(certificate)["stages"]
    stages[:] = [{"starved": [rule[:2] for rule in certificate["parts"][0]["rules"]]}]


def weights_that_rise(certificate):
    reached(certificate)["stages"][0]["weights"] = [0, 0, 1, 0]


def weights_below_zero(certificate):
    weights = reached(certificate)["stages"][0]["weights"]
    reached(certificate)["stages"][0]["weights"] = [weight - 1 for weight in weights]


def a_fractional_weight(certificate):
    reached(certificate)["stages"][0]["weights"][0] = 0.5


def a_smaller_goal(certificate):
    reached(certificate)["constraints"].append({"weights": [1, 0, 0, 0], "at_least": 2})


def a_larger_start(certificate):
    reached(certificate)["start"]["groups"][0]["states"] = [0, 1, 2, 3]


def another_rule(certificate):
    for part in certificate["parts"]:
        part["rules"] = [[a, b, a, b] for a, b, _, _ in part["rules"]]


def a_false_text(certificate):
    reached(certificate)["obligations"].append("(set-logic QF_LIA)(declare-const x Int)(assert (> x 0))(check-sat)")


def other_graphs(certificate):
    certificate["graphs"] = "connected"


TRICKS = [
    without_invariants, without_the_last_stage, without_the_starved, all_pairs_starved, weights_that_rise,
    weights_below_zero, a_fractional_weight, a_smaller_goal, a_larger_start, another_rule, a_false_text, other_graphs,
]  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_a_changed_certificate_is_rejected(certificate, trick, tmp_path):
    changed = copy.deepcopy(certificate)
    trick(changed)
    (tmp_path / "certificate.json").write_text(json.dumps(changed))
    assert checker.main([str(tmp_path / "certificate.json")]) in (1, 2)


def test_without_a_solver_nothing_is_accepted(certificate, monkeypatch):
    monkeypatch.setattr(checker, "find_spec", lambda name: None)
    assert checker.check(certificate)["failures"]


def test_the_checker_is_short_and_stands_alone():
    with open(checker.__file__) as file:
        text = file.read()
    assert len(text.splitlines()) <= 200 and "hegemon." not in text.replace("hegemon.exact.proofs.checker", "")
