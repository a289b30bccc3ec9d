"""Conditions on trials, such as `start == 'random' and n >= 1000`, parsed by a small grammar and never executed.

Columns, numbers, quoted strings, true and false; == != < <= > >= and `in (…)`; and, or, not, brackets.
"""

import ast
import operator
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput, meant
from hegemon.experiments.names import column_named

if TYPE_CHECKING:
    import pandas


LONGEST = 1_000
COMPARISONS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
HELP = "write comparisons such as n >= 1000 and start == 'random'"


def choose_rows(table: "pandas.DataFrame", text: str) -> Any:
    """The rows of a dataframe that satisfy the text."""
    if len(text) > LONGEST:
        raise InvalidInput(f"--where has {len(text):,} characters; {LONGEST:,} are enough")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInput(f"--where {text!r} is not understood; {HELP}") from None
    return table[_truth(tree, table, text)]


def _truth(node: Any, table: "pandas.DataFrame", text: str) -> Any:
    if isinstance(node, ast.BoolOp):
        parts = [_truth(value, table, text) for value in node.values]
        combined = parts[0]
        for part in parts[1:]:
            combined = combined & part if isinstance(node.op, ast.And) else combined | part
        return combined
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~_truth(node.operand, table, text)
    if isinstance(node, ast.Compare):
        return _comparison(node, table, text)
    if _is_column(node):
        column = _column(node, table, text)
        if column.dtype != bool:
            raise InvalidInput(f"--where {text!r}: {ast.unparse(node)} is not true or false; compare it with a value")
        return column
    raise InvalidInput(f"--where {text!r}: {ast.unparse(node)!r} is not understood; {HELP}")


def _comparison(node: Any, table: "pandas.DataFrame", text: str) -> Any:
    result, left = None, node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        part = _compare(left, op, right, table, text)
        result = part if result is None else result & part
        left = right
    return result


def _compare(left: Any, op: ast.cmpop, right: Any, table: "pandas.DataFrame", text: str) -> Any:
    if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List):
        found = _column(left, table, text).isin([_value(item, table, text) for item in right.elts])
        return ~found if isinstance(op, ast.NotIn) else found
    compare = COMPARISONS.get(type(op))
    if compare is None or not (_is_column(left) or _is_column(right)):
        raise InvalidInput(f"--where {text!r}: a column must be compared with a value; {HELP}")
    a, b = _value(left, table, text), _value(right, table, text)
    try:
        return compare(a, b)
    except TypeError:
        names = f"{ast.unparse(left)} and {ast.unparse(right)}"
        raise InvalidInput(f"--where {text!r}: {names} cannot be compared; is one a text and one a number?") from None


def _value(node: Any, table: "pandas.DataFrame", text: str) -> Any:
    if isinstance(node, ast.Name) and node.id.lower() in ("true", "false") and node.id not in table.columns:
        return node.id.lower() == "true"
    if _is_column(node):
        return _column(node, table, text)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        if isinstance(node.operand.value, int | float):
            return -node.operand.value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bool):
        return node.value
    raise InvalidInput(f"--where {text!r}: {ast.unparse(node)!r} is neither a column nor a value; {HELP}")


def _column(node: Any, table: "pandas.DataFrame", text: str) -> Any:
    word = ast.unparse(node)
    name = column_named(word, list(table.columns), table.attrs.get("parameters", {}))
    if not _is_column(node) or name not in table.columns:
        known = ", ".join(table.columns)
        raise InvalidInput(
            f"--where {text!r}: there is no column {word!r}; the columns are {known}{meant(word, table.columns)}"
        )
    return table[name]


def _is_column(node: Any) -> bool:
    """Whether a node is a name, or `p.tau`, the parameter tau."""
    return isinstance(node, ast.Name) or isinstance(node, ast.Attribute) and ast.unparse(node.value) == "p"
