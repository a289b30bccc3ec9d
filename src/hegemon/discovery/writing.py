"""A protocol that was found, as a table of rules and as a Python file with a protocol class."""

from fractions import Fraction
from typing import TYPE_CHECKING

from hegemon.discovery.conditions import correct_lines, python_text
from hegemon.discovery.goals import STATES
from hegemon.models import rule_writing
from hegemon.models.expressions import parse
from hegemon.models.grammar import Call, Name
from hegemon.models.rule_table import RuleTable
from hegemon.models.rule_writing import quoted

if TYPE_CHECKING:
    from hegemon.discovery.discover import Found

GOALS = {"leader-election": "It elects one leader", "own": "It reaches the condition"}


def rule_lines(solution: "Found") -> list[str]:
    """The rules that change something: `L L -> L F`; for nodes that read neighbours, `L (F F) -> F`."""
    names = solution.names
    lines = []
    for (*reads, face), after in changes(solution):
        coin = f" ({'heads' if face else 'tails'})" if solution.problem.space.coin else ""
        before, others = reads[: len(after)], reads[len(after) :]
        seen = f" ({' '.join(names[x] for x in others)})" if others else ""
        words = [" ".join(names[x] for x in group) for group in (before, after)]
        lines.append(f"{words[0]}{seen}{coin} -> {words[1]}")
    return lines


def changes(solution: "Found") -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The decided rules that change a state: states read, the coin's face, and the new states of the first of them."""
    space = solution.problem.space
    every = ((key, space.outcome(solution.table, *key)) for key in sorted(space.index))
    return [(key, after) for key, after in every if after is not None and after != key[: len(after)]]


def rule_table(solution: "Found") -> RuleTable:
    """The rules of agents that meet, those that were decided; the others are never used."""
    space = solution.problem.space
    after = dict(changes(solution))
    pairs = dict.fromkeys((a, b) for a, b, _ in after)
    chance = Fraction(1, space.faces)
    rules = {pair: tuple((chance, after.get((*pair, face), pair)) for face in range(space.faces)) for pair in pairs}
    leaders = frozenset(k for k, output in enumerate(solution.problem.outputs) if output)
    return RuleTable(tuple(solution.names), rules, leaders, {0: 1})  # type: ignore[arg-type]


def protocol_text(solution: "Found", name: str, command: str) -> str:
    """The text of the Python file, for `run`, `verify` and `prove`."""
    problem, names = solution.problem, solution.names
    graph, goal = problem.cases[0].arena.graph.partition(":")[0], problem.goal
    unit = "Most moves under the central daemon" if problem.cases[0].daemon else "Exact expected steps"
    worst = " from the worst start" if len(problem.cases[0].starts) > 1 else ""
    steps = "; ".join(f"{longest} for n = {n}" for n, (longest, _) in solution.times.items())
    says = GOALS.get(goal.name, f"All agents say whether {goal.predicate}: it is right")
    heading = [
        f"Found by `{command}`.",
        "",
        f"{says} on {graph} graphs for n = {', '.join(str(n) for n in solution.times)}. {unit}{worst}:",
        f"{steps}.",
    ]
    plain = goal.name == "leader-election" and (goal.self_stabilizing or goal.starts_uniform)
    if plain and graph in ("complete", "directed-ring") and not problem.space.neighbours:
        silent = goal.keeps == STATES
        return rule_writing.protocol_text(
            rule_table(solution), name, "\n".join(heading), goal.self_stabilizing, graph, silent
        )
    yes = [names[k] for k, output in enumerate(problem.outputs) if output]
    kind = "RoundsProtocol" if problem.space.neighbours else "PopulationProtocol"
    used = {"Choice", "Group", kind, "count", "everywhere" if goal.predicate else "whole"}
    used |= {"Bit"} if problem.space.coin else set()
    used |= {"Parameter"} if goal.predicate else set()
    safe = "everywhere(is_right)" if goal.predicate else "whole(is_correct)"
    sentence = "every agent gives the right answer" if goal.predicate else f"correct: {goal.correct}"
    lines = [
        f'"""{heading[0]}',
        *heading[1:],
        '"""',
        "",
        f"from hegemon import {', '.join(sorted(used))}",
        "",
        "",
        "def says_yes(a, p):",
        f"    return {_one_of('a', yes)}",
        "",
        "",
        *(_right(solution) if goal.predicate else correct_lines(solution, names)),
        f"class {name}({kind}):",
        f'    """{"; ".join(rule_lines(solution)) or "No rule changes anything"}."""',
        "",
        *_place(graph, problem.space.neighbours),
        *([] if goal.self_stabilizing else ["    arbitrary_start = False"]),
        *([] if goal.self_stabilizing else [f'    default_start = "{"inputs" if goal.predicate else "first"}"']),
        *(_input_lines() if goal.predicate else []),
        "",
        "    class State:",
        f"        state: Choice({', '.join(map(quoted, names))})",
        *(["", "    class Coins:", "        heads: Bit  # a fair coin"] if problem.space.coin else []),
        "",
        *_rule_code(solution, names),
        "",
        "    def output(a, p):",
        f"        return {_one_of('a', yes)}",
        "",
        *_start(solution, names),
        "",
        f"    safe = {safe}.described(",
        f"        {quoted(sentence + '; it may still be left')},",
        "        closed=False,",
        "    )",
        "",
        f'    {"leaders" if goal.name == "leader-election" else "yes"} = count(says_yes, "agents that say yes")',
    ]
    return "\n".join(lines) + "\n"


def _place(graph: str, neighbours: int) -> list[str]:
    if neighbours:
        oriented = graph in ("directed-ring", "oriented-ring")
        place = ['    needs_graph = "oriented-ring"', "    oriented = True"] if oriented else ['    topology = "ring"']
        return [*place, "    smallest_n = 3"]
    if graph == "directed-ring":
        return [f'    needs_graph = "{graph}"']
    return [f'    topology = "{graph}"'] if graph in ("ring", "path") else []


def _right(solution: "Found") -> list[str]:
    """A predicate of the inputs A and B, and whether an agent's output is correct, as source."""
    goal = solution.problem.goal
    assert goal.predicate is not None
    free = f"{python_text(parse(goal.unasked), _inputs)} or " if goal.unasked else ""
    return [
        "def is_right(a, p):",
        f"    return {free}says_yes(a, p) == {python_text(parse(goal.predicate), _inputs)}",
        "",
        "",
    ]


def _input_lines() -> list[str]:
    return [
        '    outputs = ("No", "Yes")',
        '    input_parameter = "marked"',
        "",
        '    marked = Parameter("n//2 + 1", low=0, high="n", help="how many agents start with input A")',
    ]


def _start(solution: "Found", names: list[str]) -> list[str]:
    goal = solution.problem.goal
    if goal.predicate is not None:
        groups = ['Group(self.marked, {"state": "A"})', 'Group(self.n - self.marked, {"state": "B"})']
        return ["    def start_inputs(self, rng):", '        """`marked` agents have input A, the others B."""',
                f"        return [{', '.join(groups)}]"]  # fmt: skip
    case, topology = solution.problem.cases[0], ", topology" if solution.problem.space.neighbours else ""
    counts = case.arena.counts(case.starts[0], len(names))
    several = [k for k, count in enumerate(counts) if count]
    if len(several) == 1 or goal.self_stabilizing:
        alone = several[0] if len(several) == 1 else 0
        return [f"    def start_first(self, rng{topology}):", f'        """Every agent is {names[alone]}."""',
                f"        return [Group(self.n, {{\"state\": {quoted(names[alone])}}})]"]  # fmt: skip
    most = max(several, key=lambda k: counts[k])
    rest = sum(counts[k] for k in several if k != most)
    groups = [f'Group({counts[k]}, {{"state": {quoted(names[k])}}})' for k in several if k != most]
    groups.append(f'Group(self.n - {rest}, {{"state": {quoted(names[most])}}})')
    return [f"    def start_first(self, rng{topology}):", '        """One of the starts that were asked for."""',
            f"        return [{', '.join(groups)}]"]  # fmt: skip


def _rule_code(solution: "Found", names: list[str]) -> list[str]:
    space = solution.problem.space
    if space.neighbours:
        agents, head = ["me", "neighbours[0]", "neighbours[1]"], "    def update(me, neighbours, coins, p):"
    else:
        agents, head = ["a", "b"], f"    def interact(a, b, p{', coins' if space.coin else ''}):"
    lines = [head]
    in_no_order = space.neighbours and space.symmetric
    rules = changes(solution)
    if in_no_order:
        rules = [rule for rule in rules if rule[0][1] <= rule[0][2]]
        lines += _sight(names) if rules else []
    for number, ((*reads, face), after) in enumerate(rules):
        coin = f" and coins.heads == {face}" if space.coin else ""
        met = " and ".join(f"{agent}.state == {quoted(names[x])}" for agent, x in zip(agents, reads, strict=False))
        if in_no_order:
            seen = [f"{'' if k in reads[1:] else 'not '}sees_{name}" for k, name in enumerate(names)]
            met = f"me.state == {quoted(names[reads[0]])} and {' and '.join(seen)}"
        lines.append(f"        {'elif' if number else 'if'} {met}{coin}:")
        for agent, before, new in zip(agents, reads, after, strict=False):
            if before != new:
                lines.append(f"            {agent}.state = {quoted(names[new])}")
    return lines if len(lines) > 1 else [*lines, "        pass"]


def _sight(names: list[str]) -> list[str]:
    """Source that finds which states occur among the neighbours, in no order and without their numbers."""
    lines = [f"        sees_{name} = False" for name in names] + ["        for other in neighbours:"]
    for name in names:
        lines += [f"            if other.state == {quoted(name)}:", f"                sees_{name} = True"]
    return lines


def _inputs(tree: Name | Call) -> str:
    """The inputs A and B and the functions of a predicate, as Python over the parameters."""
    if isinstance(tree, Call):
        return f"{tree.function}({', '.join(python_text(part, _inputs) for part in tree.operands)})"
    return {"A": "p.marked", "B": "(p.n - p.marked)", "n": "p.n"}[tree.name]


def _one_of(agent: str, names: list[str]) -> str:
    if not names:
        return "False"
    if len(names) == 1:
        return f"{agent}.state == {quoted(names[0])}"
    return f"{agent}.state in ({', '.join(map(quoted, names))})"
