"""What a protocol's author wrote: where it is, and a failure in it as one sentence with file and line."""

import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput

PACKAGE = Path(__file__).parent.parent
LIBRARIES = tuple({sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")})


@contextmanager
def authored(what: str, instead: str = "mend it") -> Iterator[None]:
    """Run an author's code: whatever it raises becomes InvalidInput with `what`, the place and what to do instead."""
    try:
        yield
    except (InvalidInput, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InvalidInput(f"{what} fails{place(error)}: {sentence(error)}; {instead}") from error


def place(error: BaseException) -> str:
    """` (file, line N)` of the innermost line that an author wrote; nothing if there is none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_authored(frame.filename)]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def where(function: Callable, line: int | None = None) -> str:
    """`file, line N` of a function, or of a line in it."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    return f"{os.path.basename(code.co_filename)}, line {line or code.co_firstlineno}"


def sentence(error: BaseException) -> str:
    """What an exception says, short and on one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:200]}" if said else type(error).__name__


def _is_authored(filename: str) -> bool:
    """Neither the laboratory nor a library; the catalogue's protocols count as an author's."""
    if filename.startswith("<frozen"):
        return False
    if Path(filename).is_relative_to(PACKAGE):
        return Path(filename).is_relative_to(PACKAGE / "protocols") and Path(filename).name != "loading.py"
    return not filename.startswith(LIBRARIES) and not filename.startswith(sys.base_prefix + "/lib/python")


def kind(value: Any) -> str:
    """A value that does not fit, as a sentence may name it."""
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"
