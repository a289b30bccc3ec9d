"""What a beginner gets wrong in a file of `hegemon new`: one sentence with the line of that file, never a trace."""

import pytest

from hegemon.cli import failures
from hegemon.cli.main import main
from hegemon.experiments import checking
from tests.cli import sentences

# model: (right, wrong, what is said); the line is that of the wrong text, or of what stands after an arrow
MISTAKES = {
    "population": [
        ("a.alone = min(longest + 1, p.patience)", "a.alone = longest + 1", "alone = 4, outside 0..3"),
        ("a.alone = min(longest + 1, p.patience)", "a.alone = longest / 2", "// divides whole numbers"),
        ("if a.leader == 1 and b", "if a.laeder == 1 and b", "no field 'laeder'; the fields are leader, alone (did"),
        ("b.leader = 0", "b.laeder = 0", "writes 'laeder', which is not a field"),
        ("1, p.patience)", "1, p.patiense)", "no parameter 'patiense'; the parameters are n, patience (did you mean"),
        ('alone: Range(0, "patience")', 'alone: Range(0, "patiense")', "no parameter 'patiense'"),
        ('alone: Range(0, "patience")', "alone: Range(5, 2)", "empty range 5..2"),
        ("        leader: Bit", "        leader: Bit; n: Bit", "cannot be named 'n'"),
        ("    leaders = count", "    starts = count", "'starts' already has a meaning"),
        ("if a.leader == 1 and b.leader == 1:", "if a.leader == 1 and b.leader == 1", "expected ':'"),
        ("def interact(a, b, p):", "def interact(a, b):", "write def interact(a, b, p)"),
        ("b.leader = 0", "b.leader = id(a) % 2", "calls id"),
        ("b.leader = 0", "print(a)", "--trace prints what happens"),
        ("if a.leader == 1 and b", 'if a.leader == "1" and b', "leader is a number, and '1' is a text"),
        ("Parameter(3, low=1", "Parameter(0, low=1", "patience = 0 is out of range; it must be a whole number in"),
        ("safe = exactly(1", "safe = exactly(2", "safe claims to be closed, but a step leaves the set"),
        ("class State:", "class Stat:", "needs a `class State:`→class Mine("),
        ("            b.alone = a.alone", "            return a", "return nothing→def interact(a, b, p)"),
        ('{"leader": 1, "alone": 0})]', '{"leader": 1})]', "no value for alone→def start_all_leaders"),
        ("Group(self.n - 1,", "Group(self.n,", "at least 6 agents but n = 5→def start_one_leader"),
        ('default_start = "all-leaders"', 'default_start = "al-leaders"', "did you mean all-leaders?"),
        ("        leader: Bit", "        leader = Bit", "declared with a colon, `leader: …`→class Mine("),
    ],
    "rounds": [
        ("me.heads = coins", "me.heads = coins + 1", "heads = 2, outside 0..1"),
        ("neighbours[k].heads == 1", "neighbours[k].head == 1", "no field 'head'"),
        ("beaten = 1\n", "neighbours[k].leader = 0\n", "changes a neighbour→def update("),
        ("def update(me, neighbours, coins, p)", "def update(me, neighbours, p)", "write def update(me, neighb"),
    ],
    "messages": [
        ("rank=node.highest)", "rank=0)", "a message has rank = 0, which is not in 1..125"),
        ("def round(self, node, inbox, rng)", "def round(self, node, inbox)", "write def round(self, node, inbox, r"),
        ("rng.randint(1", "rng.randnt(1", "no attribute 'randnt'"),
    ],
}  # fmt: skip
CASES = [(model, *mistake) for model, mistakes in MISTAKES.items() for mistake in mistakes]


@pytest.mark.parametrize("model, right, wrong, said", CASES)
def test_a_mistake_is_explained_with_its_line(capsys, monkeypatch, tmp_path, model, right, wrong, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr(checking, "engines", lambda *_: ())  # every mistake is found before anything is compiled
    assert main(["new", "mine.py", "--model", model]) == 0
    text = (tmp_path / "mine.py").read_text()
    assert right in text
    text = text.replace(right, wrong, 1)
    (tmp_path / "mine.py").write_text(text)
    said, _, elsewhere = said.partition("→")
    before = text[: text.index(elsewhere or wrong.strip().split("; ")[-1])]
    capsys.readouterr()
    code = main(["check", "mine.py", "--quiet"])
    captured = capsys.readouterr()
    told = [line for line in captured.out.splitlines() if line.startswith("✗")] + sentences(captured.err)
    assert code == (failures.NO if captured.out else failures.BAD_INPUT)
    assert len(told) == 1 and said in told[0] and "Traceback" not in told[0]
    assert f"mine.py, line {1 + before.count(chr(10))}" in told[0]


@pytest.mark.parametrize("right, wrong", [('b.mood = "calm"', 'b.mood = "clam"'), ('== "calm"', '== "clam"')])
def test_the_values_of_a_choice_are_known_by_name(capsys, monkeypatch, tmp_path, right, wrong):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "engines", lambda *_: ())
    text = '''from hegemon import Choice, PopulationProtocol, everywhere


class Moods(PopulationProtocol):
    """An upset agent is calmed by a calm one."""

    class State:
        mood: Choice("calm", "upset")

    def interact(a, b, p):
        if a.mood == "calm" and b.mood == "upset":
            b.mood = "calm"

    safe = everywhere(lambda a, p: a.mood == "calm").described("all are calm", closed=True)
'''
    (tmp_path / "moods.py").write_text(text)
    assert main(["check", "moods.py", "--n", "3", "--quiet"]) == 0
    (tmp_path / "moods.py").write_text(text.replace(right, wrong, 1))
    capsys.readouterr()
    assert main(["check", "moods.py", "--n", "3", "--quiet"]) == 2
    (sentence,) = sentences(capsys.readouterr().err)
    assert "mood has no value 'clam' (moods.py, line 1" in sentence and "did you mean calm?" in sentence


def test_what_users_refuse_themselves_stays_their_own_sentence(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine.py"]) == 0
    text = (tmp_path / "mine.py").read_text()
    own = "\n    def validate(self):\n        raise InvalidInput('patience is a virtue')\n"
    (tmp_path / "mine.py").write_text(text.replace("from hegemon import ", "from hegemon import InvalidInput, ") + own)
    capsys.readouterr()
    assert main(["show", "mine.py"]) == 2
    assert sentences(capsys.readouterr().err) == ["hegemon: patience is a virtue"]
