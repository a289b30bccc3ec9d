"""The options that commands share, and how their texts become values: each is read, and bounded, in one place.

A reader answers a value or raises `Refused` with one sentence; nothing is allocated before all of them agree.
"""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from hegemon.cli.failures import Refused
from hegemon.errors import InvalidInput

MOST_AGENTS = 10**18
MOST_TRIALS = 10**7  # results of so many are kept in memory
MOST_STEPS = 10**36
MOST_SEED = 2**64 - 1
MOST_WORKERS = 1024
MOST_POINTS = 100_000  # of a list, such as the steps that are recorded
LONGEST_NUMBER = 300  # characters
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 365.25 * 86400}  # of a duration, in seconds

POPULATION, ROUNDS, MESSAGES = "Population and rounds models", "Rounds model", "Messages model"
RECORDING, OUTPUT = "Recording", "Output"


def refusing(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader for Typer: what it refuses stays its own sentence."""

    def parse(text):
        try:
            return read(text)
        except InvalidInput as error:
            raise Refused(str(error)) from None

    return parse


def whole(what: str, low: int = 0, high: int = MOST_STEPS) -> Callable[[Any], int]:
    """Reads a whole number as people write it (1000, 1e6, 2^20), within bounds."""

    def read(text) -> int:
        from hegemon.models.expressions import whole_number

        shown = str(text)
        if len(shown) > LONGEST_NUMBER:
            raise InvalidInput(f"{what} = {shown[:20]}… has {len(shown)} characters; give at most {LONGEST_NUMBER}")
        value = whole_number(shown, what, low=low)
        if value > high:
            raise InvalidInput(f"{what} = {shown} is out of range; give a whole number in {low}..{high:.6g}")
        return value

    return read


def between(what: str, low: int, high: int) -> Callable[[Any], int]:
    """Reads a whole number that may be negative."""

    def read(text) -> int:
        try:
            value = int(str(text))
        except ValueError:
            value = high + 1
        if not low <= value <= high:
            raise InvalidInput(f"{what} = {str(text)[:40]} is out of range; give a whole number in {low}..{high}")
        return value

    return read


def several(read: Callable[[str], Any], what: str) -> Callable[[str], tuple]:
    """Reads a list such as 0,100,1e4."""

    def parse(text: str) -> tuple:
        parts = str(text).split(",")
        if len(parts) > MOST_POINTS:
            raise InvalidInput(f"{what} has {len(parts)} entries; give at most {MOST_POINTS}")
        return tuple(read(part) for part in parts)

    return parse


def positive(what: str, high: float) -> Callable[[Any], float]:
    """Reads a positive number."""

    def read(text) -> float:
        try:
            value = float(text)
        except (TypeError, ValueError):
            value = 0.0
        if not 0 < value <= high:
            raise InvalidInput(f"{what} = {text} is out of range; give a positive number up to {high:g}")
        return value

    return read


def level(text: str) -> float:
    """Reads one quantile."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise InvalidInput(f"--quantiles has {text!r}; write numbers between 0 and 1 such as 0.5,0.9,0.99")
    return value


def percent(text) -> float:
    """`10%` or `0.1`."""
    given = str(text).strip()
    try:
        value = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 10:
        raise InvalidInput(f"--relative {given[:40]} is out of range; give 0.1% to 1000%, such as 10%")
    return value


def duration(text) -> float:
    """Seconds: `10y`, `30d`, `12h`, `90`."""
    given = str(text)
    number, unit = (given[:-1], given[-1]) if given[-1:] in UNITS else (given, "s")
    try:
        return float(number) * UNITS[unit]
    except ValueError:
        raise InvalidInput(f"--hold {given[:40]!r} is not a time; write for example 10y, 30d, 12h or 90s") from None


def exponents(text: str) -> tuple[float, ...]:
    """`0.2:1:0.05` (both ends included) or `0.3,0.5`."""
    try:
        if ":" not in text:
            found = [float(part) for part in text.split(",")]
        else:
            low, high, step = (float(part) for part in text.split(":"))
            if not step > 0 or not low <= high or not (high - low) / step <= 1000:
                raise ValueError
            found = [round(low + k * step, 10) for k in range(int((high - low) / step + 1e-9) + 1)]
        if len(found) > 1001 or not all(0 <= value <= 4 for value in found):
            raise ValueError
        return tuple(found)
    except ValueError:
        raise InvalidInput(
            f"exponents {text!r} is not understood; write LOW:HIGH:STEP or 0.3,0.5, each in 0..4, at most 1001"
        ) from None


def option(*names: str, help: str, read=None, metavar: str | None = None, panel: str | None = None, **more):
    """An option of a command; numbers are shown as such in --help."""
    parser = None if read is None else refusing(read)
    return typer.Option(*names, help=help, parser=parser, metavar=metavar, rich_help_panel=panel, **more)


def integer(name: str, help: str, low: int = 0, high: int = MOST_STEPS, panel: str | None = None):
    return option(name, help=help, read=whole(name.lstrip("-"), low, high), metavar="INTEGER", panel=panel)


def decimal(name: str, help: str, high: float, panel: str | None = None):
    return option(name, help=help, read=positive(name, high), metavar="NUMBER", panel=panel)


def integers(name: str, help: str, low: int = 0, high: int = MOST_STEPS, panel: str | None = None):
    read = several(whole(name.lstrip("-"), low, high), name)
    return option(name, help=help, read=read, metavar="INTEGER,…", panel=panel)


def text(name: str, help: str, metavar: str, panel: str | None = None):
    return option(name, help=help, metavar=metavar, panel=panel)


def path(name: str, help: str):
    return option(name, help=help, metavar="FILE", panel=OUTPUT)


def argument(metavar: str, help: str, complete: Callable[[str], list[str]] | None = None):
    """What stands without an option; --help calls it a text, where Typer would say <str>."""

    def read(word):
        return word if complete is None else protocol_name(word)

    read.__name__ = "text"
    return typer.Argument(metavar=metavar, help=help, parser=read, autocompletion=complete)


def protocol_name(word: str) -> str:
    """Reads the name of a protocol. Only a Python file that is named so, by the user, is ever imported."""
    if ".py" in word:
        from hegemon.protocols.loading import name_protocol

        name_protocol(word)
    return word


def ids(incomplete: str) -> list[str]:
    """The protocols of the catalogue that a shell may complete a word to."""
    from hegemon.protocols import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


A_PROTOCOL = argument("PROTOCOL", "an id of `hegemon list`, or your_file.py:YourClass", complete=ids)
Protocol = Annotated[str, A_PROTOCOL]
N = Annotated[int | None, integer("--n", "number of agents, such as 1000 or 1e6", low=1, high=MOST_AGENTS)]
Set = Annotated[list[str] | None, option("--set", help="parameter; repeatable", metavar="NAME=VALUE")]
Graph = Annotated[str | None, option("--graph", help="ring:64, grid:8x8, regular:1000,4 … or a file", metavar="GRAPH")]
Seed = Annotated[int, integer("--seed", "the same seed gives the same numbers", high=MOST_SEED)]
Trials = Annotated[int, integer("--trials", "how many independent runs", low=1, high=MOST_TRIALS)]
Loss = Annotated[
    str | None,
    option("--loss", help="of interactions that do not happen, such as 0.1", metavar="SHARE", panel=POPULATION),
]
OneSided = Annotated[
    str | None,
    option("--one-sided", help="of the others: only the responder changes", metavar="SHARE", panel=POPULATION),
]
Workers = Annotated[int | None, integer("--workers", "threads; default: all cores", low=1, high=MOST_WORKERS)]
Cluster = Annotated[str | None, option("--cluster", help="dask:local, dask:tcp://…, slurm:…, mpi", metavar="PLACE")]
Plot = Annotated[str | None, path("--plot", "write a picture (.png, .svg, .pdf)")]
Json = Annotated[bool, option("--json", help="print JSON", panel=OUTPUT)]
Quiet = Annotated[bool, option("--quiet", "-q", help="no progress on the error stream", panel=OUTPUT)]
Sizes = Annotated[Any, integers("--n", "sizes, such as 1e4,1e6", low=2, high=MOST_AGENTS)]
