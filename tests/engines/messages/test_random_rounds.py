"""Random bodies of `round`: engine `compiled` plays word for word what `nodes` plays, or refuses to translate them."""

import textwrap

import pytest

from hegemon import InvalidInput, simulate
from hegemon.engines.messages.compiled import guards
from hegemon.engines.messages.compiled.engine import Compiled
from hegemon.protocols.loading import find_protocol, name_protocol
from tests.engines.messages.random_rounds import body

HEAD = """
from hegemon.models import MessageProtocol, Parameter, Range


def helper(value):
    if value > 5:
        return value - 5
    return value * 2


class P(MessageProtocol):
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


def written(lines, file):
    """A protocol whose `round` has this body."""
    file.write_text(HEAD + "\n    def round(self, node, inbox, rng):\n" + textwrap.indent(lines, " " * 8) + "\n")
    return find_protocol(name_protocol(f"{file}:P"))


def outcome(protocol, engine, seed):
    try:
        run = simulate(protocol, graph="ring:4", engine=engine, seed=seed, max_steps=5)
    except InvalidInput as refusal:
        return str(refusal)
    return run.steps, run.leaders, run.measures


def agree(lines, file):
    """Whether both engines play the same; None if the body is refused for compilation, which leaves it to `nodes`."""
    protocol = written(lines, file)(n=4)
    try:
        Compiled.require(protocol)
    except InvalidInput:
        return None
    return all(len({repr(outcome(protocol, one, seed)) for one in ("compiled", "nodes")}) == 1 for seed in range(3))


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.full) for k in range(5, 100, 5))])
def test_random_bodies_are_played_alike(first, tmp_path):
    found = {seed: agree(body(seed), tmp_path / f"p{seed}.py") for seed in range(first, first + 5)}
    assert False not in found.values() and True in found.values(), found


def test_a_wrong_rule_is_noticed(tmp_path, monkeypatch):
    """An absolute value that keeps its sign."""
    monkeypatch.setitem(guards.CALLED, "abs", "truncated")
    assert agree("node.x = abs(node.x - 50) + 100\nreturn None", tmp_path / "wrong.py") is False
