"""What Python does and a compiler likes to do otherwise: engine `compiled` does the same, or leaves it to `nodes`."""

import os
import subprocess
import sys
import textwrap

import pytest

from hegemon import InvalidInput, simulate
from hegemon.engines.messages.compiled.engine import program_of
from hegemon.protocols.loading import find_protocol, name_protocol

HEAD = """
from hegemon.models import MessageProtocol, Range

SHIFT = 3


def helper(value):
    return value + SHIFT


class P(MessageProtocol):
    share = 0.5
    large = 2**53 + 1

    class Message:
        value: Range(0, 1000)

    class Node:
        x: Range(0, 10**6) = 0
        wide: Range(0, 2**60) = 0

    def draw(self, node, rng):
        node.x = node.x + 1
        return rng.randint(0, 3)

    def begin(self, node, rng):
        node.x = rng.randint(0, 3) + int(0 * self.share) + 0 * self.large
        return {port: self.message(value=port) for port in range(node.degree)}

    def measure(self, nodes):
        return {"all": [(node.x, node.wide) for node in nodes]}

    def round(self, node, inbox, rng):
"""

SAME = {  # the statements of `round`
    "every part of a list": "node.x = 10 * (node.x in (0, 1, node.x + 1)) + rng.randint(0, 9)",
    "a division by zero": "node.x = 7 // (node.x - node.x)",
    "a remainder of zero": "node.x = 7 % (node.x - node.x)",
    "a real division by zero": "node.x = int(1 / (node.x - node.x))",
    "a real number divided by zero": "node.x = int(self.share / (node.x - node.x))",
    "a real remainder of zero": "node.x = int(self.share % (node.x - node.x))",
    "a real quotient of zero": "node.x = int(self.share // (0.5 * (node.x - node.x)))",
    "a negative power": "node.x = int(2 ** (node.x - 9) * 10)",
    "a large number beside a real one": "node.x = 1 if self.large > 9007199254740992.0 else 2",
    "a large number times a real one": "node.wide = int((self.large + node.x) * 1.0)",
    "a large number divided": "node.wide = int((self.large + node.x) / 3)",
    "a real number beyond 64 bits": "node.x = int(1e300 * (1 + node.x)) % 7",
    "a repeated port": """
        out = []
        out.append((0, self.message(value=1)))
        node.x = len(out) + rng.randint(0, 9)
        return out""",
    "a condition as a value": "node.x = (node.x == 1 or node.x == 2 and node.wide < 3) + rng.randint(0, 9)",
    "a number or another": "node.x = (node.x or 7) + (node.x and 5)",
    "a port that is a truth value": "return {node.x > 100: self.message(value=2)} if node.round < 4 else None",
    "a default that is a variable": """
        low = node.x
        node.x = max((m.value for m in inbox.values() if m.value > 2), default=low)""",
    "a port twice in a dictionary": "return {0: self.message(value=1), 0 * node.x: self.message(value=2)} "
    "if node.round < 3 else {}",
    "another status": "node.status = 'elected'",
}
REFUSED = {
    "calls in a list": ("node.x = 10 * (node.x in (self.draw(node, rng), 1))", "all of which Python evaluates"),
    "a division in a list": ("node.x = 10 * (node.x in (1, 7 // node.x))", "all of which Python evaluates"),
    "a default that draws": (
        "node.x = max((m.value for m in inbox.values()), default=rng.randint(0, 9))", "evaluates before the elements",
    ),
    "a default of the node": ("node.x = max((self.draw(node, rng) for _ in range(2)), default=node.x)", "before the"),
    "the size of a dictionary": (
        """
        out = {0: self.message(value=1), 0: self.message(value=2)}
        node.x = len(out)
        return None""", "counts a repeated port once",
    ),
    "a variable of two kinds": (
        """
        t = 2**53 + 1
        if node.x == 1:
            t = 0.5
        node.wide = int(t)""", "a whole number at first and then a real number",
    ),
    "an expression of two kinds": ("node.wide = int(self.large if node.x < 9 else 0.5)", "a whole number or a real"),
    "the larger of two kinds": ("node.wide = int(max(self.large, 0.5))", "is a real number, where a whole"),
    "the inbox as a value": ("t = node.x == 9 or (node.x == 8 and inbox)", "is a condition, and is used as a value"),
    "the inbox as a value, at last": ("t = node.x == 9 or inbox", "is a condition, and is used as a value"),
    "a round that is no whole number": ("node.wake_at(node.round + 1.5)", "is a real number, where a whole"),
    "a real number in a field": ("node.x = rng.random()", "a real number is written into"),
}  # fmt: skip


def protocol(tmp_path, body):
    file = tmp_path / "p.py"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(body).strip(), " " * 8) + "\n")
    return find_protocol(name_protocol(f"{file}:P"))


def together(tmp_path):
    """All of them in one protocol: compiled once."""
    texts = []
    for k, body in enumerate(SAME.values()):
        inner = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
        texts.append(f"    def case_{k}(self, node, inbox, rng):\n{inner}\n        return {{}}\n")
    chosen = "\n".join(f"if self.which == {k}:\n    return self.case_{k}(node, inbox, rng)" for k in range(len(SAME)))
    file = tmp_path / "p.py"
    head = HEAD.replace("    share = 0.5", "    which = Parameter(0)\n    share = 0.5").replace(
        "Range\n", "Parameter, Range\n", 1
    )
    file.write_text(head + textwrap.indent(chosen, " " * 8) + "\n\n" + "\n".join(texts))
    return find_protocol(name_protocol(f"{file}:P"))


def outcome(protocol, engine, seed):
    try:
        run = simulate(protocol, graph="ring:4", engine=engine, seed=seed, max_steps=5)
    except InvalidInput as refusal:
        return str(refusal)
    return run.steps, run.leaders, run.measures


def test_the_same_as_python(tmp_path):
    kind = together(tmp_path)
    for k, what in enumerate(SAME):
        for seed in range(3):
            compiled, nodes = (outcome(kind(n=4, which=k), engine, seed) for engine in ("compiled", "nodes"))
            assert compiled == nodes, what


@pytest.mark.parametrize("what", REFUSED)
def test_refused_for_compilation_with_its_line(what, tmp_path):
    body, reason = REFUSED[what]
    with pytest.raises(InvalidInput, match=f"engine compiled cannot run p: .*{reason}.*p.py, line"):
        simulate(protocol(tmp_path, body)(n=4), graph="ring:4", engine="compiled")


def test_a_constant_that_changes_between_two_runs_is_played(tmp_path):
    kind = protocol(tmp_path, "node.x = helper(node.x)")
    instance, seen = kind(n=4), []
    for shift in (3, 11):
        kind.round.__globals__["SHIFT"] = shift
        runs = [simulate(instance, graph="ring:4", engine=one, seed=1).measures for one in ("compiled", "nodes")]
        assert runs[0] == runs[1]
        seen.append(runs[0]["all"])
    assert seen[0] != seen[1]


def test_whatever_changes_is_translated_again(tmp_path):
    """A default, a closure, a helper, its code and a method; and nothing is translated twice without a reason."""
    kind = protocol(tmp_path, "node.x = helper(node.x)")
    scope, instance, module = kind.round.__globals__, kind(n=4), _helpers(tmp_path)
    changes = [
        lambda: scope.update(helper=module.first),
        lambda: setattr(module.first, "__defaults__", (31,)),
        lambda: scope.update(helper=module.made(41)),
        lambda: scope["helper"].__closure__[0].__setattr__("cell_contents", 42),
        lambda: (setattr(module.first, "__code__", module.second.__code__), scope.update(helper=module.first)),
        lambda: setattr(kind, "round", module.other),
        lambda: setattr(instance, "share", 0.25),
    ]
    for number, change in enumerate(changes):
        before = program_of(instance)
        assert program_of(instance) is before
        change()
        assert program_of(instance) is not before, number


def _helpers(tmp_path):
    import importlib.util

    file = tmp_path / "helpers.py"
    file.write_text(
        textwrap.dedent("""
        def first(value, more=21):
            return value + more


        def second(value, more=51):
            return value + 2 * more


        def made(more):
            def helper(value):
                return value + more
            return helper


        def other(self, node, inbox, rng):
            node.x = 99
        """)
    )
    spec = importlib.util.spec_from_file_location("helpers_of_a_test", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HELPED = """
from hegemon.models import MessageProtocol, Range
from helped import helper

BASE = 5


class Constants:
    added = 7


def made(factor):
    def times(value):
        return value * factor
    return times


times = made(3)


class P(Constants, MessageProtocol):
    class Message:
        value: Range(0, 9)

    class Node:
        x: Range(0, 10**6) = 0

    def begin(self, node, rng):
        node.x = helper(BASE) + self.added + times(2)
        return {port: self.message(value=1) for port in range(node.degree)}

    def round(self, node, inbox, rng):
        node.x = node.x * 10

    def measure(self, nodes):
        return {"x": nodes[0].x}
"""
HELPER = """
SHIFT = 1


def deeper(value):
    return value + SHIFT


def helper(value, more=2):
    return deeper(value) + more
"""
PLAY = """
import hegemon as hg
from hegemon.protocols.loading import find_protocol, name_protocol

kind = find_protocol(name_protocol("p.py:P"))
print(*(hg.simulate(kind(n=4), graph="ring:4", engine=one, seed=0).measures["x"] for one in ("compiled", "nodes")))
"""
CHANGES = [
    ("helped.py", "SHIFT = 1", "SHIFT = 10"), ("helped.py", "more=2", "more=20"), ("p.py", "BASE = 5", "BASE = 50"),
    ("p.py", "added = 7", "added = 70"), ("p.py", "made(3)", "made(30)"),
    ("helped.py", "value + SHIFT", "value - SHIFT"),
]  # fmt: skip


@pytest.mark.full
def test_a_change_is_noticed_by_the_next_process(tmp_path):
    """What is compiled is kept on the disk: a changed constant, default or closure makes it anew."""
    (tmp_path / "p.py").write_text(HELPED)
    (tmp_path / "helped.py").write_text(HELPER)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    given = os.environ | {
        "PYTHONPATH": paths,
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    seen = []
    for file, before, after in [("p.py", "", ""), *CHANGES]:
        text = (tmp_path / file).read_text()
        (tmp_path / file).write_text(text.replace(before, after) if before else text)
        printed = subprocess.run(
            [sys.executable, "-c", PLAY],
            cwd=tmp_path,
            env=given,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout.split()
        assert printed[0] == printed[1], (file, after)
        seen.append(printed[0])
    assert len(set(seen)) == len(CHANGES) + 1
