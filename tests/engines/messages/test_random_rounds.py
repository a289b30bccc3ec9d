"""Random bodies of `round`: engine `compiled` plays word for word what `nodes` plays, or refuses to translate them."""

import textwrap

import pytest

from hegemon import InvalidInput, simulate
from hegemon.engines.messages.compiled import expressions
from hegemon.engines.messages.compiled.engine import program_of
from hegemon.engines.messages.compiled.kinds import Untranslatable
from hegemon.protocols.loading import find_protocol, name_protocol
from tests.engines.messages.random_rounds import body

HEAD = """
from hegemon.models import MessageProtocol, Parameter, Range


def helper(value):
    if value > 5:
        return value - 5
    return value * 2


class P(MessageProtocol):
    which = Parameter(0)
    k = Parameter(3)
    share = 0.3
    large = 2**53 + 1

    class Message:
        value: Range(0, 1000)

    class Node:
        x: Range(0, 1000) = 0
        y: Range(0, 1000) = 0

    def help(self, node, value, rng):
        node.x = (node.x + 1) % 1000
        return value + rng.randint(0, 3)

    def begin(self, node, rng):
        node.x = helper(rng.randint(0, 9)) % 9 + 0 * (self.k + self.large) + int(0 * self.share)
        return {port: self.message(value=port) for port in range(node.degree)}

    def measure(self, nodes):
        return {"all": [(node.x, node.y) for node in nodes]}
"""
TOGETHER = 6  # bodies in one kernel


def written(bodies, file):
    """One protocol with all these bodies, chosen by a parameter."""
    chosen = "".join(
        f"        if self.which == {k}:\n            return self.case_{k}(node, inbox, rng)\n"
        for k in range(len(bodies))
    )
    text = HEAD + "\n    def round(self, node, inbox, rng):\n" + chosen
    for k, lines in enumerate(bodies):
        text += f"\n    def case_{k}(self, node, inbox, rng):\n" + textwrap.indent(lines, " " * 8) + "\n"
    file.write_text(text)
    return find_protocol(name_protocol(f"{file}:P"))


def outcome(protocol, engine, seed):
    try:
        run = simulate(protocol, graph="ring:4", engine=engine, seed=seed, max_steps=5)
    except InvalidInput as refusal:
        return str(refusal)
    return run.steps, run.leaders, run.measures


def is_translated(lines, file):
    try:
        program_of(written([lines], file)(n=4))
    except Untranslatable:
        return False
    return True


def differences(bodies, file):
    """The bodies that the two engines play differently."""
    kind = written(bodies, file)
    return [
        lines
        for k, lines in enumerate(bodies)
        if any(len({repr(outcome(kind(n=4, which=k), one, seed)) for one in ("compiled", "nodes")}) > 1
               for seed in range(3))
    ]  # fmt: skip


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.full) for k in range(8, 160, 8))])
def test_random_bodies_are_played_alike(first, tmp_path):
    known = [body(seed) for seed in range(first, first + 8)]
    bodies = [lines for k, lines in enumerate(known) if is_translated(lines, tmp_path / f"one_{k}.py")]
    assert len(bodies) >= 4
    assert differences(bodies[:TOGETHER], tmp_path / "many.py") == []


def test_a_wrong_rule_is_noticed(tmp_path, monkeypatch):
    """A division that does not look at its divisor."""
    monkeypatch.setattr(expressions, "_is_nonzero", lambda node: True)
    wrong = "node.x = 7 // (node.x - node.x)\nreturn None"
    assert differences([wrong, "node.x = 7 // (1 + node.x)\nreturn None"], tmp_path / "p.py") == [wrong]
