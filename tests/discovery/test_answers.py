"""What a search gives out: exact times, Python files, certificates, checkpoints, sentences."""

import importlib.util
import itertools
import json
import random
import re
import subprocess
import sys
from fractions import Fraction

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.discovery import checker
from hegemon.discovery.certificates import KIND, certificate
from hegemon.discovery.discover import discover
from hegemon.discovery.keeping import KIND as KEPT
from hegemon.discovery.lifting import lift
from hegemon.discovery.search import TableSearch
from hegemon.discovery.writing import protocol_text
from hegemon.errors import InvalidInput
from hegemon.kept import read_kept, write_kept

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


OTHER_GOALS = {
    "threshold": {"specification": "threshold:2", "states": 3, "n": "3", "symmetric": True},
    "predicate": {"specification": "predicate:A >= 1 and n >= 2", "states": 2, "n": "2,3"},
    "own": {
        "specification": "own", "correct": "count(state == 1) == 1 and count(output == 1) <= n - 2",
        "start": "count(state == 0) == 2", "states": 3, "n": "3", "symmetric": True, "silent": True,
    },
    "ring": {"states": 2, "n": "3", "graph": "ring", "silent": True},
    "path": {"states": 3, "n": "3", "graph": "path", "symmetric": True, "silent": True},
}  # fmt: skip


@pytest.mark.parametrize("options", OTHER_GOALS.values(), ids=OTHER_GOALS)
def test_files_of_other_goals_are_protocols_that_verify_confirms(options, tmp_path):
    found = discover(**options).found
    assert found
    for number in random.Random(3).sample(range(len(found)), min(3, len(found))):
        protocol, n = written(found[number], number, tmp_path), max(found[number].times)
        answer = hg.verify(protocol(n=n))
        worst = found[number].times[n][0]
        if "specification" in options and options["specification"] != "own":
            assert all(one.holds for one in answer.findings if one.question == "predicate")
        elif options.get("silent"):  # nothing changes in the end: to be correct for good is to be silent
            assert answer.finding("reached").holds and answer.hitting.worst <= float(worst) * (1 + 1e-9)


def test_a_daemon_can_do_nothing_against_what_is_found(tmp_path):
    """Both the answer and the most moves are those of `verify` under the central daemon."""
    spread = {"specification": "own", "correct": "all(state == 1)", "self_stabilizing": True, "silent": True}
    for graph in ("directed-ring", "ring", "oriented-ring"):
        discovery = discover(**spread, states=2, n="3,4", graph=graph, daemon="central")
        assert discovery.satisfying + sum(tables for _, tables in discovery.pruned.values()) == discovery.tables
        assert discovery.found and re.search("most moves +[0-9]+ for the fastest, at n = 4", str(discovery))
        for number, one in enumerate(discovery.found[:3]):
            protocol = written(one, number, tmp_path)
            (finding,) = hg.verify(protocol(n=4), property="reached", scheduler="central").findings
            assert finding.holds and f"after at most {one.times[4][0]} move" in finding.sentence
            assert one.times[4][0] >= 3


def test_a_daemon_is_judged_as_every_sequence_of_moves():
    """All tables of two states, by a search for a cycle or an end outside what is correct, on named nodes."""
    asked_for = {"specification": "own", "correct": "count(state == 1) == 1", "self_stabilizing": True}
    for graph, reads in (("directed-ring", 1), ("oriented-ring", 2)):
        found = discover(**asked_for, states=2, n="3", graph=graph, daemon="central", silent=True)
        right = 0
        for outcomes in itertools.product((0, 1), repeat=2 ** (reads + 1)):
            after = {}
            for nodes in itertools.product((0, 1), repeat=3):
                views = [(nodes[i], *(nodes[(i + d) % 3] for d in (-1, 1)[:reads])) for i in range(3)]
                new = [outcomes[int("".join(map(str, view)), 2)] for view in views]
                moved = [i for i in range(3) if new[i] != nodes[i]]
                after[nodes] = [(*nodes[:i], new[i], *nodes[i + 1 :]) for i in moved]
            left = {nodes for nodes in after if sum(nodes) != 1 or after[nodes]}
            while ends := {nodes for nodes in left if after[nodes] and not left.intersection(after[nodes])}:
                left -= ends
            right += not left
        assert found.satisfying == right * len(found.problems) and found.tables == len(found.problems) * 2 ** len(
            found.problems[0].space.rules
        )


@pytest.mark.parametrize("options", [OTHER_GOALS["predicate"], OTHER_GOALS["own"] | {"states": 2, "n": "3"}], ids=str)
def test_certificates_of_other_goals_are_checked(options):
    content = json.loads(json.dumps(certificate(discover(**options, certificate=True))))
    assert checker.check(content)[:2] == (content["tables"], content["satisfying"])


def test_the_checker_agrees_and_imports_nothing_of_hegemon(tmp_path):
    for options in (*ASKED[:2], ASKED[3], {"states": 2, "n": "2,3", "self_stabilizing": True}):
        content = json.loads(json.dumps(certificate(discover(**options, certificate=True))))
        judged, satisfying, _ = checker.check(content)
        assert (judged, satisfying) == (content["tables"], content["satisfying"])
    place = tmp_path / "none.json"
    write_kept(place, KIND, content)
    code = (
        f"import runpy, sys; sys.argv = ['', {str(place)!r}]\n"
        f"try: runpy.run_path({checker.__file__!r}, run_name='__main__')\nexcept SystemExit as end: assert not end.code"
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
        yield {"fails": 2, "arcs": []} if "holds" in node else {"holds": True}
        return
    for k, branch in enumerate(node["branches"]):
        rest = [*node["branches"][:k], *node["branches"][k + 1 :]]
        yield {**node, "branches": rest}
        for below in changed(branch["then"]):
            yield {**node, "branches": [*rest, {**branch, "then": below}]}


def test_a_changed_certificate_is_refused():
    content = certificate(discover(states=2, n="2,3", certificate=True))
    problem = next(one for one in content["problems"] if one["outputs"] == [1, 0])
    others = [one for one in content["problems"] if one is not problem]
    count = 0
    for tree in changed(problem["tree"]):
        with pytest.raises(checker.Rejected):
            checker.check({**content, "problems": [{**problem, "tree": tree}, *others]})
        count += 1
    assert count > 10
    for wrong in ({"tables": 1023}, {"satisfying": 3}, {"problems": others, "tables": 768}):
        with pytest.raises(checker.Rejected):
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
    assert read_kept(place, KEPT)["branches"]
    left[0] = 10**9
    again = discover(**options, checkpoint=place)
    assert again.pruned == whole.pruned and [one.record() for one in again.found] == [
        one.record() for one in whole.found
    ]
    assert 10**9 - left[0] < whole.judged  # not everything was searched a second time
    finished = 10**9 - left[0]
    repeated = discover(**options, checkpoint=place)
    assert 10**9 - left[0] - finished == len(whole.problems)  # nothing is
    assert whole.judged == again.judged == repeated.judged  # however often a judgement had to be made
    with pytest.raises(InvalidInput, match="belongs to another search"):
        discover(**options, checkpoint=place, silent=True)
    whole_text = place.read_text()
    for text in ("[1]", "", "{}", whole_text[:-9], "[" * 100_000, '{"content": 1, "sum": 2}'):
        place.write_text(text)
        with pytest.raises(InvalidInput, match="no whole checkpoint") as refusal:
            discover(**options, checkpoint=place)
        assert "\n" not in str(refusal.value)


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
        (["leader-election", "--states", "9"], "states = 9 is out of range; give a whole number in 2..6"),
        (["leader-election", "--n", "1"], "n = 1 is too small"),
        (["leader-election", "--n", "2", "--graph", "directed-ring"], "the smallest is 3"),
        (["leader-election", "--n", "5..2"], "not understood"),
        (["leader-election", "--n", "4000"], "choose smaller n"),
        (["leader-election", "--graph", "star"], "choose complete or directed-ring or"),
        (["leader-election", "--certificate", "c.txt"], "must end in .json"),
        (["threshold:x"], "threshold = x is out of range"),
        (["predicate:C > 1"], "the predicate 'C > 1' cannot be decided (there is no parameter 'C')"),
        (["predicate:A +"], "ends too early"),
        (["predicate:A"], "it has a number where a comparison belongs"),
        (["majority", "--self-stabilizing"], "majority starts from all inputs; drop --self-stabilizing"),
        (["own"], "own needs --correct"),
        (["own", "--correct", "count(colour == 1) == 1"], "the condition 'count(colour == 1) == 1' is not understood"),
        (["own", "--correct", "all(output == 1)", "--start", "count(state == 1) == 9"], "no configuration satisfies"),
        (["leader-election", "--start", "all(state == 1)", "--self-stabilizing"], "contradict each other"),
        (["leader-election", "--correct", "all(state == 1)"], "--correct belongs to the specification own"),
        (["leader-election", "--daemon", "central"], "with a daemon nodes are on a ring"),
        (["leader-election", "--graph", "ring", "--n", "3", "--daemon", "unfair"], "give central"),
        (["leader-election", "--graph", "ring", "--n", "3", "--daemon", "central", "--coin"], "--coin is for agents"),
        (["leader-election", "--graph", "oriented-ring", "--n", "3"], "give --daemon central too"),
        (["leader-election", "--graph", "connected", "--n", "6"], "the largest is 5"),
        (["leader-election", "--n", "even 3"], "has no number of agents"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_a_sentence(words, sentence, capsys):
    assert main(["discover", *words, "--quiet"]) == 2
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
        (arcs,) = checker.asked_graphs("complete", n)
        asked_for = checker.goals(checker.meaning(found.question.record()), one.problem.outputs, n)
        assert sum(stuck) == n and not checker.judge(table, one.problem.outputs, n, arcs, asked_for, "outputs")
    assert (["L L -> F F"], 4, (0, 4)) in [(one.rules, n, stuck) for one, n, stuck in lifted.wrong]
    ring = discover(states=2, n="3,5", graph="directed-ring")
    ((one, n, _),) = lift(ring, "7,9").wrong  # among 9 leaders, three may be left that do not meet
    assert (one.rules, n) == (["L L -> F F"], 9)
    assert lift(discover(states=2, n="2,3"), "4..8").record()["right"] == 1
    assert main(["discover", "leader-election", "--n", "3", "--symmetric", "--then", "4,5"]) == 0
    assert "right for n = 3, wrong at 4: L L -> F F" in capsys.readouterr().out
