"""A proof as a file: the rules, the sets and what was found. Its checker makes the questions of these numbers."""

from typing import Any

KIND = "proof"  # of the file


def certificate(parts: Any, graphs: str) -> dict[str, Any]:
    """All proved statements of all parts, as numbers and names only, so that another program can check them."""
    return {
        "protocol": parts[0].system.protocol.id,
        "parameters": parts[0].system.parameters,
        "graphs": graphs,
        "parts": [_part(part) for part in parts],
    }


def _part(part: Any) -> dict[str, Any]:
    system = part.system
    return {
        "smallest_n": system.smallest,
        "inputs": system.inputs,
        "states": list(system.states),
        "outputs": list(system.outputs),
        "rules": [[rule.a, rule.b, rule.c, rule.d] for rule in system.rules if rule.pair != (rule.c, rule.d)],
        "statements": [_statement(statement) for statement in part.statements if statement.status == "proved"],
    }


def _statement(statement: Any) -> dict[str, Any]:
    return {
        "question": statement.question,
        "set": statement.set,
        "rows": [_constraints(row) for row in statement.goal],
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
    }


def _constraints(constraints: Any) -> list[dict[str, Any]]:
    return [{"weights": list(constraint.vector), "at_least": constraint.low} for constraint in constraints]
