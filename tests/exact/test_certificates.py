"""The checker of certificates is not to be deceived."""

import copy
import functools
import hashlib
import itertools
import json
import re

import pytest

import hegemon as hg
from hegemon.exact.proofs import checker
from hegemon.kept import seal
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
    reached(certificate)["rows"][0].append({"weights": [1, 0, 0, 0], "at_least": 2})


def a_larger_start(certificate):
    reached(certificate)["start"]["groups"][0]["states"] = [0, 1, 2, 3]


def another_rule(certificate):
    for part in certificate["parts"]:
        part["rules"] = [[a, b, a, b] for a, b, _, _ in part["rules"]]


def other_graphs(certificate):
    certificate["graphs"] = "connected"


TRICKS = [
    without_invariants, without_the_last_stage, without_the_starved, all_pairs_starved, weights_that_rise,
    weights_below_zero, a_fractional_weight, a_smaller_goal, a_larger_start, another_rule, other_graphs,
]  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_a_changed_certificate_is_rejected(certificate, trick, tmp_path):
    changed = copy.deepcopy(certificate)
    trick(changed)
    (tmp_path / "certificate.json").write_bytes(seal("proof", changed))
    assert checker.main([str(tmp_path / "certificate.json")]) in (1, 2)


def places(content, path=()):
    """Every place of a certificate that holds a value, a list or a dictionary."""
    yield path
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def changes(value):
    """What a place may be changed into."""
    if isinstance(value, bool) or value is None:
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, str):
        return ["x" + value, "pairwise"]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[-1:]]] if value else [[0]]
    return [{**value, "more": 1}, dict(list(value.items())[:-1])]


def mutants(certificate):
    """One change at every place; of alike neighbours in a long list the first and the last are enough."""
    for path in list(places(certificate))[1:]:
        *above, key = path
        holder = certificate
        for step in above:
            holder = holder[step]
        if isinstance(holder, list) and key not in (0, len(holder) - 1):
            continue
        for value in changes(holder[key]):
            changed = copy.deepcopy(certificate)
            place = changed
            for step in above:
                place = place[step]
            place[key] = value
            yield path, value, changed


def judged(content, tmp_path, capsys):
    (tmp_path / "certificate.json").write_bytes(seal("proof", content))
    code = checker.main([str(tmp_path / "certificate.json")])
    return code, capsys.readouterr().out


def unnoticed(certificate, tmp_path, capsys):
    """The changes after which the same words are said as before."""
    code, before = judged(certificate, tmp_path, capsys)
    assert code == 0 and "accepted" in before
    return [
        (path, value)
        for path, value, changed in mutants(certificate)
        if judged(changed, tmp_path, capsys) == (0, before) and changed != certificate
    ]


HOSTILE = '0) (set-option :regular-output-channel "{file}") (echo "x") (push) (assert (= 0 0'
QUESTION = re.compile(
    r"[ \n()<>=+*0-9-]|set-logic|QF_LIA|declare-const|Int|assert|check-sat|and|or|not|true|false|input|c[0-9]|g[0-9]_"
)


def test_no_text_of_a_certificate_reaches_a_solver(certificate, tmp_path, capsys, monkeypatch):
    """Hostile text at every place of a certificate: solvers read questions made of numbers, and no file is made."""
    asked, place = [], tmp_path / "written"
    monkeypatch.setattr(checker, "ask_z3", lambda text: asked.append(text) or "unsat")
    monkeypatch.setattr(checker, "ask_cvc5", lambda text: asked.append(text) or "unsat")
    plain = json.loads(json.dumps(hg.prove(CATALOGUE["pairwise"], largest=0).certificate))
    texts = [HOSTILE.format(file=place), "\x1b]0;x\x07", "🂡\n"]
    paths = [path for path in places(plain) if path]
    for path, text in itertools.product(paths, texts):
        changed = copy.deepcopy(plain)
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = text
        (tmp_path / "certificate.json").write_bytes(seal("proof", changed))
        assert checker.main([str(tmp_path / "certificate.json")]) in (0, 2)
    assert len(asked) > 50 and not any(QUESTION.sub("", text) for text in asked)
    said = capsys.readouterr()
    assert not place.exists() and "\x1b" not in said.out + said.err


def test_real_solvers_write_no_file_for_a_certificate(certificate, tmp_path):
    """The attack that once worked: commands of SMT-LIB among the questions, and in the states of a stage."""
    place = tmp_path / "written"
    for name, content in (("obligations", [HOSTILE.format(file=place)]), ("pairs", [[HOSTILE.format(file=place), 0]])):
        changed = copy.deepcopy(certificate)
        statement = reached(changed)
        (statement if name == "obligations" else statement["stages"][0])[name] = content
        (tmp_path / "certificate.json").write_bytes(seal("proof", changed))
        assert checker.main([str(tmp_path / "certificate.json")]) == 2
    assert not place.exists()


def test_a_field_that_stands_twice_is_refused(certificate, tmp_path):
    body = json.dumps(certificate).replace('"graphs":', '"graphs": "connected", "graphs":', 1).encode()
    digest = hashlib.sha256(body).hexdigest()[:32].encode()
    (tmp_path / "certificate.json").write_bytes(b'{"digest":"' + digest + b'","proof":' + body + b"}")
    assert checker.main([str(tmp_path / "certificate.json")]) == 2


@pytest.mark.parametrize("name", ["pairwise", pytest.param("exact-majority", marks=pytest.mark.full)])
def test_every_field_is_checked_or_said(name, tmp_path, capsys, monkeypatch):
    """A changed field is refused, or what is printed changes with it. Solvers asked once per text: it is the same."""
    given = json.loads(json.dumps(hg.prove(CATALOGUE[name], largest=0).certificate))
    given["parts"] = [max(given["parts"], key=lambda part: sum(len(one["stages"]) for one in part["statements"]))]
    for solver in ("ask_z3", "ask_cvc5"):
        monkeypatch.setattr(checker, solver, functools.cache(getattr(checker, solver)))
    assert unnoticed(given, tmp_path, capsys) == []


def test_a_checker_that_says_less_is_noticed(tmp_path, capsys, monkeypatch):
    """The twin that says the questions alone, as names, does not see another smallest n or another state."""
    given = hg.prove(CATALOGUE["pairwise"], property="closed", largest=0).certificate
    monkeypatch.setattr(
        checker, "described", lambda content: [s["set"] for part in content["parts"] for s in part["statements"]]
    )
    paths = [path for path, _ in unnoticed(given, tmp_path, capsys)]
    assert ("parts", 0, "smallest_n") in paths and ("parts", 0, "states", 0) in paths


def test_without_a_solver_nothing_is_accepted(certificate, monkeypatch):
    monkeypatch.setattr(checker, "find_spec", lambda name: None)
    assert checker.check(certificate)["failures"]


def test_the_checker_is_short_and_stands_alone():
    with open(checker.__file__) as file:
        text = file.read()
    assert len(text.splitlines()) <= 310 and "hegemon." not in text.replace("hegemon.exact.proofs.checker", "")
