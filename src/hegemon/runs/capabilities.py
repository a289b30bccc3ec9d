"""What a path supports. A path is a way in which runs are made or shown: the course of a model, a block of short
trials, a checkpoint, the page.

It names the options and the measures that it takes into account. With any other, the run takes the general path or is
refused, so nothing is ever ignored: what is new is slow or refused first, until a path names it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hegemon.errors import InvalidInput

KNOWN: dict[str, "Capabilities"] = {}  # all that were declared so far; a test goes through them


@dataclass(frozen=True)
class Capabilities:
    """`path` is its name in a refusal, and `instead` what the refusal advises."""

    path: str
    options: frozenset[str]
    measures: frozenset[str] = frozenset()
    instead: str = "leave it out"

    def __post_init__(self) -> None:
        KNOWN[self.path] = self

    def support(self, options: Iterable[str], measures: Iterable[str] = ()) -> bool:
        """Whether all these are supported."""
        return self.options.issuperset(options) and self.measures.issuperset(measures)

    def require(self, options: Iterable[str], spelled: Callable[[str], str] = str) -> None:
        """Raise InvalidInput if one of these options is not supported."""
        for name in options:
            if name not in self.options:
                raise InvalidInput(f"{self.path} does not support {spelled(name)}; {self.instead}")


def supporting(path: str, options: str, measures: str = "", **more: Any) -> Capabilities:
    """The capabilities of a path; names are divided by blanks."""
    return Capabilities(path, frozenset(options.split()), frozenset(measures.split()), **more)


def chosen(options: Mapping[str, Any]) -> list[str]:
    """The names of the options of a command that were chosen: neither left out, nor empty, nor switched off."""
    return [name for name, value in options.items() if value or value == 0 and value is not False]
