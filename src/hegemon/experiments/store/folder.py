"""The folder of a study: its definition, the records of all measurements, their provenance, and the table.

study.json          the study, digests of the Python files it names with their cases, and the folder's
own name, by which a worker verifies that it sees this folder
    records/*.jsonl     the measurements: one append-only file per process (see `record_files`)
    drivers/*.json      provenance: command, versions, machine, times, and that driver's progress
    table.parquet       all trials as one table, made from the records alone
    table.sha256        the digest of the table

Two drivers may work on one folder: they read each other's records, and what both measured counts once.
"""

import os
import secrets
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.experiments.store.moments import Moments, moments_of
from hegemon.experiments.store.ranges import Ranges
from hegemon.experiments.store.record_files import read_records
from hegemon.experiments.study import Study, study_from
from hegemon.files import MARK
from hegemon.kept import unseal, write_kept
from hegemon.protocols.loading import digest_of
from hegemon.system import room_on_disk

STALE_SECONDS = 600  # an unfinished file this old belongs to no running process


class DamagedStudy(InvalidInput):
    """The file study.json, which defines the study, is damaged."""


class Folder:
    def __init__(self, root: str | Path):
        self.root = Path(root)
        self.records, self.drivers = self.root / "records", self.root / "drivers"
        self.table, self.digest = self.root / "table.parquet", self.root / "table.sha256"
        self.entries: dict[str, dict[tuple[Any, ...], tuple[Any, ...]]] = defaultdict(
            dict
        )  # case → {(file, offset): (first, count, length)}
        self.done: dict[str, Ranges] = defaultdict(Ranges)
        self.moments: dict[str, Moments] = defaultdict(Moments)  # each trial counts once
        self.errors: dict[str, str] = {}
        self.spent: dict[str, tuple[float, int]] = {}  # case → seconds, and the number of trials in them
        self.damaged = 0  # number of damaged lines
        self._read: dict[str, int] = {}  # file → offset up to which it was read

    # -- the definition -----------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        return (self.root / "study.json").is_file()

    def study(self) -> Study:
        return self._content()[0]

    @property
    def name(self) -> str:
        return self._content()[1]["folder"]

    def own(self) -> dict[str, dict[str, Any]]:
        """The `key` and the `columns` of cases from users' own files by label, as the last driver wrote them."""
        return self._content()[1]["own"]

    def protocol_files(self) -> list[dict[str, Any]]:
        """The Python files that the study names, with their stored digests and whether each file is still the same."""
        return [
            {"file": file, "sha256": digest, "same": os.path.isfile(file) and digest_of(file) == digest}
            for file, digest in self._content()[1]["files"].items()
        ]

    def _content(self) -> tuple[Study, dict[str, Any]]:
        """The study, and the whole content of study.json."""
        path = self.root / "study.json"
        try:
            if not path.is_file():
                raise InvalidInput(f"{self.root} holds no study; give the folder of `hegemon sweep … --out`")
            content = unseal("study", path.read_bytes())
            rest: dict[str, Any] = {"folder": str(content["folder"])}
            rest["files"] = {str(file): str(digest) for file, digest in content.get("files", {}).items()}
            keys = {label: {"key": str(key)} for label, key in content.get("keys", {}).items()}  # before columns
            rest["own"] = {label: dict(one) for label, one in content.get("own", keys).items()}
            return study_from(content["study"]), rest
        except InvalidInput:
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise DamagedStudy(
                f"{path} is damaged; give its `hegemon sweep … --out {self.root}` again, which mends it and keeps all "
                "that was measured"
            ) from None

    def open(self, study: Study, extend: bool = False, own: dict[str, Any] | None = None) -> None:
        """Make the folder, or go on in it if it is this study's. `own` describes the cases of users' own files."""
        try:
            self.records.mkdir(parents=True, exist_ok=True)
            self.drivers.mkdir(exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"the folder {self.root} cannot be made: {error.strerror}; give another --out") from None
        digests = {
            file: digest_of(file)
            for file in sorted({case.file for case in study.cases if case.file})
            if os.path.isfile(file)
        }
        rest = {"folder": secrets.token_hex(8), "own": own or {}, "files": digests}
        if self.exists:
            try:
                before, there = self._content()
            except DamagedStudy:
                self._set_aside()
            else:
                rest["folder"] = there["folder"]
                if before.content() == study.content():
                    if there == rest:
                        return
                elif not extend:
                    raise InvalidInput(
                        f"{self.root} holds another study; give another --out, or --extend to add to this one"
                    )
        content = {**rest, "study": study.content()}
        write_kept(self.root / "study.json", "study", content, indent=1)

    def _set_aside(self) -> None:
        """Rename a damaged study.json: records name their cases, and the caller defines the study anew."""
        path = self.root / "study.json"
        if not any(self.records.glob("*.jsonl")):
            raise InvalidInput(f"{path} is no file of a study; give another --out")
        path.replace(path.with_name(f"study.json.damaged-{secrets.token_hex(4)}"))

    # -- measurements -------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read what any process has written since the last refresh."""
        for path in sorted(self.records.glob("*.jsonl")):
            begin = self._read.get(path.name, 0)
            for offset, length, record in read_records(path, begin):
                self._read[path.name] = offset + length
                if record is None:
                    self.damaged += 1
                elif "error" in record:
                    self.errors[record["case"]] = record["error"]
                else:
                    place = path.name, offset, length
                    self.note(record["case"], record["first"], record["count"], place, moments_of(record))
                    if "seconds" in record:
                        seconds, trials = self.spent.get(record["case"], (0.0, 0))
                        self.spent[record["case"]] = seconds + record["seconds"], trials + record["count"]

    def note(self, case: str, first: int, count: int, place: tuple[str, int, int], moments: Moments) -> None:
        """Note a record and its place."""
        name, offset, length = place
        self.entries[case][name, offset] = (first, count, length)
        if not self.done[case].meets(first, first + count):  # trials that two drivers measured count once
            self.moments[case].add(moments)
        self.done[case].add(first, first + count)

    def seconds_per_trial(self, case: str) -> float | None:
        """The mean seconds of a trial, according to the records."""
        seconds, trials = self.spent.get(case, (0.0, 0))
        return seconds / trials if trials else None

    def elsewhere(self, keys: set[str]) -> int:
        """The number of stored trials of other cases: of other code, for example, or of sizes left out now."""
        return sum(end - begin for key, found in self.done.items() if key not in keys for begin, end in found)

    def read_again(self) -> None:
        """Discard what is held in memory and read the files again."""
        self.entries.clear()
        self.done.clear()
        self.moments.clear()
        self.errors.clear()
        self.spent.clear()
        self._read.clear()
        self.damaged = 0
        self.refresh()

    def clean(self) -> None:
        """Remove unfinished files of killed processes."""
        for path in self.root.glob(f".*{MARK}*"):
            try:
                if time.time() - path.stat().st_mtime > STALE_SECONDS:
                    path.unlink()
            except FileNotFoundError:
                pass

    def bytes_free(self) -> int:
        return room_on_disk(self.root)
