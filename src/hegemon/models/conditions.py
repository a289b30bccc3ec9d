"""Conditions written as text: `all(timer >= s/2) and count(leader == 1) == 1`, as sets of configurations.

`all(E)`, `none(E)` and `count(E) OP NUMBER` joined by `and`; E is Python over fields and parameters, with
the values of a Choice as quoted names.
"""

import ast

from hegemon.errors import InvalidInput
from hegemon.models.expressions import function_of
from hegemon.models.sets import ConfigurationSet, at_least, at_most, everywhere, exactly, nowhere

HELP = "write all(E), none(E) or count(E) == K joined by `and`, E over the fields and parameters"
COMPARISONS = {
    ast.Eq: exactly,
    ast.GtE: at_least,
    ast.LtE: at_most,
    ast.Gt: lambda number, condition: at_least(number + 1, condition),
    ast.Lt: lambda number, condition: at_most(number - 1, condition),
}


def parse_set(text: str, protocol) -> ConfigurationSet:
    """The set that a text describes, for this protocol's fields and parameters."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise InvalidInput(f"{text!r} is not a condition; {HELP}") from None
    clauses = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    result = ConfigurationSet()
    for clause in clauses:
        result &= _clause(clause, protocol, text)
    return result


def _clause(node, protocol, text) -> ConfigurationSet:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and _is_call(node.left, "count"):
        compare = COMPARISONS.get(type(node.ops[0]))
        number = node.comparators[0]
        if compare and isinstance(number, ast.Constant) and isinstance(number.value, int):
            return compare(number.value, condition(node.left.args[0], protocol, text))
    if _is_call(node, "all"):
        return everywhere(condition(node.args[0], protocol, text))
    if _is_call(node, "none"):
        return nowhere(condition(node.args[0], protocol, text))
    raise InvalidInput(f"{ast.unparse(node)!r} in {text!r} is not understood; {HELP}")


def _is_call(node, name) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
        and len(node.args) == 1
        and not node.keywords
    )


class _Names(ast.NodeTransformer):
    """Fields become `a.field`, parameters `p.parameter`, quoted names of a Choice their integers."""

    def __init__(self, protocol, text):
        self.protocol, self.text = protocol, text
        self.labels = {label: index for field in protocol.fields for index, label in enumerate(field.domain.names)}

    def visit_Name(self, node):  # noqa: N802
        if node.id in self.protocol.space.names:
            return ast.Attribute(ast.Name("a", ast.Load()), node.id, ast.Load())
        if node.id in self.protocol.values:
            return ast.Attribute(ast.Name("p", ast.Load()), node.id, ast.Load())
        known = ", ".join([*self.protocol.space.names, *self.protocol.values])
        raise InvalidInput(f"{self.text!r} speaks of {node.id!r}; {self.protocol.id} knows {known}")

    def visit_Constant(self, node):  # noqa: N802
        if isinstance(node.value, str):
            if node.value not in self.labels:
                raise InvalidInput(f"{self.text!r}: no field of {self.protocol.id} has a value {node.value!r}")
            return ast.Constant(self.labels[node.value])
        return node

    def generic_visit(self, node):
        allowed = (
            ast.BoolOp,
            ast.boolop,
            ast.UnaryOp,
            ast.unaryop,
            ast.BinOp,
            ast.operator,
            ast.Compare,
            ast.cmpop,
        )
        if not isinstance(node, allowed):
            raise InvalidInput(f"{self.text!r} may only compare and calculate with fields; {HELP}")
        return super().generic_visit(node)


def condition(node, protocol, text):
    """A function `(a, p) -> bool` from the syntax tree of an expression over fields and parameters."""
    body = ast.fix_missing_locations(ast.Expression(_Names(protocol, text).visit(node)))
    return function_of(ast.unparse(body))
