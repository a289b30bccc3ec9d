"""The checkpoint from which an interrupted search continues: one JSON file per question."""

import time
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.kept import read_kept, write_kept

PATIENCE = 5.0  # least seconds between two saves
SHARE = 20  # saving takes at most 1/20 of the time of a search
KIND = "checkpoint of a search"


class KeptSearch:
    """The finished branches of every problem."""

    def __init__(self, path: str | Path | None, question: dict[str, Any]):
        self.path, self.question = path, question
        self._branches: dict[str, dict[str, Any]] = {}
        self._saved, self._took = time.monotonic(), 0.0
        if path is None or not Path(path).exists():
            return
        content = read_kept(path, KIND)
        if content["question"] != question:
            raise InvalidInput(f"{path} belongs to another search; give another file, or the options of that search")
        self._branches = content["branches"]

    def branches(self, number: int) -> dict[str, list[Any]]:
        """The finished branches of one problem, to which its search adds."""
        return self._branches.setdefault(str(number), {})

    def save_now_and_then(self) -> None:
        if time.monotonic() - self._saved >= max(PATIENCE, SHARE * self._took):
            self.save()

    def save(self) -> None:
        if self.path is None:
            return
        begin = time.monotonic()
        write_kept(self.path, KIND, {"question": self.question, "branches": self._branches})
        self._saved = time.monotonic()
        self._took = self._saved - begin
