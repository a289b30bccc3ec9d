"""A study: its cases, the trials of each, and the seed. It is defined by a file, a command or Python."""

import hashlib
import json
import tomllib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput, meant
from hegemon.experiments.axes import combine, parse_axis, read_cases
from hegemon.experiments.case import Case, absolute
from hegemon.experiments.names import axis_named, short
from hegemon.experiments.precision import MOST, parse_precision, percent
from hegemon.models.expressions import whole_number
from hegemon.models.naming import address
from hegemon.models.protocol import Protocol
from hegemon.runs.option import seed_of

if TYPE_CHECKING:
    from hegemon.runs.option import Seed

SCHEMA = 2
MOST_TRIALS = 10**9
KEYS = ("protocol", "trials", "seed", "axes", "zip", "cases", "relative")
RENAMED = {"precise": "relative", "zipped": "zip"}


@dataclass(frozen=True)
class Study:
    """`axes` in order, parameters as `p.tau`; axes of a `zip` advance together; `table` is an explicit list of cases.

    With `relative`, trials are made until the interval is that narrow, at most `trials` of them.
    """

    axes: dict[str, list[Any]]
    trials: int = 1
    seed: int = 0
    zip: tuple[tuple[str, ...], ...] = ()
    table: tuple[dict[str, Any], ...] = field(default=())
    relative: str | None = None

    @cached_property
    def cases(self) -> list[Case]:
        """Every case once, in the order of the axes."""
        settings = combine(self.axes, list(self.zip), list(self.table))
        return [Case(absolute(one), self.seed) for one in settings]

    def content(self) -> dict[str, Any]:
        """The study in the form of its file in the folder."""
        return {
            "schema": SCHEMA,
            "seed": self.seed,
            "trials": self.trials,
            "relative": self.relative,
            "axes": {name: list(values) for name, values in self.axes.items()},
            "zip": [list(names) for names in self.zip],
            "cases": list(self.table),
        }

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.content()).encode()).hexdigest()[:32]

    def extended(self, axes: dict[str, list[Any]], trials: int | None = None, relative: str | None = None) -> "Study":
        """The same study with more trials, a narrower interval, or more values on its axes; nothing is removed."""
        grown = {name: list(values) for name, values in self.axes.items()}
        for name, values in axes.items():
            if name not in grown or any(name in names for names in self.zip):
                free = [short(name) for name in grown if not any(name in names for names in self.zip)]
                raise InvalidInput(
                    f"the study cannot be extended along {short(name)!r}; its free axes are: {', '.join(free)}"
                    f"{meant(short(name), free)}"
                )
            grown[name] += [value for value in values if value not in grown[name]]
            if all(isinstance(value, int | float) for value in grown[name]):
                grown[name].sort()
        if trials is not None and trials < self.trials:
            raise InvalidInput(f"the study has {self.trials:,} trials already; extend it to more, not to {trials:,}")
        if relative is not None and relative != self.relative:
            self._require_narrower(relative)
        return replace(self, axes=grown, trials=trials or self.trials, relative=relative or self.relative)

    def _require_narrower(self, relative: str) -> None:
        after = parse_precision(relative)
        if self.relative is None:
            raise InvalidInput("the study has a fixed number of trials; extend it by --trials, not by --relative")
        before = parse_precision(self.relative)
        if replace(after, relative=before.relative) != before or after.relative > before.relative:
            raise InvalidInput(f"the study asks for {self.relative}; extend it to less of the same, not to {relative}")

    def joined(self, other: "Study") -> "Study":
        """This study extended by the trials and values of another one."""
        for name in ("seed", "zip", "table"):
            if getattr(self, name) != getattr(other, name):
                raise InvalidInput(f"the study has another {name} than the one that should extend it; keep it the same")
        more = {name: values for name, values in other.axes.items() if values != self.axes.get(name)}
        return self.extended(more, max(self.trials, other.trials), other.relative)


def make_study(
    protocol: Any = None, *, trials: int | None = None, seed: "Seed" = 0, axes: dict[str, Any] | None = None,
    zip: Any = (), cases: Any = (), relative: Any = None,
) -> Study:  # fmt: skip
    """A study from values as a user gives them: strings, lists, names or classes of protocols, a table or its file."""
    axes = axes or {}
    for old in RENAMED.keys() & axes:
        raise InvalidInput(f"{old} is called {RENAMED[old]} now; write {RENAMED[old]}={axes[old]!r}")
    parsed = {}
    if protocol is not None:
        names = protocol if isinstance(protocol, list | tuple) else [protocol]
        parsed["protocol"] = [protocol_name(name) for name in names]
    parsed |= read_axes(axes)
    rows = read_cases(cases) if isinstance(cases, str | Path) else cases
    table = [{axis_named(str(name)): value for name, value in row.items()} for row in rows]
    if "protocol" not in parsed and not (table and all("protocol" in row for row in table)):
        raise InvalidInput("a study needs a protocol; name one, such as time-optimal or your_file.py:YourClass")
    if relative is not None:
        parse_precision(relative := percent(relative))
    if trials is None:
        trials = 1 if relative is None else MOST
    number = whole_number(trials, "trials", low=1)
    if number > MOST_TRIALS:
        raise InvalidInput(f"trials = {number:,} is more than {MOST_TRIALS:,}, the most for one case")
    if zip and all(isinstance(name, str) for name in zip):
        zip = [zip]  # one zip, written as a list of its axes
    together = tuple(tuple(axis_named(name, parsed) for name in names) for names in zip)
    return Study(parsed, number, seed_of(seed), together, tuple(table), relative)


def read_axes(axes: dict[str, Any]) -> dict[str, list[Any]]:
    """The values of each axis, by the names that axes have in a study."""
    parsed: dict[str, list[Any]] = {}
    for name, values in axes.items():
        axis = axis_named(str(name))
        if axis in parsed:
            raise InvalidInput(f"the axis {short(axis)} is given twice; give all its values once")
        if axis == "observe":  # one value: all that is observed
            values = [values if isinstance(values, bool | str) else ",".join(values)]
        parsed[axis] = parse_axis(short(axis), values)
    return parsed


def read_study(path: str | Path) -> Study:
    """A study from a TOML file: protocol, trials, seed, [axes], zip, cases (a CSV file, or tables), relative."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"the study {path} cannot be read: {error}; fix the file") from None
    unknown = set(content) - set(KEYS)
    if unknown:
        key = sorted(unknown)[0]
        now = f", which is called {RENAMED[key]} now" if key in RENAMED else f"; known are {', '.join(KEYS)}"
        raise InvalidInput(f"the study {path} has the unknown key {key!r}{now}")
    axes, zip, cases = content.get("axes", {}), content.get("zip", []), content.get("cases", [])
    if not isinstance(axes, dict) or any(isinstance(values, dict) for values in axes.values()):
        raise InvalidInput(f"the study {path}: [axes] must give every axis a list, a number or a text")
    if not _are_names(content.get("protocol", [])) or not _are_lists(zip):
        raise InvalidInput(f"the study {path}: protocol and zip must be names or lists of names, as zip = ['n', 'tau']")
    if isinstance(cases, str):
        cases = Path(path).parent / cases
    elif not isinstance(cases, list) or not all(isinstance(row, dict) for row in cases):
        raise InvalidInput(f"the study {path}: cases must name a CSV file, or be tables such as [[cases]]")
    options = {name: content[name] for name in ("trials", "seed", "relative") if name in content}
    return make_study(content.get("protocol"), axes=axes, zip=zip, cases=cases, **options)


def _are_names(value: Any) -> bool:
    return isinstance(value, str) or isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_lists(value: Any) -> bool:
    return _are_names(value) or isinstance(value, list) and all(map(_are_names, value))


def study_from(content: dict[str, Any]) -> Study:
    """The inverse of `Study.content`; content of another form raises Python's own errors."""
    if (schema := content.get("schema", SCHEMA)) != SCHEMA:
        raise InvalidInput(f"the study has schema {schema!r} and this version reads {SCHEMA}; use its own version")
    axes: dict[str, list[Any]] = content["axes"]
    trials, seed, zip, table = (content[name] for name in ("trials", "seed", "zip", "cases"))
    lists = [zip, table, *zip, *axes.values()]
    if not all(isinstance(one, list) for one in lists) or not all(isinstance(row, dict) for row in table):
        raise ValueError("it has another form")
    if any(type(number) is not int or number < 0 for number in (trials, seed)):
        raise ValueError("it has other numbers")
    if (relative := content["relative"]) is not None:
        parse_precision(relative)
    return Study(axes, trials, seed, tuple(tuple(names) for names in zip), tuple(table), relative)


def protocol_name(protocol: Any) -> str:
    """The name by which any process finds the protocol: an id, or file.py:Class."""
    if isinstance(protocol, str):
        return protocol
    if not (isinstance(protocol, type) and issubclass(protocol, Protocol)):
        raise InvalidInput(f"a study takes a protocol's name or class, not {protocol!r}; n is one of its axes")
    return address(protocol)
