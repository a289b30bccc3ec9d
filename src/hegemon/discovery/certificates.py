"""The whole tree of decisions as JSON, for the checker."""

from typing import Any

from hegemon.discovery.discover import Discovery
from hegemon.discovery.judge import FAILS, HOLDS
from hegemon.discovery.search import Node, Problem
from hegemon.errors import InvalidInput

KIND = "search"  # of the file


def certificate(discovery: Discovery) -> dict[str, Any]:
    """The question, and every decision with all outcomes of its rule, down to where tables hold or fail."""
    trees = [
        {"outputs": list(problem.outputs), "tree": _written(problem, tree)}
        for problem, tree in zip(discovery.problems, discovery.trees, strict=True)
    ]
    answer = {"tables": discovery.tables, "satisfying": discovery.satisfying, "problems": trees}
    return discovery.question.record() | answer


def _written(problem: Problem, node: Node) -> dict[str, Any]:
    if node[0] == HOLDS:
        return {"holds": True}
    if node[0] == FAILS:
        arena = problem.cases[node[1]].arena
        return {"fails": arena.n, "arcs": [list(arc) for arc in arena.arcs]}
    if node[0] != "rule":
        raise InvalidInput("this search kept no tree; ask for the certificate when the search begins")
    rule = problem.space.rules[node[1]]
    branches = [
        {"outcomes": [list(rule.choices[choice]) for choice in group], "then": _written(problem, below)}
        for group, below in node[2]
    ]
    return {"rule": list(rule.key), "branches": branches}
