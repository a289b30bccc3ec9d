"""What hegemon keeps and reads back: always with a digest of all of it, so that damage never becomes another answer.

A text is one object with two fields, the digest and the content under its kind: `{"digest":"…","search":{…}}`. A file
of arrays holds kind and digest as two arrays. Both are data and never run. Documents that people write, such as starts
and stories, have no digest: whoever changes one asks another question.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.files import publish, read_arrays, read_regular, write_bytes

if TYPE_CHECKING:
    import numpy as np

LARGEST = 2**31  # bytes of a text
SEALED = re.compile(rb'\{"digest":"([0-9a-f]{32})","([a-z ]+)":(.*)\}', re.DOTALL)


class Damaged(ValueError):
    """Why a content cannot be used: it is not whole, or of another kind."""


def seal(kind: str, content: Any, indent: int | None = None, infinite: bool = False) -> bytes:
    """The text of a content, on one line if it is not indented; `infinite` allows numbers that are not finite."""
    separators = (",", ":") if indent is None else None
    body = json.dumps(content, indent=indent, separators=separators, allow_nan=infinite).encode()
    return b'{"digest":"' + _digest(body) + b'","' + kind.encode() + b'":' + body + b"}\n"


def unseal(kind: str, text: bytes) -> Any:
    """The content of a text that `seal` made; Damaged for any other text."""
    parts = SEALED.fullmatch(text.removesuffix(b"\n"))
    if parts is None or parts[2] != kind.encode():
        raise Damaged("it is damaged, or of another kind or version")
    if _digest(parts[3]) != parts[1]:
        raise Damaged("it is damaged: its content does not match its digest")
    try:
        return json.loads(parts[3])
    except (ValueError, RecursionError):
        raise Damaged("its content cannot be read") from None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:32].encode()


def write_kept(path: str | Path, kind: str, content: Any, indent: int | None = None, infinite: bool = False) -> None:
    write_bytes(path, seal(kind, content, indent, infinite))


def read_kept(path: str | Path, kind: str) -> Any:
    """The content that `write_kept` wrote; InvalidInput for any other file."""
    with _whole(path, kind):
        return unseal(kind, read_regular(path, LARGEST))


def write_kept_arrays(path: str | Path, kind: str, arrays: "Mapping[str, np.ndarray]") -> None:
    import numpy as np

    content = {**arrays, "kind": _as_array(kind)}
    content["digest"] = _as_array(_digest_of(content))
    with publish(path, "wb") as file:
        np.savez(file, **content)  # type: ignore[arg-type]


def read_kept_arrays(path: str | Path, kind: str) -> "dict[str, np.ndarray]":
    """The arrays that `write_kept_arrays` wrote; InvalidInput for any other file."""
    with _whole(path, kind):
        arrays = read_arrays(path)
        digest = arrays.pop("digest", None)
        if digest is None or "kind" not in arrays or bytes(arrays["kind"]) != kind.encode():
            raise Damaged("it is damaged, or of another kind or version")
        if bytes(digest) != _digest_of(arrays).encode():
            raise Damaged("it is damaged: its content does not match its digest")
        del arrays["kind"]
        return arrays


@contextmanager
def _whole(path: str | Path, kind: str) -> Iterator[None]:
    try:
        yield
    except InvalidInput:  # too large for the memory, or a pipe
        raise
    except FileNotFoundError:
        raise InvalidInput(f"there is no {kind} {path}; give the file that holds it") from None
    except (OSError, ValueError) as error:
        why = str(getattr(error, "strerror", None) or error)
        raise InvalidInput(f"{path} is no whole {kind} ({why}); give another file, or begin without it") from None


def _as_array(text: str) -> "np.ndarray":
    import numpy as np

    return np.frombuffer(text.encode(), np.uint8)


def _digest_of(arrays: "Mapping[str, np.ndarray]") -> str:
    import numpy as np

    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.descr} {array.shape} ".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
