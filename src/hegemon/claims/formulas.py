"""Formulas in texts, between $` and `$ in LaTeX notation: typeset as MathML for pages, unchanged for LaTeX.

Only what stands in the tables below is accepted, so a formula is data: nothing else reaches a page or LaTeX.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "varepsilon": "ε", "pi": "π", "rho": "ρ", "tau": "τ",
    "Theta": "Θ", "Omega": "Ω", "Xi": "Ξ", "infty": "∞", "bot": "⊥", "emptyset": "∅",
}  # fmt: skip
SIGNS = {
    "cdot": "·", "times": "×", "in": "∈", "le": "≤", "ge": "≥", "neq": "≠", "to": "→", "approx": "≈", "wedge": "∧",
    "vee": "∨", "neg": "¬", "mid": "|", "dots": "…", "sum": "∑", "prod": "∏", "lceil": "⌈", "rceil": "⌉",
    "lfloor": "⌊", "rfloor": "⌋", "{": "{", "}": "}", "%": "%",
}  # fmt: skip
FUNCTIONS = ("log", "ln", "exp", "max", "min", "Pr")
FENCES, CLOSING = tuple("()[]{}⌈⌉⌊⌋|"), tuple(")]}⌉⌋|!")
SPACE = '<mspace width="0.17em"/>'
RELATIONS = tuple("=<>≤≥≠∈→≈")  # a line may break before one
TOKEN = re.compile(
    r"\\text\{[A-Za-z0-9 .,-]*\}|\\[A-Za-z]+|\\[{}%,]|\d+(?:,\d{3})*(?:\.\d+)?|[A-Za-z]|[-+=<>()\[\]/|,.:;!*'^_{}]|\s+"
)
PLACE = re.compile(r"\$`(.+?)`\$", re.S)


class UnknownNotation(ValueError):
    """A formula has something that this file does not typeset."""


@dataclass
class Piece:
    """A piece of MathML: its element, its text, or its parts."""

    element: str
    text: str = ""
    parts: list["Piece"] = field(default_factory=list)

    def __str__(self) -> str:
        if self.element == "mspace":
            return SPACE
        if self.element == "mrow":
            return f"<mrow>{row(self.parts)}</mrow>"
        mark = (
            ' stretchy="false"' if self.text in FENCES else ' lspace="0" rspace="0"' if self.text in (".", "/") else ""
        )
        return f"<{self.element}{mark}>{escape(self.text)}{''.join(map(str, self.parts))}</{self.element}>"


def row(nodes: list[Piece]) -> str:
    """Nodes beside each other: a sign at the beginning has no space around it, a relation none before it, a function
    some before its argument."""
    found, before = [], None
    for node in nodes:
        if node.text == "−" and (before is None or (before.element == "mo" and before.text not in CLOSING)):
            found.append('<mo form="prefix" lspace="0" rspace="0">−</mo>')
        elif before is None and node.text in RELATIONS:
            found.append(f'<mo lspace="0" rspace="0.28em">{escape(node.text)}</mo>')
        else:
            space = before is not None and before.text in FUNCTIONS and node.text not in FENCES
            found.append(f"{SPACE if space else ''}{node}")
        before = node
    return "".join(found)


def in_text(text: str, plain: Callable[[str], str], formula: Callable[[str], str]) -> str:
    """A text whose formulas go through one function and everything else through another."""
    pieces = PLACE.split(text)
    return "".join(formula(piece) if k % 2 else plain(piece) for k, piece in enumerate(pieces))


def mathml(latex: str) -> str:
    """The formula in MathML. A long one may break before its relations, as phones need it, but not at its end: the last
    character keeps a full stop or parenthesis that follows on the same line."""
    groups: list[list[Piece]] = [[]]
    for node in parsed(latex):
        if node.element == "mo" and node.text in RELATIONS and groups[-1]:
            groups.append([])
        groups[-1].append(node)
    return " ".join(f"<math>{row(group)}</math>" for group in groups) + "\N{WORD JOINER}"


def parsed(latex: str) -> list[Piece]:
    tokens, place = [], 0
    while place < len(latex):
        match = TOKEN.match(latex, place)
        if match is None:
            raise UnknownNotation(f"{latex!r} has {latex[place:]!r}, which is not typeset; see claims/formulas.py")
        if not match[0].isspace():
            tokens.append(match[0])
        place = match.end()
    nodes = _sequence(tokens, latex)
    if tokens:
        raise UnknownNotation(f"{latex!r} closes a brace that it does not open")
    return nodes


def _sequence(tokens: list[str], latex: str) -> list[Piece]:
    """Up to a closing brace or the end; what is read is removed."""
    nodes: list[Piece] = []
    while tokens and tokens[0] != "}":
        token = tokens.pop(0)
        if token in "^_":
            _attach(nodes, "sup" if token == "^" else "sub", _argument(tokens, latex), latex)
        elif token == "'":
            _attach(nodes, "sup", Piece("mo", "′"), latex)
        else:
            nodes.append(_atom(token, tokens, latex))
    return nodes


def _attach(nodes: list[Piece], side: str, script: Piece, latex: str) -> None:
    """An index or exponent of the last node; one of each becomes a common element."""
    if not nodes:
        raise UnknownNotation(f"{latex!r} has an index or exponent of nothing")
    base = nodes.pop()
    both = {("msup", "sub"): (0, 2, 1), ("msub", "sup"): (0, 1, 2)}.get((base.element, side))
    if both:
        parts = [*base.parts, script]
        nodes.append(Piece("msubsup", parts=[parts[k] for k in both]))
    elif base.element in ("msubsup", f"m{side}"):
        raise UnknownNotation(f"{latex!r} has two indices or exponents in one place")
    else:
        nodes.append(Piece(f"m{side}", parts=[base, script]))


def _argument(tokens: list[str], latex: str) -> Piece:
    if not tokens:
        raise UnknownNotation(f"{latex!r} ends where something must follow")
    return _atom(tokens.pop(0), tokens, latex)


def _atom(token: str, tokens: list[str], latex: str) -> Piece:
    if token == "{":
        inner = _sequence(tokens, latex)
        if not tokens:
            raise UnknownNotation(f"{latex!r} opens a brace that it does not close")
        tokens.pop(0)
        return inner[0] if len(inner) == 1 else Piece("mrow", parts=inner)
    name = token[1:]
    if token.startswith(r"\text{"):
        return Piece("mtext", token[6:-1])
    if token == r"\,":
        return Piece("mspace")
    if token == r"\sqrt":
        return Piece("msqrt", parts=[_argument(tokens, latex)])
    if token == r"\frac":
        return Piece("mfrac", parts=[_argument(tokens, latex), _argument(tokens, latex)])
    if token.startswith("\\"):
        if name in LETTERS:
            return Piece("mi", LETTERS[name])
        if name in SIGNS:
            return Piece("mo", SIGNS[name])
        if name in FUNCTIONS:
            return Piece("mi", name)
        raise UnknownNotation(f"{latex!r} has {token}, which is not typeset; see claims/formulas.py")
    if token[0].isdigit():
        return Piece("mn", token)
    if token.isalpha():
        return Piece("mi", token)
    return Piece("mo", {"-": "−", "*": "∗"}.get(token, token))
