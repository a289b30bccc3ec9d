"""Conditions written as text: `all(timer >= s/2) and count(leader == 1) == 1`, as sets of configurations.

`all(E)`, `none(E)`, names of the protocol's sets and comparisons of `count(E)` with numbers, joined by `and`, or more
freely by `or` and `not` and with several counts in one comparison; E compares fields, parameters and numbers, joined by
`and`, `or` and `not`, with the values of a Choice by their names. A comparison that reads a field which the state does
not have is false, so `not` of it is true; `present(field)` tests whether the field exists.
"""

import math
from collections.abc import Callable
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from hegemon.errors import InvalidInput, shown
from hegemon.models.absent_fields import fields_read_where_absent, tried_states
from hegemon.models.counting import counting_predicate, counts_agents
from hegemon.models.expressions import parse, value_of
from hegemon.models.functions import condition, names_in
from hegemon.models.grammar import Call, Comparison, Logic, Name, Tree
from hegemon.models.sets import Alternative, ConfigurationSet, Count, TooManyRows, everywhere, nowhere

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol

HELP = "write all(E), none(E), count(E) == K or sets joined by `and`, `or`, `not`, E over the fields and parameters"
MIRRORED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parse_set(text: str, protocol: "Protocol") -> ConfigurationSet:
    """The set that a text describes, for this protocol's fields and parameters."""
    result = ConfigurationSet(closed=True)
    try:
        for clause in _clauses(text):
            if isinstance(clause, Name) and clause.name in protocol.sets:
                result &= protocol.sets[clause.name]
                continue
            try:
                result &= joined(clause, lambda tree: _bounded(tree, protocol))
            except (_NoBounds, TooManyRows):
                result &= ConfigurationSet(
                    (Alternative(whole=(counting_predicate(clause, protocol),)),), closed=_is_closed(clause, protocol)
                )
    except InvalidInput as error:
        if type(error) is not InvalidInput:  # what it says is not about the text
            raise
        raise InvalidInput(f"the condition {shown(text)} is not understood: {error}; {HELP}") from None
    return result


def joined(tree: Tree, leaf: Callable[[Tree], ConfigurationSet]) -> ConfigurationSet:
    """The set of a tree of `and`, `or` and `not`, whose other parts `leaf` makes sets of."""
    if not isinstance(tree, Logic):
        return leaf(tree)
    parts = [joined(operand, leaf) for operand in tree.operands]
    if tree.operator == "not":
        return ~parts[0]
    return reduce(and_ if tree.operator == "and" else or_, parts)


def is_condition(text: str) -> bool:
    """Whether a text is more than the name of a set."""
    return "(" in text or not {"and", "or", "not"}.isdisjoint(text.split())


def unguarded(text: str, protocol: "Protocol") -> list[str]:
    """The fields that a text of conditions reads in states that do not have them, if its value depends on that.

    Such a comparison counts as false; callers may report that.
    """
    found: set[str] = set()
    for clause in _clauses(text):
        for tree in _conditions(clause):
            plain, guarded = condition(tree, protocol, guarded=False), condition(tree, protocol)
            found |= fields_read_where_absent(plain, protocol)
            for absent, state in tried_states(protocol.space):
                if plain(state, protocol.p) != guarded(state, protocol.p):
                    found |= absent & names_in(tree)
    return [name for name in protocol.space.names if name in found]


def absence_note(text: str, protocol: "Protocol") -> str | None:
    """A sentence about comparisons in a text that are false because a field is absent; None if there are none."""
    names = unguarded(text, protocol) if protocol.fields and "(" in text else []
    if not names:
        return None
    return (
        f"{shown(text)} reads {', '.join(names)} also in states that do not have it, where every comparison is false; "
        f"present({names[0]}) asks for it"
    )


def _clauses(text: str) -> tuple[Tree, ...]:
    tree = parse(text)
    return tree.operands if isinstance(tree, Logic) and tree.operator == "and" else (tree,)


def _conditions(clause: Tree) -> list[Tree]:
    """The conditions on one agent in a clause."""
    if isinstance(clause, Call):
        return list(clause.operands)
    return [inner for operand in getattr(clause, "operands", ()) for inner in _conditions(operand)]


def _is_plain(tree: Tree) -> bool:
    """Whether a part is `all(E)`, `none(E)`, or bounds of a count, which engines keep up to date at every step."""
    if isinstance(tree, Comparison):
        counts = [_argument(side, "count") is not None for side in tree.operands]
        others = [side for side, counted in zip(tree.operands, counts, strict=True) if not counted]
        alternate = all(left != right for left, right in zip(counts[:-1], counts[1:], strict=True))
        return alternate and "!=" not in tree.operators and not any(map(counts_agents, others))
    return not isinstance(tree, Logic)


class _NoBounds(Exception):
    """A part is no bound of a count."""


def _bounded(tree: Tree, protocol: "Protocol") -> ConfigurationSet:
    """The set of a part that is bounds of counts."""
    if isinstance(tree, Comparison) and tree.operators == ("!=",):
        return ~_bounded(Comparison(("==",), tree.operands), protocol)
    if isinstance(tree, Name) and tree.name in protocol.sets:
        chosen = protocol.sets[tree.name]
    elif _is_plain(tree):
        chosen = _clause(tree, protocol)
    else:
        raise _NoBounds
    if chosen.whole:
        raise _NoBounds
    return chosen


def _is_closed(tree: Tree, protocol: "Protocol") -> bool:
    """Whether a text joins closed sets only, so that it is closed too."""
    if isinstance(tree, Logic) and tree.operator != "not":
        return all(_is_closed(operand, protocol) for operand in tree.operands)
    return isinstance(tree, Name) and tree.name in protocol.sets and protocol.sets[tree.name].closed


def _clause(tree: Tree, protocol: "Protocol") -> ConfigurationSet:
    if (inner := _argument(tree, "all")) is not None:
        return everywhere(condition(inner, protocol))
    if (inner := _argument(tree, "none")) is not None:
        return nowhere(condition(inner, protocol))
    if isinstance(tree, Comparison):
        result = ConfigurationSet(closed=True)
        sides = tree.operands
        for symbol, left, right in zip(tree.operators, sides[:-1], sides[1:], strict=True):
            result &= _comparison(symbol, left, right, protocol)
        return result
    raise InvalidInput("it has a part that is no statement about all agents")


def _comparison(symbol: str, left: Tree, right: Tree, protocol: "Protocol") -> ConfigurationSet:
    """`count(E) <= K` or `K >= count(E)`, K a number of the parameters."""
    if _argument(right, "count") is not None:
        left, right, symbol = right, left, MIRRORED.get(symbol, symbol)
    inner = _argument(left, "count")
    if inner is None or symbol not in MIRRORED:
        raise InvalidInput("a comparison must be of count(E) with a number, by ==, <=, >=, < or >")
    number = value_of(right, protocol.values)
    least, most = math.ceil(number), math.floor(number)
    bounds: dict[str, tuple[int, int | str]] = {
        "==": (least, most),
        ">=": (least, "n"),
        "<=": (0, most),
        ">": (most + 1, "n"),
        "<": (0, least - 1),
    }
    return ConfigurationSet((Alternative((Count(condition(inner, protocol), *bounds[symbol]),)),))


def _argument(tree: Tree, name: str) -> Tree | None:
    """The argument of a call of this function; None if the tree is no such call."""
    if isinstance(tree, Call) and tree.function == name and len(tree.operands) == 1:
        return tree.operands[0]
    return None
