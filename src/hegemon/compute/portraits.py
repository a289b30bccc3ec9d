"""Python values as a text that holds data and no code: what plain-Python engines keep of their agents and nodes.

Two places that hold one object hold one object again afterwards. Known are numbers, strings, tuples, lists,
dictionaries, sets, and objects of the classes that are given. The order of a set, which Python does not promise, is not
kept.
"""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

PLAIN = (type(None), bool, int, float, str)
MAKERS: dict[str, Callable[..., Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


class Unkept(Exception):
    """A value that cannot be kept exactly; the reason completes a sentence."""


def classes_of(function: Any, *further: type) -> dict[str, type]:
    """The classes that the author of a function can name, with `further` ones of the engine's."""
    named = {name: value for name, value in getattr(function, "__globals__", {}).items() if isinstance(value, type)}
    return named | {known_class.__name__: known_class for known_class in (SimpleNamespace, *further)}


def portray(value: Any, classes: dict[str, type]) -> str:
    """The value as a text."""
    painter = _Painter(classes)
    try:
        root = painter.note(value)
    except RecursionError:
        raise Unkept("it is nested too deeply") from None
    return json.dumps([painter.entries, root])


def revive(text: str, classes: dict[str, type]) -> Any:
    """The value of a text; the contents of a container are made before the container."""
    entries, root = json.loads(text)
    made: list[Any] = []
    for kind, *parts in entries:
        made.append(_make(kind, parts, made, classes))
    return _look(root, made)


class _Painter:
    def __init__(self, classes: dict[str, type]):
        self.entries: list[list[Any]] = []
        self._names = {known_class: name for name, known_class in classes.items()}
        self._places: dict[int, int | None] = {}
        self._alive: list[Any] = []  # keeps objects alive, so that no `id` is used twice

    def note(self, value: Any) -> Any:
        """A plain value as itself, any other as the place of its entry."""
        if type(value) in PLAIN:
            return value
        if id(value) in self._places:
            place = self._places[id(value)]
            if place is None:
                raise Unkept("it holds itself")
            return [place]
        self._places[id(value)] = None
        self._alive.append(value)
        entry = self._entry(value)
        self.entries.append(entry)
        self._places[id(value)] = len(self.entries) - 1
        return [len(self.entries) - 1]

    def _entry(self, value: Any) -> list[Any]:
        kind = type(value)
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return ["numpy", value.dtype.str, value.item()]
        if isinstance(value, dict) and (kind is dict or kind.__name__ == "defaultdict"):
            return ["dict", *[[self.note(key), self.note(content)] for key, content in value.items()]]
        if kind.__name__ in MAKERS and MAKERS[kind.__name__] is kind:
            return [kind.__name__, *map(self.note, value)]
        if kind not in self._names:
            raise Unkept(f"it has a {kind.__name__}")
        name = self._names[kind]
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return ["named", name, *map(self.note, value)]
        if kind.__base__ in (tuple, list, dict, set, frozenset) or not hasattr(value, "__dict__"):
            raise Unkept(f"it has a {kind.__name__}")
        return ["object", name, *[[key, self.note(content)] for key, content in vars(value).items()]]


def _make(kind: str, parts: list[Any], made: list[Any], classes: dict[str, type]) -> Any:
    if kind == "numpy":
        return np.dtype(parts[0]).type(parts[1])
    if kind == "dict":
        return {_look(key, made): _look(part, made) for key, part in parts}
    if kind == "named":
        return classes[parts[0]](*[_look(part, made) for part in parts[1:]])
    if kind == "object":
        kind_of: Any = classes[parts[0]]
        remade = kind_of.__new__(kind_of)
        vars(remade).update({key: _look(part, made) for key, part in parts[1:]})
        return remade
    return MAKERS[kind](_look(part, made) for part in parts)


def _look(reference: Any, made: list[Any]) -> Any:
    return made[reference[0]] if isinstance(reference, list) else reference
