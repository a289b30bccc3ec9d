"""How the values of a run's options are read, and written again: on the command line, in Python and in files alike."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hegemon.doors import entries
from hegemon.errors import InvalidInput, shown
from hegemon.runs.option import plain, several, whole

if TYPE_CHECKING:
    from hegemon.process.messages.crashes import Crash
    from hegemon.runs.rates import Rate
    from hegemon.runs.run import Fault


def read_faults(given: Any) -> "tuple[Fault, ...]":
    """`none`, strings such as `step=1000,agents=5,leader=1` (several divided by semicolons), or rows of JSON."""
    from hegemon.runs.disturbances import as_fault, parse_fault

    parts = entries("fault", given)
    return tuple(parse_fault(one) if isinstance(one, str) else as_fault(one, f"fault {one!r}") for one in parts)


def write_faults(faults: "Sequence[Fault]") -> list[Any]:
    from hegemon.runs.disturbances import fault_text, record

    return [fault_text(fault) or record(fault) for fault in faults]


def read_rates(given: Any) -> "tuple[Rate, ...]":
    from hegemon.runs import rates

    return rates.read_rates(given)


def write_rates(given: "Sequence[Rate]") -> list[str]:
    return [str(one) for one in given]


def read_observed(given: Any) -> bool | tuple[str, ...]:
    """True for all, or names divided by commas."""
    if isinstance(given, bool):
        return given
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"observe = {shown(given)} cannot be read; give names of observables, or True for all")
    return tuple(name.strip() for name in names)


def write_observed(given: Any) -> Any:
    return given if isinstance(given, bool) else ",".join(given) if isinstance(given, list | tuple) else plain(given)


def read_share(name: str) -> Callable[[Any], int | str]:
    """Reads a probability as an exact fraction; zero stays the number 0."""

    def read(given: Any) -> int | str:
        from hegemon.models.unreliable import share

        return str(share(name, given) or "") or 0

    return read


def read_identifiers(given: Any) -> str | tuple[int, ...]:
    """A name or a file, or whole numbers divided by commas."""
    parts = given.split(",") if isinstance(given, str) else given
    return (
        str(given)
        if isinstance(given, str) and len(parts) == 1
        else several(whole("identifiers"), "identifiers")(parts)
    )


def delay_text(given: Any) -> str:
    """The delay in its canonical form."""
    from hegemon.process.messages.links import read_delay

    return str(read_delay(given))


def crashes_of(given: Any) -> "tuple[Crash, ...]":
    from hegemon.process.messages.crashes import read_crashes

    return read_crashes(given)
