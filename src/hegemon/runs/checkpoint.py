"""A long run on disk: all that is needed to continue it with exactly the numbers of a run without interruption.

A run offers its engine between calls. Snapshots are rare enough to cost little, and are written at intervals and
at the end. A run that continues from an older snapshot repeats every draw. The file holds plain arrays and a JSON text,
never code.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hegemon.compute.portraits import Unkept
from hegemon.errors import InvalidInput
from hegemon.kept import read_kept_arrays, write_kept_arrays

KIND, FORMAT = "checkpoint of a run", 4
COST = 50  # a snapshot may take this fraction of the time (one part in COST)
WRITE_SECONDS = 60.0


class Checkpoint:
    """`about` describes the run; `state` is the snapshot to continue from, None at the beginning."""

    def __init__(self, path: str | Path, about: dict[str, Any], state: dict[str, Any] | None = None):
        self.path, self.about, self.state = Path(path), about, state
        self.unkept: str | None = None  # why the last snapshot failed
        self._due = time.monotonic() + 1.0
        self._write_at = time.monotonic() + WRITE_SECONDS

    def offer(self, freeze: Callable[[], dict[str, Any]]) -> None:
        """Called between calls of the engine: take a snapshot if one is due and can be exact."""
        now = time.monotonic()
        if now < self._due:
            return
        try:
            state = freeze()
        except Unkept as unkept:
            self.unkept = str(unkept)  # now; later it may be
        else:
            self.state = state
        taken = time.monotonic() - now
        self._due = time.monotonic() + max(1.0, COST * taken)
        if time.monotonic() >= self._write_at:
            self.write()
            self._write_at = time.monotonic() + max(WRITE_SECONDS, COST * (time.monotonic() - now))

    def write(self) -> None:
        """Write the last snapshot; without any, the run will begin again."""
        arrays: list[np.ndarray] = []
        text = json.dumps({"format": FORMAT, "about": self.about, "state": _encode(self.state, arrays)})
        content: dict[str, Any] = {f"a{k}": array for k, array in enumerate(arrays)}
        write_kept_arrays(self.path, KIND, content | {"text": np.frombuffer(text.encode(), np.uint8)})


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The run and the snapshot of a file; InvalidInput if the file was damaged or changed."""
    content = read_kept_arrays(path, KIND)
    try:
        known = json.loads(bytes(content["text"]).decode())
        if known["format"] != FORMAT:
            raise InvalidInput(
                f"{path} has format {known['format']} and this version reads {FORMAT}; continue with the version that "
                "wrote it, or run again"
            )
        return known["about"], _decode(known["state"], content)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path} is no whole {KIND}; give another one, or run from the start") from None


def _encode(value: Any, arrays: list[np.ndarray]) -> Any:
    if value is None or isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return {"int": str(value)}  # of any size
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return _encode(np.array([value]), arrays) | {"one": True}
    if isinstance(value, tuple | list):
        return {"tuple" if isinstance(value, tuple) else "list": [_encode(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"dict": {name: _encode(item, arrays) for name, item in value.items()}}
    raise InvalidInput(f"a {type(value).__name__} cannot be kept in a checkpoint; run without --checkpoint")


def _decode(value: Any, content: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if "int" in value:
        return int(value["int"])
    if "array" in value:
        array = content[f"a{value['array']}"]
        return array[0] if value.get("one") else array
    if "dict" in value:
        return {name: _decode(item, content) for name, item in value["dict"].items()}
    kind = tuple if "tuple" in value else list
    return kind(_decode(item, content) for item in value[kind.__name__])
