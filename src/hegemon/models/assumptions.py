"""The assumptions of a protocol, declared in its class.

`assumes = (Assumption("n is odd", "n % 2 == 1"),)`. An assumption that parameters can decide is checked when the
protocol is made; the others are printed by `show`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hegemon import doors
from hegemon.errors import InvalidInput, shown
from hegemon.models.expressions import parse, value_of
from hegemon.models.grammar import Call, Comparison, Logic, Tree

COMPARE = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


@dataclass(frozen=True)
class Assumption:
    """`says` completes "it is assumed that …"; `holds`, if given, is a comparison over `n` and the parameters.

    `otherwise` is advice for parameters for which it does not hold.
    """

    says: str
    holds: str | None = None
    otherwise: str = "choose other parameters"

    def __post_init__(self) -> None:
        doors.require_fields(self, says=doors.text, holds=doors.text | doors.none, otherwise=doors.text)

    def require(self, owner: str, values: Mapping[str, Any]) -> None:
        """Refuse parameters for which the assumption is known not to hold."""
        if self.holds is not None and not truth(self.holds, values):
            given = ", ".join(f"{name} = {value}" for name, value in values.items() if name in self.holds)
            raise InvalidInput(f"{owner} assumes that {self.says}, which does not hold for {given}; {self.otherwise}")


def truth(text: str, values: Mapping[str, Any], what: str = "assumption") -> bool:
    """Whether a text of comparisons over the parameters is true."""
    try:
        return decide(parse(text), values)
    except (ArithmeticError, ValueError) as error:
        raise InvalidInput(f"the {what} {shown(text)} cannot be decided ({error})") from None


def decide(tree: Tree, values: Mapping[str, Any]) -> bool:
    """The same of a text that is parsed already."""
    if isinstance(tree, Logic):
        answers = [decide(operand, values) for operand in tree.operands]
        return not answers[0] if tree.operator == "not" else all(answers) if tree.operator == "and" else any(answers)
    if isinstance(tree, Comparison):
        numbers = [value_of(operand, values) for operand in tree.operands]
        pairs = zip(tree.operators, numbers[:-1], numbers[1:], strict=True)
        return all(COMPARE[symbol](left, right) for symbol, left, right in pairs)
    what = f"{tree.function}(…)" if isinstance(tree, Call) else "a number"
    raise InvalidInput(f"it has {what} where a comparison belongs")
