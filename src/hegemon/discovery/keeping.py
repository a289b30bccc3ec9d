"""What an interrupted search leaves behind, and goes on from: one JSON file that belongs to one question."""

import json
import time
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import read_regular, write_text

PATIENCE = 5.0  # seconds between two times of saving, at least
SHARE = 20  # saving takes at most one part in 20 of the time of a search
LARGEST = 2**31


class KeptSearch:
    """The finished branches of every problem."""

    def __init__(self, path: str | Path | None, question: dict[str, Any]):
        self.path, self.question = path, question
        self.judged = 0
        self._branches: dict[str, dict] = {}
        self._saved, self._took = time.monotonic(), 0.0
        if path is None or not Path(path).exists():
            return
        try:
            content = json.loads(read_regular(path, LARGEST))
            known, self._branches, self.judged = content["question"], content["branches"], content["judged"]
            if not isinstance(self._branches, dict) or not all(
                isinstance(one, dict) for one in self._branches.values()
            ):
                raise ValueError("it has no branches")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path} is no checkpoint of a search ({error}); give another file") from None
        if known != question:
            raise InvalidInput(f"{path} belongs to another search; give another file, or the options of that search")

    def branches(self, number: int) -> dict[str, list]:
        """The finished branches of one problem, to which its search adds."""
        return self._branches.setdefault(str(number), {})

    def save_now_and_then(self) -> None:
        if time.monotonic() - self._saved >= max(PATIENCE, SHARE * self._took):
            self.save()

    def save(self) -> None:
        if self.path is None:
            return
        begin = time.monotonic()
        content = {"question": self.question, "judged": self.judged, "branches": self._branches}
        write_text(self.path, json.dumps(content))
        self._saved = time.monotonic()
        self._took = self._saved - begin
