"""Claims of anyone's paper: the tutorial word for word, the skeleton, refusals, twins, resuming."""

import json
import re
from pathlib import Path

import pytest

import hegemon
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, choose
from hegemon.claims.reproduce import make_claims, reproduce
from hegemon.claims.stating import claims_in
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.experiments.executors.local import Threads


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """A worker's process takes seconds to start, and these claims take less."""
    monkeypatch.setattr("hegemon.claims.reproduce.Processes", lambda _: Threads())


ALL = "lemma-1,lemma-2,theorem-3,corollary-4"


@pytest.mark.parametrize("chosen", ["lemma-1", pytest.param(ALL, marks=pytest.mark.full)])
def test_the_skeleton_holds_and_catches_its_twins(chosen, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my_paper.py", "--claims"]) == 0
    assert "hegemon reproduce my_paper.py" in capsys.readouterr().out
    assert main(["reproduce", "my_paper.py", "--only", chosen, "--json", "--quiet", "--jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)["claims"]
    assert [one["verdict"] for one in found] == [HOLDS] * len(chosen.split(","))
    assert all(one["checks"][-1]["what"] == "a broken twin is caught" for one in found)
    report = (tmp_path / "my_paper-quick" / "report.html").read_text()
    assert "<h1>My paper: a title" in report and "Errata" not in report
    assert ("<figure>" in report) == (chosen == ALL)
    assert "hegemon reproduce my_paper.py --quick --only lemma-1" in report
    assert main(["reproduce", "my_paper.py", "--list", "--json"]) == 0
    assert [one["twin"] for one in json.loads(capsys.readouterr().out)["claims"]][0] == "Forgetful"
    with pytest.raises(InvalidInput, match="comes with a population protocol"):
        main_raises(["new", "other.py", "--claims", "--model", "rounds"])


def main_raises(words):
    """The command's own refusal, not the sentence that `main` makes of it."""
    from hegemon.cli.authoring import new_protocol

    new_protocol(words[1], model=words[-1], claims=True)


HEAD = """
from hegemon import Bit, FloodMax, Group, Pairwise, PopulationProtocol, Timer, Trains, claim, exactly
from hegemon.claims.checks import always

class BothYield(Pairwise):
    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            a.leader = b.leader = 0

class Forgetful(Pairwise):
    def interact(a, b, p):
        b.leader = 0

    safe = exactly(1, lambda a, p: a.leader == 1).described("for a moment", closed=False)

def leaders(lab, protocol, sizes, trials):
    rows = [row for n in sizes for row in lab.trials(protocol(n=n), trials, max_steps=999)]
    return [always("a leader is left", sum(row["leaders"] > 0 for row in rows), len(rows))]
"""


def stated(tmp_path, text: str) -> Path:
    """A file with these claims, and a new name, so that nothing is taken for an older one."""
    file = tmp_path / f"paper{len(list(tmp_path.glob('*.py')))}.py"
    file.write_text(HEAD + text)
    return file


TRUE = {
    "closed": 'Pairwise, twin=Forgetful, closed="safe", exact=(3,), sizes=(5,), trials=1',
    "at_least": 'Pairwise, twin=Forgetful, at_least="(n - 1)^2 / 2", starts="all-leaders", exact=(3, 4)',
    "probability": 'Pairwise, twin=BothYield, probability="0.5", within="2 * n^2", exact=(4,), sizes=(8,), trials=40',
    "grows": 'Pairwise, twin=BothYield, grows="n^2", rival="n^3", sizes=(8, 16, 32), trials=30',
    "test": "Pairwise, twin=BothYield, test=leaders, sizes=(2,), trials=3",
}
FALSE = {
    "closed": 'Pairwise, closed="count(leader == 1) == 2", exact=(3,)',
    "closed in runs": 'Pairwise, closed="count(leader == 1) == 2", sizes=(5,), trials=1',
    "reached": 'Timer, reached="count(leader == 1) == 3", parameters={"s": 2}, exact=(3,)',
    "mean": 'Pairwise, mean="(n - 1)^2 + 1", exact=(2,)',
    "at_most": 'Pairwise, at_most="n", sizes=(20,), trials=20',
    "at_least": 'Timer, until="broken", at_least="10^9", starts="safe", parameters={"s": 4}, exact=(3,)',
    "grows": 'Pairwise, grows="n * log2(n)", rival="n^2", sizes=(8, 32, 128), trials=20',
    "probability": 'Pairwise, probability="0.99", within="n", sizes=(10,), trials=50',
    "messages": 'FloodMax, probability="1", exact=(3,)',
    "messages in runs": 'FloodMax, of="messages", at_most="n", graph="ring:{n}", sizes=(6,), trials=5',
    "rounds": 'Trains, reached="count(leader == 1) == 0", graph="path:{n}", starts="all-leaders", sizes=(4,), '
              'trials=3, limit="5"',
}  # fmt: skip


def test_every_conclusion_holds_and_fails(tmp_path):
    """What is true holds and catches its twin; what is false is violated."""
    lines = [f'claim("true-{k}", "It is so.", {text})' for k, text in enumerate(TRUE.values())]
    lines += [f'claim("false-{k}", "It is not.", {text})' for k, text in enumerate(FALSE.values())]
    found = reproduce(stated(tmp_path, "\n".join(lines)), out=tmp_path / "out", jobs=1)
    verdicts = dict(zip([*TRUE, *(f"not {name}" for name in FALSE)], found["claims"], strict=True))
    wrong = {name: one["headline"] for name, one in verdicts.items()
             if one["verdict"] != (VIOLATED if name.startswith("not ") else HOLDS)}  # fmt: skip
    assert not wrong


def test_a_twin_that_is_missing_or_not_caught_is_said(tmp_path):
    text = ('claim("a", "Soon.", Pairwise, at_most="n^2", exact=(3,))\n'
            'claim("b", "Soon.", Pairwise, twin=Forgetful, at_most="n^2", exact=(3,))')  # fmt: skip
    first, second = reproduce(stated(tmp_path, text), out=tmp_path / "out", jobs=1)["claims"]
    assert first["verdict"] == second["verdict"] == UNDECIDED
    assert "no twin was given" in first["headline"] and "Forgetful is NOT CAUGHT" in second["headline"]


def test_an_edited_file_is_measured_again_and_an_unchanged_one_is_not(tmp_path):
    file = stated(tmp_path, 'claim("a", "Exact.", Pairwise, mean="(n - 1)^2", exact=(3,))')
    heard = []

    class Ear(hegemon.claims.reproduce.ClaimsListener):
        def finished(self, claim, record, again):
            heard.append((record["verdict"], again))

    for edit in (None, None, ("(n - 1)^2", "n^2")):
        if edit:
            file.write_text(file.read_text().replace(*edit))
        make_claims(choose(file=str(file)), "quick", tmp_path / "out", 1, listener=Ear())
    assert heard == [(UNDECIDED, False), (UNDECIDED, True), (VIOLATED, False)]


def test_a_twin_of_the_same_name_is_not_taken_for_the_protocol(tmp_path):
    text = """
class Slow(Pairwise):
    id = "pairwise"

    def interact(a, b, p):
        pass

claim("a", "Soon.", Pairwise, twin=Slow, at_most="2 * n^2", sizes=(6,), trials=8, limit="5 * n^2")
"""
    (found,) = reproduce(stated(tmp_path, text), out=tmp_path / "out", jobs=1)["claims"]
    assert found["verdict"] == HOLDS and "Slow is caught" in found["headline"]


REFUSED = {
    'claim("a b", "x", Pairwise, closed="safe", exact=(2,))': "needs a name of letters",
    'claim("a", "x", "pairwise", closed="safe", exact=(2,))': "give the class of a protocol",
    'claim("a", "x", Pairwise, twin=Pairwise, closed="safe", exact=(2,))': "is the protocol itself",
    'claim("a", "x", Pairwise, exact=(2,))': "concludes nothing",
    'claim("a", "x", Pairwise, closed="safe", mean="n", exact=(2,))': "has closed, mean; give exactly one",
    'claim("a", "x", Pairwise, grows="n", sizes=(2, 3, 4))': "grows and rival go together",
    'claim("a", "x", Pairwise, mean="n", within="n", exact=(2,))': "within goes with probability",
    'claim("a", "x", Pairwise, grows="n", rival="n^2", sizes=(2, 3))': "three sizes or more",
    'claim("a", "x", Pairwise, mean="n")': "is tested nowhere",
    'claim("a", "x", Pairwise, mean="n", exact=(0,))': "each entry a whole number in 1",
    'claim("a", "x", Pairwise, mean="n", exact=(2,), starts="all-leader")': "did you mean all-leaders",
    'claim("a", "x", Pairwise, closed="save", exact=(2,))': "did you mean safe",
    'claim("a", "x", Pairwise, mean="n", exact=(2,), full={"size": (3,)})': "did you mean sizes",
    'claim("a", "x", Pairwise, mean="n", exact=(2,))\n' * 2: "several claims have the name 'a'",
    "pass": "states no claim",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_tested_is_refused(tmp_path, text):
    with pytest.raises(InvalidInput, match=re.escape(REFUSED[text])):
        claims_in(stated(tmp_path, text))


def test_what_fails_while_it_is_tested_is_said_in_one_sentence(tmp_path, monkeypatch, capsys):
    file = stated(tmp_path, 'claim("a", "x", Pairwise, mean="m + 1", exact=(2,))')
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", file.name, "--quiet"]) == 2
    assert "the claim a of" in (said := capsys.readouterr().err) and "'m'" in said
    assert main(["reproduce", file.name, "--paper", "ring"]) == 2 and "drop one of them" in capsys.readouterr().err
    assert main(["reproduce", "paper"]) == 2 and "is not a Python file" in capsys.readouterr().err
    assert main(["reproduce", "paper.py"]) == 2 and "there is no file" in capsys.readouterr().err
