"""What a result depends on besides its case: the code that runs a trial, and the files that a case names."""

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
ROOMS = ("errors.py", "graphs", "models", "compute", "engines", "runs")  # the code that a trial runs
LIBRARIES = ("numpy", "numba")  # they determine random streams and compiled arithmetic


@cache
def code_fingerprint() -> str:
    """A digest of the code that runs trials, so that results of other code are never taken for results of this one."""
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    for room in ROOMS:
        for path in [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:32]


_fingerprints: dict[type, str] = {}


def protocol_fingerprint(protocol_class: type) -> str:
    """A digest of the files that define a protocol: its own, its base classes', and the user files they import."""
    if protocol_class not in _fingerprints:
        _fingerprints[protocol_class] = _fingerprint(protocol_class)
    return _fingerprints[protocol_class]


def _fingerprint(protocol_class: type) -> str:
    modules = [sys.modules.get(ancestor.__module__) for ancestor in protocol_class.__mro__]
    return _digest(protocol_class.__qualname__, modules)


def module_fingerprint(module: ModuleType) -> str:
    """A digest of a user's file and of the user files that it imports."""
    return _digest("", [module])


def _digest(name: str, modules: list[ModuleType | None]) -> str:
    files: set[Path] = set()
    for module in modules:
        _collect(module, files)
    digest = hashlib.sha256(name.encode())
    for text in sorted(path.read_bytes() for path in files):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[:32]


def _collect(module: ModuleType | None, files: set[Path]) -> None:
    name = getattr(module, "__file__", None)
    if not name or not name.endswith(".py"):
        return
    path = Path(name).resolve()
    ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] != "protocols"  # covered by `code_fingerprint`
    if ours or path in files:
        return
    files.add(path)
    for other in _imported(module, path):
        other_file = getattr(other, "__file__", None)
        if other_file and Path(other_file).resolve().is_relative_to(path.parent):
            _collect(other, files)


def _imported(module: ModuleType | None, path: Path) -> Iterator[ModuleType | None]:
    """The modules of a module's values, and those its source imports: an imported number does not show its module."""
    for value in list(vars(module).values()):
        yield value if inspect.ismodule(value) else sys.modules.get(getattr(value, "__module__", None) or "")
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (sys.modules.get(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            package = getattr(module, "__package__", None) or ""
            yield sys.modules.get(resolve_name(name, package) if node.level and package else name)


def file_digest(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:32]
