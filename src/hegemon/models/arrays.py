"""Fields that are arrays: `clock: Array(39, Range(0, 156))`, read and written as `a.clock[i]`.

Outside the author's functions an array is one field for each element, called `clock[0]`, `clock[1]` …: they are
counted, coded, checked and shown like all others. A record also holds the whole array, in the same memory; a state in
plain Python has an object that finds the elements.
"""

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

from hegemon.errors import InvalidInput

LONGEST = 1000  # elements of one array: every engine writes and reads each of them by name
HELP = "an array is read and written element by element, as a.{0}[i]"


class Elements:
    """The array of one state, whose elements are attributes of the state."""

    __slots__ = ("_length", "_name", "_state")

    def __init__(self, state: Any, name: str, length: int):
        self._state, self._name, self._length = state, name, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return getattr(self._state, self._element(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self._state, self._element(index), value)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self._length))

    def __eq__(self, other: object) -> bool:
        raise InvalidInput(f"{self._name} is compared as a whole; {HELP.format(self._name)}")

    __hash__ = None  # type: ignore[assignment]

    def _element(self, index: Any) -> str:
        if not hasattr(index, "__index__"):
            raise InvalidInput(f"{self._name}[{index}]: {HELP.format(self._name)}")
        place = int(index)
        if not -self._length <= place < self._length:
            raise InvalidInput(
                f"{self._name}[{place}] does not exist: {self._name} has {self._length} elements, from {self._name}[0] "
                f"to {self._name}[{self._length - 1}]"
            )
        return element(self._name, place % self._length)


def element(name: str, index: int) -> str:
    """The name of one element: the same in the author's rules, in conditions and in output."""
    return f"{name}[{index}]"


@cache
def namespace_with(arrays: tuple[tuple[str, int], ...]) -> type[SimpleNamespace]:
    """The class of states in plain Python that have these arrays, each with its length."""
    if not arrays:
        return SimpleNamespace

    def reading(name: str, length: int) -> property:
        def refuse(state: Any, value: Any) -> None:
            raise InvalidInput(f"{name} is written as a whole; {HELP.format(name)}")

        return property(lambda state: Elements(state, name, length), refuse)

    return type("State", (SimpleNamespace,), {name: reading(name, length) for name, length in arrays})
