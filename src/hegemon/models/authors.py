"""An author's code: its file and line, and its failures as one sentence with file and line."""

import ast
import functools
import inspect
import linecache
import os
import sys
import sysconfig
import textwrap
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hegemon.errors import InvalidInput, meant, pass_interrupt

PACKAGE = Path(__file__).parent.parent
KEEP = "all trials share it, so use a variable of the function, or a Parameter"
LIBRARIES = tuple({sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")})


@contextmanager
def authored(what: str, instead: str = "fix it") -> Iterator[None]:
    """Run an author's code: whatever it raises becomes InvalidInput with `what`, the place and what to do instead."""
    try:
        yield
    except InvalidInput:
        raise
    except BaseException as error:  # an author's code may raise anything
        pass_interrupt(error)
        raise InvalidInput(f"{what} fails{place(error)}: {sentence(error)}; {instead}") from error


_unchanging: ContextVar[tuple[int, ...]] = ContextVar("unchanging", default=())  # protocols, in this thread


@contextmanager
def unchanging(instance: Any) -> Iterator[None]:
    """While an author's function runs that is given the protocol itself: all trials share it, so it takes no value."""
    held = vars(instance)
    before = {name: held.get(name) for name in instance.values}, dict(instance.values)
    token = _unchanging.set((*_unchanging.get(), id(instance)))
    try:
        yield
    finally:
        _unchanging.reset(token)
    if before != ({name: held.get(name) for name in before[0]}, instance.values):
        raise InvalidInput(f"{instance.id}: a function changed self.values, or a parameter of self; {KEEP}")


def require_changeable(instance: Any, name: str) -> None:
    """Raise TypeError, in the author's line, if the protocol is in use."""
    if id(instance) in _unchanging.get():
        raise TypeError(f"self.{name} cannot change while the protocol runs; {KEEP}")


def whole(init: Callable[..., Any]) -> Callable[..., Any]:
    """A constructor of an author's own; raises InvalidInput if it fails or does not call the base constructor."""

    @functools.wraps(init)
    def make(self: Any, *given: Any, **named: Any) -> None:
        instead = "write def __init__(self, n, **given) and call super().__init__(n, **given) first"
        with authored(f"{type(self).__name__}.__init__", instead):
            init(self, *given, **named)
        if "values" not in vars(self):
            raise InvalidInput(f"{type(self).__name__}.__init__ ({where(init)}) makes no protocol; {instead}")

    return make


def place(error: BaseException) -> str:
    """` (file, line N)` of the innermost line that an author wrote; empty if there is none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_authored(frame.filename)]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def where(function: Callable[..., Any], line: int | None = None) -> str:
    """`file, line N` of a function, or of a line in it."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    return f"{os.path.basename(code.co_filename)}, line {line or code.co_firstlineno}"


def declared(cls: type, *names: str) -> str:
    """` (file, line N)` where a class of an author's own declares a name in its body, such as "State", "leader"; the
    line of the class itself if it is not found there, and nothing for the laboratory's classes or without a file."""
    fallback = ""
    for kind in cls.__mro__:
        if kind.__module__.startswith(("hegemon.", "builtins")):
            continue
        found: ast.AST | None
        found, first = _definition(kind)
        if found is None:
            continue
        fallback = fallback or f" ({_file(kind)}, line {first})"
        for name in names:
            found = next((node for node in getattr(found, "body", ()) if name in _declares(node)), None)
        if found is not None:
            return f" ({_file(kind)}, line {first + getattr(found, 'lineno', 1) - 1})"
    return fallback


def declarations(kind: type) -> set[str]:
    """The names that the body of a class declares, as far as its text is known."""
    definition, _ = _definition(kind)
    return {name for node in getattr(definition, "body", ()) for name in _declares(node)}


def _definition(kind: type) -> tuple[ast.stmt | None, int]:
    """The syntax of a class, and its line; None if it was typed into a console, or has changed since."""
    try:
        lines, first = inspect.getsourcelines(kind)
        return ast.parse(textwrap.dedent("".join(lines))).body[0], first
    except (OSError, TypeError, SyntaxError):
        return None, 0


def _file(kind: type) -> str:
    return os.path.basename(inspect.getsourcefile(kind) or "")


def _declares(node: ast.stmt) -> set[str]:
    """The names that a statement of a class body gives a value or an annotation."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def sentence(error: BaseException) -> str:
    """The message of an exception, short and on one line."""
    what, known = _readable(error.obj) if isinstance(error, AttributeError) else ("", [])
    if known:
        name = str(getattr(error, "name", ""))
        return f"there is no {what} {name!r}; the {what}s are {', '.join(known)}{meant(name, known)}"
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:200]}" if said else type(error).__name__


def _readable(thing: Any) -> tuple[str, list[str]]:
    """What an author's function may read of a state, or of the parameters."""
    if isinstance(thing, SimpleNamespace):
        return "field", list(vars(thing))
    return "parameter", list(getattr(thing, "_fields", ()))


def is_authored(filename: str) -> bool:
    """Whether a file is part of neither hegemon nor a library; the catalogue's protocols count as an author's."""
    if filename.startswith("<frozen"):
        return False
    if filename.startswith("<") and filename in linecache.cache:  # rules without a file of their own
        return True
    if Path(filename).is_relative_to(PACKAGE):
        return Path(filename).is_relative_to(PACKAGE / "protocols") and Path(filename).name != "loading.py"
    return not filename.startswith(LIBRARIES) and not filename.startswith(sys.base_prefix + "/lib/python")


def kind(value: Any) -> str:
    """A value of the wrong kind, as it is named in an error message."""
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"
