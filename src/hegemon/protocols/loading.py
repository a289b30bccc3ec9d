"""A protocol by name: an id of the catalogue, or `file.py:Class` for a user's own."""

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.protocols import CATALOGUE


def find_protocol(name: str) -> type[Protocol]:
    """The protocol class that a name on the command line means."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    file, _, class_name = name.partition(":")
    if not file.endswith(".py"):
        known = ", ".join(CATALOGUE)
        raise InvalidInput(f"there is no protocol {name!r}; choose {known}, or write your_file.py:YourClass")
    module = _load(Path(file))
    found = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Protocol) and value.__module__ == module.__name__
    }
    if not class_name and len(found) == 1:
        return next(iter(found.values()))
    if class_name not in found:
        known = ", ".join(found) or "none"
        raise InvalidInput(f"{file} defines no protocol {class_name!r}; it defines: {known} (write {file}:NAME)")
    return found[class_name]


def _load(path: Path):
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}; give the path of a Python file that defines a protocol")
    module_name = f"hegemon_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    except SyntaxError as error:
        raise InvalidInput(f"{path}, line {error.lineno}: {error.msg}; mend the file") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: the file is not the program
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        place = f", line {lines[-1]}" if lines else ""
        raise InvalidInput(f"{path}{place}: {type(error).__name__}: {error}; mend the file") from None
    return module
