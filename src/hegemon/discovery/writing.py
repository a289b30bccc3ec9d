"""A protocol that was found, as a Python file that reads like a protocol.

Settled configurations are described for every n on complete graphs: the counts from which some output can still change
are closed upwards (more agents can do all that fewer can), so they have finitely many least elements, which are found
backwards from the rules that change an output.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hegemon.discovery.discover import Found

Counts = tuple[int, ...]


def state_names(outputs: tuple[int, ...]) -> list[str]:
    """L and F; if there are several of a kind L1, L2."""
    names = []
    for k, output in enumerate(outputs):
        letter, same = ("L" if output else "F"), [j for j, other in enumerate(outputs) if other == output]
        names.append(letter if len(same) == 1 else f"{letter}{same.index(k) + 1}")
    return names


def changes(found: "Found") -> list[tuple[int, int, int, tuple[int, int]]]:
    """The decided rules that change a state: initiator, responder, face and outcome."""
    space = found.problem.space
    every = ((a, b, face, space.outcome(found.table, a, b, face)) for a, b, face in sorted(space.index))
    return [(a, b, face, after) for a, b, face, after in every if after is not None and after != (a, b)]


def rule_lines(found: "Found") -> list[str]:
    names = state_names(found.problem.outputs)
    lines = []
    for a, b, face, (x, y) in changes(found):
        coin = f" ({'heads' if face else 'tails'})" if found.problem.space.coin else ""
        lines.append(f"{names[a]} {names[b]}{coin} -> {names[x]} {names[y]}")
    return lines


def unsettled(found: "Found") -> list[Counts]:
    """The least counts from which an output (if silent, a state) can still change, on complete graphs."""
    problem, space = found.problem, found.problem.space
    s = space.states

    def covers(counts: Counts, other: Counts) -> bool:
        return all(map(int.__ge__, counts, other))

    def unit(*members: int) -> Counts:
        return tuple(sum(x == k for x in members) for k in range(s))

    rules = changes(found)
    least: list[Counts] = []
    waiting = [
        unit(a, b)
        for a, b, face, _ in rules
        if not problem.keeps(space.index[a, b, face][0], found.table[space.index[a, b, face][0]])
    ]
    while waiting:
        counts = waiting.pop()
        if any(covers(counts, other) for other in least):
            continue
        least = [other for other in least if not covers(other, counts)] + [counts]
        for a, b, _, after in rules:  # the least counts that this rule takes to at least `counts`
            needed = tuple(max(0, c - gained) for c, gained in zip(counts, unit(*after), strict=True))
            waiting.append(tuple(map(int.__add__, needed, unit(a, b))))
    return sorted(least)


def protocol_text(found: "Found", name: str, command: str) -> str:
    """The file: run it, verify it, prove it."""
    problem, names = found.problem, state_names(found.problem.outputs)
    space, graph = problem.space, problem.cases[0].arena.graph
    sizes = ", ".join(str(n) for n in found.times)
    leaders = [names[k] for k, output in enumerate(problem.outputs) if output]
    steps = "; ".join(f"{longest} for n = {n}" for n, (longest, _) in found.times.items())
    everywhere = len(problem.cases[0].starts) > 1
    worst = " from the worst start" if everywhere else ""
    sets, helpers = _safe(found, names)
    used = ["Choice", "Group", "PopulationProtocol", "count", "exactly", *sets.imports]
    coins = "\n    class Coins:\n        heads: Bit  # a fair coin\n" if space.coin else ""
    used += ["Bit"] if space.coin else []
    lines = [
        f'"""Found by `{command}`.',
        "",
        f"It elects one leader on {graph} graphs for n = {sizes}. Exact expected steps{worst}:",
        f"{steps}.",
        '"""',
        "",
        f"from hegemon import {', '.join(sorted(used))}",
        "",
        "",
        "def is_leader(a, p):",
        f"    return {_one_of('a', leaders)}",
        "",
        "",
        *helpers,
        f"class {name}(PopulationProtocol):",
        f'    """{"; ".join(rule_lines(found))}."""',
        "",
        *([] if graph == "complete" else [f'    needs_graph = "{graph}"']),
        *([] if everywhere else ["    arbitrary_start = False", '    default_start = "uniform"']),
        "",
        "    class State:",
        f"        state: Choice({', '.join(map(repr_double, names))})",
        coins,
        f"    def interact(a, b, p{', coins' if space.coin else ''}):",
        *_rule_code(found, names),
        "",
        "    def output(a, p):",
        f"        return {_one_of('a', leaders)}",
        "",
        "    def start_uniform(self, rng):",
        f'        """Every agent is {names[0]}."""',
        f"        return [Group(self.n, {{{repr_double('state')}: {repr_double(names[0])}}})]",
        "",
        f"    safe = {sets.expression}.described(",
        f"        {repr_double(sets.sentence)},",
        f"        closed={sets.closed},",
        "    )",
        "",
        '    leaders = count(is_leader, "agents that are leaders")',
    ]
    text = "\n".join(lines) + "\n"
    while "\n\n\n    " in text:
        text = text.replace("\n\n\n    ", "\n\n    ")
    return text


class _Safe:
    def __init__(self, expression: str, sentence: str, closed: bool, imports: tuple[str, ...] = ()):
        self.expression, self.sentence, self.closed, self.imports = expression, sentence, closed, imports


def _safe(found: "Found", names: list[str]) -> tuple[_Safe, list[str]]:
    """How the file describes the settled configurations, and the functions that it needs for that."""
    outputs = found.problem.outputs
    if found.problem.cases[0].arena.graph != "complete":
        return _Safe("exactly(1, is_leader)", "exactly one leader, who may still lose it", False), []
    limits: dict[int, int] = {}
    rest = []
    for counts in unsettled(found):
        if sum(map(int.__mul__, counts, outputs)) > 1:
            continue  # never with one leader
        single = [k for k, count in enumerate(counts) if count]
        if len(single) > 1 and sum(outputs) == 1:  # the leader is there anyway
            single = [k for k in single if not outputs[k]]
        if len(single) == 1:
            k = single[0]
            limits[k] = min(limits.get(k, counts[k] - 1), counts[k] - 1)
        else:
            rest.append(counts)
    parts, imports = ["exactly(1, is_leader)"], []
    for k, most in sorted(limits.items()):
        condition = f"lambda a, p: a.state == {repr_double(names[k])}"
        parts.append(f"nowhere({condition})" if most == 0 else f"at_most({most}, {condition})")
        imports.append("nowhere" if most == 0 else "at_most")
    helpers: list[str] = []
    if rest:
        parts.append("whole(nothing_is_left_to_do)")
        imports.append("whole")
        helpers = _counting(rest, names)
    kept = "no state" if found.problem.silent else "no output"
    both = " & ".join(parts)
    both = f"({both})" if len(parts) > 1 else both
    return _Safe(both, f"one leader, and {kept} ever changes", True, tuple(dict.fromkeys(imports))), helpers


def _counting(rest: list[Counts], names: list[str]) -> list[str]:
    """A predicate on all agents: they cover none of these counts."""
    used = sorted({k for counts in rest for k, count in enumerate(counts) if count})
    lines = ["def nothing_is_left_to_do(agents, p):"]
    lines += [f"    count_{names[k]} = 0" for k in used]
    lines += ["    for a in agents:"]
    for k in used:
        lines += [f"        if a.state == {repr_double(names[k])}:", f"            count_{names[k]} += 1"]
    for counts in rest:
        there = " and ".join(f"count_{names[k]} >= {count}" for k, count in enumerate(counts) if count)
        lines += [f"    if {there}:", "        return False"]
    return [*lines, "    return True", "", ""]


def _rule_code(found: "Found", names: list[str]) -> list[str]:
    lines = []
    for number, (a, b, face, (x, y)) in enumerate(changes(found)):
        word = "elif" if number else "if"
        coin = f" and coins.heads == {face}" if found.problem.space.coin else ""
        met = f"a.state == {repr_double(names[a])} and b.state == {repr_double(names[b])}"
        lines.append(f"        {word} {met}{coin}:")
        for agent, before, after in (("a", a, x), ("b", b, y)):
            if before != after:
                lines.append(f"            {agent}.state = {repr_double(names[after])}")
    return lines or ["        pass"]


def _one_of(agent: str, names: list[str]) -> str:
    if len(names) == 1:
        return f"{agent}.state == {repr_double(names[0])}"
    return f"{agent}.state in ({', '.join(map(repr_double, names))})"


def repr_double(text: str) -> str:
    return f'"{text}"'
