"""What several commands share: the subject of a command, its output files, and the end of its work."""

from collections.abc import Callable
from pathlib import Path

from hegemon.cli import guard
from hegemon.cli.options import MOST_AGENTS, whole
from hegemon.cli.output import console, facts, new_table, plain, print_json
from hegemon.display import figure
from hegemon.errors import InvalidInput, meant
from hegemon.files import reserve

__all__ = ["build", "console", "deliver", "facts", "figure", "new_table", "outputs", "plain", "print_json"]

PICTURES = (".png", ".svg", ".pdf")


def build(name: str, n: int | str | None, graph, settings, seed: int):
    """The protocol and the topology that a command's arguments describe. The graph may say what n is."""
    from hegemon.compute.randomness import GRAPH, generator
    from hegemon.graphs.families import parse
    from hegemon.runs.setting import topology_for

    topology = None
    n = None if n is None else whole("n", low=1, high=MOST_AGENTS)(n)
    make = maker(name, settings)
    if graph:
        topology = parse(graph, n, generator(seed, 0, GRAPH))
        n = topology.n
    if n is None:
        raise InvalidInput("how many agents? Give --n N, or a --graph with a size such as ring:64")
    protocol = make(n)
    return protocol, topology_for(protocol, topology, seed)


def maker(name: str, settings) -> Callable:
    """The protocol of that name as a function of n alone; what is set is looked at first."""
    from hegemon.models.expressions import assignments
    from hegemon.protocols.loading import find_protocol

    chosen = find_protocol(name, "name it as the command's PROTOCOL: {}")
    values = assignments(settings)
    for key in values:
        if key == "n":
            raise InvalidInput("--set n=… is not the way to say how many agents there are; give --n N")
        if key not in (declared := chosen.parameter_declarations):
            known = ", ".join(declared) or "none"
            raise InvalidInput(
                f"{chosen.id} has no parameter {key!r}; its parameters are: {known}{meant(key, declared)}"
            )

    def make(n: int):
        try:
            return chosen(n=n, **values)
        except TypeError as error:  # a constructor of the user's own
            raise InvalidInput(
                f"{chosen.__name__} cannot be made: {error}; a protocol takes n and its parameters"
            ) from error

    return make


def notes_on(text: str | None, protocol) -> list[str]:
    """What a reader of a condition should know: comparisons that are false because a field is absent."""
    from hegemon.models.conditions import absence_note

    note = absence_note(text, protocol) if text else None
    return [note] if note else []


def outputs(**endings_of: tuple) -> None:
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


def deliver(show: Callable[[], None], files: dict | None = None) -> None:
    """Print first, then write every file: what was measured is not lost when one of them cannot be written."""
    guard.answered()
    show()
    failure = write_all(files or {})
    if failure:
        raise failure


def write_all(files: dict) -> Exception | None:
    """Write every file that was asked for; answers the first failure, which must not keep the others back."""
    failure = None
    for path, write in files.items():
        if path is not None:
            try:
                write(path)
            except Exception as error:
                failure = failure or error
    return failure


def censored_trials(count: int) -> str:
    """What trials that did not meet their stop mean for a summary."""
    return (
        f"{counted(count, 'trial')} did not meet the stop: quantiles take a censored trial for infinite, and the mean "
        "is not known, but is at least what it would be if all had met it where they were stopped"
    )


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
