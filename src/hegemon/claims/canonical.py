"""Content as canonical JSON, from which seeds, keys and digests are made.

No object is converted by `str` or `repr`: the text of a function contains its address, which differs between processes.
"""

import hashlib
import json
import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The same content in Python's own numbers and lists, with None for NaN."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def canonical(content: Any) -> str:
    """One text for one content. Content of other types is an error in the program, and raises TypeError."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(content: Any) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """The content with its digest, so that a reader can check whether it was changed."""
    return {**content, "digest": digest(content)}


def unsealed(content: Any) -> dict[str, Any] | None:
    """The content without its digest, or None if the digest does not fit it."""
    if not isinstance(content, dict) or "digest" not in content:
        return None
    inner = {key: value for key, value in content.items() if key != "digest"}
    return inner if digest(inner) == content["digest"] else None
