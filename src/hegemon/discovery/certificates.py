"""The whole tree of decisions as JSON, for the checker."""

from typing import Any

from hegemon.discovery.discover import Discovery
from hegemon.discovery.judge import FAILS, HOLDS, members
from hegemon.discovery.search import Node, Problem
from hegemon.discovery.specifications import SearchQuestion
from hegemon.errors import InvalidInput


def certificate(discovery: Discovery) -> dict[str, Any]:
    """Every decision with all outcomes of its rule, and every failure with the rules that it depends on."""
    trees = [
        {"outputs": list(problem.outputs), "tree": _written(problem, tree)}
        for problem, tree in zip(discovery.problems, discovery.trees, strict=True)
    ]
    return {
        **asked(discovery.question), "tables": discovery.tables, "satisfying": discovery.satisfying, "problems": trees,
    }  # fmt: skip


def asked(question: SearchQuestion) -> dict[str, Any]:
    """The question in the form of the checker, with the full definition of its goal."""
    goal = question.goal
    meant = {"predicate": goal.predicate, "unasked": goal.unasked, "start": goal.start, "correct": goal.correct}
    return question.record() | meant | {"keeps": goal.keeps}


def _written(problem: Problem, node: Node) -> dict[str, Any]:
    rules = problem.space.rules
    if node[0] == HOLDS:
        return {"holds": True}
    if node[0] == FAILS:
        _, case, start, witness, uses = node
        arena = problem.cases[case].arena
        used = [list(rules[k].key) for k in members(uses)]
        places = arena.configurations[start], arena.configurations[witness]
        arcs = [list(arc) for arc in arena.arcs]
        return {"fails": arena.n, "arcs": arcs, "start": list(places[0]), "stuck": list(places[1]), "uses": used}
    if node[0] != "rule":
        raise InvalidInput("this search kept no tree; ask for the certificate when the search begins")
    rule = rules[node[1]]
    branches = [
        {"outcomes": [list(rule.choices[choice]) for choice in group], "then": _written(problem, below)}
        for group, below in node[2]
    ]
    return {"rule": list(rule.key), "branches": branches}
