"""What a search gives out: exact times, Python files, certificates, checkpoints, sentences."""

import importlib.util
import json
import random
import subprocess
import sys
from fractions import Fraction

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.discovery import checker
from hegemon.discovery.certificates import certificate
from hegemon.discovery.discover import discover
from hegemon.discovery.lifting import lift
from hegemon.discovery.search import TableSearch
from hegemon.discovery.writing import protocol_text
from hegemon.errors import InvalidInput

ASKED = [
    {"states": 2, "n": "2..4"},
    {"states": 2, "n": "2", "self_stabilizing": True},
    {"states": 2, "n": "2,3", "coin": True},
    {"states": 2, "n": "3", "graph": "directed-ring", "symmetric": True},
    {"states": 3, "n": "3", "symmetric": True},
    {"states": 3, "n": "3", "symmetric": True, "silent": True},
]


def written(found, number, folder):
    """The class that the file of a protocol defines."""
    place = folder / f"found_{number}.py"
    place.write_text(protocol_text(found, f"Found{number}", "hegemon discover"))
    description = importlib.util.spec_from_file_location(f"found_{number}", place)
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    return getattr(module, f"Found{number}")


@pytest.mark.parametrize("options", ASKED, ids=str)
def test_files_are_protocols_whose_exact_times_verify_confirms(options, tmp_path):
    found = discover(**options).found
    assert found
    chosen = random.Random(3).sample(range(len(found)), min(6, len(found)))
    for number in chosen:
        protocol = written(found[number], number, tmp_path)
        n, (worst, mean) = max(found[number].times.items())
        answer = hg.verify(protocol(n=n), property="time:safe")
        if options.get("graph") == "directed-ring":
            continue  # its file does not describe what is settled
        assert answer.hitting.worst == pytest.approx(float(worst), rel=1e-9)
        assert answer.hitting.mean == pytest.approx(float(mean), rel=1e-9)
        everything = hg.verify(protocol(n=n))
        assert everything.ok and everything.finding("leader").holds


def test_the_checker_agrees_and_imports_nothing_of_hegemon(tmp_path):
    for options in (*ASKED[:2], ASKED[3], {"states": 2, "n": "2,3", "self_stabilizing": True}):
        content = json.loads(json.dumps(certificate(discover(**options, certificate=True))))
        judged, satisfying = checker.check(content)
        assert (judged, satisfying) == (content["tables"], content["satisfying"])
    place = tmp_path / "none.json"
    place.write_text(json.dumps(content))
    code = (
        f"import runpy, sys; sys.argv = ['', {str(place)!r}]\nrunpy.run_path({checker.__file__!r}, run_name='__main__')"
    )
    code += "\nprint([name for name in sys.modules if name.startswith('hegemon.')])"
    said = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    assert "all 768 tables were judged again, 0 satisfy" in said and said.endswith("[]\n")


def test_a_sample_of_a_certificate_of_three_states_is_checked():
    content = certificate(discover(states=3, n="3", symmetric=True, certificate=True))
    assert checker.check(content, sample=200)[0] == 1200


def changed(node):
    """Every certificate tree with one leaf that says the opposite, or one branch less."""
    if "rule" not in node:
        yield {"fails": 2} if "holds" in node else {"holds": True}
        return
    for k, branch in enumerate(node["branches"]):
        rest = [*node["branches"][:k], *node["branches"][k + 1 :]]
        yield {**node, "branches": rest}
        for below in changed(branch["then"]):
            yield {**node, "branches": [*rest, {**branch, "then": below}]}


def test_a_changed_certificate_is_refused():
    content = certificate(discover(states=2, n="2,3", certificate=True))
    problem = next(one for one in content["problems"] if one["leaders"] == [1, 0])
    others = [one for one in content["problems"] if one is not problem]
    count = 0
    for tree in changed(problem["tree"]):
        with pytest.raises(SystemExit):
            checker.check({**content, "problems": [{**problem, "tree": tree}, *others]})
        count += 1
    assert count > 10
    for wrong in ({"tables": 1023}, {"satisfying": 3}, {"problems": others, "tables": 768}):
        with pytest.raises(SystemExit):
            checker.check({**content, **wrong})


def test_a_killed_search_goes_on_and_ends_with_the_same_answer(tmp_path, monkeypatch):
    options = {"states": 2, "n": "2,3", "coin": True}
    whole = discover(**options)
    place = tmp_path / "kept.json"
    explore = TableSearch._explore
    left = [whole.judged // 2]

    def dying(self, *given):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return explore(self, *given)

    monkeypatch.setattr(TableSearch, "_explore", dying)
    with pytest.raises(KeyboardInterrupt):
        discover(**options, checkpoint=place)
    assert json.loads(place.read_text())["branches"]
    left[0] = 10**9
    again = discover(**options, checkpoint=place)
    assert again.pruned == whole.pruned and [one.record() for one in again.found] == [
        one.record() for one in whole.found
    ]
    assert 10**9 - left[0] < whole.judged  # not everything was searched a second time
    assert again.judged >= whole.judged  # and what was searched before is counted
    finished = 10**9 - left[0]
    discover(**options, checkpoint=place)
    assert 10**9 - left[0] - finished == len(whole.problems)  # nothing is
    with pytest.raises(InvalidInput, match="belongs to another search"):
        discover(**options, checkpoint=place, silent=True)
    place.write_text("[1]")
    with pytest.raises(InvalidInput, match="no checkpoint"):
        discover(**options, checkpoint=place)


def test_the_same_search_gives_the_same_record():
    first, second = (discover(states=3, n="3", symmetric=True).record() for _ in range(2))
    assert first | {"seconds": 0} == second | {"seconds": 0}


def test_fractions_are_exact():
    """LL -> LF in one of two faces takes twice as long."""
    found = discover(states=2, n="2..4", coin=True).found
    assert [one.times[4][0] for one in found] == [9, 18]
    times = {time for time, _, _ in discover(states=3, n="3", symmetric=True).distribution}
    assert Fraction(26, 5) in times


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["consensus"], "the specification 'consensus' is not known; choose leader-election"),
        (["leader-election", "--states", "9"], "states = 9 is out of range; give a whole number in 2..4"),
        (["leader-election", "--n", "1"], "n = 1 is too small"),
        (["leader-election", "--n", "2", "--graph", "directed-ring"], "the smallest is 3"),
        (["leader-election", "--n", "5..2"], "not understood"),
        (["leader-election", "--n", "4000"], "choose smaller n"),
        (["leader-election", "--graph", "star"], "choose complete or directed-ring"),
        (["leader-election", "--certificate", "c.txt"], "must end in .json"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_a_sentence(words, sentence, capsys):
    assert main(["discover", *words]) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said and said.count("\n") == 0


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["discover", "leader-election", "--states", "2", "--n", "2..4"]
    assert main([*words, "--out", "found", "--certificate", "all.json", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["files"] == ["found/found_1.py", "all.json"]
    assert content["satisfying"] + sum(one["tables"] for one in content["pruned"].values()) == content["tables"] == 1024
    assert main(["run", "found/found_1.py", "--n", "20"]) == 0
    capsys.readouterr()
    assert main(["discover", "leader-election", "--n", "2,3", "--self-stabilizing"]) == 1
    assert "none exists (768 tables covered by judging 6" in capsys.readouterr().out
    assert main(words) == 0
    assert "1. L L -> L F" in capsys.readouterr().out


def test_an_interrupt_says_what_is_kept(capsys, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hegemon.discovery.discover.rank", interrupt)
    for words, said in ((["--checkpoint", str(tmp_path / "kept.json")], "run again to go on"), ([], "not kept")):
        assert main(["discover", "leader-election", *words]) == 130
        assert said in capsys.readouterr().err


def test_what_fails_at_a_larger_n_is_kept_as_a_counterexample(capsys):
    """Symmetric elimination in pairs elects among 3 agents, and leaves nobody or one of more."""
    found = discover(states=2, n="3", symmetric=True)
    lifted = lift(found, "4,5")
    assert len(lifted.right) + len(lifted.wrong) + len(lifted.undecided) == len(found.found)
    for one, n, stuck in lifted.wrong:
        table = {(a, b): [one.problem.space.outcome(one.table, a, b) or (a, b)] for a in (0, 1) for b in (0, 1)}
        assert sum(stuck) == n and not checker.judge(table, one.problem.outputs, n, "complete", False, False)
    assert (["L L -> F F"], 4, (0, 4)) in [(one.rules, n, stuck) for one, n, stuck in lifted.wrong]
    ring = discover(states=2, n="3,5", graph="directed-ring")
    ((one, n, _),) = lift(ring, "7,9").wrong  # among 9 leaders, three may be left that do not meet
    assert (one.rules, n) == (["L L -> F F"], 9)
    assert lift(discover(states=2, n="2,3"), "4..8").record()["right"] == 1
    assert main(["discover", "leader-election", "--n", "3", "--symmetric", "--then", "4,5"]) == 0
    assert "right for n = 3, wrong at 4: L L -> F F" in capsys.readouterr().out
