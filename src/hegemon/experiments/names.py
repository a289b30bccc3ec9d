"""The names of a study: those of hegemon, and those of the author's parameters, which never meet.

`loss` is the option, and `p.loss` the parameter, as its author reads it in `interact(a, b, p)`. Inside a study every
parameter is called so. Where nothing of hegemon has its name, people may leave out `p.`, and tables do.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hegemon.errors import InvalidInput, meant
from hegemon.runs.record import RUN_OPTIONS

PREFIX = "p."
AXES = {option.written: option for option in RUN_OPTIONS.values() if option.is_axis}
SUBJECT = ("protocol", "n")
GIVEN = ("case", "trial", "seed", "engine_asked", *SUBJECT, *(f"{name}_given" for name in (*SUBJECT, *AXES)))
MEASURED = ("steps", "rounds", "parallel_time", "reached", "leaders", "engine", "cause", "messages", "bits", "moves",
            "agents", "events", "crashed", "largest_message", "outside", "availability")  # fmt: skip
SUMMARY = ("trials", "censored", "share_reached_ci95", "mean", "mean_at_least", "mean_of_reached", "median", "ci95",
           "standard_error", "minimum", "maximum", "q10", "q90", "precise", "mean_sequence95", "share_sequence95",
           "done", "goal", "missing", "estimate", "error", "study", "of", "by")  # fmt: skip
OURS = frozenset(
    [*GIVEN, *MEASURED, *SUMMARY, *(word for name, one in RUN_OPTIONS.items() for word in (name, one.written))]
)


def axis_named(name: str, known: Iterable[str] = ()) -> str:
    """The axis that a name means: an option's own name, and `p.tau` for the parameter tau.

    Among `known` axes, a name that is none of them is refused.
    """
    axis = name if name in AXES or name in SUBJECT or name.startswith(PREFIX) else PREFIX + name
    axes = list(known)
    for option in (axis, PREFIX + name):
        if option in axes or not axes:
            return option
    shown = [short(one) for one in axes]
    raise InvalidInput(f"there is no axis {name!r}; the axes are {', '.join(shown)}{meant(name, shown)}")


def column_named(name: str, columns: Iterable[str], parameters: Mapping[str, str]) -> str:
    """The column that a name means: `p.tau` is the parameter tau, and so is `tau` where nothing else has that name.

    `parameters` are the columns of all parameters by their axes.
    """
    return name if name in columns else parameters.get(name, parameters.get(f"{PREFIX}{name}", name))


def given_columns(names: Iterable[str], columns: Iterable[str], parameters: Mapping[str, str]) -> list[str]:
    """The columns of these axes: what a run was given, where a measured column has the name of an option."""
    return [
        f"{name}_given"
        if name in (*SUBJECT, *AXES) and f"{name}_given" in columns
        else column_named(name, columns, parameters)
        for name in names
    ]


def observed_as(name: str) -> str:
    """The column of an observable: `o.leaders` where a column of hegemon is called `leaders`."""
    return f"o.{name}" if name in OURS else name


def parameter_in(axis: str) -> str | None:
    """The name of the parameter that an axis varies; None for an axis of hegemon."""
    return axis.removeprefix(PREFIX) if axis.startswith(PREFIX) else None


def short(axis: str, taken: Iterable[str] = ()) -> str:
    """An axis as tables and messages show it: a parameter without `p.`, unless something else has that name."""
    name = axis.removeprefix(PREFIX)
    return name if axis != name and name not in OURS and name not in set(taken) else axis


def shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a case under the names that people read."""
    return {short(name): value for name, value in settings.items()}
