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
from typing import Any, TypeAlias

from hegemon.language.values import Value

UNARY = ("-", "+", "~", "not")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")


class Node(Value):
    line: int


# -- expressions ---------------------------------------------------------------------------------------------------


class Constant(Node):
    value: Any
    word: str = ""


class Known(Node):
    name: str
    value: Any


class Local(Node):
    name: str


class Field(Node):
    of: "Expression"
    name: str


class Slice(Node):
    low: "Expression | None"
    high: "Expression | None"
    step: "Expression | None"


class Item(Node):
    of: "Expression"
    index: "Expression | Slice"


class Unary(Node):
    operation: str
    operand: "Expression"


class Binary(Node):
    operation: str
    left: "Expression"
    right: "Expression"


class Compare(Node):
    first: "Expression"
    operations: tuple[str, ...]
    rest: tuple["Expression", ...]


class Logic(Node):
    operation: str
    parts: tuple["Expression", ...]


class Either(Node):
    test: "Expression"
    yes: "Expression"
    no: "Expression"


class Bind(Node):
    name: str
    value: "Expression"


class Tuple(Node):
    parts: tuple["Expression", ...]


class Clause(Node):
    """`for target in over if conditions`, in a generator: its names are its own."""

    target: "Target"
    over: "Expression"
    conditions: tuple["Expression", ...]


class Gather(Node):
    name: str
    function: Callable[..., Any]
    element: "Expression"
    clauses: tuple[Clause, ...]
    named: tuple[tuple[str, "Expression"], ...] = ()


class Call(Node):
    function: "Function"
    arguments: tuple[tuple[str, "Expression"], ...]  # a parameter, and what is passed to it


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


class Assign(Node):
    targets: tuple[Target, ...]
    value: Expression


class Change(Node):
    target: Local | Field | Item
    operation: str
    value: Expression


class Evaluate(Node):
    value: Expression


class If(Node):
    test: Expression
    then: "Body"
    otherwise: "Body"


class While(Node):
    test: Expression
    body: "Body"
    otherwise: "Body"


class For(Node):
    target: Target
    over: Expression
    body: "Body"
    otherwise: "Body"


class Return(Node):
    value: Expression | None


class Break(Node):
    pass


class Continue(Node):
    pass


class Pass(Node):
    pass


Statement: TypeAlias = Assign | Change | Evaluate | If | While | For | Return | Break | Continue | Pass
Body: TypeAlias = tuple[Statement, ...]


class Function(Value):
    """A function of an author's as it was read, with the constants and helpers that it saw then."""

    name: str
    file: str
    line: int
    parameters: tuple[str, ...]
    defaults: dict[str, Any]
    body: Body
    locals: frozenset[str]
    authored: Callable[..., Any]

    __eq__, __hash__ = object.__eq__, object.__hash__
