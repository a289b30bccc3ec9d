"""A protocol that was found, as a table of rules and as a Python file that reads like a protocol."""

from fractions import Fraction
from typing import TYPE_CHECKING

from hegemon.models import rule_writing
from hegemon.models.rule_table import RuleTable

if TYPE_CHECKING:
    from hegemon.discovery.discover import Found


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


def rule_table(found: "Found") -> RuleTable:
    """The rules that were decided; the others are never used."""
    problem, space = found.problem, found.problem.space
    after = {(a, b, face): result for a, b, face, result in changes(found)}
    pairs = dict.fromkeys((a, b) for a, b, _ in after)
    chance = Fraction(1, space.faces)
    rules = {pair: tuple((chance, after.get((*pair, face), pair)) for face in range(space.faces)) for pair in pairs}
    leaders = frozenset(k for k, output in enumerate(problem.outputs) if output)
    return RuleTable(tuple(state_names(problem.outputs)), rules, leaders, {0: 1})


def protocol_text(found: "Found", name: str, command: str) -> str:
    """The file: run it, verify it, prove it."""
    case = found.problem.cases[0]
    everywhere = len(case.starts) > 1
    sizes = ", ".join(str(n) for n in found.times)
    steps = "; ".join(f"{longest} for n = {n}" for n, (longest, _) in found.times.items())
    worst = " from the worst start" if everywhere else ""
    heading = [
        f"Found by `{command}`.",
        "",
        f"It elects one leader on {case.arena.graph} graphs for n = {sizes}. Exact expected steps{worst}:",
        f"{steps}.",
    ]
    return rule_writing.protocol_text(
        rule_table(found), name, "\n".join(heading), everywhere, case.arena.graph, found.problem.silent
    )
