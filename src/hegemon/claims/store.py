"""The output folder: records with digests, so that a changed or truncated file is never taken for a result.

Every file is written next to its place and then moved there. Content that does not match its digest is ignored and
measured again.
"""

import csv
import hashlib
import io
import json
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from hegemon.claims.canonical import digest, plain
from hegemon.claims.registry import Claim, Outcome
from hegemon.errors import InvalidInput
from hegemon.experiments.store.memory import Memory
from hegemon.files import write_text
from hegemon.kept import read_kept, write_kept

PRESENTATION = ("cli", "web", "network", "pictures.py", "graph_pictures.py", "report.py", "plots.py")  # not of results


@cache
def code_fingerprint() -> str:
    """A digest of all code that a result depends on, so that results of other code are never taken for its own."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in PRESENTATION and name.name not in PRESENTATION:
            digest.update(str(name).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class ClaimsFolder:
    """`claims/ID.json` (outcomes), `data/ID.csv` (raw rows), `records/` (every measurement, as studies keep them)."""

    def __init__(self, root: str | Path):
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InvalidInput(f"--out {root} is a file; give the name of a folder")
        make_folder(self.root)
        self.memory = Memory(self.root / "records")

    @property
    def name(self) -> str:
        """The folder's own name, by which a worker verifies that it sees this folder."""
        path = self.root / "study.json"
        try:
            return read_kept(path, "study")["folder"]
        except InvalidInput:
            write_kept(path, "study", {"folder": secrets.token_hex(8), "study": "reproduce"})
            return read_kept(path, "study")["folder"]

    def sweep(self) -> None:
        """Remove unfinished files of killed processes; only while no other process writes here."""
        for partial in self.root.rglob(".*.partial"):
            partial.unlink(missing_ok=True)

    def identity(self, claim: Claim, scale: str, seed: int) -> dict[str, Any]:
        """The properties that a stored result must have to be used for this claim."""
        sizes = json.loads(json.dumps(claim.sizes(scale)))
        return {"id": claim.id, "seed": seed, "sizes": sizes, "code": code_fingerprint() + claim.code}

    def load(self, claim: Claim, scale: str, seed: int) -> dict[str, Any] | None:
        """The stored record of this claim, if record and data are undamaged; otherwise None."""
        try:
            record: dict[str, Any] = read_kept(self.root / "claims" / f"{claim.id}.json", "claim")
            data = (self.root / "data" / f"{claim.id}.csv").read_bytes()
        except (OSError, InvalidInput):
            return None
        if record.get("identity") != self.identity(claim, scale, seed):
            return None
        return record if record.get("data") == hashlib.sha256(data).hexdigest() else None

    def describe(
        self, claim: Claim, scale: str, seed: int, outcome: Outcome, rows: list[dict[str, Any]], seconds: float
    ) -> tuple[dict[str, Any], str]:
        """The stored form of a finished claim: its record, and its rows as a table."""
        table = as_csv(rows)
        record = {
            "identity": self.identity(claim, scale, seed),
            "paper": claim.paper,
            "reference": claim.published,
            "file": claim.file,
            "place": claim.place,
            "title": claim.title,
            "statement": claim.statement,
            "seconds": round(seconds, 1),
            "rows": len(rows),
            "data": hashlib.sha256(table.encode()).hexdigest(),
            **outcome.content(),
        }
        return plain(record), table

    def keep(self, record: dict[str, Any], table: str) -> dict[str, Any]:
        """Write the data first and the record last: the record shows that everything was written."""
        name = record["identity"]["id"]
        try:
            self.write(Path("data") / f"{name}.csv", table)
            place = self.root / "claims" / f"{name}.json"
            make_folder(place.parent)
            write_kept(place, "claim", record, indent=1)
        except InvalidInput as error:
            return {**record, "unsaved": str(error)}  # with a full disk the file is lost, not the result
        return record

    def write(self, name: str | Path, text: str) -> None:
        place = self.root / name
        make_folder(place.parent)
        write_text(place, text)

    def parts(self, claim: Claim, scale: str, seed: int, of_twin: bool = False) -> "Parts":
        """Measurements of a claim, finished or not: those made before a kill are not repeated. A twin may have the name
        of its protocol, so its measurements have keys of their own."""
        self.memory.refresh()
        identity = self.identity(claim, scale, seed)
        return Parts(self.memory, {**identity, "twin": True} if of_twin else identity)


class Parts:
    """What a laboratory keeps of one claim: records in the same store as those of studies."""

    def __init__(self, memory: Memory, identity: dict[str, Any]):
        self.memory, self.identity = memory, identity

    def load(self, name: str) -> list[dict[str, Any]] | None:
        return self.memory.load(self._key(name))

    def save(self, name: str, rows: list[dict[str, Any]]) -> None:
        self.memory.save(self._key(name), rows)

    def _key(self, name: str) -> str:
        return digest([self.identity, name])[:32]


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error.strerror}; give --out another one") from None


def as_csv(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
