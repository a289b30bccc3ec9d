"""What equal protocols share: instances of one class with equal values, while nothing changes that they are made of.

A class that is defined again is another class, so nothing of the old one is found. Where the functions of one class
read something else than before (see `readings`), instances get new copies of them: what is remembered of a function,
its machine code above all, is remembered of that very object.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from hegemon.models.labels import with_integers
from hegemon.models.readings import Readings

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol

MOST_VALUES = 32  # of one class, for which something is kept: sweeps go over very many
MOST_MADE = 16  # things that equal instances share
PLAIN = (int, float, str, type(None))  # values that their text tells apart
# Where a class of an author's own defines one of these, or an instance holds one, the instance shares nothing.
_own = {"check_sound", "range_values", "compiled_values", "_words", "_readable", "__getattr__", "__getattribute__"}
_properties: set[str] = set()  # the names of all shared properties, which are among them

Made = TypeVar("Made")


class Functions:
    """The functions of a class as its instances use them: names of a Choice's values are integers."""

    def __init__(self, protocol: Any, before: "Functions | None"):
        kind = type(protocol)
        self._made_of = _parts_of(kind)
        self._readings = Readings(functions_of(kind))
        self._copies = 0 if before is None else before._copies + (not before._readings.last())
        fields, words, copies = kind.fields, protocol._words, self._copies

        def plain(function: Any) -> Any:
            return with_integers(function, fields, kind.id, words, copies)

        asked = [name for name in ("interact", "update", "output") if name in kind.functions and hasattr(kind, name)]
        members: dict[str, Any] = {name: plain(getattr(kind, name)) for name in asked}
        members["sets"] = {name: chosen.mapped(plain) for name, chosen in kind.sets.items()}
        members["observables"] = {name: seen.mapped(plain) for name, seen in kind.observables.items()}
        self.members = {name: one for name, one in members.items() if one != getattr(kind, name)}
        self.equals: dict[str, Shared] = {}

    def last(self, kind: Any) -> bool:
        """Whether the class and what its functions read is as it was."""
        return self._made_of == _parts_of(kind) and self._readings.last()


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
    return found


class Shared:
    """What is known of equal protocols."""

    def __init__(self, made_of: tuple, readings: Readings):
        self._made_of, self._readings = made_of, readings
        self.is_sound = False
        self.properties: dict[str, Any] = {}
        self._made: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What was made under this key before, or is made now."""
        found: Made | None = self._made.get(key)
        if found is None:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            found = self._made[key] = make()
        return found

    def fits(self, protocol: Any, made_of: tuple) -> bool:
        """Whether the protocol is made of the same."""
        held, known = vars(protocol), self.properties
        if self._made_of != made_of or not self._readings.last():
            return False
        return all(held[name] is known.get(name) for name in _properties & held.keys())


def shared_by(protocol: Any) -> Shared:
    """What a protocol has in common with all that equal it; its own, where it cannot be said which these are."""
    functions, held = use_functions(protocol), vars(protocol)
    made_of = _parts_of(protocol)
    found: Shared | None = held.get("_shared")
    if found is not None and found.fits(protocol, made_of):
        return found
    is_plain = _is_plain(protocol)
    known, key = (functions.equals, repr(protocol.values)) if is_plain else ({}, "")
    found = known.get(key)
    if found is None or not found.fits(protocol, made_of):
        known.pop(key, None)
        if len(known) >= MOST_VALUES:
            del known[next(iter(known))]
        found = known[key] = Shared(made_of, Readings([] if is_plain else functions_of(protocol)))
        found.properties |= {name: held[name] for name in _properties & held.keys()}
    held["_shared"] = found
    return found


def functions_of(protocol: Any) -> list[Any]:
    """Every function that an author wrote about states: those of a class, or as an instance uses them."""
    found = [getattr(protocol, name, None) for name in protocol.functions]
    for one in protocol.sets.values():
        found += [count.condition for count in one.counts]
        found += one.whole
    return found + [observable.value for observable in protocol.observables.values()]


def _parts_of(protocol: Any) -> tuple:
    """All that tells instances of one class apart, besides their values."""
    coins = getattr(protocol, "coin_fields", ())
    return (*functions_of(protocol), protocol.fields, coins, protocol.id, tuple(protocol.inputs.items()))


def _is_plain(protocol: "Protocol") -> bool:
    """Whether its values tell an instance apart from all others of its class."""
    held, given = vars(protocol), vars(protocol)["_functions"].members
    parts = (*protocol.functions, "sets", "observables", "fields", "coin_fields", "inputs", "id", "functions")
    if any(held.get(name) is not given.get(name) for name in parts):
        return False
    if not all(type(value) in PLAIN for value in protocol.values.values()):  # proofs have expressions in n
        return False
    authors = [base for base in type(protocol).__mro__ if not base.__module__.startswith(("hegemon.", "builtins"))]
    return all(_own.isdisjoint(vars(one)) for one in (protocol, *authors))


class shared_property(cached_property):  # noqa: N801 - used like a function
    """A property that equal protocols calculate once; nobody writes to it."""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        _properties.add(name)
        _own.add(name)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        shared, name = vars(instance).get("_shared") or shared_by(instance), self.attrname
        if name not in shared.properties:
            shared.properties[name] = self.func(instance)
        found = vars(instance)[name] = shared.properties[name]
        return found
