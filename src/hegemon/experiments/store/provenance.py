"""Provenance: one file per driver with its command, versions, machine and progress."""

import math
import os
import platform
import secrets
import socket
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.kept import read_kept, write_kept

SCHEMA = 1
BEAT_SECONDS = 3.0
ALIVE_SECONDS = 30.0  # a driver that has written nothing for so long is considered dead
LIBRARIES = ("hegemon", "numpy", "numba", "scipy", "pandas", "pyarrow", "distributed", "submitit")


class Provenance:
    """The file of one driver, written again every few seconds while it works."""

    def __init__(self, folder: Path, command: list[str] | None, pool: str, code: str):
        host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())[:40]
        self.path = folder / f"{host}-{os.getpid()}-{secrets.token_hex(4)}.json"
        self._begin, self._last = time.monotonic(), -BEAT_SECONDS
        self._content = {
            "schema": SCHEMA,
            "command": list(command or sys.argv),
            "pool": pool,
            "code": code,
            "versions": {name: found for name in LIBRARIES if (found := _version(name))},
            "python": platform.python_version(),
            "machine": {"host": socket.gethostname(), "system": platform.platform(), "cores": os.cpu_count()},
            "pid": os.getpid(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def works_in(self, pool: str) -> None:
        """Set the pool that the next beat writes."""
        self._content["pool"], self._last = pool, -math.inf

    def beat(self, ended: str | None = None, **progress: Any) -> None:
        """Write the progress; `ended` is how the work ended. A full disk is ignored here, and reported for records."""
        if ended is None and time.monotonic() - self._last < BEAT_SECONDS:
            return
        self._last = time.monotonic()
        progress["seconds"] = round(time.monotonic() - self._begin, 1)
        try:
            write_kept(self.path, "driver", {**self._content, **progress, "ended": ended}, indent=1)
        except InvalidInput:
            pass


def drivers(folder: Path) -> list[dict[str, Any]]:
    """The last state of every driver of a study, with `alive`: whether it seems to be running now."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            content: dict[str, Any] = read_kept(path, "driver")
            fresh = time.time() - path.stat().st_mtime < ALIVE_SECONDS
            content["alive"] = content["ended"] is None and fresh and _may_run(content)
        except (InvalidInput, OSError):
            continue  # a damaged file: provenance is only shown
        found.append(content)
    return sorted(found, key=lambda content: str(content.get("started")))


def _may_run(content: dict[str, Any]) -> bool:
    """False if the driver ran on this machine and its process has ended."""
    if content["machine"]["host"] != socket.gethostname():
        return True
    try:
        os.kill(content["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
