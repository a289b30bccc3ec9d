"""The state of a node as a value: plain data frozen into tuples, which can be compared and thawed again."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.exact.messages.scripted_coins import Drawn, Uniform

LISTED: tuple[type, ...] = (tuple, list)
SETS: tuple[type, ...] = (set, frozenset)
MAPPED: tuple[type, ...] = (dict, Counter)
CHANGEABLE = (list, dict, Counter)
Renumber = Callable[[int, int, Any], int]


class Freezer:
    """Freezes the data that a call leaves; `what` names it in messages, `renumber` gives drawn numbers their places."""

    def __init__(self, what: str, renumber: Renumber):
        self.what, self.renumber, self._seen = what, renumber, set[int]()

    def freeze(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (int, str):
            return value
        if kind in (bool, bytes):
            return (kind, value)  # 1, 1.0 and True are equal in Python, but must be told apart
        if kind is float:
            return (kind, value.hex())  # and so must 0.0 and -0.0
        if kind is Drawn:
            return (Drawn, value.low, value.high, self.renumber(value.low, value.high, value.place))
        if kind is Uniform:
            raise InvalidInput(f"{self.what} keeps what rng.random() returns; compare it at once, or draw rng.randint")
        if kind in CHANGEABLE:
            if id(value) in self._seen:
                raise InvalidInput(f"{self.what} keeps one {kind.__name__} under two names; make a copy of it")
            self._seen.add(id(value))
        if kind in LISTED or hasattr(kind, "_fields"):  # a message is a named tuple
            return (kind, *(self.freeze(item) for item in value))
        if kind in SETS:
            raise InvalidInput(
                f"{self.what} keeps a {kind.__name__}, and the order in which Python goes through it depends on all "
                "that it ever held; keep a sorted tuple, or a dictionary"
            )
        if kind in MAPPED:
            return (kind, *((self.freeze(key), self.freeze(item)) for key, item in value.items()))
        raise InvalidInput(
            f"{self.what} keeps a value of the type {kind.__name__}, and verify must tell any two apart; keep numbers, "
            "strings, tuples, lists and dictionaries"
        )


def thaw(frozen: Any) -> Any:
    if type(frozen) is not tuple:
        return frozen
    kind, *parts = frozen
    if kind is Drawn:
        return Drawn(*parts)
    if kind in LISTED:
        return kind(thaw(part) for part in parts)
    if kind is float:
        return float.fromhex(parts[0])
    if kind in MAPPED:
        return kind({thaw(key): thaw(item) for key, item in parts})
    if hasattr(kind, "_fields"):
        return kind(*(thaw(part) for part in parts))
    return parts[0]


def renumbered(frozen: Any, places: dict[tuple[int, int], tuple[int, ...]]) -> Any:
    """The same with every drawn number in its new place: `places` has one entry per old place."""
    if type(frozen) is not tuple or not frozen:
        return frozen
    if frozen[0] is Drawn:
        _, low, high, place = frozen
        moved = places.get((low, high))
        return (Drawn, low, high, moved[place - 1]) if moved else frozen
    return tuple(renumbered(part, places) for part in frozen)
