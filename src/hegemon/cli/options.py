"""The options that commands share, and how their words become values: each is read, and bounded, in one place.

A reader returns a value or raises `Refused` with one sentence; nothing is allocated before all of them agree.
"""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Annotated, Any

import typer

from hegemon.cli import completion
from hegemon.errors import InvalidInput, Refused
from hegemon.runs.option import MOST_AGENTS as MOST_AGENTS
from hegemon.runs.option import MOST_STEPS, several, whole
from hegemon.runs.record import RUN_OPTIONS

MOST_TRIALS = 10**7  # their results are kept in memory
MOST_WORKERS = 1024

OUTPUT = "Output"


def refusing(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader for Typer: what it refuses stays its own sentence."""

    def parse(text: Any) -> Any:
        try:
            return read(text)
        except InvalidInput as error:
            raise Refused(str(error)) from None

    return parse


def between(what: str, low: int, high: int) -> Callable[[Any], int]:
    """Reads a whole number that may be negative."""

    def read(text: Any) -> int:
        try:
            value = int(str(text))
        except ValueError:
            value = high + 1
        if not low <= value <= high:
            raise InvalidInput(f"{what} = {str(text)[:40]} is out of range; give a whole number in {low}..{high}")
        return value

    return read


def positive(what: str, high: float) -> Callable[[Any], float]:
    """Reads a positive number."""

    def read(text: Any) -> float:
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


def option(
    *names: str, help: str, read: Callable[[str], Any] | None = None, metavar: str | None = None,
    panel: str | None = None, **more: Any,
) -> Any:  # fmt: skip
    """An option of a command; numbers are shown as such in --help."""
    parser = None if read is None else refusing(read)
    return typer.Option(*names, help=help, parser=parser, metavar=metavar, rich_help_panel=panel, **more)


def run_option(name: str, as_written: bool = False) -> Any:
    """An option of a run, as its record declares it: its value, or the word itself once it is known to be sound."""
    one = RUN_OPTIONS[name]
    if not one.metavar:
        return Annotated[bool, option(one.flag, help=one.help, panel=one.panel)]

    def check(word: Any) -> Any:
        value = one.read([word] if one.is_list else word)
        return word if as_written else value

    shown = (int, str) if as_written else (str,)  # else the command has a number of its own, which Typer shows
    usual = f"; default: {one.default}" if type(one.default) in shown else ""
    complete = completion.OF_OPTIONS.get(name)
    made = option(
        one.flag, help=one.help + usual, read=check, metavar=one.metavar, panel=one.panel, autocompletion=complete
    )
    return Annotated[list[str] | None if one.is_list else str | None, made]


NAMED = inspect.Parameter.KEYWORD_ONLY


def own_options(command: Callable[..., Any], asked: str) -> list[inspect.Parameter]:
    """The parameters of a command but for the one that stands for options of the record."""
    parameters = inspect.signature(command).parameters.values()
    return [one.replace(kind=NAMED) for one in parameters if one.name != asked]


def of_run(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For a command whose parameter `asked` is a run as it is written: protocol, n, parameters and these options.

    Only what is given is in it.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = own_options(command, "asked")
        known = [RUN_OPTIONS[name] for name in names or RUN_OPTIONS]
        shown = {"protocol": Annotated[str | None, A_PROTOCOL], "n": N, "set_": Set}
        shown |= {one.written: run_option(one.name, as_written=True) for one in known}
        ours = [inspect.Parameter(name, NAMED, default=None, annotation=one) for name, one in shown.items()]

        def asked_by(given: dict[str, Any]) -> dict[str, Any]:
            from hegemon.models.expressions import assignments

            asked = {name: given.pop(name) for name in shown}
            asked["parameters"] = assignments(asked.pop("set_")) or None
            return {name: value for name, value in asked.items() if value not in (None, [], (), False)}

        @wraps(command)
        def parsed(**given: Any) -> Any:
            return command(asked_by(given), **given)

        parsed.asked_by = asked_by  # type: ignore[attr-defined]
        parsed.__signature__ = inspect.Signature([*ours, *own])  # type: ignore[attr-defined]
        return parsed

    return decorate


def of_study(command: Callable[..., Any]) -> Callable[..., Any]:
    """For a command whose parameter `axes` has the values of n, of parameters and of every option that may vary."""
    own = own_options(command, "axes")
    known = [one for one in RUN_OPTIONS.values() if one.is_axis]
    shown: dict[str, Any] = {
        "n": Annotated[str | None, text("--n", "numbers of agents: 100,1e3 or 1e2..1e6:log, 64..512:x2", "RANGE")],
        "set_": Annotated[list[str] | None, text("--set", "parameter=values: tau=1,2,4; repeatable", "NAME=VALUES")],
    }
    for one in known:
        again, metavar = ("; repeatable", one.metavar) if one.repeats else ("", f"{one.metavar.removesuffix(',…')},…")
        made = text(one.flag, one.help.removesuffix("; repeatable") + again, metavar, one.panel)
        shown[one.written] = Annotated[list[str] | None if one.repeats else str | None, made]
    ours = [inspect.Parameter(name, NAMED, default=None, annotation=one) for name, one in shown.items()]

    @wraps(command)
    def parsed(**given: Any) -> Any:
        found = {name: given.pop(name) for name in shown}
        parameters = read_parameters(found.pop("set_"))
        axes = {"n": found.pop("n"), **{f"p.{name}": values for name, values in parameters.items()}, **found}
        return command({name: values for name, values in axes.items() if values}, **given)

    parsed.__signature__ = inspect.Signature([*own[:1], *ours, *own[1:]])  # type: ignore[attr-defined]
    return parsed


def read_parameters(texts: list[str] | None) -> dict[str, str]:
    """Parameters and their values, in the order they were given."""
    found: dict[str, str] = {}
    for given in texts or ():
        name, equals, values = (part.strip() for part in given.partition("="))
        if not equals or not name or not values:
            raise InvalidInput(
                f"--set {given!r} is not understood; write --set name=values, for example --set tau=1,2,4"
            )
        if name in found or name == "n":
            raise InvalidInput(f"--set gives {name} twice; give all its values once, divided by commas")
        found[name] = values
    return found


def refuse_others(command: Callable[..., Any], given: dict[str, Any], takes: Collection[str], question: str) -> None:
    """Refuse every option of a command that was given and that this question does not take."""
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in takes and given[name] != parameter.default:
            declared = parameter.annotation.__metadata__[0]  # Typer keeps the first of an option's names as its default
            flags = [flag for flag in (declared.default, *(declared.param_decls or ())) if str(flag).startswith("--")]
            raise InvalidInput(f"{(*flags, f'--{name}')[0]} has no meaning for {question}; leave it out")


def integer(name: str, help: str, low: int = 0, high: int = MOST_STEPS, panel: str | None = None) -> Any:
    return option(name, help=help, read=whole(name.lstrip("-"), low, high), metavar="INTEGER", panel=panel)


def decimal(name: str, help: str, high: float, panel: str | None = None) -> Any:
    return option(name, help=help, read=positive(name, high), metavar="NUMBER", panel=panel)


def integers(name: str, help: str, low: int = 0, high: int = MOST_STEPS, panel: str | None = None) -> Any:
    read = several(whole(name.lstrip("-"), low, high), name)
    return option(name, help=help, read=read, metavar="INTEGER,…", panel=panel)


def text(name: str, help: str, metavar: str, panel: str | None = None) -> Any:
    return option(name, help=help, metavar=metavar, panel=panel)


def path(name: str, help: str) -> Any:
    return option(name, help=help, metavar="FILE", panel=OUTPUT)


def argument(metavar: str, help: str, complete: Callable[[str], list[str]] | None = None) -> Any:
    """What stands without an option; --help calls it a text, where Typer would say <str>."""

    def read(word: Any) -> Any:
        return word if complete is None else protocol_name(word)

    read.__name__ = "text"
    return typer.Argument(metavar=metavar, help=help, parser=read, autocompletion=complete)


def protocol_name(word: str) -> str:
    """Reads the name of a protocol. Only a Python file that is named so, by the user, is ever imported."""
    if ".py" in word:
        from hegemon.protocols.loading import name_protocol

        name_protocol(word)
    return word


A_PROTOCOL = argument("PROTOCOL", "an id of `hegemon list`, or your_file.py:YourClass", complete=completion.ids)
Protocol = Annotated[str, A_PROTOCOL]
N = Annotated[int | None, integer("--n", "number of agents, such as 1000 or 1e6", low=1, high=MOST_AGENTS)]
Set = Annotated[
    list[str] | None,
    option("--set", help="parameter; repeatable", metavar="NAME=VALUE", autocompletion=completion.parameters),
]
Graph, Loss, OneSided = run_option("graph"), run_option("loss"), run_option("one_sided")
Seed, Wake, Scheduler = run_option("seed"), run_option("wake"), run_option("scheduler")
Identifiers, Delay, Order = run_option("identifiers"), run_option("delay"), run_option("order")
Duplicate = run_option("duplicate")
Crashes, Rates = run_option("crashes", as_written=True), run_option("rates", as_written=True)  # read all together
Trials = Annotated[int, integer("--trials", "how many independent runs", low=1, high=MOST_TRIALS)]
Workers = Annotated[int | None, integer("--workers", "threads; default: all cores", low=1, high=MOST_WORKERS)]
Cluster = Annotated[str | None, option("--cluster", help="dask:local, dask:tcp://…, slurm:…, mpi", metavar="PLACE")]
Plot = Annotated[str | None, path("--plot", "write a picture (.png, .svg, .pdf)")]
Json = Annotated[bool, option("--json", help="print JSON", panel=OUTPUT)]
Quiet = Annotated[bool, option("--quiet", "-q", help="no progress on the error stream", panel=OUTPUT)]
Sizes = Annotated[Any, integers("--n", "sizes, such as 1e4,1e6", low=2, high=MOST_AGENTS)]
