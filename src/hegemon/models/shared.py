"""Data shared by equal protocols: instances of one class with equal values, as long as their parts do not change.

A class that is defined again is another class and shares nothing with the old one. If the functions of a class read
something else than before (see `readings`), instances get new copies of them: all that is kept for a function, above
all its machine code, is kept for that function object.
"""

import itertools
import threading
from collections.abc import Callable
from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

from hegemon.models.labels import with_integers
from hegemon.models.readings import MISSING, Readings
from hegemon.models.sets import WrittenSet
from hegemon.models.unread import require_read

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol

MOST_VALUES = 32  # values of one class for which data is kept: sweeps have very many
MOST_MADE = 16  # things that equal instances share
PARTS = ("sets", "observables", "fields", "coin_fields", "inputs", "id", "functions")
PLAIN = (int, float, str, type(None))  # types whose values differ exactly if their texts differ
# If an author's class defines one of these, or an instance holds one, the instance shares nothing.
_own = {"check_sound", "range_values", "compiled_values", "_words", "_readable", "__getattr__", "__getattribute__"}
_properties: set[str] = set()  # the names of all shared properties, which are among them
_turn = threading.Lock()  # trials of several threads make protocols
_numbers = itertools.count(1)  # of copies
_first: dict[Any, Readings] = {}  # by function: what was read when the function itself, not a copy, was first used

Made = TypeVar("Made")


class Functions:
    """The functions of a class as its instances use them: names of a Choice's values are integers."""

    def __init__(self, protocol: Any, before: "Functions | None"):
        kind = type(protocol)
        require_read(kind)
        self._made_of = _parts_of(kind)
        self._readings = Readings(functions_of(kind))
        if before is not None and before._readings.last():
            self._copies: int = before._copies
        else:  # also where a function of this class was compiled for another one, and what it reads has changed since
            known = {id(one): one for f in self._readings.functions if (one := _first.get(f)) is not None}
            self._copies = next(_numbers) if before or not all(one.last() for one in known.values()) else 0
        if not self._copies:
            for function in self._readings.functions:
                _first.setdefault(function, self._readings)
        fields, words, copies = kind.fields, protocol._words, self._copies

        def plain(function: Any) -> Any:
            return with_integers(function, fields, kind.id, words, copies)

        asked = [name for name in ("interact", "update", "output") if name in kind.functions and hasattr(kind, name)]
        members: dict[str, Any] = {name: plain(getattr(kind, name)) for name in asked}
        members["sets"] = {name: chosen.mapped(plain) for name, chosen in kind.sets.items()}
        members["observables"] = {name: seen.mapped(plain) for name, seen in kind.observables.items()}
        self.members = {name: one for name, one in members.items() if one != getattr(kind, name)}
        self.equals: dict[str, Shared] = {}
        self.authors = [base for base in kind.__mro__ if not base.__module__.startswith(("hegemon.", "builtins"))]
        self._declared = [_declarations(base) for base in self.authors]
        self.written: dict[str, dict[str, Any]] = {}  # by the values of an instance: its sets, with texts read
        self.has_written = any(isinstance(one, WrittenSet) for one in kind.sets.values())
        self.overrides = not all(_own.isdisjoint(vars(base)) for base in self.authors)

    def last(self, kind: Any) -> bool:
        """Whether the class, its author's declarations in it, and what its functions read are unchanged."""
        return (
            self._made_of == _parts_of(kind)
            and self._readings.last()
            and all(map(_are_declared, self._declared, self.authors))
        )

    def sets_of(self, protocol: Any) -> dict[str, Any]:
        """The sets of an instance, with those read that the class declares as texts."""
        from hegemon.models.written import ReadSets  # it needs what this module is needed for

        key = repr(protocol.values)
        if key not in self.written:
            if len(self.written) >= MOST_VALUES:
                self.written.clear()
            self.written[key] = dict(ReadSets(protocol, self.members.get("sets", type(protocol).sets)))
        return self.written[key]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Functions":
        return self


def _declarations(base: type) -> dict[str, Any]:
    return {name: value for name, value in vars(base).items() if name != "_functions"}


def _are_declared(before: dict[str, Any], base: type) -> bool:
    """Whether these are still the declarations of a class; called at every run, so it copies nothing."""
    now = vars(base)
    same = map(is_, map(now.get, before, itertools.repeat(MISSING)), before.values())
    return len(now) - ("_functions" in now) == len(before) and all(same)


def use_functions(protocol: Any) -> Functions:
    """Give an instance the functions of its class, unless it has its own."""
    kind, held = type(protocol), vars(protocol)
    found: Functions | None = vars(kind).get("_functions")
    if found is None or not found.last(kind):
        found = kind._functions = Functions(protocol, found)
    if (before := held.get("_functions")) is not found:
        for name, member in before.members.items() if before else ():
            if held.get(name) is member:
                del held[name]
        for name, member in found.members.items():
            held.setdefault(name, member)
        held["_functions"] = found
    if found.has_written and held.get("_read_by") is not found and _are_plain(protocol.values):
        held["sets"] = held["_read"] = found.sets_of(protocol)
        held["_read_by"] = found
    return found


class Shared:
    """Data that equal protocols share."""

    def __init__(self, made_of: tuple[Any, ...] = (), readings: Readings | None = None):
        self._made_of, self._readings = made_of, readings  # set if it belongs to one instance
        self.is_sound = False
        self.properties: dict[str, Any] = {}
        self._made: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """The object made under this key before, or made now."""
        found: Made | None = self._made.get(key)
        if found is None:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            found = self._made[key] = make()
        return found

    def has_the_properties_of(self, held: dict[str, Any]) -> bool:
        return all(held[name] is self.properties.get(name) for name in _own & held.keys())

    def __deepcopy__(self, memo: dict[int, Any]) -> "Shared":
        return self

    def fits(self, made_of: tuple[Any, ...]) -> bool:
        """Whether the parts of an instance that shares nothing are unchanged."""
        return self._readings is not None and self._made_of == made_of and self._readings.last()


def shared_by(protocol: Any) -> Shared:
    """The data shared with all protocols that equal this one now; its own, if these cannot be determined."""
    return _found(protocol, use_functions(protocol))


def known_of(protocol: Any) -> Shared:
    """The same as found last: a run goes on with the data that it began with."""
    held = vars(protocol)
    return held.get("_shared") or _found(protocol, held.get("_functions") or use_functions(protocol))


def _found(protocol: Any, functions: Functions) -> Shared:
    held = vars(protocol)
    if _is_plain(protocol, functions):
        key = repr(protocol.values)
        found = functions.equals.get(key)
        if found is None:
            with _turn:
                if len(functions.equals) >= MOST_VALUES:
                    del functions.equals[next(iter(functions.equals))]
                found = functions.equals.setdefault(key, Shared())
        if found.has_the_properties_of(held):
            held["_shared"] = found
            return found
    own: Shared | None = held.get("_shared")
    if own is None or not own.fits(_parts_of(protocol)):
        own = held["_shared"] = Shared(_parts_of(protocol), Readings(functions_of(protocol)))
    return own


def functions_of(protocol: Any) -> list[Any]:
    """Every function that an author wrote about states: those of a class, or as an instance uses them."""
    found = [getattr(protocol, name, None) for name in protocol.functions]
    for one in protocol.sets.values():
        found += [count.condition for count in one.counts]
        found += one.whole
    return found + [observable.value for observable in protocol.observables.values()]


def _parts_of(protocol: Any) -> tuple[Any, ...]:
    """All parts in which instances of one class may differ, besides their values."""
    coins = getattr(protocol, "coin_fields", ())
    return (*functions_of(protocol), protocol.fields, coins, protocol.id, tuple(protocol.inputs.items()))


def _is_plain(protocol: "Protocol", functions: Functions) -> bool:
    """Whether its values alone identify an instance among all others of its class."""
    held, given, names = vars(protocol), functions.members, (*protocol.functions, *PARTS)
    if functions.has_written:
        given = {**given, "sets": held.get("_read")}
    if not all(map(is_, map(held.get, names), map(given.get, names))):
        return False
    return _are_plain(protocol.values) and not functions.overrides


def _are_plain(values: dict[str, Any]) -> bool:
    return all(type(value) in PLAIN for value in values.values())  # proofs have expressions in n


if TYPE_CHECKING:
    shared_property = cached_property
else:

    class shared_property(cached_property):  # noqa: N801 - used like a function
        """A property that equal protocols calculate once; it is never written to."""

        def __set_name__(self, owner: type, name: str) -> None:
            super().__set_name__(owner, name)
            _properties.add(name)
            _own.add(name)

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            properties, name = known_of(instance).properties, self.attrname
            if name not in properties:
                properties[name] = self.func(instance)
            found = vars(instance)[name] = properties[name]
            return found
