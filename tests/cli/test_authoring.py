"""`hegemon new`, `hegemon check` and `--trace`: what an author of a protocol meets."""

import json
import re
import sys

import pytest

from hegemon.cli import failures
from hegemon.cli.main import main
from hegemon.experiments import checking
from hegemon.protocols.loading import find_protocol, name_protocol
from tests.cli import sentences

MODELS = {"population": "verify", "rounds": "verify", "messages": "run"}


def as_json(capsys, *arguments):
    code = main([*arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.out, captured.err
    return code, json.loads(captured.out)


@pytest.mark.parametrize("model", MODELS)
def test_a_new_protocol_runs_verifies_and_plots_at_once(capsys, monkeypatch, tmp_path, model):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my_first.py", "--model", model]) == 0
    assert "class MyFirst(" in (tmp_path / "my_first.py").read_text()
    assert capsys.readouterr().out.count("hegemon ") >= 3
    assert main(["new", "my_first.py"]) == 2 and "already" in capsys.readouterr().err
    assert main(["run", "my_first.py", "--n", "6", "--plot", "run.png"]) == 0
    assert (tmp_path / "run.png").stat().st_size > 5_000
    capsys.readouterr()
    if model != "messages":
        code, answer = as_json(capsys, "verify", "my_first.py", "--n", "3")
        assert code == 0 and answer["ok"] and answer["headline"].endswith("claims hold")


@pytest.mark.parametrize("engines", [("agents",), pytest.param((), marks=pytest.mark.full)])
def test_a_sound_protocol_is_told_so(capsys, monkeypatch, engines):
    if engines:
        monkeypatch.setattr(checking, "engines", lambda *_: engines)
    code, content = as_json(capsys, "check", "pairwise", "--n", "3")
    assert code == 0 and content["ok"]
    expected = {f"engine {name}" for name in engines or ("agents", "events", "batch")}
    assert expected | {"functions", "all pairs", "set safe"} <= {row["what"] for row in content["checks"]}


def test_leaders_are_counted_where_there_are_any(capsys, monkeypatch):
    monkeypatch.setattr(checking, "engines", lambda *_: ("agents",))
    for protocol, said in (("epidemic", "300 steps"), ("pairwise", "300 steps, 1 leader")):
        code, content = as_json(capsys, "check", protocol, "--n", "3")
        assert code == 0 and content["checks"][-1]["found"] == f"compiles and runs: {said}"


FLAWS = {
    ("a.leader = 2", "functions"): "leader = 2",
    ("a.leader = 1", "set safe"): "claims to be closed, but a step leaves the set",
}
BROKEN = '''from hegemon import Bit, PopulationProtocol, exactly


class Mine(PopulationProtocol):
    """Broken in one place."""

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 0 and b.leader == 0:
            FLAW

    safe = exactly(1, lambda a, p: a.leader == 1).described("one", closed=True)
'''


@pytest.mark.parametrize(("flaw", "what"), FLAWS)
def test_what_is_wrong_is_found_and_explained(capsys, monkeypatch, tmp_path, flaw, what):
    monkeypatch.setattr(checking, "engines", lambda *_: ())  # nothing here depends on them
    path = tmp_path / "mine.py"
    path.write_text(BROKEN.replace("FLAW", flaw))
    code, content = as_json(capsys, "check", str(path), "--n", "3")
    wrong = {row["what"]: row["found"] for row in content["checks"] if not row["ok"]}
    assert code == 1 and not content["ok"] and list(wrong) == [what]
    assert FLAWS[flaw, what] in wrong[what]


def test_a_failure_in_the_users_file_names_its_line(capsys, tmp_path):
    path = tmp_path / "mine.py"
    text = BROKEN.replace("FLAW", "pass") + "\n    def validate(self):\n        raise KeyError('ghost')\n"
    path.write_text(text)
    assert main(["show", str(path)]) == 2
    (sentence,) = sentences(capsys.readouterr().err)
    assert "mine.py, line 17" in sentence and "ghost" in sentence


def test_what_only_a_users_function_raises_is_told_with_its_place(tmp_path):
    """Whatever no check foresees: the last line of the user's own file that the exception passed."""
    path = tmp_path / "mine.py"
    path.write_text(BROKEN.replace("FLAW", "pass") + "\n\ndef surprise():\n    return {}['ghost']\n")
    surprise = vars(sys.modules[find_protocol(name_protocol(str(path))).__module__])["surprise"]
    with pytest.raises(KeyError) as caught:
        surprise()
    code, sentence = failures.sentence(caught.value)
    assert code == 2 and f"{path}, line 18, in surprise: KeyError: 'ghost'" in sentence


def test_a_trace_of_a_story_tells_its_steps_and_then_those_of_the_run(capsys, tmp_path):
    """Once `--trace` drew steps of its own instead. The printed steps, made by hand, end where the run ended."""
    place, final = str(tmp_path / "story.json"), tmp_path / "final.json"
    lemma = ["verify", "timer", "--n", "3", "--set", "s=2", "--property", "closed:safe", "--counterexample", place]
    assert main([*lemma, "--quiet"]) == 1
    capsys.readouterr()
    arguments = ["run", "--start", place, "--until", "steps:12", "--seed", "5"]
    _, told = as_json(capsys, *arguments, "--trace", "100", "--final", str(final))
    story = json.loads((tmp_path / "story.json").read_text())
    assert told["trace"][0] == story["story"][-1] and len(told["trace"]) > 5
    agents = story["agents"]
    for line in told["trace"]:
        for who, change in re.findall(r"(?:initiator|responder) (\d+): ([^;]*)", line):
            for name, before, after in re.findall(r"(\w+) (\d+)→(\d+)", change):
                assert agents[int(who)][name] == int(before)
                agents[int(who)][name] = int(after)
    assert agents == json.loads(final.read_text())
    _, last = as_json(capsys, *arguments, "--trace", "-100")
    assert last["trace"] == told["trace"]


def test_a_trace_of_prescribed_rounds_tells_them(capsys, tmp_path):
    place = tmp_path / "rounds.json"
    ring = {"protocol": "herman", "graph": "oriented-ring:5", "agents": [{"x": 0}] * 5}
    place.write_text(json.dumps(ring | {"rounds": [[[2, {"x": 1}]], [[4, {"x": 1}]]]}))
    _, told = as_json(capsys, "run", "--start", str(place), "--until", "rounds:4", "--trace", "2")
    assert told["trace"] == ["round 1: node 2: x 0→1", "round 2: node 4: x 0→1"]


def test_a_trace_tells_the_run_that_was_measured(capsys):
    arguments = ("run", "pairwise", "--n", "6", "--seed", "4")
    _, first = as_json(capsys, *arguments, "--trace", "3")
    _, last = as_json(capsys, *arguments, "--trace", "-2")
    assert len(first["trace"]) == 3 and len(last["trace"]) == 2
    assert first["trials"] == last["trials"]
    end = first["trials"][0]["steps"]
    assert last["trace"][-1].startswith(f"step {end}: ") and "leader 1→0" in last["trace"][-1]
    _, all_of_them = as_json(capsys, *arguments, "--trace", "100")
    assert len(all_of_them["trace"]) == 5  # six leaders, and five of them yield
    assert all_of_them["trace"][:3] == first["trace"] and all_of_them["trace"][-2:] == last["trace"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "referees", "--n", "20", "--trace", "5", "--engine", "contacts"],
        ["run", "pairwise", "--n", "5", "--trace", "5", "--fault", "step=1,agents=1"],
        ["run", "pairwise", "--n", "5", "--trace", "5", "--engine", "batch"],
        ["run", "pairwise", "--n", "5", "--trace", "many"],
        ["new", "class.txt"],
        ["new", "9.py"],
        ["new", "x.py", "--model", "quantum"],
    ],
)
def test_what_cannot_be_told_or_written_is_refused(capsys, monkeypatch, tmp_path, arguments):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert len(sentences(capsys.readouterr().err)) == 1 and not list(tmp_path.iterdir())


def test_messages_and_decisions_are_told(capsys):
    arguments = ["run", "flood-max", "--n", "4", "--seed", "3"]
    _, first = as_json(capsys, *arguments, "--trace", "2")
    _, whole = as_json(capsys, *arguments, "--trace", "1000")
    _, last = as_json(capsys, *arguments, "--trace", "-3")
    assert whole["trace"][:2] == first["trace"] and whole["trace"][-3:] == last["trace"]
    assert first["trace"][0].startswith("round 1: node ") and first["trace"][0].endswith(" bits)")
    messages = [line for line in whole["trace"] if " tells node " in line]
    assert len(messages) == whole["trials"][0]["messages"]
    assert sum(line.endswith(" is ELECTED") for line in whole["trace"]) == whole["trials"][0]["leaders"] == 1


@pytest.mark.parametrize(
    "model, right, wrong, said",
    [
        ("messages", "before = node.highest", "before = node.highst", "AttributeError"),
        ("messages", "node.status = ELECTED", "node.status = 77", "write ELECTED, NON_ELECTED or None"),
        ("population", "b.leader = 0", "b.leader = 2", "outside 0..1"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(capsys, monkeypatch, tmp_path, model, right, wrong, said):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine.py", "--model", model]) == 0
    text = (tmp_path / "mine.py").read_text()
    line = 1 + text[: text.index(right)].count("\n")
    (tmp_path / "mine.py").write_text(text.replace(right, wrong, 1))
    capsys.readouterr()
    code, answer = as_json(capsys, "check", "mine.py")
    told = " ".join(check["found"] for check in answer["checks"] if not check["ok"])
    assert code == 1 and said in told and (f"line {line}" in told or "ELECTED" in said)


INTENDED = """from hegemon.models import Group, PopulationProtocol, Range, exactly


class Intended(PopulationProtocol):
    \"\"\"From its start nobody is ever 2, so that one 1 stays the only one.\"\"\"

    arbitrary_start = False

    class State:
        x: Range(0, LARGEST) = 1

    def interact(a, b, p):
        if a.x == 1 and b.x == 1:
            b.x = 0
        elif a.x == 2:
            b.x = 2

    safe = exactly(1, lambda a, p: a.x == 1).described("one 1", closed=True)
"""


@pytest.mark.parametrize(("n", "largest", "expected"), [(3, 2, True), (30, 40, None)])
def test_closure_is_judged_from_the_intended_starts(capsys, tmp_path, monkeypatch, n, largest, expected):
    """As verify judges it; where it is not proved it is not counted as passed."""
    monkeypatch.setattr(checking, "engines", lambda *_: [])  # nothing need be compiled for this
    path = tmp_path / "intended.py"
    path.write_text(INTENDED.replace("LARGEST", str(largest)))
    code, content = as_json(capsys, "check", str(path), "--n", str(n))
    (row,) = [row for row in content["checks"] if row["what"] == "set safe"]
    assert row["ok"] is expected and code == 0 and content["ok"] and content["undecided"] == (expected is None)
    assert main(["check", str(path), "--n", str(n)]) == 0
    assert ("all is well" if expected else "1 check not decided (?)") in capsys.readouterr().out
    if expected:
        assert as_json(capsys, "verify", str(path), "--n", "3")[0] == 0
        anywhere = path.read_text().replace("arbitrary_start = False", "default_start = 'random'")
        path.write_text(anywhere)
        code, content = as_json(capsys, "check", str(path), "--n", "3")
        assert code == 1 and not content["ok"]


def test_a_chain_of_rounds_that_is_too_large_is_not_decided(capsys, monkeypatch):
    monkeypatch.setattr(checking, "engines", lambda *_: [])
    _, content = as_json(capsys, "check", "bfw", "--n", "12", "--graph", "ring:12")
    rows = [row for row in content["checks"] if row["what"].startswith("set ")]
    assert rows and all(row["ok"] is None and "not proved here" in row["found"] for row in rows)
