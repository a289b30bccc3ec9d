"""A proof as a file: the rules, the sets, what was found, and each question as SMT-LIB text for any solver."""

from collections.abc import Iterator
from typing import Any

from hegemon.exact.proofs.questions import Questions
from hegemon.exact.proofs.stages import starved

FORMAT = "hegemon proof 1"


def certificate(parts: Any, graphs: str) -> dict[str, Any]:
    """All proved statements of all parts, as numbers and names only, so that another program can check them."""
    return {
        "format": FORMAT,
        "protocol": parts[0].system.protocol.id,
        "parameters": parts[0].system.parameters,
        "graphs": graphs,
        "parts": [_part(part, graphs == "connected") for part in parts],
    }


def _part(part: Any, connected: bool) -> dict[str, Any]:
    system = part.system
    questions = Questions(system, connected)
    return {
        "smallest_n": system.smallest,
        "inputs": system.inputs,
        "states": list(system.states),
        "outputs": list(system.outputs),
        "rules": [[rule.a, rule.b, rule.c, rule.d] for rule in system.rules if rule.pair != (rule.c, rule.d)],
        "statements": [_statement(questions, one) for one in part.statements if one.status == "proved"],
    }


def _statement(questions: Questions, statement: Any) -> dict[str, Any]:
    return {
        "question": statement.question,
        "set": statement.set,
        "constraints": _constraints(statement.goal),
        "start": {
            "text": statement.start.text,
            "constraints": _constraints(statement.start.constraints),
            "groups": [
                {"states": list(states), "n": count.size, "input": count.share, "constant": count.constant}
                for states, count in statement.start.groups
            ],
        },
        "invariants": _constraints(statement.invariants),
        "stages": [
            {"weights": list(stage.weights), "pairs": [list(pair) for pair in stage.pairs]}
            if stage.weights
            else {"starved": [list(pair) for pair in stage.pairs]}
            for stage in statement.stages
        ],
        "obligations": [_smt_lib(questions, formula) for formula in obligations(questions, statement)],
    }


def _constraints(constraints: Any) -> list[dict[str, Any]]:
    return [{"weights": list(one.vector), "at_least": one.low} for one in constraints]


def obligations(questions: Questions, statement: Any) -> Iterator[Any]:
    """Every formula that must have no solution for the statement to be proved."""
    z3, goal, invariants = questions.z3, statement.goal, statement.invariants
    kept, inside = questions.all_hold(invariants), questions.all_hold(goal)
    for each in invariants:
        yield z3.And(questions.begins(statement.start), z3.Not(questions.holds(each)))
        yield from (z3.And(kept, broken) for broken, _ in questions.breaks(each))
    if statement.question in ("closed", "leader"):
        yield from (z3.And(kept, inside, broken) for each in goal for broken, _ in questions.breaks(each))
    if statement.question == "leader":
        system = questions.system
        changing = [questions.enabled(rule.pair) for rule in system.rules if system.changes_output(rule)]
        yield z3.And(kept, inside, questions.value(system.outputs) != 1)
        yield z3.And(kept, inside, questions.either(changing))
    if statement.question == "reached":
        context, dead = z3.And(kept, questions.outside(goal)), set[tuple[int, int]]()
        for stage in statement.stages:
            if not stage.weights:
                rules = [rule for rule in questions.system.rules if rule.pair in stage.pairs]
                yield from (z3.And(context, starved(questions, goal, invariants, dead, rule)) for rule in rules)
            dead |= set(stage.pairs)
        yield z3.And(context, questions.dead(dead))


def _smt_lib(questions: Questions, formula: Any) -> str:
    solver = questions.solver()
    solver.add(formula)
    lines = solver.to_smt2().splitlines()
    return "\n".join(["(set-logic QF_LIA)", *(line for line in lines if not line.startswith((";", "(set-info")))])
