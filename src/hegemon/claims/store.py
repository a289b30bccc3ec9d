"""The output folder: every file is written beside and moved into place, so no kill leaves half of one."""

import csv
import hashlib
import json
import math
import os
from functools import cache
from pathlib import Path

import numpy as np

from hegemon.claims.registry import Claim, Finding, finding_from
from hegemon.errors import InvalidInput

PRESENTATION = ("cli", "pictures.py", "report.py", "plots.py", "progress.py")  # no part of a result


@cache
def code_fingerprint() -> str:
    """A digest of all code that a result depends on: another program never passes for this one."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in PRESENTATION and name.name not in PRESENTATION:
            digest.update(str(name).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_text(text)
    partial.replace(path)


class Folder:
    """`claims/ID.json` (findings), `data/ID.csv` (raw rows), `parts/` (measurements of unfinished claims)."""

    def __init__(self, root):
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InvalidInput(f"--out {root} is a file; give the name of a folder")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"--out {root} cannot be created ({error.strerror}); give another folder") from None

    def sweep(self) -> None:
        """Remove what a kill left behind; only while nobody else writes here."""
        for partial in self.root.rglob(".*.partial"):
            partial.unlink(missing_ok=True)

    def identity(self, claim: Claim, scale: str, seed: int) -> dict:
        """What a stored result must agree with to be taken for this one."""
        sizes = json.loads(json.dumps(claim.sizes(scale)))
        return {"id": claim.id, "seed": seed, "sizes": sizes, "code": code_fingerprint()}

    def load(self, claim: Claim, scale: str, seed: int) -> dict | None:
        """The stored record of this very claim, or None."""
        try:
            record = json.loads((self.root / "claims" / f"{claim.id}.json").read_text())
        except (OSError, ValueError):
            return None
        return record if record.get("identity") == self.identity(claim, scale, seed) else None

    def save(self, claim: Claim, scale: str, seed: int, finding: Finding, rows: list[dict], seconds: float) -> dict:
        """Data first, the record last: a record is the proof that all of it is there."""
        write_csv(self.root / "data" / f"{claim.id}.csv", rows)
        record = {
            "identity": self.identity(claim, scale, seed),
            "paper": claim.paper,
            "place": claim.place,
            "title": claim.title,
            "statement": claim.statement,
            "seconds": round(seconds, 1),
            "rows": len(rows),
            **finding.content(),
        }
        record = plain(record)
        write(self.root / "claims" / f"{claim.id}.json", json.dumps(record, indent=1, allow_nan=False))
        self.parts(claim, scale, seed).clear()
        return record

    def parts(self, claim: Claim, scale: str, seed: int) -> "Parts":
        identity = json.dumps(self.identity(claim, scale, seed), sort_keys=True)
        name = f"{claim.id}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"
        return Parts(self.root / "parts" / name)


class Parts:
    """Measurements of a claim that is not finished: what a laboratory remembers."""

    def __init__(self, folder: Path):
        self.folder = folder

    def load(self, name: str) -> list[dict] | None:
        try:
            return json.loads((self.folder / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None

    def save(self, name: str, rows: list[dict]) -> None:
        write(self.folder / f"{name}.json", json.dumps(plain(rows), allow_nan=False))

    def clear(self) -> None:
        for path in self.folder.glob("*.json"):
            path.unlink()
        for folder in (self.folder, self.folder.parent):
            try:
                folder.rmdir()
            except OSError:
                pass  # absent, or another claim's parts are still there


def write_csv(path: Path, rows: list[dict]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with open(partial, "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


def finding_of(record: dict) -> Finding:
    return finding_from({key: record[key] for key in ("checks", "headline", "plots", "tables", "notes")})


def plain(value):
    """The same content as JSON has it: Python's own numbers and lists, and nothing for what is not a number."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
