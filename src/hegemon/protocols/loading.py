"""A protocol by name: an id of the catalogue, or `file.py:Class` for a user's own.

A Python file is imported only if the user has named it: on the command line, or in a call from Python. What a study, a
checkpoint or a story names is data: it may come from anywhere.
"""

import difflib
import hashlib
import importlib.util
import inspect
import os
import sys
import traceback
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from hegemon import parts
from hegemon.errors import InvalidInput, pass_interrupt
from hegemon.models.authors import place, sentence
from hegemon.models.naming import address
from hegemon.models.protocol import Protocol
from hegemon.protocols import CATALOGUE
from hegemon.protocols.cited import CITED

_named: set[str] = set()  # files that the user has named, by their real paths


class Unnamed(InvalidInput):
    """A Python file that data names and the user does not."""


def file_of(name: str) -> str | None:
    """The Python file that a protocol's name means; None where the name is none of a file."""
    file = name if name.endswith(".py") else name.rpartition(":")[0]
    return file if file.endswith(".py") and name not in CATALOGUE else None


def name_protocol(name: str) -> str:
    """Note that the user has named this protocol, so that its file may be imported; returns the name."""
    if (file := file_of(name)) is not None:
        with suppress(ValueError):  # a name that no file can have, which the import refuses
            _named.add(os.path.realpath(file))
    return name


def find_protocol(name: str, naming: str = "give --protocol {}") -> type[Protocol]:
    """The protocol class that a name means; `naming` says how the user names a file that only data has named."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    if (file := file_of(name)) is None:
        if not parts.is_known("protocols", name):
            raise InvalidInput(_unknown(name))
        return _of_another_package(name)
    class_name = name[len(file) + 1 :]
    module = load_file(file, naming)
    protocols = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Protocol) and value.__module__ == module.__name__
    }
    if not protocols:
        raise InvalidInput(
            f"{file} defines no protocol; write a class in it such as `class Mine(PopulationProtocol):` "
            "(from hegemon import PopulationProtocol)"
        )
    if not class_name and len(protocols) == 1:
        return next(iter(protocols.values()))
    if class_name not in protocols:
        raise InvalidInput(
            f"{file} defines no protocol {class_name!r}; it defines: {', '.join(protocols)} (write {file}:NAME)"
            if class_name
            else f"{file} defines {len(protocols)} protocols: {', '.join(protocols)}; write which one, as "
            f"{file}:{min(protocols)}"
        )
    return protocols[class_name]


def _of_another_package(name: str) -> type[Protocol]:
    kind = parts.part("protocols", name)
    if not (inspect.isclass(kind) and issubclass(kind, Protocol)):
        raise InvalidInput(f"{name} of another package is no protocol class; report this to its author")
    return kind


def member(file: str, name: str, *default: Any) -> Any:
    """What a user's Python file, named on the command line, calls by this name; it need not define a protocol."""
    name_protocol(file)
    module = load_file(file)
    if not name or not hasattr(module, name):
        if name and default:
            return default[0]
        complaint = "" if not name else f" has no {name!r};"
        raise InvalidInput(f"{file}{complaint or ':'} give the name of its dictionary or function, as {file}:NAME")
    return getattr(module, name)


def name_of(kind: type[Protocol]) -> str | None:
    """The name by which `find_protocol` finds a class in another process; None if it would not."""
    try:
        return address(kind)
    except InvalidInput:
        return None


def _unknown(name: str) -> str:
    """That there is no such protocol, why not, and which one may have been meant."""
    if name in CITED:
        return f"{name} is cited, not run: {CITED[name].reason}; `hegemon show {name}` shows what was published"
    shown = name if len(name) <= 60 and name.isprintable() else repr(name[:57] + "…")
    known = [*CATALOGUE, *parts.plugins("protocols")]
    near = difflib.get_close_matches(name.lower().replace("_", "-"), known, n=1, cutoff=0.6)
    if near:
        return f"there is no protocol {shown!r}; did you mean {near[0]}? `hegemon list` shows all"
    return (
        f"there is no protocol {shown!r}; choose one that `hegemon list` shows, such as time-optimal or ring, or write "
        "your_file.py:YourClass"
    )


class _AsWritten(SourceFileLoader):
    """Reads the file itself: bytecode kept of it is taken for fresh where an edit came within the second and left the
    size as it was, and the protocol before the edit would answer."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def digest_of(file: str) -> str:
    """The SHA-256 of a file, by which a data file says which one it means."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def load_file(file: str, naming: str = "name it yourself: {}") -> ModuleType:
    """The module of a user's file, read anew; refused where the user has not named it."""
    path = Path(file)
    try:
        if not path.is_file():
            raise InvalidInput(f"there is no file {path}; give the path of a Python file")
        resolved = os.path.realpath(path)
        if resolved not in _named:
            raise Unnamed(
                f"{path} (SHA-256 {digest_of(file)[:16]}…) is named by a data file only, and a Python file is imported "
                f"only if you name it; if you trust it, {naming.format(path)}"
            )
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{file[:60]!r} is not the name of a readable file ({sentence(error)})") from None
    # the folder belongs to the name: two files of one name in different folders are two modules
    module_name = f"hegemon_user_{path.stem}_{hashlib.sha256(resolved.encode('utf-8', 'replace')).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(module_name, path, loader=_AsWritten(module_name, resolved))
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path} cannot be loaded as Python; give a file that ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except InvalidInput as error:
        has_line = f"{path.name}, line " in str(error)  # the very line, where there is one
        raise InvalidInput(f"{path}{'' if has_line else _line(error, path)}: {error}") from None
    except SyntaxError as error:
        before = path.read_bytes().partition(b"\0")[0]  # of a null byte Python does not say where it is
        line = error.lineno or before.count(b"\n") + 1
        raise InvalidInput(f"{path}, line {line}: {error.msg}; fix this line") from None
    except BaseException as error:  # a file may also raise SystemExit or GeneratorExit
        pass_interrupt(error)
        raise InvalidInput(f"{path}{_line(error, path)}: {sentence(error)}; fix the file") from None
    return module


def _line(error: BaseException, path: Path) -> str:
    """The line of the file itself at which it fails; of another file of the author's, its name too."""
    own = {str(path), str(path.resolve())}  # Python knows a file by its whole path
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    return f", line {lines[-1]}" if lines else place(error)
