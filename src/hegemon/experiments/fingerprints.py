"""What a result depends on besides its case: the code that runs a trial, and the files that a case names."""

import hashlib
import inspect
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("errors.py", "graphs", "models", "compute", "engines", "runs")  # what a trial passes through
LIBRARIES = ("numpy", "numba")  # random streams and compiled arithmetic are theirs


@cache
def code_fingerprint() -> str:
    """A digest of the code of every trial: results of another program never pass for this one's."""
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    for room in ROOMS:
        for path in [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:32]


_fingerprints: dict[type, str] = {}


def protocol_fingerprint(protocol_class: type) -> str:
    """A digest of the files that define a protocol: its own, its ancestors', and what they import from beside."""
    if protocol_class not in _fingerprints:
        _fingerprints[protocol_class] = _fingerprint(protocol_class)
    return _fingerprints[protocol_class]


def _fingerprint(protocol_class: type) -> str:
    files: set[Path] = set()
    for ancestor in protocol_class.__mro__:
        _collect(sys.modules.get(ancestor.__module__), files)
    digest = hashlib.sha256(protocol_class.__qualname__.encode())
    for text in sorted(path.read_bytes() for path in files):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[:32]


def _collect(module, files: set[Path]) -> None:
    name = getattr(module, "__file__", None)
    if not name or not name.endswith(".py"):
        return
    path = Path(name).resolve()
    ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] != "protocols"  # in `code_fingerprint`
    if ours or path in files:
        return
    files.add(path)
    for value in list(vars(module).values()):
        other = value if inspect.ismodule(value) else sys.modules.get(getattr(value, "__module__", None) or "")
        other_file = getattr(other, "__file__", None)
        if other_file and Path(other_file).resolve().is_relative_to(path.parent):
            _collect(other, files)


def file_digest(path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:32]
