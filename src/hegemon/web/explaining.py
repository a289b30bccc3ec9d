"""One transition in words and in lines of source: which lines of `interact` it went through."""

import inspect
import re
import sys
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

NOQA = re.compile(r"\s*# noqa(: [A-Z0-9, ]+\d)?$|(?<=# )noqa: [A-Z0-9, ]+\d - ")  # for the linter, not for readers


@dataclass(frozen=True)
class Listing:
    """The author's text: blocks of (file-relative first line, lines), one per function."""

    blocks: tuple[tuple[str, int, tuple[str, ...]], ...] = ()

    def record(self) -> list[dict[str, Any]]:
        return [{"name": name, "first": first, "lines": lines} for name, first, lines in self.blocks]


def listing(function: Callable[..., Any]) -> Listing:
    """The source of a transition and of the author's functions that it calls, in the order of the file."""
    blocks = []
    for found in _called(function, []):
        try:
            lines, first = inspect.getsourcelines(found)
        except (OSError, TypeError):
            continue
        text = [NOQA.sub("", line) for line in textwrap.dedent("".join(lines)).rstrip("\n").split("\n")]
        blocks.append((found.__qualname__, first, tuple(text)))
    return Listing(tuple(sorted(blocks, key=lambda block: (block[0] != function.__qualname__, block[1]))))


def _called(function: Callable[..., Any], seen: list[Any]) -> list[Any]:
    """The function and all that it calls in its own package or file."""
    if function in seen:
        return seen
    seen.append(function)
    home = function.__module__.rpartition(".")[0] or function.__module__
    for name in function.__code__.co_names:
        other = function.__globals__.get(name)
        if isinstance(other, types.FunctionType) and other.__module__.startswith(home):
            _called(other, seen)
    return seen


def traced(function: Callable[..., Any], *arguments: Any) -> tuple[Any, list[tuple[str, int]]]:
    """Call a plain-Python function; returns its result and the lines that were executed, as [(function, line)…]."""
    visited = []
    names = {
        found.__code__: found.__qualname__
        for found in _called(inspect.unwrap(getattr(function, "__func__", function)), [])
    }

    def follow(frame: types.FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if event == "line" and frame.f_code in names:
            visited.append((names[frame.f_code], frame.f_lineno))
        return follow if frame.f_code in names else None

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        answer = function(*arguments)
    finally:
        sys.settrace(before)
    return answer, sorted(set(visited))
