"""The checkpoint from which an interrupted search continues: one JSON file per question."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import read_regular, write_text

PATIENCE = 5.0  # least seconds between two saves
SHARE = 20  # saving takes at most 1/20 of the time of a search
LARGEST = 2**31


class KeptSearch:
    """The finished branches of every problem."""

    def __init__(self, path: str | Path | None, question: dict[str, Any]):
        self.path, self.question = path, question
        self.judged = 0
        self._branches: dict[str, dict[str, Any]] = {}
        self._saved, self._took = time.monotonic(), 0.0
        if path is None or not Path(path).exists():
            return
        content = read_kept(path)
        if content["question"] != question:
            raise InvalidInput(f"{path} belongs to another search; give another file, or the options of that search")
        self._branches, self.judged = content["branches"], content["judged"]

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
        write_kept(self.path, {"question": self.question, "judged": self.judged, "branches": self._branches})
        self._saved = time.monotonic()
        self._took = self._saved - begin


def write_kept(path: str | Path, content: dict[str, Any]) -> None:
    """Write the content with a digest of all of it, so that any damage is detected."""
    text = json.dumps(content)
    write_text(path, json.dumps({"sum": _sum(text)})[:-1] + ', "content": ' + text + "}")


def read_kept(path: str | Path) -> dict[str, Any]:
    """The content that `write_kept` wrote; InvalidInput for a damaged file."""
    try:
        kept = json.loads(read_regular(path, LARGEST))
        content: dict[str, Any] = kept["content"]
        known = kept["sum"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(f"{path} is no checkpoint of a search ({_said(error)}); give another file") from None
    if _sum(json.dumps(content)) != known:
        raise InvalidInput(f"{path} is damaged: its content does not match its sum; remove it, or give another file")
    return content


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _said(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
