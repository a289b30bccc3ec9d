"""What a notebook shows of a verification: findings, expectations, and counterexamples step by step."""

from typing import Any

from hegemon import display


def as_html(verification: Any) -> str:
    protocol, chain, unit = verification.protocol, verification.chain, verification.protocol.time_unit
    about = {"n": protocol.n, **protocol.parameters, "graph": verification.case.topology.name}
    about |= {"covers": verification.covers, "configurations": chain.labelled_size, "up to symmetry": chain.size}
    parts = [display.heading(protocol.id, verification.headline), display.facts(about)]
    answers = [
        {"": "✓" if one.holds else "✗", "question": f"{one.question} {one.set}", "answer": one.sentence,
         "claimed": one.claimed}
        for one in verification.findings
    ]  # fmt: skip
    parts += [display.table(answers, "findings", shown=50)]
    if verification.hitting:
        expected = verification.hitting.record()
        named = {"worst start": expected["worst"], "mean": expected["mean"], **expected["from"]}
        rows = [{"from": name, unit: "not reached" if value is None else value} for name, value in named.items()]
        parts += [display.table(rows, f"expected {unit} to {verification.hitting.set}", shown=50)]
    for one in verification.findings:
        if one.counterexample:
            parts += [display.heading(f"{one.question} {one.set}", one.sentence)]
            parts += [display.lines(one.counterexample.lines())]
    return "".join(parts)
