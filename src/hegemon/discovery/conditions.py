"""The condition of a goal as Python, for the predicate `correct` in a protocol's file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hegemon.models.assumptions import decide
from hegemon.models.expressions import parse
from hegemon.models.functions import names_in
from hegemon.models.grammar import Call, Comparison, Logic, Name, Number, Operation, Tree

if TYPE_CHECKING:
    from hegemon.discovery.discover import Found


def correct_lines(solution: "Found", names: list[str]) -> list[str]:
    """The condition of the goal, as a predicate on all agents or nodes."""
    text = python_text(parse(solution.problem.goal.correct), _counts_in(names, solution.problem.outputs))
    used = [k for k, name in enumerate(names) if f"count_{name}" in text]
    arguments = "agents, offsets, targets, p" if solution.problem.space.neighbours else "agents, p"
    lines = [f"    count_{names[k]} = 0" for k in used] + ["    for a in agents:"] * bool(used)
    for k in used:
        lines += [f'        if a.state == "{names[k]}":', f"            count_{names[k]} += 1"]
    return [f"def is_correct({arguments}):", *lines, f"    return {text}", "", ""]


def python_text(tree: Tree, atom: Callable[[Name | Call], str]) -> str:
    """A condition as Python; `atom` writes its names and calls."""
    parts = [python_text(part, atom) for part in getattr(tree, "operands", ()) if not isinstance(tree, Call)]
    if isinstance(tree, Logic):
        return f"(not {parts[0]})" if tree.operator == "not" else f"({f' {tree.operator} '.join(parts)})"
    if isinstance(tree, Comparison):
        return "(" + parts[0] + "".join(f" {op} {s}" for op, s in zip(tree.operators, parts[1:], strict=True)) + ")"
    if isinstance(tree, Operation):
        sign = "**" if tree.operator == "^" else tree.operator
        return f"(-{parts[0]})" if len(parts) == 1 else f"({parts[0]} {sign} {parts[1]})"
    if isinstance(tree, Name | Call):
        return atom(tree)
    assert isinstance(tree, Number), tree
    return str(tree.value)


def _counts_in(names: list[str], outputs: tuple[int, ...]) -> Callable[[Name | Call], str]:
    """Writes n, and count(E), all(E), none(E) over `state` and `output` as sums of counts of states."""

    def atom(tree: Name | Call) -> str:
        if isinstance(tree, Name):
            return f"p.{tree.name}"
        condition = tree.operands[0]
        if names_in(condition) <= {"state", "output"}:
            every = enumerate(zip(names, outputs, strict=True))
            parts = [f"count_{name}" for k, (name, out) in every if decide(condition, {"state": k, "output": out})]
        else:
            parts = [f"count_{name} * {python_text(condition, _of(k, outputs[k]))}" for k, name in enumerate(names)]
        number = " + ".join(parts) or "0"
        return {"count": f"({number})", "all": f"({number} == p.n)", "none": f"({number} == 0)"}[tree.function]

    return atom


def _of(state: int, output: int) -> Callable[[Name | Call], str]:
    """Writes names for one state."""
    return lambda tree: {"state": str(state), "output": str(output)}.get(getattr(tree, "name", ""), "p.n")
