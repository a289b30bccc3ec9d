"""What several commands share: the subject of a command, its output files, and the end of its work."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon.cli import guard
from hegemon.cli.output import console, facts, new_table, plain, print_json
from hegemon.display import counted, figure
from hegemon.errors import InvalidInput
from hegemon.files import reserve

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.graphs.topology import Topology
    from hegemon.models.protocol import Protocol

__all__ = ["build", "console", "counted", "deliver", "facts", "figure", "new_table", "outputs", "plain", "print_json"]

PICTURES = (".png", ".svg", ".pdf")

# what writes each file; None is a file that was not asked for
Files = Mapping[str, Callable[[Any], Any]] | Mapping[str | None, Callable[[Any], Any]]


def build(
    name: str, n: int | str | None, graph: str | None, settings: list[str] | None, seed: int
) -> "tuple[Protocol, Topology]":
    """The protocol and the topology that a command's arguments describe. The graph may say what n is."""
    from hegemon.experiments import request

    return request.build(name, n, graph, settings, seed)


def maker(name: str, settings: list[str] | None) -> Callable[..., Any]:
    """The protocol of that name as a function of n alone; what is set is looked at first."""
    from hegemon.experiments import request
    from hegemon.models.expressions import assignments

    return request.maker(name, assignments(settings), request.NAMING)


def first_allowed(make: Callable[..., Any], sizes: Sequence[int]) -> Any:
    """The protocol with the first of these numbers of agents that it takes (it may need an odd one, say)."""
    for n in sizes:
        with suppress(InvalidInput):
            return make(n)
    return make(sizes[0])  # says why


def notes_on(text: str | None, protocol: "Protocol") -> list[str]:
    """What a reader of a condition should know: comparisons that are false because a field is absent."""
    from hegemon.models.conditions import absence_note

    note = absence_note(text, protocol) if text else None
    return [note] if note else []


def instance(content: dict[str, Any], **more: Any) -> str:
    """A protocol with its n and its parameters, as every report begins."""
    given = {"n": content["n"], **content["parameters"], **more}
    return f"{content['protocol']}  ({listed(given)})"


def listed(parameters: dict[str, Any]) -> str:
    """`tau = 2, r_max = 60`, of those that have a value."""
    return ", ".join(f"{name} = {figure(value)}" for name, value in parameters.items() if value is not None)


def outputs(**endings_of: tuple[Any, ...]) -> None:
    """Before any work: every output file has an ending that is known, and can be written. `plot=(path, endings)`."""
    taken: dict[Path, str] = {}
    for option, (path, endings) in endings_of.items():
        if path is None:
            continue
        if endings and not str(path).lower().endswith(endings):
            raise InvalidInput(f"--{option} {path} must end in {' or '.join(endings)}")
        place = reserve(path).absolute()
        if place in taken:
            raise InvalidInput(f"--{option} and --{taken[place]} both name {path}; give two different files")
        taken[place] = option


def deliver(show: Callable[[], None], files: Files | None = None) -> None:
    """Print first, then write every file: what was measured is not lost when one of them cannot be written."""
    guard.answered()
    show()
    failure = write_all(files or {})
    if failure:
        raise failure


def write_all(files: Files) -> Exception | None:
    """Write every file that was asked for; returns the first failure, which does not prevent the others."""
    failure = None
    for path, write in files.items():
        if path is not None:
            try:
                write(path)
            except Exception as error:  # one file fails; the others are still written, and then it is raised
                failure = failure or error
    return failure


def censored_trials(count: int) -> str:
    """What trials that did not meet their stop mean for a summary."""
    return (
        f"{counted(count, 'trial')} did not meet the stop: quantiles count such a trial as infinite, and the mean is "
        "unknown (`mean at least` counts it up to where it was stopped)"
    )
