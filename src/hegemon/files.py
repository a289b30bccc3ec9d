"""The one way to write a file: beside its place, then moved into it, so that no kill leaves half of one.

`reserve` tries before the work is done whether a file can be written at all; `publish` writes it.
"""

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hegemon.errors import InvalidInput

MARK = ".partial"  # what an unfinished file's name ends with


def reserve(path: str | os.PathLike) -> Path:
    """The path, if a file can be written there: tried now, not after hours of work."""
    with _one_sentence(path):
        place = Path(path)
        if place.is_dir():
            raise InvalidInput(f"{path} is a folder; give the name of a file")
        if not place.absolute().parent.is_dir():
            raise InvalidInput(f"there is no folder {place.parent} to write {path} into; make it first")
        if _is_special(place):
            with open(place, "ab"):
                pass
            return place
        if place.exists() and not os.access(place, os.W_OK):
            raise InvalidInput(f"{path} may not be written; give another file")
        handle, name = tempfile.mkstemp(prefix=f".{place.name[:100]}.", suffix=MARK, dir=place.absolute().parent)
        os.close(handle)
        os.unlink(name)
        if not place.exists():
            place.touch()  # the name itself may be too long
            place.unlink()
        return place


@contextmanager
def publish(path: str | os.PathLike, mode: str = "w") -> Iterator[IO[Any]]:
    """A file opened for writing, which appears under its name only when the block ends well."""
    options: dict[str, Any] = {} if "b" in mode else {"newline": "", "encoding": "utf-8"}
    with _one_sentence(path):
        place = Path(path)
        if _is_special(place):  # a device or a pipe is written to, never replaced
            with open(place, mode, **options) as file:
                yield file
            return
        handle, name = tempfile.mkstemp(prefix=f".{place.name[:100]}.", suffix=MARK, dir=place.absolute().parent)
        try:
            with os.fdopen(handle, mode, **options) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask())
            os.replace(name, place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def discard_unfinished(path: str | os.PathLike) -> None:
    """Remove what a kill left beside a file while it was written. Only for a file that nobody else is writing."""
    place = Path(path).absolute()
    for beside in place.parent.iterdir():
        if beside.name.startswith(f".{place.name[:100]}.") and beside.name.endswith(MARK):
            beside.unlink(missing_ok=True)


def write_text(path: str | os.PathLike, text: str) -> None:
    with publish(path) as file:
        file.write(text)


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    with publish(path, "wb") as file:
        file.write(content)


def write_with(path: str | os.PathLike, write: Callable[[Path], Any]) -> None:
    """For libraries that want a name and not a file: `write(name)` gets one beside, with the same ending."""
    with _one_sentence(path):
        place = Path(path)
        if _is_special(place):
            write(place)
            return
        beside = place.with_name(f".{place.stem[:100]}.{os.urandom(8).hex()}{MARK}{place.suffix}")
        try:
            write(beside)
            os.replace(beside, place)
        finally:
            beside.unlink(missing_ok=True)


def _is_special(place: Path) -> bool:
    return place.exists() and not stat.S_ISREG(place.stat().st_mode) and not place.is_dir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _one_sentence(path) -> Iterator[None]:
    """What the system says about a name or a disk, as one sentence."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{_shown(path)} cannot be written: {error.strerror or error}; give another file") from None
    except UnicodeEncodeError:
        raise InvalidInput(f"the file name {_shown(path)} has a character that no file name can have") from None
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise InvalidInput(f"the file name {_shown(path)} has a null byte; give another name") from None


def _shown(path) -> str:
    text = ascii(str(path)) if not str(path).isprintable() else str(path)
    return text if len(text) <= 120 else text[:117] + "…"
