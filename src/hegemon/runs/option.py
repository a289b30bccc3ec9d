"""How one option of a run is written: on the command line, in a file, and in the help of command and Python."""

import dataclasses
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hegemon import doors
from hegemon.errors import InvalidInput

if TYPE_CHECKING:  # it loads NumPy, which --help does not need
    import numpy as np

MOST_AGENTS = 10**18
MOST_STEPS = 10**36
MOST_SEED = 2**64 - 1
MOST_POINTS = 100_000  # the longest list, such as the steps that are recorded
LONGEST_NUMBER = 300  # characters

POPULATION, ROUNDS, MESSAGES = "Population and rounds models", "Rounds model", "Messages model"
RECORDING = "Recording"

# what a caller may give as a seed; None draws one
Seed: TypeAlias = "int | float | str | np.random.Generator | np.random.SeedSequence | None"


def whole(what: str, low: int = 0, high: int = MOST_STEPS) -> Callable[[Any], int]:
    """Reads a whole number in any usual form (1000, 1e6, 2^20), within bounds."""

    def read(text: Any) -> int:
        from hegemon.models.expressions import whole_number

        shown = str(text)
        if len(shown) > LONGEST_NUMBER:
            raise InvalidInput(f"{what} = {shown[:20]}… has {len(shown)} characters; give at most {LONGEST_NUMBER}")
        value = whole_number(shown, what, low=low)
        if value > high:
            raise InvalidInput(f"{what} = {shown} is out of range; give a whole number in {low}..{high:.6g}")
        return value

    return read


def seed_of(given: Seed) -> int:
    """The seed that a caller means: a whole number; drawn for None, and from a Generator or SeedSequence of NumPy."""
    if given is None:
        return secrets.randbits(53)  # JSON readers of all languages keep such numbers exactly
    if hasattr(given, "generate_state"):
        return int(given.generate_state(1, "uint64")[0])
    if hasattr(given, "bit_generator"):
        return int(cast("np.random.Generator", given).integers(2**53))
    return given if type(given) is int and given >= 0 else whole("seed")(given)


def several(read: Callable[[Any], Any], what: str) -> Callable[[Any], tuple[Any, ...]]:
    """Reads a list such as 0,100,1e4."""

    def parse(given: Any) -> tuple[Any, ...]:
        parts = given if isinstance(given, list | tuple) else str(given).split(",")
        if len(parts) > MOST_POINTS:
            raise InvalidInput(f"{what} has {len(parts)} entries; give at most {MOST_POINTS}")
        return tuple(read(part) for part in parts)

    return parse


def text(given: Any) -> str:
    return str(given)


def truth(given: Any) -> bool:
    """Reads true or false, as JSON and tables write them."""
    known = {"true": True, "1": True, "false": False, "0": False}
    if (word := str(given).strip().lower()) not in known:
        raise InvalidInput(f"{given!r} is neither true nor false; write one of them")
    return known[word]


def plain(value: Any) -> Any:
    """The value in the form of a file; NotImplemented for a Python object that has no text."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, tuple | list):
        items = [plain(item) for item in value]
        return NotImplemented if NotImplemented in items else items
    return value if value is None or isinstance(value, bool | int | float | str) else NotImplemented


@dataclass(frozen=True)
class Option:
    """`read` makes the value from what is written, a word or a value of JSON; `write` is its inverse.

    A model knows the option if it has the trait `needs`. The refusal names `instead`, if the model knows that.
    """

    help: str  # of the command line
    takes: doors.Kind  # what Python may give
    metavar: str = ""  # empty: a switch, which selects the value that is not the default
    about: str = ""  # of Python, where there is more to be said
    panel: str | None = None
    needs: str = ""
    instead: str = ""
    read: Callable[[Any], Any] = text
    write: Callable[[Any], Any] = plain
    written: str = ""  # its name on the command line and in files, if that is not Python's
    repeats: bool = False  # the option is repeated for every value, since a value may contain commas
    is_list: bool = False  # all of them together are one value
    is_axis: bool = True  # a study may vary it
    none: Any = None  # what a table says of it where other rows have it; of a share, the number 0.0
    always: bool = False  # a command includes it even with its default value
    name: str = ""
    default: Any = None

    @property
    def flag(self) -> str:
        return f"--{self.written.replace('_', '-')}"

    def words(self, value: Any) -> list[str]:
        """The value as words of a command; raises InvalidInput if it cannot be written there."""
        written = self.write(value)
        values = written if self.is_list else [written]
        if written is NotImplemented or any(isinstance(one, dict) for one in values):
            raise InvalidInput(f"{self.name} = {value!r} has no form on a command line; write it to a file instead")
        if not self.metavar:
            return [self.flag]
        return [
            word for one in values for word in (self.flag, ",".join(map(str, one)) if type(one) is list else str(one))
        ]


def option(default: Any, help: str, *, takes: doors.Kind, **more: Any) -> Any:
    """A field of a record that is an option."""
    return field(default=default, metadata={"option": Option(help, takes, **more)})


def options_of(record: type) -> dict[str, Option]:
    """The options of a record by their names in Python."""
    if record not in _options:
        _options[record] = {
            one.name: dataclasses.replace(
                found, name=one.name, default=one.default, written=found.written or one.name,
                about=found.about or found.help,
            )
            for one in dataclasses.fields(record)
            if (found := one.metadata.get("option"))
        }  # fmt: skip
    return _options[record]


_options: dict[type, dict[str, Option]] = {}
