"""The search counts every table once, and says of each what a brute force on single agents says."""

import dataclasses
import functools
import itertools
import random

import pytest

from hegemon.discovery import checker
from hegemon.discovery import judge as judging
from hegemon.discovery.discover import discover, process
from hegemon.discovery.judge import FAILS, HOLDS, Outlook, judge
from hegemon.discovery.rules import RuleSpace, classes, renamings
from hegemon.discovery.search import TableSearch, failing, holding
from hegemon.discovery.specifications import SearchQuestion, parse_sizes

SEARCHES = {
    "uniform": {"n": "2..4"},
    "one size": {"n": "3"},
    "self-stabilizing": {"n": "2,3", "self_stabilizing": True},
    "self-stabilizing, two agents": {"n": "2", "self_stabilizing": True},
    "silent": {"n": "2..4", "silent": True},
    "symmetric": {"n": "3", "symmetric": True},
    "ring": {"n": "3,4", "graph": "directed-ring"},
    "ring, anywhere": {"n": "3", "graph": "directed-ring", "self_stabilizing": True},
    "undirected ring": {"n": "3,4", "graph": "ring"},
    "path": {"n": "2,3", "graph": "path", "self_stabilizing": True},
    "connected": {"n": "3,4", "graph": "connected"},
    "majority": {"n": "2,3", "specification": "majority"},
    "threshold": {"n": "2,3", "specification": "threshold:1"},
    "predicate on a ring": {"n": "3", "specification": "predicate:A >= 1 and B >= 1", "graph": "ring"},
    "own": {"n": "3", "specification": "own", "correct": "count(output == 1) == 2"},
    "own, told apart": {"n": "3,4", "specification": "own", "correct": "all(state == 1)", "start": "none(state == 1)"},
    "own, anywhere": {
        "n": "3", "specification": "own", "correct": "count(state == 1) <= n - 2", "self_stabilizing": True,
    },
}  # fmt: skip


def as_table(space, choices):
    """A table as the brute force reads it."""
    pairs = itertools.product(range(space.states), repeat=2)
    return {(a, b): [space.outcome(choices, a, b, face) for face in range(space.faces)] for a, b in pairs}


def right_by_brute_force(question, problem, choices):
    table = as_table(problem.space, choices)
    return all(
        checker.judge(table, problem.outputs, n, arcs, goals(question, problem.outputs, n), question.goal.keeps)
        for n in question.n
        for arcs in checker.asked_graphs(question.graph, n)
    )


@functools.cache
def goals(question, outputs, n):
    return checker.goals(checker.meaning(question.record()), outputs, n)


def searched(states, n, **options):
    return SearchQuestion("leader-election", states, parse_sizes(n), **options)


@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
def test_all_tables_of_two_states_by_brute_force(options):
    found = discover(states=2, **options)
    for problem, tree in zip(found.problems, found.trees, strict=True):
        space = problem.space
        every = itertools.product(*(range(len(rule.choices)) for rule in space.rules))
        right = {choices for choices in every if right_by_brute_force(found.question, problem, choices)}
        assert sum(count for _, count in holding(problem, tree)) == len(right)
        wrong = sum(tables for _, tables in failing(problem, tree).values())
        assert wrong + len(right) == space.size
        kinds = {process(problem, table) for table, _ in holding(problem, tree)}
        if not options.get("silent") and all(-1 not in table for table, _ in holding(problem, tree)):
            assert {process(problem, choices) for choices in right} == kinds


def used_pairs(table, n, starts, is_correct):
    """The pairs that meet in a reached configuration, and those that meet in a correct one, on a complete graph."""
    (arcs,), seen, used, settling = checker.asked_graphs("complete", n), set(), set(), set()
    waiting = list(starts)
    while waiting:
        agents = waiting.pop()
        if agents not in seen:
            seen.add(agents)
            pairs = {(agents[i], agents[j]) for i, j in arcs}
            used |= pairs
            settling |= pairs if is_correct(agents) else set()
            for i, j in arcs:
                for outcome in table[agents[i], agents[j]]:
                    waiting.append(
                        tuple(dict(zip((i, j), outcome, strict=True)).get(k, x) for k, x in enumerate(agents))
                    )
    return used, settling


def kind_of_process(question, problem, choices):
    """The process of a table by its definition in docs/discover.md, for complete graphs."""
    table, outputs, used, settling = as_table(problem.space, choices), problem.outputs, set(), set()
    for n in question.n:
        for starts, is_correct in goals(question, outputs, n):
            here = used_pairs(table, n, starts, is_correct)
            used, settling = used | here[0], settling | here[1]

    def leaves(before, after):
        return before == after if question.silent else [outputs[x] for x in before] == [outputs[x] for x in after]

    forms = []
    for name in renamings(problem.colours):
        form = {}
        for pair in used:
            told = [
                (
                    sorted(name[x] for x in after),
                    pair in settling and problem.goal.keeps != "nothing" and leaves(pair, after),
                )
                for after in table[pair]
            ]
            form.setdefault(tuple(sorted(name[x] for x in pair)), []).append(sorted(told))
        forms.append(sorted((pair, sorted(told)) for pair, told in form.items()))
    return str(min(forms))


COUNTED = {
    "election": ({"n": "2,3"}, 1),
    "at least as many": ({"n": "2", "specification": "predicate:A >= B"}, 2),
    "threshold with a coin": ({"n": "2", "specification": "threshold:1", "coin": True, "symmetric": True}, 2),
    "all": ({"n": "3", "specification": "predicate:A + B >= 1"}, 70),
    "own, silent": ({"n": "2", "specification": "own", "correct": "count(output == 1) == 2", "silent": True}, 13),
}


@pytest.mark.parametrize(("options", "number"), COUNTED.values(), ids=COUNTED)
def test_processes_are_counted_as_the_documentation_defines_them(options, number):
    found = discover(states=2, **options)
    kinds = set()
    for place, problem in enumerate(found.problems):
        every = itertools.product(*(range(len(rule.choices)) for rule in problem.space.rules))
        right = [choices for choices in every if right_by_brute_force(found.question, problem, choices)]
        kinds |= {(place, kind_of_process(found.question, problem, choices)) for choices in right}
    assert len(found.found) == len(kinds) == number


def test_a_sample_of_three_states_by_brute_force():
    """Random tables are nearly all wrong, so the sample also changes one rule of tables that are right."""
    draw = random.Random(1)
    question = searched(3, "2,3")
    for problem in question.problems:
        search = TableSearch(problem)
        rules = problem.space.rules
        tables = [[draw.randrange(9) for _ in rules] for _ in range(60)]
        tables += [elected(draw) for _ in range(60)] if problem.outputs == (1, 0, 0) else []
        verdicts = set()
        for table in tables:
            status = judge(table, search.keeps, problem.cases).status
            assert (status == HOLDS) == right_by_brute_force(question, problem, table)
            verdicts.add(status)
        assert problem.outputs != (1, 0, 0) or verdicts == {FAILS, HOLDS}


def elected(draw):
    """Pairwise elimination with a third state that nothing leads to, and one rule changed."""
    table = [3 * a + b for a in range(3) for b in range(3)]
    table[0] = 1
    table[draw.randrange(9)] = draw.randrange(9)
    return table


def test_what_a_partial_table_fails_by_fails_in_every_completion():
    """A failure depends on the rules that it names alone: any others give a failure at the same n."""
    draw = random.Random(2)
    checked = 0
    question = searched(3, "2,3")
    for problem in question.problems:
        keeps = TableSearch(problem).keeps
        for _ in range(150):
            table = [draw.randrange(9) if draw.random() < 0.5 else -1 for _ in problem.space.rules]
            verdict = judge(table, keeps, problem.cases)
            if verdict.status == FAILS:
                whole = [choice if verdict.uses >> k & 1 else draw.randrange(9) for k, choice in enumerate(table)]
                assert not right_by_brute_force(question, problem, whole)
                checked += 1
    assert checked > 100


def test_learning_changes_the_work_and_not_the_answer():
    for problem in searched(3, "3", symmetric=True).problems[1:2]:
        learned, plain = TableSearch(problem), TableSearch(problem, learn=False)
        answers = [
            (sum(count for _, count in holding(problem, tree)), sum(t for _, t in failing(problem, tree).values()))
            for tree in (learned.explore(), plain.explore())
        ]
        assert answers[0] == answers[1] and sum(answers[0]) == problem.space.size
        assert learned.judged < plain.judged


class HastyOutlook(Outlook):
    """A broken twin: an undecided rule is taken for its first choice."""

    def __init__(self, table, keeps, case):
        guessed = [choice if choice >= 0 else 0 for choice in table]
        super().__init__(guessed, keeps, case)
        self.table = table


class ForgetfulOutlook(Outlook):
    """A broken twin: a failure forgets one of the rules that it depends on."""

    def failure(self, number, hopeless, parents):
        verdict = super().failure(number, hopeless, parents)
        return dataclasses.replace(verdict, uses=verdict.uses & (verdict.uses - 1))


@pytest.mark.parametrize("twin", [HastyOutlook, ForgetfulOutlook])
def test_a_pruning_that_is_wrong_is_caught(twin, monkeypatch):
    monkeypatch.setattr(judging, "Outlook", twin)
    with pytest.raises(AssertionError):
        for options in SEARCHES.values():
            test_all_tables_of_two_states_by_brute_force(options)


def test_counts_that_do_not_add_up_are_noticed():
    found = discover(states=2, n="2,3")
    vars(found)["satisfying"] = 5  # in place of 2
    with pytest.raises(AssertionError, match="tables were counted"):
        found.check_counts()


def test_tables_up_to_renaming_are_counted_by_brute_force():
    for symmetric, coin in ((False, False), (True, False), (True, True)):
        space = RuleSpace(2, symmetric, coin)
        forms = set()
        for choices in itertools.product(*(range(len(rule.choices)) for rule in space.rules)):
            table = as_table(space, choices)
            swapped = {(1 - a, 1 - b): [(1 - x, 1 - y) for x, y in faces] for (a, b), faces in table.items()}
            forms.add(min(str(sorted(one.items())) for one in (table, swapped)))
        assert len(forms) == classes(space, (0, 0))
        assert space.size == classes(space, (0, 1))


def test_what_is_known():
    """Pairwise elimination is the only election of two states, in (n - 1)^2 steps; none is self-stabilizing."""
    found = discover(states=2, n="2..6")
    assert [one.rules for one in found.found] == [["L L -> L F"]]
    assert found.found[0].times == {n: ((n - 1) ** 2, (n - 1) ** 2) for n in range(2, 7)}
    none = discover(states=2, n="2,3", self_stabilizing=True)
    assert (none.tables, none.satisfying, none.found) == (768, 0, ())
    assert discover(states=2, n=2, self_stabilizing=True).satisfying == 8
