"""Where a form comes from: the text of a function, accepted only if compiling it gives the function's own bytecode.

A file that was edited after it was imported, a console that keeps no text and two functions on one line are told apart:
whatever is read is what runs.
"""

import ast
import linecache
import os
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from hegemon.errors import InvalidInput

NO_TEXT = "its text is not kept, as in a console or after exec; write it into a file"
EDITED = "its file has changed since it was imported; import it again"


class Outside(InvalidInput):
    """What the language does not have: a sentence with the line, and how to write it."""


class SourceText(NamedTuple):
    """The syntax of a function, and what stands for the constants of its text: the words of a Choice are numbers."""

    tree: ast.FunctionDef | ast.Lambda
    words: dict[Any, Any]


def place(code: types.CodeType, line: int | None = None) -> str:
    return f"{os.path.basename(code.co_filename)}, line {line or code.co_firstlineno}"


class _Parsed(NamedTuple):
    nodes: dict[int, list[Any]]
    codes: dict[tuple[str, int], list[types.CodeType]]


def source_of(function: types.FunctionType) -> SourceText:
    """The source of a plain function; raises Outside if there is none that is surely its own."""
    code, file = function.__code__, function.__code__.co_filename
    for refresh in (False, True):
        if refresh:
            linecache.checkcache(file)
        text = "".join(linecache.getlines(file, function.__globals__))
        found = _found(code, text) if text else None
        if found:
            return found
    raise Outside(f"{function.__qualname__} cannot be read ({place(code)}): {EDITED if text else NO_TEXT}")


def _found(code: types.CodeType, text: str) -> SourceText | None:
    parsed = _parsed(text, code.co_filename)
    if parsed is None:
        return None
    for made in parsed.codes.get((code.co_name, code.co_firstlineno), ()):
        words = _differences(code, made)
        if words is not None and list(code.co_positions()) == list(made.co_positions()):
            for node in parsed.nodes.get(code.co_firstlineno, ()):
                if _is_of(node, made):
                    return SourceText(node, words)
    return None


@lru_cache(maxsize=64)
def _parsed(text: str, file: str) -> _Parsed | None:
    """The functions of a text by their first lines, as syntax and as code."""
    try:
        tree = ast.parse(text, file)
        module = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    nodes: dict[int, list[Any]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", [])
            nodes.setdefault(min(one.lineno for one in (node, *decorators)), []).append(node)
    codes: dict[tuple[str, int], list[types.CodeType]] = {}
    for code in _inner(module):
        codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    return _Parsed(nodes, codes)


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner(constant)


def _is_of(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether a piece of syntax was compiled to this code, among those that begin on one line."""
    if isinstance(node, ast.FunctionDef):
        return node.name == code.co_name and [one.arg for one in node.args.args] == _arguments(code)
    places = set(code.co_positions())
    spans = ((one.lineno, one.end_lineno, one.col_offset, one.end_col_offset) for one in _own(node.body))
    return code.co_name == "<lambda>" and any(span in places for span in spans)


def _own(body: ast.AST) -> Iterator[Any]:
    """The expressions of a lambda without those inside others: no single one of them is sure to have an instruction,
    not even the whole body if it is `x if … else y`."""
    if isinstance(body, ast.expr):
        yield body
    if not isinstance(body, ast.Lambda):
        for part in ast.iter_child_nodes(body):
            yield from _own(part)


def _arguments(code: types.CodeType) -> list[str]:
    return list(code.co_varnames[: code.co_argcount])


SAME = (
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_posonlyargcount",
    "co_kwonlyargcount", "co_flags", "co_exceptiontable",
)  # fmt: skip


def _differences(own: types.CodeType, made: types.CodeType) -> dict[Any, Any] | None:
    """The words of the text for which the function has numbers; None if anything else differs."""
    if any(getattr(own, name) != getattr(made, name) for name in SAME) or len(own.co_consts) != len(made.co_consts):
        return None
    words: dict[Any, Any] = {}
    for value, written in zip(own.co_consts, made.co_consts, strict=True):
        if isinstance(written, types.CodeType):
            inner = _differences(value, written) if isinstance(value, types.CodeType) else None
            if inner is None:
                return None
            words |= inner
        elif not _is_same(value, written):
            if not _stands_for(value, written):
                return None
            words[written] = value
    return words


def _is_same(value: Any, written: Any) -> bool:
    return type(value) is type(written) and repr(value) == repr(written)


def _stands_for(value: Any, written: Any) -> bool:
    """Whether a constant is that of the text with numbers in place of words."""
    if isinstance(written, str):
        return type(value) is int
    if isinstance(written, tuple) and isinstance(value, tuple) and len(value) == len(written):
        return all(_is_same(*pair) or _stands_for(*pair) for pair in zip(value, written, strict=True))
    return isinstance(written, frozenset) and isinstance(value, frozenset)
