"""Measurements stored under a key: rows of any form, in the same append-only records as the trials of studies."""

import json
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.experiments.store.record_files import RecordFile, column, encode_record, read_record, read_records


class Memory:
    """Measurements in a folder of records, by any process; those of this process go into its own file."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._file = RecordFile(folder)
        self._places: dict[str, tuple[str, int, int]] = {}
        self._read: dict[str, int] = {}
        self.rows = 0

    def refresh(self) -> None:
        """Read what was written since the last refresh."""
        for path in sorted(self.folder.glob("*.jsonl")):
            for offset, length, record in read_records(path, self._read.get(path.name, 0)):
                self._read[path.name] = offset + length
                if record is not None and "columns" in record:
                    self._places.setdefault(record["case"], (path.name, offset, length))
                    self.rows += record["count"]

    def load(self, key: str) -> list[dict[str, Any]] | None:
        """The rows under a key, or None."""
        if key not in self._places:
            return None
        name, offset, length = self._places[key]
        record = read_record(self.folder / name, offset, length)
        if record is None or record["case"] != key:
            return None
        return [json.loads(text) for text in column(record, "row", 0, record["count"])]

    def save(self, key: str, rows: list[dict[str, Any]]) -> None:
        """Store the rows. Errors of a full disk are ignored: the rows only save time after an interruption."""
        columns = {"row": [json.dumps(row, allow_nan=False) for row in rows]}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            line = encode_record({"case": key, "first": 0, "count": len(rows), "columns": columns})
            self._places[key] = self._file.append(line)
        except (InvalidInput, OSError):
            pass

    def close(self) -> None:
        self._file.close()
