"""The checkpoint from which an interrupted measurement of a holding time continues."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from hegemon.errors import InvalidInput
from hegemon.experiments.holding.ensemble import Replication
from hegemon.experiments.holding.process import Process
from hegemon.experiments.holding.scouting import Scouted
from hegemon.kept import read_kept, write_kept
from hegemon.models.protocol import Protocol

KIND = "checkpoint of a holding time"


class KeptReplications:
    """The plan and the replications so far, in one JSON file that belongs to one question."""

    def __init__(self, path: str | Path | None, protocol: Protocol, process: Process, importance: str, seed: int):
        self.path, self.scouted, self.replications = path, None, []
        what = [protocol.id, protocol.values, process.topology.name, process.start.tolist(), importance, seed]
        what += [str(process.scheduler)] * (not process.scheduler.even)
        self._digest = hashlib.sha256(repr(what).encode()).hexdigest()
        if path is None or not Path(path).exists():
            return
        content = read_kept(path, KIND)
        if content["question"] != self._digest:
            raise InvalidInput(f"{path} belongs to another question (protocol, n, start or seed); give another file")
        self.scouted = Scouted.from_record(content["scouted"])
        self.replications = [Replication.from_record(record) for record in content["replications"]]

    def save(self, scouted: Scouted, found: Sequence[Replication] = ()) -> None:
        if self.path is None or len(found) < len(self.replications):
            return
        records = [one.record() for one in found]
        content = {"question": self._digest, "scouted": scouted.record(), "replications": records}
        write_kept(self.path, KIND, content, infinite=True)
