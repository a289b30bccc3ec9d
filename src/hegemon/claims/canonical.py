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
