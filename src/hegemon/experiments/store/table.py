"""The table of a study as Parquet: one row per trial, in the order of the cases and of their trials.

It is made from the records alone, and does not depend on which process measured what, when, or in which pieces:
the same study gives the same bytes. Records are read one at a time, so a million trials need little memory.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.experiments.names import PREFIX, short
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.record_files import column, read_record
from hegemon.files import check_fits, write_text, write_with

if TYPE_CHECKING:
    import pandas


SCHEMA = 2
ROWS = 65_536  # rows of a row group
VALUE_BYTES = 16  # memory of a value that is read: in Arrow and in the dataframe together
FIRST, LAST = ("steps", "rounds", "parallel_time", "reached", "leaders"), ("engine",)
KINDS = ("null", "bool", "whole", "int64", "decimal", "double", "string")  # a column gets the widest kind of its values
AS_THEY_ARE = {"string": {str, type(None)}, "double": {float, type(None)}, "int64": {int, type(None)}}


class Unreadable(InvalidInput):
    """A record is not at the place that was reported."""


def rows_of(folder: Folder, key: str, limit: int, start: int = 0) -> Iterator[tuple[int, int, int, dict[str, Any]]]:
    """The trials of a case in order, each once: all records, each with the part of it that counts.

    Yields the first trial's number, and where the part begins and ends within the record. Where two processes
    measured the same trial, the first record in the order of trials and files counts.
    """
    done = start
    entries = folder.entries.get(key, {})
    for (name, offset), (first, count, length) in sorted(entries.items(), key=lambda item: (item[1][0], item[0])):
        begin, end = max(first, done), min(first + count, limit)
        if begin >= end:
            continue
        record = read_record(folder.records / name, offset, length)
        if record is None or record["case"] != key or (record["first"], record["count"]) != (first, count):
            raise Unreadable(f"{folder.records / name} changed while it was read; run the same command again")
        yield begin, begin - first, end - first, record
        done = end


def compact(folder: Folder, cases: list[tuple[dict[str, Any], str, int]], study: dict[str, Any]) -> int:
    """Publish the table of these cases: the fixed columns of a case, its key, and how many of its trials count."""
    import pyarrow
    import pyarrow.parquet as parquet

    given, measured = _columns(folder, cases)
    names = column_names(given, measured)
    kinds = {"case": "int64"} | {names[name]: kind for name, kind in given.items()} | {"trial": "int64"} | measured
    types = {
        "null": pyarrow.int64(), "bool": pyarrow.bool_(), "int64": pyarrow.int64(),
        "decimal": pyarrow.decimal128(38, 0), "double": pyarrow.float64(), "string": pyarrow.string(),
    }  # fmt: skip
    parameters = {name: names[name] for name in given if name.startswith(PREFIX)}
    about = {"hegemon.table": str(SCHEMA), "hegemon.parameters": json.dumps(parameters)}
    about["hegemon.study"] = json.dumps(study, allow_nan=False)
    schema = pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()], metadata=about)
    total = 0

    def write(path: Path) -> None:  # an absolute path: Arrow would read a name with a colon as an address
        nonlocal total
        waiting = _Waiting(schema, kinds, ["trial", *measured])
        options = {"compression": "zstd", "compression_level": 3, "version": "2.6", "data_page_version": "1.0"}
        with parquet.ParquetWriter(path.absolute(), schema, **options) as writer:
            for number, (says, key, limit) in enumerate(cases):
                same = {"case": number, **{names[name]: says.get(name) for name in given}}
                for trial, begin, end, record in rows_of(folder, key, limit):
                    part: dict[str, Sequence[Any]] = {"trial": range(trial, trial + end - begin)}
                    part |= {name: _measured(record, name, begin, end, says) for name in measured}
                    waiting.add(same, part, end - begin)
                    total += end - begin
                    while waiting.size >= ROWS:
                        writer.write_table(waiting.take(ROWS), row_group_size=ROWS)
            if waiting.size or not total:
                writer.write_table(waiting.take(waiting.size), row_group_size=ROWS)

    write_with(folder.table, write)
    write_text(folder.digest, f"{_digest(folder)}  {folder.table.name}\n")  # as `sha256sum -c` reads it
    return total


def column_names(given: Iterable[str], measured: Iterable[str]) -> dict[str, str]:
    """The columns of what runs were given: none has the name of a measured column, or of another one."""
    taken = set(measured)
    return {
        name: short(name, taken) if name.startswith(PREFIX) else f"{name}_given" if name in taken else name
        for name in given
    }


def parameters_in(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    """The columns of the author's parameters by their names in the study, from what a table says of itself."""
    return {str(name): str(column) for name, column in json.loads(metadata[b"hegemon.parameters"]).items()}


def require_whole(folder: Folder) -> None:
    """ValueError for a table that does not match its digest; Parquet itself would read other numbers from it."""
    if folder.digest.read_text(encoding="utf-8").split() != [_digest(folder), folder.table.name]:
        raise ValueError("it does not match its digest")


def _digest(folder: Folder) -> str:
    with open(folder.table, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Waiting:
    """Rows that are not written yet: lists of measured values, and the values that runs of rows share."""

    def __init__(self, schema: Any, kinds: dict[str, str], measured: Iterable[str]):
        self._schema, self._kinds = schema, kinds
        self._values: dict[str, list[Any]] = {name: [] for name in measured}
        self._runs: list[tuple[dict[str, Any], int]] = []  # shared values, number of rows
        self.size = 0

    def add(self, same: dict[str, Any], values: Mapping[str, Sequence[Any]], size: int) -> None:
        """Add rows that share the values `same`."""
        if self._runs and self._runs[-1][0] is same:
            self._runs[-1] = same, self._runs[-1][1] + size
        else:
            self._runs.append((same, size))
        for name, waiting in self._values.items():
            waiting += values[name]
        self.size += size

    def take(self, size: int) -> Any:
        """The first rows as a table, each column in one piece: its bytes do not depend on the records of the rows."""
        import pyarrow

        runs, left = [], size
        while left:
            same, length = self._runs.pop(0)
            runs.append((same, min(length, left)))
            left -= runs[-1][1]
            if runs[-1][1] < length:
                self._runs.insert(0, (same, length - runs[-1][1]))
        self.size -= size
        columns = []
        for name, kind in self._kinds.items():
            type_ = self._schema.field(name).type
            if name in self._values:
                columns.append(pyarrow.array(_fit(self._values[name][:size], kind), type_))
                del self._values[name][:size]
            else:
                parts = [
                    pyarrow.repeat(pyarrow.scalar(_fit([same[name]], kind)[0], type_), length) for same, length in runs
                ]
                columns.append(pyarrow.concat_arrays(parts or [pyarrow.array([], type_)]))
        return pyarrow.table(columns, schema=self._schema)


def read_table(folder: Folder, columns: list[str] | None = None) -> "pandas.DataFrame":
    """The table as a dataframe. A few bytes can encode a value for a billion rows, so sizes are summed first."""
    import pandas
    from pyarrow.parquet import read_metadata
    from pyarrow.parquet import read_table as read_parquet

    require_whole(folder)
    about = read_metadata(folder.table.absolute())
    groups = [about.row_group(place) for place in range(about.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    check_fits(folder.table, max(about.num_rows, 0) * about.num_columns * VALUE_BYTES + unpacked)
    if any(group.num_rows > ROWS for group in groups):
        raise ValueError("its row groups are not those of a study")
    found = read_parquet(folder.table.absolute(), columns=columns)
    frame = found.to_pandas()
    for name, read in zip(found.column_names, found.columns, strict=True):
        if str(read.type) == "int64" and read.null_count and frame[name].abs().max() >= 2**53:
            frame[name] = pandas.array(read.to_pylist(), "Int64")  # with missing values NumPy would round them
    frame.attrs["parameters"] = parameters_in(about.metadata)
    return frame


def _measured(record: dict[str, Any], name: str, begin: int, end: int, says: dict[str, Any]) -> list[Any]:
    if name == "parallel_time" and "steps" in record["columns"]:
        return [steps / says["n"] for steps in column(record, "steps", begin, end)]
    return column(record, name, begin, end)


def _columns(folder: Folder, cases: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The names and kinds of given and measured columns, from the trials that count only."""
    given: dict[str, str] = {}
    measured: dict[str, str] = {}
    for says, key, limit in cases:
        for name, value in says.items():
            given[name] = wider(given.get(name, "null"), kind_of(value))
        for _, begin, end, record in rows_of(folder, key, limit):
            for name in record["columns"]:
                measured[name] = wider(measured.get(name, "null"), _kind(record["columns"][name], begin, end))
    if "steps" in measured:
        measured["parallel_time"] = "double"
    order = [name for name in FIRST if name in measured]
    order += sorted(name for name in measured if name not in (*FIRST, *LAST))
    order += [name for name in LAST if name in measured]
    stored = {"whole": "int64"}
    kept = {name: stored.get(measured[name], measured[name]) for name in order if measured[name] != "null"}
    return {name: stored.get(kind, kind) for name, kind in given.items()}, kept


def _kind(values: Any, begin: int, end: int) -> str:
    """The widest kind among the values of a record's column."""
    if not isinstance(values, list):
        return kind_of(values)
    values = values[begin:end]
    if {type(value) for value in values} == {int}:
        values = (min(values), max(values))
    return reduce(wider, map(kind_of, values))


def wider(one: str, other: str) -> str:
    """The kind that holds values of both; text for a mix of floats and integers that floats would round."""
    lower, upper = sorted((one, other), key=KINDS.index)
    return "string" if upper == "double" and lower in ("int64", "decimal") else upper


def kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        if abs(value) <= 2**53:
            return "whole"
        return "int64" if -(2**63) <= value < 2**63 else "decimal" if abs(value) < 10**38 else "string"
    return "double" if isinstance(value, float) else "string"


def _fit(values: Sequence[Any], kind: str) -> Sequence[Any]:
    """The values in the form that a column of this kind accepts."""
    if set(map(type, values)) <= AS_THEY_ARE.get(kind, set()):
        return values
    if kind == "string":
        return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    if kind == "double":
        return [None if value is None else float(value) for value in values]
    if kind in ("int64", "decimal"):
        return [None if value is None else int(value) for value in values]
    return values
