"""Checks a certificate of a search again, by other means: `python -m hegemon.discovery.checker FILE [SAMPLE]`.

It imports nothing of hegemon. It follows single agents, not counts; it judges whole tables one by one, and looks up in
the certificate what that says of each. With 2 states all tables are judged; with more, SAMPLE tables (1000 unless told)
that a fixed seed draws.
"""

import itertools
import json
import random
import sys


def judge(table, leaders, n, graph, everywhere, silent):
    """Whether agents 0..n-1 reach, with probability 1, one leader who stays the only one. `table[a, b]` lists pairs."""
    if graph == "complete":
        arcs = [(i, j) for i in range(n) for j in range(n) if i != j]
    else:
        arcs = [(i, (i + 1) % n) for i in range(n)]

    def successors(agents):
        for i, j in arcs:
            for x, y in table[agents[i], agents[j]]:
                after = list(agents)
                after[i], after[j] = x, y
                yield tuple(after)

    def shown(agents):
        return agents if silent else tuple(leaders[x] for x in agents)

    starts = itertools.product(range(len(leaders)), repeat=n) if everywhere else [(0,) * n]
    after = {}
    waiting = list(starts)
    while waiting:
        agents = waiting.pop()
        if agents not in after:
            after[agents] = set(successors(agents))
            waiting += after[agents]
    good = {agents for agents in after if sum(leaders[x] for x in agents) == 1}
    while bad := {agents for agents in good if any(t not in good or shown(t) != shown(agents) for t in after[agents])}:
        good -= bad
    lucky = set(good)
    while more := {agents for agents in after if agents not in lucky and after[agents] & lucky}:
        lucky |= more
    return len(lucky) == len(after)


def looked_up(node, table, leaders, graph, fixed):
    """What the tree says of a table: the leaf that it leads to."""
    while "rule" in node:
        a, b, face = node["rule"]
        outcome = table[a, b][face]
        branches = [branch for branch in node["branches"] if list(outcome) in branch["outcomes"]]
        if len(branches) != 1:
            raise SystemExit(f"the outcome {outcome} of rule {a} {b} is in {len(branches)} branches")
        first = tuple(branches[0]["outcomes"][0])
        table = renamed(table, outcome, first, leaders, graph, fixed)
        node = branches[0]["then"]
    return node


def renamed(table, outcome, first, leaders, graph, fixed):
    """The table with its states renamed so that the outcome is the one that its branch goes on with."""
    states = range(len(leaders))
    wanted = {first, first[::-1]} if graph == "complete" else {first}
    for name in itertools.permutations(states):
        sound = all(leaders[name[x]] == leaders[x] for x in states) and all(name[x] == x for x in fixed)
        if sound and (name[outcome[0]], name[outcome[1]]) in wanted:
            return {(name[a], name[b]): [(name[x], name[y]) for x, y in faces] for (a, b), faces in table.items()}
    raise SystemExit(f"the outcomes {outcome} and {first} are not the same under another name")


def tables(states, symmetric, coin):
    """All tables, as lists of outcomes of free pairs; and how such a list becomes a table."""
    pairs = [(a, b) for a in range(states) for b in range(states) if not symmetric or a <= b]
    keys = [(pair, face) for pair in pairs for face in range(2 if coin else 1)]
    every = list(itertools.product(range(states), repeat=2))
    equal = [(x, x) for x in range(states)]
    choices = [equal if symmetric and a == b else every for (a, b), _ in keys]

    def table(outcomes):
        found = {}
        for ((a, b), _), (x, y) in zip(keys, outcomes, strict=True):
            found.setdefault((a, b), []).append((x, y))
            if symmetric and a != b:
                found.setdefault((b, a), []).append((y, x))
        return found

    return choices, table


def check(content, sample=1000):
    """How many tables were judged and how many satisfy; a wrong certificate raises SystemExit with a sentence."""
    choices, make = tables(content["states"], content["symmetric"], content["coin"])
    size = 1
    for one in choices:
        size *= len(one)
    if size * len(content["problems"]) != content["tables"]:
        raise SystemExit(f"there are {size * len(content['problems'])} tables, and not {content['tables']}")
    everywhere, complete = content["self_stabilizing"], content["states"] == 2
    kinds = {tuple(one["leaders"]) for one in content["problems"]}
    for leaders in itertools.product((0, 1), repeat=content["states"]):
        start = () if everywhere else leaders[:1]
        if (*start, *sorted(leaders[len(start) :], reverse=True)) not in kinds:
            raise SystemExit(f"the leader states {leaders} are missing")
    draw = random.Random(0)
    judged = satisfying = 0
    for problem in content["problems"]:
        leaders, graph = problem["leaders"], content["graph"]
        drawn = ([draw.choice(one) for one in choices] for _ in range(sample))
        for outcomes in itertools.product(*choices) if complete else drawn:
            table = make(outcomes)
            leaf = looked_up(problem["tree"], table, leaders, graph, () if everywhere else (0,))
            sizes = content["n"] if "holds" in leaf else [leaf["fails"]]  # it says at which n the table fails
            right = all(judge(table, leaders, n, graph, everywhere, content["silent"]) for n in sizes)
            if right != ("holds" in leaf):
                raise SystemExit(f"leaders {leaders}, rules {table}: the certificate says {leaf}, which is wrong")
            judged += 1
            satisfying += right
    if complete and satisfying != content["satisfying"]:
        raise SystemExit(f"{satisfying} tables satisfy, and not {content['satisfying']}")
    return judged, satisfying


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        known = json.load(file)
    number, holding = check(known, int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
    part = "all" if known["states"] == 2 else "a sample of"
    print(f"{part} {number:,} tables were judged again, {holding:,} satisfy, and the certificate is right about each")
