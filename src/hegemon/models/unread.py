"""What an author's class declares and nobody reads is refused by name: a constant left over, or a name misspelt.

A declaration is read if the laboratory knows its name or its kind, or if the file of the class, or of one based on it,
mentions the name. Names that begin with `_` are the author's own business, and a class without a file is not looked at.
"""

import ast
import inspect
import sys
import textwrap
import types
from contextlib import suppress
from functools import lru_cache
from typing import Any

from hegemon.errors import InvalidInput, meant
from hegemon.models.authors import declarations, declared
from hegemon.models.declarations import base_of

BODIES = ("State", "Coins", "Message", "Node")
APPEARANCE = ("colours", "class_names", "private", "symbols", "grade")  # what pages and lists read by name
VALUES = (str, bytes, int, float, tuple, list, dict, set, frozenset, type(None))
FUNCTIONS = (types.FunctionType, staticmethod, classmethod, property)


def require_read(cls: Any) -> None:
    """Raise InvalidInput for a name that an author's class, or one of its bases, declares and nobody reads."""
    base = base_of(cls)
    hooks = (*cls.functions, "validate", "safe", *BODIES, *APPEARANCE)
    kinds = [kind for kind in cls.__mro__[: cls.__mro__.index(base)] if not kind.__module__.startswith("hegemon.")]
    for kind in kinds:
        doubtful = [name for name, value in vars(kind).items() if not _is_known(name, value, cls, base, hooks)]
        written = declarations(kind) if doubtful else ()
        for name in doubtful:
            if name in written and not any(name in _mentioned(_file_of(one)) for one in kinds):
                raise InvalidInput(
                    f"{cls.__name__}: nobody reads {name}{declared(cls, name)}{meant(name, hooks)}; a class declares "
                    "its State, parameters, sets, observables, starts and functions: begin a name of your own with _"
                )


def _is_known(name: str, value: Any, cls: Any, base: Any, hooks: tuple[str, ...]) -> bool:
    if name.startswith("_") or hasattr(base, name) or name in cls.sets or name in APPEARANCE:
        return True
    if isinstance(value, type):
        return name in BODIES
    if isinstance(value, FUNCTIONS):
        return name in cls.functions or name.startswith("start_") or not meant(name, hooks)
    return not isinstance(value, VALUES)


def _file_of(kind: type) -> str:
    """The text of the file in which a class is defined; of the class itself where it is in no file."""
    try:
        return inspect.getsource(sys.modules[kind.__module__])
    except (KeyError, OSError, TypeError):
        with suppress(OSError, TypeError):
            return textwrap.dedent(inspect.getsource(kind))
        return ""


@lru_cache(maxsize=64)
def _mentioned(text: str) -> frozenset[str]:
    """Every name that a text reads, as a variable, an attribute or a string."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return frozenset()
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return frozenset(names | {str(node.value) for node in nodes if isinstance(node, ast.Constant)})
