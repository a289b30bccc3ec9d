"""A guided search finds correct protocols, reports what it covered, and gives the same result on any workers."""

import itertools
import json

import pytest

from hegemon.cli.main import main
from hegemon.discovery import checker, guided
from hegemon.discovery.discover import discover, process
from hegemon.discovery.guided import discover_guided
from hegemon.discovery.lifting import lift
from hegemon.discovery.specifications import SearchQuestion
from hegemon.errors import InvalidInput

OPTIONS = {"states": 3, "n": "2,3", "walks": 6, "seed": 5}


def answers(discovery):
    return discovery.record() | {"seconds": 0}


def test_everything_found_is_right_by_brute_force():
    found = discover_guided(**OPTIONS)
    assert found.found
    for one in found.found:
        space = one.problem.space
        table = {pair: [space.outcome(one.table, *pair) or pair] for pair in itertools.product(range(3), repeat=2)}
        for n in (2, 3):
            (arcs,) = checker.asked_graphs("complete", n)
            goals = checker.goals(checker.meaning(found.question.record()), one.problem.outputs, n)
            assert checker.judge(table, one.problem.outputs, n, arcs, goals, "outputs")


def test_two_states_are_found_as_by_enumeration():
    """A small space is found whole, and nothing besides."""
    options = {"states": 2, "n": "2", "self_stabilizing": True}
    whole, walked = discover(**options), discover_guided(**options, walks=30)
    assert {process(one.problem, one.table) for one in walked.found} == {
        process(one.problem, one.table) for one in whole.found
    }
    assert {one.times[2] for one in walked.found} == {one.times[2] for one in whole.found}


def test_where_nothing_exists_nothing_is_found_and_no_absence_is_claimed(capsys):
    assert main(["discover", "majority", "--n", "2..4", "--guided", "--walks", "5"]) == 3
    said = capsys.readouterr().out
    assert "not exhaustive" in said and "none found, which does not mean that none exists" in said


def test_the_answer_depends_on_the_seed_alone(tmp_path):
    first = answers(discover_guided(**OPTIONS))
    assert first["exhaustive"] is False and 0 < first["share"] < 1
    assert answers(discover_guided(**OPTIONS)) == first
    assert answers(discover_guided(**OPTIONS, cluster="dask:local", workers=2)) == first
    assert answers(discover_guided(**OPTIONS | {"seed": 6})) != first


@pytest.mark.full
def test_processes_give_the_same_answer():
    assert answers(discover_guided(**OPTIONS, workers=2)) == answers(discover_guided(**OPTIONS))


def test_a_killed_search_goes_on(tmp_path, monkeypatch):
    place, walk, left = tmp_path / "walks.json", guided.walk, [4]

    def dying(*given):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return walk(*given)

    monkeypatch.setattr(guided, "walk", dying)
    with pytest.raises(KeyboardInterrupt):
        discover_guided(**OPTIONS, checkpoint=place)
    left[0] = 2  # the other two are kept
    again = discover_guided(**OPTIONS, checkpoint=place)
    monkeypatch.setattr(guided, "walk", walk)
    assert answers(again) == answers(discover_guided(**OPTIONS))
    with pytest.raises(InvalidInput, match="belongs to another search"):
        discover_guided(**OPTIONS | {"seed": 6}, checkpoint=place)
    place.write_text(place.read_text().replace('"walks"', '"walk"'))
    with pytest.raises(InvalidInput, match="is damaged"):
        discover_guided(**OPTIONS, checkpoint=place)


def test_a_learned_failure_is_a_failure():
    """Every table that agrees with what a walk has learned is wrong."""
    question = discover_guided(**OPTIONS).question
    number, search = guided._searches(question)[1]
    walker = guided._Walker(search.problem, search.keeps, guided.random.Random(1))
    walker.go(60)
    assert len(walker.learned) > 10 and walker.skipped
    draw = guided.random.Random(2)
    for learned in walker.learned[:40]:
        table = [draw.randrange(9) for _ in search.problem.space.rules]
        for rule, choice in learned:
            table[rule] = choice
        assert walker.score(table)[0] > 0


def test_survivors_are_proved_run_at_large_n_and_counterexamples_are_kept(capsys):
    lifted = lift(discover(states=2, n="2,3"), "4,3000", trials=2)
    assert lifted.sizes == (4,) and [dict(said) for _, said in lifted.proofs] == [
        {"closed": "proved", "reached": "proved", "leader": "proved"}
    ]
    assert [(one.n, one.reached, one.trials) for one in lifted.simulated] == [(3000, 2, 2)]
    words = ["majority", "--states", "4", "--n", "2..4", "--symmetric", "--guided", "--walks", "8", "--then", "5"]
    assert main(["discover", *words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["then"]["wrong"] == content["processes"] and content["then"]["counterexamples"][0]["n"] == 5
    with pytest.raises(InvalidInput, match="too large for all connected graphs"):
        lift(discover(states=2, n="2,3", graph="connected", specification="threshold:1"), "100")


def rules_of(text, names):
    """A table in the checker's form, from rules as text; pairs without a rule change nothing."""
    table = {pair: [pair] for pair in itertools.product(range(len(names)), repeat=2)}
    for rule in text.split("; "):
        before, after = (tuple(names.index(word) for word in side.split()) for side in rule.split(" → "))
        table[before] = [after]
    return table


@pytest.mark.parametrize(
    ("right", "text"),
    [
        ((3,), "L L → F2 F1; L F1 → L F2; F1 F1 → F1 L; F1 F2 → F1 L; F2 L → F2 F1; F2 F2 → F1 F1"),
        ((3, 4), "L L → L F2; L F1 → F1 L; F1 F1 → F2 F1; F1 F2 → L F2; F2 L → F1 F1; F2 F2 → F2 F1"),
        ((3, 5, 7), "L L → F2 F1; L F2 → F2 F1; F1 L → F1 F2; F1 F1 → L F1; F2 F2 → F2 F1"),
    ],
)
def test_three_states_elect_from_everywhere_on_small_directed_rings(right, text):
    """The protocols of the manual, by a brute force on single agents; on other rings they are wrong."""
    for size in (3, 4, 5, 6, 7):
        (arcs,) = checker.asked_graphs("directed-ring", size)
        question = SearchQuestion("leader-election", 3, (size,), "directed-ring", self_stabilizing=True)
        goals = checker.goals(checker.meaning(question.record()), (1, 0, 0), size)
        if 7 in right:  # of nine agents three may lead, and nothing changes any more
            nine, table = (0, 1, 2) * 3, rules_of(text, ["L", "F1", "F2"])
            assert all(table[pair] == [pair] for pair in zip(nine, nine[1:] + nine[:1], strict=True))
        holds = checker.judge(rules_of(text, ["L", "F1", "F2"]), (1, 0, 0), size, arcs, goals, "outputs")
        assert holds == (size in right)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["leader-election", "--states", "5"], "choose 2 to 4, or search guided"),
        (["leader-election", "--guided", "--certificate", "c.json"], "a guided search has no certificate"),
        (["leader-election", "--guided", "--walks", "0"], "walks = 0 is out of range"),
        (["leader-election", "--guided", "--cluster", "moon"], "the cluster 'moon' is not understood"),
        ([], "give a specification, such as leader-election, or --improve PROTOCOL"),
    ],
)
def test_what_makes_no_sense_is_refused(words, sentence, capsys):
    assert main(["discover", *words, "--quiet"]) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said and said.count("\n") == 0
