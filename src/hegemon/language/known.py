"""What the language has by name: operations, functions and types of numbers; and what to write instead of the rest."""

import ast
import math
from typing import Any

import numpy as np

OPERATIONS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not", ast.And: "and", ast.Or: "or",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip
FUNCTIONS: dict[Any, str] = {
    function: getattr(function, "__name__", "")
    for function in (
        min, max, abs, int, bool, float, len, range, sum, any, all, round, divmod, enumerate, reversed, zip,
        math.log, math.log2, math.log10, math.sqrt, math.exp, math.floor, math.ceil,
        np.zeros, np.ones, np.full, np.empty,
    )
}  # fmt: skip
GATHERED = ("any", "all", "sum", "min", "max")
NUMBERS = (int, float, bool)
DTYPES = (np.int64, np.int32, np.int8, np.bool_, np.float64, bool, int, float)
INSTEAD = {
    "Try": "try is outside the language; test with if before",
    "With": "with is outside the language",
    "Raise": "raise is outside the language; ranges of fields and parameters refuse wrong values",
    "Assert": "assert is outside the language; ranges of fields and parameters refuse wrong values",
    "Delete": "del is outside the language",
    "Global": "global is outside the language; a transition may only depend on its arguments",
    "Nonlocal": "nonlocal is outside the language; a transition may only depend on its arguments",
    "Import": "an import is outside the language here; write it at the top of the file",
    "ImportFrom": "an import is outside the language here; write it at the top of the file",
    "FunctionDef": "a function within a function is outside the language; define it beside the class",
    "Lambda": "a lambda within a function is outside the language; define a function beside the class",
    "ClassDef": "a class within a function is outside the language; define it beside the protocol",
    "Match": "match is outside the language; write if and elif",
    "List": "a list is outside the language; write a tuple, or np.zeros(length, np.int64)",
    "ListComp": "a list is outside the language; write a loop",
    "Dict": "a dictionary is outside the language; write if and elif",
    "DictComp": "a dictionary is outside the language; write a loop",
    "SetComp": "a set is outside the language; write a loop",
    "GeneratorExp": "a generator is outside the language except in any, all, sum, min and max; write a loop",
    "JoinedStr": "a text is outside the language; states are numbers and names of a Choice",
    "NamedExpr": "an assignment within a generator is outside the language; write it before",
    "Starred": "a star is outside the language; write every argument",
    "Yield": "yield is outside the language",
    "Await": "await is outside the language",
}  # fmt: skip
