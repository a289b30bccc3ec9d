"""The door of a public call: what each of its options may be, declared once; anything else is refused in one sentence.

A kind reads a value. It gives the value as functions use it (1e3 is 1000, a number of NumPy is one of Python), or it
is not its own, and the sentence says what is.
"""

import inspect
import math
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeVar, cast

from hegemon.errors import InvalidInput, meant, shown

Function = TypeVar("Function", bound=Callable[..., Any])

MOST = 10**36
LARGEST = 10**300  # of a number that a function bounds itself
LONGEST_NAME = 255  # bytes of a name in a path
MOST_ENTRIES = 1_000_000  # of a list


class Wrong(Exception):
    """The value is not of this kind."""


@dataclass(frozen=True)
class Kind:
    """`says` completes `give …`; `read` gives the value as it is used, or raises Wrong."""

    says: str
    read: Callable[[Any], Any]

    def admit(self, name: str, value: Any) -> Any:
        """The value as it is used; InvalidInput with what is allowed."""
        try:
            return self.read(value)
        except Wrong as wrong:
            why = str(wrong) or "cannot be used"
            raise InvalidInput(f"{name} = {shown(value)} {why}; give {self.says}") from None

    def __or__(self, other: "Kind") -> "Kind":
        def read(value: Any) -> Any:
            try:
                return self.read(value)
            except Wrong as wrong:
                try:
                    return other.read(value)
                except Wrong as more:  # what was nearly right says more
                    raise (more if str(more) else wrong) from None

        return Kind(f"{self.says}, or {other.says}", read)


def whole(low: int = 0, high: int = MOST) -> Kind:
    """A whole number, also as 1e6 or of NumPy."""
    bounds = f"{low}..{high if high < 10**7 else f'{high:.6g}'}"

    def read(value: Any) -> int:
        if not _is_number(value):
            raise Wrong
        if not isinstance(value, numbers.Integral) and not float(value).is_integer():  # nor is infinity
            raise Wrong("is out of range")
        if not low <= value <= high:
            raise Wrong("is out of range")
        return int(value)

    return Kind(f"a whole number in {bounds}", read)


def real(above: float = -math.inf, low: float = -math.inf, high: float = math.inf, says: str = "a number") -> Kind:
    """A finite number; `says` has its bounds in words."""

    def read(value: Any) -> float:
        if not _is_number(value):
            raise Wrong
        try:
            number = float(value)
        except OverflowError:
            raise Wrong("is out of range") from None
        if not math.isfinite(number) or number <= above or not low <= number <= high:
            raise Wrong("is out of range")
        return number

    return Kind(says, read)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _read_number(value: Any) -> Any:
    """A number as one of Python's; a fraction stays one, for it is exact."""
    if not _is_number(value):
        raise Wrong
    if isinstance(value, numbers.Integral):
        if abs(int(value)) > LARGEST:
            raise Wrong("is out of range")
        return int(value)
    if isinstance(value, numbers.Rational):
        return value
    if not math.isfinite(value):
        raise Wrong("is out of range")
    return float(value)


def _read_share(value: Any) -> Any:
    found = (number | text | instance("a decimal", "decimal:Decimal")).read(value)
    if not isinstance(found, str) and not 0 <= float(found) <= 1:
        raise Wrong("is out of range")
    return found


def _read_switch(value: Any) -> bool:
    if isinstance(value, bool) or type(value).__name__ == "bool" and type(value).__module__ == "numpy":
        return bool(value)
    raise Wrong


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong
    if not value.strip() or "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Wrong("is empty, or has characters that no text has")
    return str(value)


def _read_path(value: Any) -> Any:
    text = _read_text(str(value) if isinstance(value, PurePath) else value)
    if any(len(part.encode()) > LONGEST_NAME for part in PurePath(text).parts):
        raise Wrong("has a name that is too long")
    return value


def _read_none(value: Any) -> None:
    if value is not None:
        raise Wrong


def _read_scalar(value: Any) -> Any:
    return value if isinstance(value, bool) else (number | text).read(value)


anything = Kind("a value", lambda value: value)  # of which the function reads every kind itself
number = Kind("a number", _read_number)
switch = Kind("True or False", _read_switch)
text = Kind("a text", _read_text)
path = Kind("the path of a file", _read_path)
none = Kind("None", _read_none)
scalar = Kind("a number or a text", _read_scalar)


def function(arguments: int | None = None, says: str = "a function") -> Kind:
    """A function that can be called with this number of arguments; with any number, if it is None."""

    def read(value: Any) -> Callable[..., Any]:
        if not callable(value) or isinstance(value, type):
            raise Wrong
        if arguments is not None:
            try:
                inspect.signature(value).bind(*range(arguments))
            except TypeError:
                raise Wrong(f"does not take {arguments} argument{'s' * (arguments > 1)}") from None
            except ValueError:
                pass  # built-in: it has no signature
        return cast(Callable[..., Any], value)

    return Kind(says, read)


def one_of(*words: str) -> Kind:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise Wrong
        if value not in words:
            raise Wrong(f"is not known{meant(value, words)}")
        return str(value)

    return Kind(f"one of {', '.join(words)}", read)


def _read_state(value: Any) -> Any:
    try:
        hash(value)
    except Exception:  # somebody else's __hash__ may raise anything
        raise Wrong from None
    return value


def instance(says: str, *places: str) -> Kind:
    """An object of one of these classes, `module:Class`. A module that is not loaded has made none."""

    def read(value: Any) -> Any:
        for place in places:
            home, _, name = place.partition(":")
            if home in sys.modules and isinstance(value, getattr(sys.modules[home], name)):
                return value
        raise Wrong

    return Kind(says, read)


state = Kind("a state", _read_state)
share = Kind('a probability such as 0.1 or "1/3"', lambda value: _read_share(value))


def subclass(says: str, place: str) -> Kind:
    """A class based on this one, `module:Class`."""
    home, _, name = place.partition(":")

    def read(value: Any) -> Any:
        if home not in sys.modules or not isinstance(value, type):
            raise Wrong
        if not issubclass(value, getattr(sys.modules[home], name)):
            raise Wrong
        return value

    return Kind(says, read)


def several(kind: Kind, fewest: int = 0, most: int = MOST_ENTRIES) -> Kind:
    """A list, tuple, range or array of such values, as a tuple."""

    def read(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes) or not (isinstance(value, list | tuple | range) or _is_row(value)):
            raise Wrong
        if not fewest <= len(value) <= most:
            raise Wrong(f"has {len(value)} entries, not {fewest}..{most}")
        return tuple(kind.read(entry) for entry in value)

    return Kind(f"a list, each entry {kind.says}", read)


def _is_row(value: Any) -> bool:
    return type(value).__name__ == "ndarray" and type(value).__module__ == "numpy" and value.ndim == 1


def mapping(kind: Kind, key: Kind = Kind("a name", lambda name: text.read(name))) -> Kind:
    """A dictionary from names, or other keys, to such values."""

    def read(value: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise Wrong
        return {key.read(name): kind.read(entry) for name, entry in value.items()}

    return Kind(f"a dictionary, each key {key.says}, each value {kind.says}", read)


def door(usual: Mapping[str, Kind] = MappingProxyType({}), /, **special: Kind) -> Callable[[Function], Function]:
    """Gives a function a door: every parameter has a kind, `special` or `usual`, and it sees no other value."""

    def decorate(function: Function) -> Function:
        parameters = inspect.signature(function).parameters
        kinds = special | {name: usual[name] for name in parameters if name not in special}
        read = Doorway(function.__name__, parameters, kinds)

        @wraps(function)
        def called(*positional: Any, **named: Any) -> Any:
            return function(*read.positional_of(positional), **read.named_of(named))

        cast(Any, called).kinds = kinds
        return cast(Function, called)

    return decorate


class Doorway:
    """Reads the arguments of a call by the kinds of its parameters; a default value is not read."""

    def __init__(self, name: str, parameters: Mapping[str, inspect.Parameter], kinds: Mapping[str, Kind]):
        assert kinds.keys() == parameters.keys(), (name, kinds.keys() ^ parameters.keys())
        self.name, self.parameters, self.kinds = name, parameters, kinds
        found = self.parameters.values()
        self.in_order = [one.name for one in found if one.kind == one.POSITIONAL_OR_KEYWORD]
        self.rest = next((one.name for one in found if one.kind == one.VAR_POSITIONAL), None)
        self.others = next((one.name for one in found if one.kind == one.VAR_KEYWORD), None)
        self.named = [one.name for one in found if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]

    def positional_of(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values as the function uses them. Too many are left to Python, which says so."""
        names = [*self.in_order[: len(values)], *[self.rest] * (len(values) - len(self.in_order))]
        return values if None in names else tuple(map(self._read, names, names, values))

    def named_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {word: self._read(self._known(word), word, value) for word, value in values.items()}

    def _known(self, word: str) -> str:
        if word in self.named:
            return word
        if self.others is None:
            known = [name for name in self.named if self.parameters[name].default is not inspect.Parameter.empty]
            raise InvalidInput(
                f"{self.name} has no option {word!r}; its options are {', '.join(known)}{meant(word, self.named)}"
            )
        return self.others

    def _read(self, name: Any, word: Any, value: Any) -> Any:
        return value if value is self.parameters[name].default else self.kinds[name].admit(word, value)


def entries(name: str, given: Any) -> Sequence[Any]:
    """The entries of a list, or of a text that divides them by semicolons; `none` has none."""
    parts = given.split(";") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple):
        raise InvalidInput(f"{name} = {shown(given)} cannot be read; give a text, or a list")
    return () if list(parts) == ["none"] else parts


def _read_field(value: Any) -> Any:
    return (scalar | several(scalar)).read(value)


field = Kind("a number, a text or a list of numbers", _read_field)  # the value of a field of a state


def require_fields(record: Any, **kinds: Kind) -> None:
    """Read the fields of a record that a caller makes; to be called when it is made."""
    for name, kind in kinds.items():
        value = getattr(record, name)
        if value is not getattr(type(record), name, NotImplemented) and (read := kind.admit(name, value)) is not value:
            object.__setattr__(record, name, read)
