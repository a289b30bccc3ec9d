"""Append-only files of records, one JSON text per line, each with the digest of its content.

    {"digest":"…","record":{"schema":1,"case":"…","first":0,"count":500,"columns":{…},"seconds":1.2}}

A record holds trials `first` … `first + count - 1` of one case, column by column; a column that is not a list has
that value in every trial. A line damaged by a kill, a full disk or an editor does not match its digest and is
ignored. Every process writes a file of its own, so no process waits for another.
"""

import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hegemon.errors import Unfinished
from hegemon.kept import Damaged, seal, unseal
from hegemon.system import NEW_BINARY

KIND, SCHEMA = "record", 1
SYNC_SECONDS = 0.1
MOST_TRIALS = 5_000  # of one record: one value may stand for all of them, and expanding it must not fill the memory
COLUMN_TYPES = (list, int, float, str, bool, type(None))


def encode_record(record: dict[str, Any]) -> bytes:
    """The line of a record."""
    return seal(KIND, {"schema": SCHEMA, **record})


def decode_record(line: bytes) -> dict[str, Any] | None:
    """The record of a line, or None for a damaged line."""
    try:
        record = unseal(KIND, line)
    except Damaged:
        return None
    return record if is_sound(record) else None


def is_sound(record: Any) -> bool:
    """Whether a record has the form that the reader relies on."""
    if not isinstance(record, dict) or record.get("schema") != SCHEMA or not isinstance(record.get("case"), str):
        return False
    first, count = record.get("first"), record.get("count")
    if type(first) is not int or type(count) is not int or first < 0 or not 0 <= count <= MOST_TRIALS:
        return False
    columns = record.get("columns")
    if not isinstance(columns, dict):
        return isinstance(record.get("error"), str)
    return all(
        isinstance(values, COLUMN_TYPES) and (not isinstance(values, list) or len(values) == count)
        for values in columns.values()
    )


class Columns:
    """Collects the trials of a record, column by column, part by part."""

    def __init__(self) -> None:
        self.count = 0
        self._values: dict[str, list[Any]] = {}

    def add(self, part: dict[str, list[Any]], count: int) -> None:
        """Add trials with these columns; a column that only some trials have is None in the others."""
        for name in [name for name in part if name not in self._values]:
            self._values[name] = [None] * self.count
        for name, values in self._values.items():
            values += part.get(name) or [None] * count
        self.count += count

    def content(self) -> dict[str, Any]:
        """The content of the record: a value that is the same in every trial is written once."""
        return {name: values[0] if _is_same(values) else values for name, values in self._values.items()}


def _is_same(values: list[Any]) -> bool:
    first = values[0]
    return values.count(first) == len(values) and len(set(map(type, values))) == 1  # types too, since 1 == True


def to_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows as columns."""
    columns = Columns()
    for row in rows:
        columns.add({name: [value] for name, value in row.items()}, 1)
    return columns.content()


def column(record: dict[str, Any], name: str, begin: int, end: int) -> list[Any]:
    """The values of a column in rows begin … end - 1 of a record."""
    values = record["columns"].get(name)
    return values[begin:end] if isinstance(values, list) else [values] * (end - begin)


class RecordFile:
    """One process's own file in a folder of records; it appears with the first record. All threads share it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._open: tuple[str, int, int] | None = None  # name, descriptor, length
        self._synced = -SYNC_SECONDS
        self._lock = threading.Lock()

    def append(self, line: bytes) -> tuple[str, int, int]:
        """Name of the file, offset and length of the record, which survives this process when this returns.

        A power cut may take the records of the last tenth of a second: they are measured again, as after any damage.
        """
        with self._lock:
            return self._append(line)

    def _append(self, line: bytes) -> tuple[str, int, int]:
        try:
            name, handle, offset = self._open or self._start()
            self._open = None  # if this fails, the next record goes into another file
            written = 0
            while written < len(line):
                written += os.write(handle, line[written:])
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                os.fsync(handle)
                self._synced = time.monotonic()
        except OSError as error:
            raise Unfinished(
                f"results cannot be written to {self.folder}: {error.strerror or error}; "
                "make room there and run the same command again, for what is finished stays, or give another folder"
            ) from None
        self._open = name, handle, offset + len(line)
        return name, offset, len(line)

    def _start(self) -> tuple[str, int, int]:
        host = re.sub(r"[^A-Za-z0-9]", "-", socket.gethostname())[:40]
        name = f"{host}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        handle = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND | NEW_BINARY, 0o666)
        return name, handle, 0

    def close(self) -> None:
        if self._open:
            with suppress(OSError):
                os.fsync(self._open[1])
            os.close(self._open[1])
            self._open = None


def read_records(path: Path, begin: int = 0) -> Iterator[tuple[int, int, dict[str, Any] | None]]:
    """Offset, length and record of every complete line from `begin` on; a line still being written is left out."""
    if not path.exists():
        return
    with open(path, "rb") as file:
        file.seek(begin)
        offset = begin
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield offset, len(line), decode_record(line)
            offset += len(line)


def read_record(path: Path, offset: int, length: int) -> dict[str, Any] | None:
    """The record at a place, with its digest checked again."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return decode_record(file.read(length))
    except OSError:
        return None
