"""The one language of expressions: numbers, parameters, fields, arithmetic, comparisons, `and`, `or`, `not`.

Texts come from command lines, study files, pages and networks, so they are never run as code: `parse` reads them into
a tree of the few nodes below, and only those nodes are ever evaluated. The cost of a text is bounded here:
its length, its depth, and the size of every number in it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hegemon.errors import InvalidInput, shown

LONGEST_TEXT = 2000  # characters
DEEPEST_TREE = 40  # parentheses, signs and powers within one another
MOST_OPERATIONS = 200
LARGEST_NUMBER = 4096  # bits of a whole number, which is kept exactly


@dataclass(frozen=True)
class Number:
    value: int | float


@dataclass(frozen=True)
class Name:
    """A field or a parameter; one element of an array is called `clock[3]`."""

    name: str


@dataclass(frozen=True)
class Quoted:
    """The name of a Choice's value."""

    text: str


@dataclass(frozen=True)
class Operation:
    """`+ - * / // % ^` of two operands, or `-` of one."""

    operator: str
    operands: tuple[Any, ...]


@dataclass(frozen=True)
class Comparison:
    """`1 <= x < y`: operands one more than operators."""

    operators: tuple[str, ...]
    operands: tuple[Any, ...]


@dataclass(frozen=True)
class Logic:
    """`and` or `or` of several operands, `not` of one."""

    operator: str
    operands: tuple[Any, ...]


@dataclass(frozen=True)
class Call:
    function: str
    operands: tuple[Any, ...]


Tree = Number | Name | Quoted | Operation | Comparison | Logic | Call

TOKEN = re.compile(
    r"(?P<number>(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<quoted>\"[^\"]*\"|'[^']*')"
    r"|(?P<operator>\*\*|//|<=|>=|==|!=|[-+*/%^()<>,\[\]−])"
    r"|(?P<space>\s+)"
)


def short(value: Any) -> str:
    """A value without quotes, on one line and not too long."""
    text = " ".join((value if isinstance(value, str) else shown(value)).split())
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 80 else text[:77] + "…"


def parse(text: str) -> Tree:
    """The tree of a text; InvalidInput with the place of the first error."""
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(f"the text {shown(text)} has {len(text)} characters; at most {LONGEST_TEXT} are read")
    return _Reader(text).read()


class _Reader:
    """Recursive descent, one method per level of binding: or, and, not, comparison, sum, product, sign, power."""

    def __init__(self, text: str):
        self.text, self.tokens = text, list(_tokens(text))
        self.place = self.depth = self.operations = 0

    def read(self) -> Tree:
        tree = self.disjunction()
        if self.kind != "end":
            raise self.unexpected()
        return tree

    @property
    def kind(self) -> str:
        return self.tokens[self.place][0]

    @property
    def word(self) -> str:
        return self.tokens[self.place][1]

    def takes(self, *words: str) -> str | None:
        """If the present token is one of these operators or keywords, return it and go on to the next; else None."""
        if self.kind in ("operator", "name") and self.word in words:
            self.place += 1
            return self.tokens[self.place - 1][1]
        return None

    def unexpected(self) -> InvalidInput:
        what = "ends too early" if self.kind == "end" else f"makes no sense from {shown(self.text[self.position :])} on"
        return InvalidInput(f"the text {shown(self.text)} {what}")

    @property
    def position(self) -> int:
        return self.tokens[self.place][2]

    def within(self, level: Callable[[], Tree]) -> Tree:
        """The result of a level, read one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST_TREE:
            raise InvalidInput(f"the text {shown(self.text)} is nested deeper than {DEEPEST_TREE} levels; simplify it")
        tree = level()
        self.depth -= 1
        return tree

    def disjunction(self) -> Tree:
        return self.joined("or", self.conjunction)

    def conjunction(self) -> Tree:
        return self.joined("and", self.negation)

    def joined(self, word: str, level: Callable[[], Tree]) -> Tree:
        operands = [level()]
        while self.takes(word):
            operands.append(level())
        return operands[0] if len(operands) == 1 else Logic(word, tuple(operands))

    def negation(self) -> Tree:
        if self.takes("not"):
            return Logic("not", (self.within(self.negation),))
        return self.comparison()

    def comparison(self) -> Tree:
        operators, operands = [], [self.sum()]
        while operator := self.takes("==", "!=", "<=", ">=", "<", ">"):
            operators.append(operator)
            operands.append(self.sum())
        return Comparison(tuple(operators), tuple(operands)) if operators else operands[0]

    def sum(self) -> Tree:
        return self.chain(("+", "-", "−"), self.product)

    def product(self) -> Tree:
        return self.chain(("*", "/", "//", "%"), self.signed)

    def chain(self, operators: tuple[str, ...], level: Callable[[], Tree]) -> Tree:
        tree = level()
        while operator := self.takes(*operators):
            self.operations += 1
            if self.operations > MOST_OPERATIONS:
                raise InvalidInput(f"the text {shown(self.text)} has more than {MOST_OPERATIONS} operations")
            tree = Operation("-" if operator == "−" else operator, (tree, level()))
        return tree

    def signed(self) -> Tree:
        if self.takes("-", "−"):
            return Operation("-", (self.within(self.signed),))
        if self.takes("+"):
            return self.within(self.signed)
        return self.power()

    def power(self) -> Tree:
        base = self.atom()
        if self.takes("^", "**"):
            return Operation("^", (base, self.within(self.signed)))
        return base

    def atom(self) -> Tree:
        kind, word, _ = self.tokens[self.place]
        if self.takes("("):
            tree = self.within(self.disjunction)
            self.close()
            return tree
        if kind not in ("number", "name", "quoted") or word in ("and", "or", "not"):
            raise self.unexpected()
        self.place += 1
        if kind == "number":
            return Number(exact(word))
        if kind == "quoted":
            return Quoted(word[1:-1])
        if self.takes("["):
            return Name(f"{word}[{self.index()}]")
        if not self.takes("("):
            return Name(word)
        operands: list[Tree] = []
        while not (operands and self.takes(")")):
            if operands and not self.takes(","):
                raise self.unexpected()
            operands.append(self.within(self.disjunction))
        return Call(word, tuple(operands))

    def index(self) -> int:
        """The index of an array element: a whole number."""
        kind, word, _ = self.tokens[self.place]
        if kind != "number" or not word.isdecimal() or not word.isascii() or len(word) > 6:
            raise InvalidInput(f"the text {shown(self.text)} needs a whole number between [ and ], such as clock[3]")
        self.place += 1
        if not self.takes("]"):
            raise self.unexpected()
        return int(word)

    def close(self) -> None:
        if not self.takes(")"):
            raise self.unexpected()


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, word, position) of every token, then an end."""
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match or not match.lastgroup:
            raise InvalidInput(f"the text {shown(text)} has a {shown(text[position])} that is not understood")
        if match.lastgroup != "space":
            yield match.lastgroup, match.group(), position
        position = match.end()
    yield "end", "", position


def exact(word: str) -> int | float:
    """The value of a numeral: whole numbers exactly, at any size that is allowed (1e22, 9.5e3)."""
    mantissa, _, exponent = word.replace("_", "").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    if len(exponent.lstrip("+-")) > 6:
        raise too_large(word)
    digits, scale = int(whole + fraction), int(exponent or 0) - len(fraction)
    if digits == 0:
        return 0
    if scale >= 0:
        if digits.bit_length() + 3.33 * scale > LARGEST_NUMBER:
            raise too_large(word)
        return digits * 10**scale
    if -scale <= len(whole + fraction) and digits % 10**-scale == 0:
        return digits // 10**-scale
    value = float(word.replace("_", ""))
    if value == 0:
        raise InvalidInput(f"{shown(word)} is too small a number: it cannot be distinguished from 0")
    return value


def too_large(what: str) -> InvalidInput:
    limit = int(LARGEST_NUMBER * 0.30103)
    return InvalidInput(f"{shown(what)} is a number of more than {limit} digits, which is more than can be used")
