"""Checks a certificate of a search independently: `python -m hegemon.discovery.checker FILE [SAMPLE]`.

It imports nothing of hegemon. It follows single agents, not counts; it judges whole tables one by one, and compares
each judgement with that of the certificate. With 2 states all tables are judged; with more, SAMPLE tables (by default
1000) that a fixed seed draws.
"""

import ast
import itertools
import json
import operator
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

UNIFORM = "all(state == 0)"
OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

Arcs = list[tuple[int, int]]
Table = dict[tuple[int, int], list[tuple[int, int]]]
Goal = tuple[Iterable[tuple[int, ...]], Callable[[tuple[int, ...]], bool]]


def value(tree: Any, names: dict[str, Any], agents: Sequence[dict[str, Any]] = ()) -> Any:
    """The value of an expression of numbers, comparisons and logic; all(E), none(E), count(E) count agents."""
    if isinstance(tree, ast.BoolOp):
        parts = [value(part, names, agents) for part in tree.values]
        return all(parts) if isinstance(tree.op, ast.And) else any(parts)
    if isinstance(tree, ast.UnaryOp):
        inner = value(tree.operand, names, agents)
        return not inner if isinstance(tree.op, ast.Not) else -inner
    if isinstance(tree, ast.Compare):
        sides = [value(side, names, agents) for side in (tree.left, *tree.comparators)]
        return all(OPERATIONS[type(op)](*sides[k : k + 2]) for k, op in enumerate(tree.ops))
    if isinstance(tree, ast.BinOp):
        return OPERATIONS[type(tree.op)](value(tree.left, names, agents), value(tree.right, names, agents))
    if isinstance(tree, ast.Call):
        number = sum(bool(value(tree.args[0], {**names, **agent})) for agent in agents)
        return {"all": number == len(agents), "none": number == 0, "count": number}[cast(ast.Name, tree.func).id]
    return names[tree.id] if isinstance(tree, ast.Name) else tree.value


def read(text: str) -> ast.expr:
    return ast.parse(text.replace("^", "**"), mode="eval").body


def asked_graphs(kind: str, n: int) -> list[Arcs]:
    """The arcs of every graph in question; for `connected`, of all graphs with named nodes."""
    every = [(i, j) for i in range(n) for j in range(i)]
    if kind == "connected":
        subsets = itertools.product((0, 1), repeat=len(every))
        chosen = ([edge for edge, taken in zip(every, subset, strict=True) if taken] for subset in subsets)
        return [both_ways(edges) for edges in chosen if is_connected(n, edges)]
    ring = [(i, (i + 1) % n) for i in range(n)]
    kinds = {"complete": both_ways(every), "ring": both_ways(ring), "path": both_ways(ring[:-1]), "directed-ring": ring}
    return [kinds[kind]]


def both_ways(edges: Arcs) -> Arcs:
    return edges + [(j, i) for i, j in edges]


def is_connected(n: int, edges: Arcs) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {k for edge in edges if reached & set(edge) for k in edge}
    return len(reached) == n


def goals(content: dict[str, Any], outputs: Sequence[int], n: int) -> list[Goal]:
    """Pairs of starts and a test: from these starts, a configuration that passes must be reached and kept."""
    every = list(itertools.product(range(len(outputs)), repeat=n))

    def about(agents: tuple[int, ...]) -> list[dict[str, Any]]:
        return [{"state": x, "output": outputs[x]} for x in agents]

    if content["predicate"] is None:
        start, correct = read(content["start"]), read(content["correct"])
        anywhere = content["self_stabilizing"]
        starts = [agents for agents in every if anywhere or value(start, {"n": n}, about(agents))]
        return [(starts, lambda agents: value(correct, {"n": n}, about(agents)))]
    found: list[Goal] = []
    for agents in itertools.product((0, 1), repeat=n):
        given = {"A": agents.count(0), "B": agents.count(1), "n": n}
        if not (content["unasked"] and value(read(content["unasked"]), given)):
            answer = bool(value(read(content["predicate"]), given))
            found.append(([agents], partial(agrees, outputs, answer)))
    return found


def agrees(outputs: Sequence[int], answer: bool, agents: tuple[int, ...]) -> bool:
    return all(bool(outputs[x]) == answer for x in agents)


def judge(table: Table, outputs: Sequence[int], n: int, arcs: Arcs, asked: list[Goal], keeps: str) -> bool:
    """Whether every goal is reached with probability 1 and kept by agents 0..n-1. `table[a, b]` lists pairs."""
    return all(reaches(table, outputs, n, arcs, starts, is_correct, keeps) for starts, is_correct in asked)


def reaches(
    table: Table,
    outputs: Sequence[int],
    n: int,
    arcs: Arcs,
    starts: Iterable[tuple[int, ...]],
    is_correct: Callable[[tuple[int, ...]], bool],
    keeps: str,
) -> bool:
    def successors(agents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for i, j in arcs:
            for x, y in table[agents[i], agents[j]]:
                after = list(agents)
                after[i], after[j] = x, y
                yield tuple(after)

    def shown(agents: tuple[int, ...]) -> tuple[int, ...]:
        return {"states": agents, "outputs": tuple(outputs[x] for x in agents), "nothing": ()}[keeps]

    after = {}
    waiting = list(starts)
    while waiting:
        agents = waiting.pop()
        if agents not in after:
            after[agents] = set(successors(agents))
            waiting += after[agents]
    good = {agents for agents in after if is_correct(agents)}
    while bad := {agents for agents in good if any(t not in good or shown(t) != shown(agents) for t in after[agents])}:
        good -= bad
    lucky = set(good)
    while more := {agents for agents in after if agents not in lucky and after[agents] & lucky}:
        lucky |= more
    return len(lucky) == len(after)


def told_apart(content: dict[str, Any]) -> Sequence[int]:
    """The states that a renaming must not change."""
    if content["predicate"] is not None:
        return (0, 1)
    start = "" if content["self_stabilizing"] else content["start"]
    if "state" not in content["correct"] and start in ("", UNIFORM):
        return (0,) if start else ()
    return range(content["states"]) if "state" in content["correct"] + start else ()


def looked_up(
    node: dict[str, Any], table: Table, outputs: Sequence[int], graph: str, fixed: Sequence[int]
) -> dict[str, Any]:
    """The tree's result for a table: the leaf that it leads to."""
    while "rule" in node:
        a, b, face = node["rule"]
        outcome = table[a, b][face]
        branches = [branch for branch in node["branches"] if list(outcome) in branch["outcomes"]]
        if len(branches) != 1:
            raise SystemExit(f"the outcome {outcome} of rule {a} {b} is in {len(branches)} branches")
        first = tuple(branches[0]["outcomes"][0])
        table = renamed(table, outcome, first, outputs, graph, fixed)
        node = branches[0]["then"]
    return node


def renamings(outputs: Sequence[int], others: Sequence[int], fixed: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The renamings that leave fixed states alone and take one choice of outputs to another."""
    for name in itertools.permutations(range(len(outputs))):
        if all(others[name[x]] == outputs[x] for x in range(len(outputs))) and all(name[x] == x for x in fixed):
            yield name


def renamed(
    table: Table,
    outcome: tuple[int, int],
    first: tuple[int, ...],
    outputs: Sequence[int],
    graph: str,
    fixed: Sequence[int],
) -> Table:
    """The table with its states renamed so that the outcome is the one that its branch goes on with."""
    wanted = {first, first[::-1]} if graph == "complete" else {first}
    for name in renamings(outputs, outputs, fixed):
        if (name[outcome[0]], name[outcome[1]]) in wanted:
            return {(name[a], name[b]): [(name[x], name[y]) for x, y in faces] for (a, b), faces in table.items()}
    raise SystemExit(f"the outcomes {outcome} and {first} are not the same under another name")


def tables(states: int, symmetric: bool, coin: bool) -> tuple[list[Any], Callable[[Iterable[Any]], Table]]:
    """All tables, as lists of outcomes of free pairs; and how such a list becomes a table."""
    pairs = [(a, b) for a in range(states) for b in range(states) if not symmetric or a <= b]
    keys = [(pair, face) for pair in pairs for face in range(2 if coin else 1)]
    every = list(itertools.product(range(states), repeat=2))
    equal = [(x, x) for x in range(states)]
    choices = [equal if symmetric and a == b else every for (a, b), _ in keys]

    def table(outcomes: Iterable[Any]) -> Table:
        found: Table = {}
        for ((a, b), _), (x, y) in zip(keys, outcomes, strict=True):
            found.setdefault((a, b), []).append((x, y))
            if symmetric and a != b:
                found.setdefault((b, a), []).append((y, x))
        return found

    return choices, table


def check(content: dict[str, Any], sample: int = 1000) -> tuple[int, int]:
    """How many tables were judged and how many satisfy; a wrong certificate raises SystemExit with a sentence."""
    choices, make = tables(content["states"], content["symmetric"], content["coin"])
    size = 1
    for one in choices:
        size *= len(one)
    if size * len(content["problems"]) != content["tables"]:
        raise SystemExit(f"there are {size * len(content['problems'])} tables, and not {content['tables']}")
    complete, graph, fixed = content["states"] == 2, content["graph"], told_apart(content)
    kinds = [tuple(one["outputs"]) for one in content["problems"]]
    for outputs in itertools.product((0, 1), repeat=content["states"]):
        begins = all(any(starts for starts, _ in goals(content, outputs, n)) for n in content["n"])
        if begins and not any(next(renamings(outputs, kind, fixed), None) for kind in kinds):
            raise SystemExit(f"the outputs {outputs} are missing")
    draw = random.Random(0)
    judged = satisfying = 0
    for problem in content["problems"]:
        outputs = problem["outputs"]
        asked = {n: goals(content, outputs, n) for n in content["n"]}
        every = {n: asked_graphs(graph, n) for n in content["n"]}
        drawn = ([draw.choice(one) for one in choices] for _ in range(sample))
        for outcomes in itertools.product(*choices) if complete else drawn:
            table = make(outcomes)
            leaf = looked_up(problem["tree"], table, outputs, graph, fixed)
            places = [(n, arcs) for n in content["n"] for arcs in every[n]]
            if "holds" not in leaf:  # where the table fails
                n = leaf["fails"]
                places = [(n, arcs) for arcs in every[n] if not leaf["arcs"] or same(arcs, leaf["arcs"])]
            right = all(judge(table, outputs, n, arcs, asked[n], content["keeps"]) for n, arcs in places)
            if right != ("holds" in leaf):
                raise SystemExit(f"outputs {outputs}, rules {table}: the certificate says {leaf}, which is wrong")
            judged += 1
            satisfying += right
    if complete and satisfying != content["satisfying"]:
        raise SystemExit(f"{satisfying} tables satisfy, and not {content['satisfying']}")
    return judged, satisfying


def same(arcs: Arcs, others: Iterable[list[int]]) -> bool:
    return sorted(arcs) == sorted(tuple(arc) for arc in others)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        known = json.load(file)
    number, holding = check(known, int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
    part = "all" if known["states"] == 2 else "a sample of"
    print(f"{part} {number:,} tables were judged again, {holding:,} satisfy, and the certificate is right about each")
