"""The kinds of names in an author's function, and the refusal of a function that cannot be translated.

There is one node, one inbox and one source of coins in every call, so these are no values of compiled code: it finds
them in the `World` of the call. Texts are numbers there, 0 for None.
"""

import ast
from enum import Enum
from typing import Any

from hegemon.models.messages import ELECTED, NON_ELECTED

SELF, NODE, INBOX, RNG = "self", "the node", "the inbox", "rng"
VALUE, REAL = "a whole number", "a real number"
TEXT, MESSAGE, ANSWER, NOTHING = "a text", "a message", "messages by port", "None"
LIST = "a list of whole numbers"
SINGLE = (SELF, NODE, INBOX, RNG)  # there is one in a call
HELD = (VALUE, REAL, TEXT, MESSAGE, LIST)  # a variable may hold one


class Untranslatable(Exception):
    """Something that compiled code cannot do exactly as Python does; the reason is a clause, with its line."""

    def __init__(self, reason: str, node: ast.AST | None = None):
        super().__init__(reason)
        self.line: int | None = getattr(node, "lineno", None)
        self.file = ""


class Texts:
    """Every text of a protocol by its number."""

    def __init__(self) -> None:
        self.all: list[str | None] = [None, ELECTED, NON_ELECTED]

    def number(self, text: str | None) -> int:
        if text not in self.all:
            self.all.append(text)
        return self.all.index(text)


def plain(value: Any) -> Any:
    """A number or a text as Python's own, also of an enumeration; anything else unchanged."""
    if isinstance(value, Enum) and isinstance(value, int | str):
        return value.value
    return value


# -- small pieces of syntax ---------------------------------------------------------------------------------------


def name(text: str, stored: bool = False) -> ast.Name:
    return ast.Name(text, ast.Store() if stored else ast.Load())


def number(value: Any) -> ast.Constant:
    return ast.Constant(value)


def call(function: str, *arguments: ast.expr) -> ast.Call:
    """A call of compiled code's own function, which is given the world first."""
    return ast.Call(name(function), [name("w"), *arguments], [])


def whole(value: ast.expr) -> ast.expr:
    """The number itself; the compiler refuses a real one."""
    if isinstance(value, ast.Constant) and type(value.value) is int:
        return value
    return ast.BinOp(value, ast.BitOr(), number(0))


def assign(target: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([name(target, stored=True)], value)


def statements(text: str) -> list[ast.stmt]:
    """The statements in a text of the program's own; they get the line of the surrounding statement."""
    body = ast.parse(text).body
    for one in body:
        for part in ast.walk(one):
            for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                if hasattr(part, place):
                    delattr(part, place)
    return body


def expression(text: str) -> ast.expr:
    (one,) = statements(text)
    assert isinstance(one, ast.Expr)
    return one.value


def raised() -> list[ast.stmt]:
    """Leave the compiled code: plain Python goes on instead, and reports the error, if there is one."""
    return statements("require(False)")
