"""The output folder: records with digests, so that nothing which was changed or cut off passes for a result.

Every file is written beside and moved into place. What does not fit its digest is as good as absent: it is
measured again.
"""

import csv
import hashlib
import io
import json
from functools import cache
from pathlib import Path

from hegemon.claims.canonical import canonical, plain, sealed, unsealed
from hegemon.claims.registry import Claim, Outcome
from hegemon.errors import InvalidInput
from hegemon.files import write_text

PRESENTATION = ("cli", "web", "network", "pictures.py", "graph_pictures.py", "report.py", "plots.py")  # no result


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


class Folder:
    """`claims/ID.json` (outcomes), `data/ID.csv` (raw rows), `parts/` (measurements of unfinished claims)."""

    def __init__(self, root):
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InvalidInput(f"--out {root} is a file; give the name of a folder")
        make_folder(self.root)

    def sweep(self) -> None:
        """Remove what a kill left behind; only while nobody else writes here."""
        for partial in self.root.rglob(".*.partial"):
            partial.unlink(missing_ok=True)

    def identity(self, claim: Claim, scale: str, seed: int) -> dict:
        """What a stored result must agree with to be taken for this one."""
        sizes = json.loads(json.dumps(claim.sizes(scale)))
        return {"id": claim.id, "seed": seed, "sizes": sizes, "code": code_fingerprint()}

    def load(self, claim: Claim, scale: str, seed: int) -> dict | None:
        """The stored record of this very claim, if record and data are what was written; otherwise None."""
        try:
            record = unsealed(json.loads((self.root / "claims" / f"{claim.id}.json").read_text(encoding="utf-8")))
            data = (self.root / "data" / f"{claim.id}.csv").read_bytes()
        except (OSError, ValueError, RecursionError):
            return None
        if record is None or record.get("identity") != self.identity(claim, scale, seed):
            return None
        return record if record.get("data") == hashlib.sha256(data).hexdigest() else None

    def save(self, claim: Claim, scale: str, seed: int, outcome: Outcome, rows: list[dict], seconds: float) -> dict:
        """Data first, the record last: a record is the proof that all of it is there."""
        table = as_csv(rows)
        record = {
            "identity": self.identity(claim, scale, seed),
            "paper": claim.paper,
            "place": claim.place,
            "title": claim.title,
            "statement": claim.statement,
            "seconds": round(seconds, 1),
            "rows": len(rows),
            "data": hashlib.sha256(table.encode()).hexdigest(),
            **outcome.content(),
        }
        record = plain(record)
        try:
            self.write(Path("data") / f"{claim.id}.csv", table)
            self.write(Path("claims") / f"{claim.id}.json", json.dumps(sealed(record), indent=1, allow_nan=False))
        except InvalidInput as error:
            return {**record, "unsaved": str(error)}  # a full disk loses the file, not the result
        self.parts(claim, scale, seed).clear()
        return record

    def write(self, name: str | Path, text: str) -> None:
        place = self.root / name
        make_folder(place.parent)
        write_text(place, text)

    def parts(self, claim: Claim, scale: str, seed: int) -> "Parts":
        identity = canonical(self.identity(claim, scale, seed))
        name = f"{claim.id}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"
        return Parts(self.root / "parts" / name)


class Parts:
    """Measurements of a claim that is not finished: what a laboratory remembers."""

    def __init__(self, folder: Path):
        self.folder = folder

    def load(self, name: str) -> list[dict] | None:
        try:
            part = unsealed(json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError):
            return None
        return part["rows"] if part is not None and part["name"] == name else None

    def save(self, name: str, rows: list[dict]) -> None:
        try:
            make_folder(self.folder)
            write_text(self.folder / f"{name}.json", canonical(sealed({"name": name, "rows": rows})))
        except InvalidInput:
            pass  # only what would save time after an interruption; the record itself says that the disk is full

    def clear(self) -> None:
        for path in self.folder.glob("*.json"):
            path.unlink()
        for folder in (self.folder, self.folder.parent):
            try:
                folder.rmdir()
            except OSError:
                pass  # absent, or another claim's parts are still there


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error.strerror}; give --out another one") from None


def as_csv(rows: list[dict]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
