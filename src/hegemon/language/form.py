"""The form of an author's function: a subset of Python in which every program does exactly what CPython does.

    function   = Function(name, file, parameters, defaults, body)

    statement  = Assign(target+, value)            a.x = t = 1
               | Change(target, operation, value)  a.x += 1
               | Evaluate(value)                   helper(a, p)
               | If(test, then, otherwise)
               | While(test, body, otherwise)
               | For(target, over, body, otherwise)
               | Return(value?) | Break | Continue | Pass

    target     = Local | Field | Item | Tuple of targets

    expression = Constant(value, word)             3, True, 0.5; "RANKED" of a Choice is its number, and its word
               | Known(name, value)                a constant of the module or of a function around it
               | Local(name)
               | Field(of, name)                   a.x, p.N, coins.heads, neighbour.back
               | Item(of, index)                   a.clock[i], neighbours[0], pair[1]
               | Slice(low?, high?, step?)         only as an index
               | Unary(operation, operand)         - + ~ not
               | Binary(operation, left, right)    + - * / // % ** << >> & | ^
               | Compare(first, operations, rest)  == != < <= > >= in not-in, chained as in Python
               | Logic(operation, parts)           and, or: the value of a part, as in Python
               | Either(test, yes, no)             yes if test else no
               | Bind(name, value)                 (t := value)
               | Tuple(parts)
               | Gather(function, element, clauses)  any, all, sum, min or max of a generator
               | Call(function, arguments)         a helper, read as well; arguments in the order of evaluation
               | Builtin(name, function, arguments, named)  a function of Python, math or numpy that is listed here

Every node has the line of the author's file on which Python reports its errors. docs/language.md says it for users.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

UNARY = ("-", "+", "~", "not")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")


@dataclass(frozen=True, slots=True)
class Node:
    line: int


# -- expressions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant(Node):
    value: Any
    word: str = ""


@dataclass(frozen=True, slots=True)
class Known(Node):
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Local(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Field(Node):
    of: "Expression"
    name: str


@dataclass(frozen=True, slots=True)
class Slice(Node):
    low: "Expression | None"
    high: "Expression | None"
    step: "Expression | None"


@dataclass(frozen=True, slots=True)
class Item(Node):
    of: "Expression"
    index: "Expression | Slice"


@dataclass(frozen=True, slots=True)
class Unary(Node):
    operation: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary(Node):
    operation: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Compare(Node):
    first: "Expression"
    operations: tuple[str, ...]
    rest: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Logic(Node):
    operation: str
    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Either(Node):
    test: "Expression"
    yes: "Expression"
    no: "Expression"


@dataclass(frozen=True, slots=True)
class Bind(Node):
    name: str
    value: "Expression"


@dataclass(frozen=True, slots=True)
class Tuple(Node):
    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """`for target in over if conditions`, in a generator: its names are its own."""

    target: "Target"
    over: "Expression"
    conditions: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Gather(Node):
    name: str
    function: Callable[..., Any]
    element: "Expression"
    clauses: tuple[Clause, ...]
    named: tuple[tuple[str, "Expression"], ...] = ()


@dataclass(frozen=True, slots=True)
class Call(Node):
    function: "Function"
    arguments: tuple[tuple[str, "Expression"], ...]  # a parameter, and what is passed to it


@dataclass(frozen=True, slots=True)
class Builtin(Node):
    name: str
    function: Callable[..., Any]
    arguments: tuple["Expression", ...]
    named: tuple[tuple[str, "Expression"], ...] = ()


Expression: TypeAlias = (
    Constant | Known | Local | Field | Item | Unary | Binary | Compare | Logic | Either | Bind | Tuple | Gather | Call
    | Builtin
)  # fmt: skip
Target: TypeAlias = Local | Field | Item | Tuple

# -- statements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign(Node):
    targets: tuple[Target, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class Change(Node):
    target: Local | Field | Item
    operation: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    value: Expression


@dataclass(frozen=True, slots=True)
class If(Node):
    test: Expression
    then: "Body"
    otherwise: "Body"


@dataclass(frozen=True, slots=True)
class While(Node):
    test: Expression
    body: "Body"
    otherwise: "Body"


@dataclass(frozen=True, slots=True)
class For(Node):
    target: Target
    over: Expression
    body: "Body"
    otherwise: "Body"


@dataclass(frozen=True, slots=True)
class Return(Node):
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Node):
    pass


@dataclass(frozen=True, slots=True)
class Pass(Node):
    pass


Statement: TypeAlias = Assign | Change | Evaluate | If | While | For | Return | Break | Continue | Pass
Body: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, eq=False)
class Function:
    """A function of an author's as it was read, with the constants and helpers that it saw then."""

    name: str
    file: str
    line: int
    parameters: tuple[str, ...]
    defaults: dict[str, Any]
    body: Body
    locals: frozenset[str]
    authored: Callable[..., Any] = field(repr=False)
