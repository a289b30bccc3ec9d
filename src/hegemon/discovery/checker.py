"""Checks a certificate of a search independently: `python -m hegemon.discovery.checker FILE [SAMPLE]`.

It imports nothing of hegemon. It defines what each specification means, follows single agents, not counts, and judges
whole tables one by one; each judgement is compared with that of the certificate. With 2 states all tables are judged;
with more, SAMPLE tables (by default 1000) that a fixed seed draws. It prints what it has checked: every field of the
file is part of that, or is recalculated, and an unknown field is refused.
"""

import ast
import hashlib
import itertools
import json
import math
import operator
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, cast

OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
LONGEST_TEXT, MOST_BITS, MOST_ARRANGEMENTS = 2000, 4096, 10**6
# What each field holds: one of some types, a list of one form, or a form by its name.
FORMS: dict[str, dict[str, Any]] = {
    "certificate": {
        "specification": str, "states": int, "n": [int], "graph": str, "self_stabilizing": bool, "silent": bool,
        "symmetric": bool, "coin": bool, "daemon": type(None), "start": str | None, "correct": str | None,
        "tables": int, "satisfying": int, "problems": ["problem"],
    },
    "problem": {"outputs": [int], "tree": "node"},
    "decision": {"rule": [int], "branches": ["branch"]},
    "branch": {"outcomes": [[int]], "then": "node"},
    "leaf that holds": {"holds": bool},
    "leaf that fails": {"fails": int, "arcs": [[int]]},
}  # fmt: skip

Arcs = list[tuple[int, int]]
Table = dict[tuple[int, int], list[tuple[int, int]]]
Goal = tuple[Iterable[tuple[int, ...]], Callable[[tuple[int, ...]], bool]]


class Rejected(Exception):
    """What is wrong with a certificate."""


def require(condition: bool, flaw: str) -> None:
    if not condition:
        raise Rejected(flaw)


def require_form(form: Any, content: Any) -> None:
    """Every field that should be there and no other, each of its form: `True` and `1.0` are no whole numbers."""
    if isinstance(form, list):
        require_form(list, content)
        for item in content:
            require_form(form[0], item)
    elif isinstance(form, str):
        require_form(dict, content)
        if form == "node":
            kinds = ("decision", "rule"), ("leaf that holds", "holds"), ("leaf that fails", "fails")
            form = next((kind for kind, field in kinds if field in content), "decision")
        require(sorted(content) == sorted(FORMS[form]), f"a {form} has the fields {sorted(content)!r:.200}")
        for name, inner in FORMS[form].items():
            require_form(inner, content[name])
    else:
        types = getattr(form, "__args__", (form,))
        require(type(content) in types, f"{content!r:.80} stands where {form} belongs")


class Meaning(NamedTuple):
    """What is asked: conditions on starts and on what is correct, or a predicate of the inputs; and what is kept."""

    start: str = "all(state == 0)"
    correct: str = "count(output == 1) == 1"
    anywhere: bool = False
    predicate: str | None = None
    unasked: str | None = None
    keeps: str = "outputs"

    def lines(self) -> Iterator[str]:
        if self.predicate is None:
            start = "any configuration" if self.anywhere else f"any configuration with {json.dumps(self.start)}"
            yield f"from {start}, one with {json.dumps(self.correct)} is reached with probability 1"
        else:
            unasked = f", but for inputs with {json.dumps(self.unasked)}" if self.unasked else ""
            yield f"from A agents in state 0 and B in state 1{unasked}, configurations are reached with probability 1"
            yield f"in which every output says whether {json.dumps(self.predicate)}"
        yield {
            "outputs": "and no interaction changes an agent's output any more",
            "states": "and no interaction changes an agent's state any more",
            "nothing": "and no such configuration is left any more",
        }[self.keeps]


def meaning(question: dict[str, Any]) -> Meaning:
    """The definition of each specification."""
    kind, colon, rest = question["specification"].partition(":")
    keeps, start, correct = "states" if question["silent"] else "outputs", question["start"], question["correct"]
    anywhere = question["self_stabilizing"]
    require(not (anywhere and start is not None), "it starts anywhere, and has a start")
    require((correct is not None) == (kind == "own"), "own needs a field correct, and nothing else may have one")
    if kind in ("leader-election", "own") and not colon:
        conditions = {name: text for name, text in (("start", start), ("correct", correct)) if text is not None}
        keeps = "nothing" if kind == "own" and keeps == "outputs" else keeps
        return Meaning(**conditions, anywhere=anywhere, keeps=keeps)
    require(start is None and not anywhere, "a predicate starts from all inputs")
    if kind == "majority" and not colon:
        return Meaning(predicate="A > B", unasked="A == B", keeps=keeps)
    if kind == "threshold" and rest.isdecimal():
        return Meaning(predicate=f"A >= {int(rest)}", keeps=keeps)
    require(kind == "predicate" and bool(rest), f"the specification {question['specification']!r:.80} is not known")
    return Meaning(predicate=rest.strip(), keeps=keeps)


def value(tree: Any, names: dict[str, Any], agents: Sequence[dict[str, Any]] = ()) -> Any:
    """The value of an expression of numbers, comparisons and logic; all(E), none(E), count(E) count agents."""
    if isinstance(tree, ast.BoolOp):
        parts = (value(part, names, agents) for part in tree.values)
        return all(parts) if isinstance(tree.op, ast.And) else any(parts)
    if isinstance(tree, ast.UnaryOp):
        inner = value(tree.operand, names, agents)
        return not inner if isinstance(tree.op, ast.Not) else -inner if isinstance(tree.op, ast.USub) else inner
    if isinstance(tree, ast.Compare):
        sides = [value(side, names, agents) for side in (tree.left, *tree.comparators)]
        return all(OPERATIONS[type(op)](*sides[k : k + 2]) for k, op in enumerate(tree.ops))
    if isinstance(tree, ast.BinOp):
        left, right = value(tree.left, names, agents), value(tree.right, names, agents)
        if isinstance(tree.op, ast.Pow):
            bits = int(left).bit_length() * abs(right)
            require(bits <= MOST_BITS, f"a power has more than {MOST_BITS} bits")
            return left**right
        return OPERATIONS[type(tree.op)](left, right)
    if isinstance(tree, ast.Call):
        number = sum(bool(value(tree.args[0], {**names, **agent})) for agent in agents)
        return {"all": number == len(agents), "none": number == 0, "count": number}[cast(ast.Name, tree.func).id]
    return names[tree.id] if isinstance(tree, ast.Name) else tree.value


@cache
def read(text: str, *names: str) -> ast.expr:
    """The tree of an expression over these names; anything else is refused before it is evaluated."""
    require(len(text) <= LONGEST_TEXT, f"a condition has more than {LONGEST_TEXT} characters")
    tree = ast.parse(text.replace("^", "**"), mode="eval").body
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = {id(call.func) for call in calls}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            simple = isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords
            inside = sum(isinstance(below, ast.Call) for below in ast.walk(node))
            is_known = simple and inside == 1 and cast(ast.Name, node.func).id in ("all", "none", "count")
        elif isinstance(node, ast.Name):
            is_known = id(node) in functions or node.id in names
        elif isinstance(node, ast.Constant):
            is_known = type(node.value) in (int, float) and abs(cast(float, node.value)) < 2**MOST_BITS
        else:
            logic = (
                ast.BoolOp | ast.UnaryOp | ast.Compare | ast.BinOp | ast.And | ast.Or | ast.Not | ast.USub | ast.UAdd
            )
            is_known = isinstance(node, logic | ast.Pow | ast.Load) or type(node) in OPERATIONS
        require(is_known, f"the condition {text!r:.80} has a part that is no comparison of {', '.join(names)}")
    return tree


def asked_graphs(kind: str, n: int) -> list[Arcs]:
    """The arcs of every graph in question; for `connected`, of all graphs with named nodes."""
    every = [(i, j) for i in range(n) for j in range(i)]
    if kind == "connected":
        subsets = itertools.product((0, 1), repeat=len(every))
        chosen = ([edge for edge, taken in zip(every, subset, strict=True) if taken] for subset in subsets)
        return [both_ways(edges) for edges in chosen if is_connected(n, edges)]
    ring = [(i, (i + 1) % n) for i in range(n)]
    kinds = {"complete": both_ways(every), "ring": both_ways(ring), "path": both_ways(ring[:-1]), "directed-ring": ring}
    require(kind in kinds, f"the graph {kind!r:.80} is not known")
    return [kinds[kind]]


def both_ways(edges: Arcs) -> Arcs:
    return edges + [(j, i) for i, j in edges]


def is_connected(n: int, edges: Arcs) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {k for edge in edges if reached & set(edge) for k in edge}
    return len(reached) == n


def goals(meant: Meaning, outputs: Sequence[int], n: int) -> list[Goal]:
    """Pairs of starts and a test: from these starts, a configuration that passes must be reached and kept."""

    def holds(text: str, agents: tuple[int, ...]) -> bool:
        about = [{"state": x, "output": outputs[x]} for x in agents]
        return bool(value(read(text, "state", "output", "n"), {"n": n}, about))

    if meant.predicate is None:
        every = itertools.product(range(len(outputs)), repeat=n)
        starts = [agents for agents in every if meant.anywhere or holds(meant.start, agents)]
        return [(starts, cache(partial(holds, meant.correct)))]
    per_input: list[Goal] = []
    for agents in itertools.product((0, 1), repeat=n):
        counts = {"A": agents.count(0), "B": agents.count(1), "n": n}
        if not (meant.unasked and value(read(meant.unasked, *counts), counts)):
            answer = bool(value(read(meant.predicate, *counts), counts))
            per_input.append(([agents], partial(agrees, outputs, answer)))
    return per_input


def agrees(outputs: Sequence[int], answer: bool, agents: tuple[int, ...]) -> bool:
    return all(bool(outputs[x]) == answer for x in agents)


def judge(table: Table, outputs: Sequence[int], n: int, arcs: Arcs, goals: list[Goal], keeps: str) -> bool:
    """Whether every goal is reached with probability 1 and kept by agents 0..n-1. `table[a, b]` lists pairs."""
    return all(reaches(table, outputs, n, arcs, starts, is_correct, keeps) for starts, is_correct in goals)


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
    while hopeful := {agents for agents in after if agents not in lucky and after[agents] & lucky}:
        lucky |= hopeful
    return len(lucky) == len(after)


def told_apart(meant: Meaning, states: int) -> Sequence[int]:
    """The states that a renaming must not change."""
    if meant.predicate is not None:
        return (0, 1)
    start = "" if meant.anywhere else meant.start
    if "state" not in meant.correct and start in ("", Meaning().start):
        return (0,) if start else ()
    return range(states) if "state" in meant.correct + start else ()


def looked_up(
    node: dict[str, Any], table: Table, outputs: Sequence[int], graph: str, fixed: Sequence[int]
) -> dict[str, Any]:
    """The tree's result for a table: the leaf that it leads to."""
    while "rule" in node:
        a, b, face = node["rule"]
        outcome = table[a, b][face]
        branch = next(branch for branch in node["branches"] if list(outcome) in branch["outcomes"])
        table = renamed(table, outcome, tuple(branch["outcomes"][0]), outputs, graph, fixed)
        node = branch["then"]
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
    raise Rejected(f"the outcomes {outcome} and {first} are not the same under another name")


Choices = dict[tuple[int, int, int], list[tuple[int, int]]]


def rules_of(states: int, symmetric: bool, coin: bool) -> Choices:
    """The free rules (two states and a face of the coin), each with its outcomes."""
    pairs = [(a, b) for a in range(states) for b in range(states) if not symmetric or a <= b]
    every = [(x, y) for x in range(states) for y in range(states)]
    equal = [(x, x) for x in range(states)]
    return {
        (a, b, face): equal if symmetric and a == b else every for a, b in pairs for face in range(2 if coin else 1)
    }


def table_of(rules: Choices, outcomes: Iterable[Any], symmetric: bool) -> Table:
    table: Table = {}
    for (a, b, _), (x, y) in zip(rules, outcomes, strict=True):
        table.setdefault((a, b), []).append((x, y))
        if symmetric and a != b:
            table.setdefault((b, a), []).append((y, x))
    return table


def tally(node: Any, rules: Choices, graphs: dict[int, list[Arcs]], is_complete: bool) -> Counter[str]:
    """How many tables each kind of leaf below covers. Every decision has each outcome of its rule in one branch."""
    if "rule" not in node:
        where = "right"
        if "holds" in node:
            require(node["holds"] is True, "a leaf that holds says so")
        else:
            n, arcs = node["fails"], node["arcs"]
            known = n in graphs and (arcs == [] if is_complete else any(same(graph, arcs) for graph in graphs[n]))
            require(known, f"a leaf fails for n = {n} on the arcs {arcs!r:.80}, which is not asked")
            where = f"wrong for n = {n}{f' on the arcs {arcs}' * bool(arcs)}"
        return Counter({where: math.prod(map(len, rules.values()))})
    rule, branches, total = tuple(node["rule"]), node["branches"], Counter[str]()
    require(rule in rules, f"the rule {node['rule']!r:.80} is decided twice, or is none")
    outcomes = [tuple(outcome) for branch in branches for outcome in branch["outcomes"]]
    require(sorted(outcomes) == sorted(rules[rule]), f"the branches of rule {rule} have the outcomes {outcomes!r:.80}")
    others = {key: choices for key, choices in rules.items() if key != rule}
    for branch in branches:
        for where, number in tally(branch["then"], others, graphs, is_complete).items():
            total[where] += number * len(branch["outcomes"])
    return total


def check(content: dict[str, Any], sample: int = 1000) -> tuple[int, int, list[str]]:
    """How many tables were judged, how many of these are right, and what the certificate says; or it is Rejected."""
    require_form("certificate", content)
    states, sizes, graph, symmetric = (content[name] for name in ("states", "n", "graph", "symmetric"))
    meant, rules = meaning(content), rules_of(states, symmetric, content["coin"])
    for n in sizes:
        require(n >= (2 if graph in ("complete", "path", "connected") else 3), f"n = {n} is too small")
        require(0 <= n * math.log(max(states, 1)) <= math.log(MOST_ARRANGEMENTS), f"n = {n} is too large to check")
    require(sizes == sorted(set(sizes)) != [] and states >= 2, "n or states is out of range")
    graphs, fixed = {n: asked_graphs(graph, n) for n in sizes}, told_apart(meant, states)
    kinds: list[tuple[int, ...]] = []
    for problem in content["problems"]:
        outputs = problem["outputs"]
        require(len(outputs) == states and all(x in (0, 1) for x in outputs), "there is no output 0 or 1 per state")
        require(not any(next(renamings(outputs, kind, fixed), None) for kind in kinds), f"{outputs} stand there twice")
        kinds.append(tuple(outputs))
    for outputs in itertools.product((0, 1), repeat=states):
        begins = all(any(starts for starts, _ in goals(meant, outputs, n)) for n in sizes)
        listed = any(next(renamings(outputs, kind, fixed), None) for kind in kinds)
        require(begins == listed, f"the outputs {outputs} {'are missing' if begins else 'have no start'}")
    total = Counter[str]()
    for problem in content["problems"]:
        total += tally(problem["tree"], rules, graphs, graph == "complete")
    require(total.total() == content["tables"], f"there are {total.total()} tables, and not {content['tables']}")
    require(total["right"] == content["satisfying"], f"{total['right']} tables satisfy, not {content['satisfying']}")
    judged = right = 0
    for problem in content["problems"]:
        number, holding = judge_all(content, problem, meant, rules, graphs, sample)
        judged, right = judged + number, right + holding
    leaves = (f"  {where}: {number:,} tables" for where, number in total.items())
    return judged, right, [*described(content, meant), *leaves]


def judge_all(
    content: dict[str, Any], problem: dict[str, Any], meant: Meaning, rules: Choices, graphs: dict[int, list[Arcs]],
    sample: int,
) -> tuple[int, int]:  # fmt: skip
    """Judge the tables with these outputs, or a sample, and compare with their leaves."""
    outputs, graph, fixed = problem["outputs"], content["graph"], told_apart(meant, content["states"])
    aims = {n: goals(meant, outputs, n) for n in graphs}
    draw = random.Random(str(outputs))
    drawn = ([draw.choice(choices) for choices in rules.values()] for _ in range(sample))
    judged = satisfying = 0
    for outcomes in itertools.product(*rules.values()) if content["states"] == 2 else drawn:
        table = table_of(rules, outcomes, content["symmetric"])
        leaf = looked_up(problem["tree"], table, outputs, graph, fixed)
        places = [(n, arcs) for n in graphs for arcs in graphs[n]]
        if "holds" not in leaf:  # where the table fails
            n = leaf["fails"]
            places = [(n, arcs) for arcs in graphs[n] if not leaf["arcs"] or same(arcs, leaf["arcs"])]
        right = all(judge(table, outputs, n, arcs, aims[n], meant.keeps) for n, arcs in places)
        require(right == ("holds" in leaf), f"outputs {outputs}, rules {table}: the certificate is wrong about it")
        judged, satisfying = judged + 1, satisfying + right
    return judged, satisfying


def same(arcs: Arcs, others: Any) -> bool:
    return sorted(arcs) == sorted(tuple(arc) for arc in others)


def described(content: dict[str, Any], meant: Meaning) -> Iterator[str]:
    """What is checked, line by line; texts of the file are quoted."""
    name, sizes = json.dumps(content["specification"]), ", ".join(map(str, content["n"]))
    yield f"{name} for n = {sizes} on {content['graph']} graphs, that is:"
    yield from (f"  {line}" for line in meant.lines())
    kinds = {"symmetric": "in which initiator and responder do the same", "coin": "with a fair coin"}
    properties = "".join(f", {words}" for option, words in kinds.items() if content[option])
    yield f"all rule tables of {content['states']} states{properties}, with the outputs (up to renaming of states):"
    yield f"  {', '.join(''.join(map(str, problem['outputs'])) for problem in content['problems'])}"


def opened(text: bytes) -> Any:
    """The certificate in a file, which begins with its digest."""
    parts = re.fullmatch(rb'\{"digest":"([0-9a-f]{32})","search":(.*)\}\n?', text, re.DOTALL)
    if parts is None or hashlib.sha256(parts[2]).hexdigest()[:32].encode() != parts[1]:
        raise Rejected("the file is damaged, or of another kind")
    return json.loads(parts[2], object_pairs_hook=without_repetition)


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the file: of a field that stands in it twice, people and programs may read different values."""
    content = dict(pairs)
    require(len(content) == len(pairs), f"a field stands twice among {[name for name, _ in pairs]!r:.200}")
    return content


def main(arguments: list[str]) -> int:
    try:
        with open(arguments[0], "rb") as file:
            content = opened(file.read())
        judged, right, lines = check(content, int(arguments[1]) if len(arguments) > 1 else 1000)
    except Rejected as flaw:
        print(f"REJECTED: {flaw}")
        return 1
    except Exception as error:  # a file may hold anything
        print(f"not a certificate: {type(error).__name__}: {error} (usage: checker FILE [SAMPLE])", file=sys.stderr)
        return 2
    part = "all" if content["states"] == 2 else "a sample of"
    print(*lines, sep="\n")
    print(f"{part} {judged:,} tables were judged again, {right:,} satisfy, and the certificate is right about each")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
