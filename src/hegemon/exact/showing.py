"""What a notebook shows of a verification: findings, expectations, and counterexamples step by step."""

from typing import TYPE_CHECKING, Any

from hegemon import display

if TYPE_CHECKING:
    from hegemon.exact.verification import Verification

MOST_AGENTS = 12  # of a configuration that are shown


def agents(states: list[dict[str, Any]]) -> str:
    shown = [", ".join(f"{name}={value}" for name, value in state.items()) for state in states[:MOST_AGENTS]]
    return "; ".join(shown) + (f" … {len(states)} agents" if len(states) > MOST_AGENTS else "")


def as_html(verification: "Verification") -> str:
    protocol, chain, unit = verification.protocol, verification.chain, verification.protocol.time_unit
    about = {"n": protocol.n, **protocol.parameters, "graph": verification.case.topology.name}
    about |= {"covers": verification.covers, "configurations": chain.labelled_size, "up to symmetry": chain.size}
    parts = [display.heading(protocol.id, verification.headline), display.facts(about)]
    answers = [
        {"": "✓" if finding.holds else "✗", "question": f"{finding.question} {finding.set}", "answer": finding.sentence,
         "claimed": finding.claimed}
        for finding in verification.findings
    ]  # fmt: skip
    parts += [display.table(answers, "findings", shown=50)]
    if verification.hitting:
        expected = verification.hitting.record()
        named = {"worst start": expected["worst"], "mean": expected["mean"], **expected["from"]}
        rows = [{"from": name, unit: "not reached" if value is None else value} for name, value in named.items()]
        parts += [display.table(rows, f"expected {unit} to {verification.hitting.set}", shown=50)]
        parts += [display.heading("worst start", agents(expected["worst_start"]))]
    if verification.holding:
        kept = verification.holding.record()
        named = {"worst start": kept["worst"], "best start": kept["best"], **kept["from"]}
        rows = [{"from": name, unit: "infinite" if value is None else value} for name, value in named.items()]
        parts += [display.table(rows, f"expected {unit} until the leader is not the same unique one", shown=50)]
    for finding in verification.findings:
        if finding.counterexample:
            parts += [display.heading(f"{finding.question} {finding.set}", finding.sentence)]
            parts += [display.lines(finding.counterexample.lines())]
    return "".join(parts)
