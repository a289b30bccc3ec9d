"""The axes of a study: lists and ranges as text, crossed, zipped, or read from a table.

`100,200,400` is a list; `1e2..1e7:log` goes by factors of ten, `64..4096:x2` by factors of two, `10..50:+10` by
steps of ten, `1..5` by ones. A comma inside brackets does not divide: `min(n, 3), 7` are two values.
"""

import csv
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.experiments.names import short
from hegemon.models.expressions import number_or_text, whole_number

MOST_VALUES = 10_000  # values of one axis
MOST_CASES = 100_000
RANGE_HELP = "write A..B:log, A..B:xFACTOR or A..B:+STEP, for example 1e2..1e6:log"


def parse_axis(name: str, given: Any) -> list[Any]:
    """The values of an axis: a list as it is, a text by the rules above; numbers become numbers."""
    if isinstance(given, str):
        values: list[Any] = []
        for part in split(given):
            values += _range(name, part) if _is_range(part) else [number_or_text(part)]
    elif isinstance(given, list | tuple | range | np.ndarray):
        values = [number_or_text(value) if isinstance(value, str) else _plain(value) for value in given]
    else:
        values = [_plain(given)]
    if not values:
        raise InvalidInput(f"the axis {name} has no values; give at least one")
    if len(values) > MOST_VALUES:
        raise InvalidInput(f"the axis {name} has {len(values):,} values; at most {MOST_VALUES:,} are allowed")
    if name == "n":
        values = [whole_number(value, "n", low=1) for value in values]
    repeated = (
        next((value for k, value in enumerate(values) if value in values[:k]), None) if len(values) < 500 else None
    )
    if repeated is not None:
        raise InvalidInput(f"the axis {name} has the value {repeated} twice; give every value once")
    return values


def _plain(value: Any) -> Any:
    """A NumPy number as a Python number, which a file can hold."""
    return value.item() if isinstance(value, np.generic) else value


def split(text: str) -> list[str]:
    """The parts between commas outside brackets and quotes."""
    parts, depth, quote, begin = [], 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    parts = [part.strip() for part in (*parts, text[begin:])]
    if not all(parts):
        raise InvalidInput(f"the list {text!r} has an empty place; write values between its commas")
    return parts


def _is_range(text: str) -> bool:
    low, dots, _ = text.partition("..")
    return bool(dots) and isinstance(number_or_text(low), int | float)


def _range(name: str, text: str) -> list[Any]:
    ends, _, way = text.partition(":")
    low, high = (number_or_text(end) for end in ends.split("..", 1))
    if isinstance(low, str) or isinstance(high, str) or low > high:
        raise InvalidInput(f"the range {text!r} of {name} is not understood; {RANGE_HELP}")
    factor: Any = None
    step: Any = None
    if way == "log":
        factor = 10
    elif way.startswith("x"):
        factor = number_or_text(way[1:])
    else:
        step = number_or_text(way.removeprefix("+")) if way else 1
    sound = isinstance(factor, int | float) and factor > 1 and low > 0
    if factor is not None and not sound or factor is None and not (isinstance(step, int | float) and step > 0):
        raise InvalidInput(f"the range {text!r} of {name} is not understood; {RANGE_HELP}")
    values: list[Any] = []
    k = 0
    while len(values) <= MOST_VALUES:
        value = low * factor**k if factor is not None else low + step * k
        if value > high * (1 + 1e-12):
            break
        values.append(value)
        k += 1
    whole = all(isinstance(end, int) or float(end).is_integer() for end in (low, high))
    if name == "n" or whole and all(float(value).is_integer() for value in values):
        values = list(dict.fromkeys(round(value) for value in values))
    return values


def combine(
    axes: dict[str, list[Any]], together: Sequence[Sequence[str]] = (), table: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Every case as a dictionary: the rows of the table, crossed with the axes; zipped axes advance together."""
    for names in together:
        for name in names:
            if name not in axes:
                known = ", ".join(map(short, axes)) or "none"
                raise InvalidInput(f"zip names {short(name)!r}, which is no axis; the axes are: {known}")
        lengths = {len(axes[name]) for name in names}
        if len(lengths) != 1:
            raise InvalidInput(f"zipped axes must be equally long, and {', '.join(map(short, names))} are not")
    zipped = {name: names for names in together for name in names}
    if len(zipped) != sum(len(names) for names in together):
        raise InvalidInput("an axis can be zipped only once; name every axis in at most one zip")
    factors = [[dict(row) for row in table]] if table else []
    for name, values in axes.items():
        if name not in zipped:
            factors.append([{name: value} for value in values])
        elif zipped[name][0] == name:
            rows = zip(*(axes[other] for other in zipped[name]), strict=True)
            factors.append([dict(zip(zipped[name], row, strict=True)) for row in rows])
    if (count := math.prod(len(factor) for factor in factors)) > MOST_CASES:
        raise InvalidInput(f"the study has {count:,} cases; at most {MOST_CASES:,} are allowed, so divide it")
    cases = []
    for parts in itertools.product(*factors):
        case: dict[str, Any] = {}
        for part in parts:
            for name, value in part.items():
                if name in case:
                    raise InvalidInput(f"{short(name)} is both an axis and a column of the table of cases; keep one")
                case[name] = value
        cases.append(case)
    return cases


def read_cases(path: str | Path) -> list[dict[str, Any]]:
    """An explicit table of cases: a CSV file with one column per axis; an empty cell leaves the axis out."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"the table of cases {path} cannot be read: {error}; give a CSV file") from None
    if not rows:
        raise InvalidInput(f"the table of cases {Path(path).name} has no rows; give a header and at least one case")
    cases = []
    for place, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise InvalidInput(f"{path}, line {place}: the number of cells differs from the header's; fix the line")
        cases.append({name.strip(): number_or_text(cell.strip()) for name, cell in row.items() if cell.strip()})
    return cases
