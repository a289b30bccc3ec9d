"""A generator of odd but legal protocols, and some that are not legal: four readers must give one answer, or refuse."""

import random

from hegemon.models import ELECTED, NON_ELECTED, MessageProtocol, Range
from hegemon.protocols.loading import find_protocol, name_protocol

__all__ = ["ELECTED", "NON_ELECTED", "ILLEGAL", "LEGAL", "MessageProtocol", "Range", "odd_protocol"]

STATUSES = ["None", "ELECTED", "NON_ELECTED", "'ELECTED'", "ELECTED if node.x == 1 else None"]
NEXT = [  # what `round` returns
    "None", "{}", "[]", "()", "dict()", "{{0: self.message(v=node.x)}}", "[(0, self.message(v=1))]",
    "[[0, self.message(v=2)]]", "iter(())", "iter([(0, self.message(v=1))])", "iter({{0: self.message(v=0)}}.items())",
    "{{False: self.message(v=1)}}", "[(True and 0, self.message(v=2))]",
    "((port, self.message(v=node.x)) for port in range(node.degree) if node.x != port)",
    "dict.fromkeys(range(node.degree), self.message(v=1))", "{{p: m for p, m in inbox.items()}}", "inbox",
    "{{0: self.message(v=1), 0: self.message(v=2)}}", "Counter()", "MappingProxyType({{0: self.message(v=True)}})",
]  # fmt: skip
FIRST = [*(text for text in NEXT if "inbox" not in text), "self.taken_back(node)", "self.replaced(node)"]
TAKING = """
    def taken_back(self, node):
        node.sending.clear()
        return {{0: self.message(v=3)}}

    def replaced(self, node):
        node.sending = {{}}
"""
CALLS = [
    "pass", "pass", "node.wake_at(node.round + 1)", "node.wake_at(node.round + 3)", "node.wake_at(node.round + True)",
    "[node.wake_at(node.round + 2) for _ in range(2)]", "node.x = max(rng.randrange(2), node.x % 2)", "node.x = True",
    "node.status = STATUS", "node.y = (node.y, -0.0 if node.x else 0.0)[1:]", "node.y = str(node.y)",
]  # fmt: skip
ILLEGAL = [
    "node.status = 'elected'", "node.status = 0", "node.status = True", "node.wake_at(2.5)", "node.wake_at('3')",
    "node.wake_at(0)", "node.x = 7", "node.x = 0.5", "return 3", "return 'ab'", "return [0]",
    "return {{0.0: self.message(v=1)}}",
    "return {{node.degree: self.message(v=1)}}", "return {{-1: self.message(v=1)}}", "return {{0: 'text'}}",
    "return [(0, self.message(v=1)), (0, self.message(v=1))]", "return {{0: self.message(v=9)}}", "return {{'0': 1}}",
    "node.z = node.sending", "node.sending = {{}}", "return (1 // 0 for _ in range(2))", "return False",
]  # fmt: skip
TEXT = """
from collections import Counter
from types import MappingProxyType

from hegemon.models import ELECTED, NON_ELECTED, MessageProtocol, Range


class Odd(MessageProtocol):
    smallest_n = 1

    class Message:
        v: Range(0, 3)

    class Node:
        status = {first}
        x: Range(0, 3) = 1
{variables}
{taking}
    def begin(self, node, rng):
        {wake}
        node.status = {status}
        return {begins}

    def round(self, node, inbox, rng):
        if node.round < {last}:
            {call}
            {illegal}
            return {sends}
        node.status = {at_last}
        {more}

    def measure(self, nodes):
        return {{"sum": sum(node.x * (k + 1) for k, node in enumerate(nodes)), "called": len(nodes)}}
"""
LEGAL = {"illegal": "pass"}


def odd_protocol(seed, folder, compiled=False, **fixed):
    """A random protocol, as a class of a file of its own; of declared fields alone, if it is to be compiled."""
    rng = random.Random(seed)
    untranslated = (
        (
            "iter",
            "for port",
            "inbox",
            "Counter",
            "Mapping",
            "[[",
            "True and",
            "dict()",
            "node.y",
            "taken",
            "replaced",
            "[node",
        )
        if compiled
        else ()
    )

    def drawn(texts):
        texts = [text for text in texts if not any(word in text for word in untranslated)]
        return rng.choice(texts).replace("STATUS", rng.choice(STATUSES)).replace("{{", "{").replace("}}", "}")

    parts = {
        "first": rng.choice(STATUSES[:3]), "wake": drawn(CALLS[:6]), "status": drawn(STATUSES), "begins": drawn(FIRST),
        "last": rng.randint(2, 4), "call": drawn(CALLS), "sends": drawn(NEXT), "at_last": drawn(STATUSES),
        "more": drawn(["pass", "return None", "return ()", "return iter(())"]), "illegal": drawn(ILLEGAL),
        "taking": "" if compiled else TAKING.replace("{{", "{").replace("}}", "}"),
        "variables": "" if compiled else "        y = ()\n        z = None",
    }  # fmt: skip
    file = folder / f"odd_{seed}.py"
    file.write_text(TEXT.format(**(parts | fixed)))
    return find_protocol(name_protocol(f"{file}:Odd"))
