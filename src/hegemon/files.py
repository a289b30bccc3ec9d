"""How all files are written: next to their place, then moved into it, so that a kill never leaves half a file.

`reserve` tests before the work whether a file can be written at all; `publish` writes it. `read_arrays` and
`check_fits` are for files from elsewhere: nothing is unpacked before its size is known.
"""

import io
import math
import os
import stat
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.system import WITHOUT_WAITING, memory_available

if TYPE_CHECKING:
    import numpy as np

MARK = ".partial"  # the ending of an unfinished file's name


_reading: ContextVar[set[str] | None] = ContextVar("reading", default=None)


@contextmanager
def files_read() -> Iterator[set[str]]:
    """The full paths of the files that runs read meanwhile: whoever opens one for a run notes it."""
    found: set[str] = set()
    token = _reading.set(found)
    try:
        yield found
    finally:
        _reading.reset(token)


def note_reading(path: str | os.PathLike[str]) -> None:
    """A run depends on this file."""
    if (found := _reading.get()) is not None:
        found.add(os.path.abspath(path))


def named_file(text: str) -> str:
    """The file that a value such as `recorded:FILE.csv` or `FILE.json` may name; empty if there is no such file."""
    return next((part for part in (text, text.partition(":")[2]) if part and os.path.isfile(part)), "")


def reserve(path: str | os.PathLike[str]) -> Path:
    """The path, if a file can be written there; this is tested now, not after hours of work."""
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
def publish(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """A file opened for writing, which appears under its name only if the block ends without an error."""
    options: dict[str, Any] = {} if "b" in mode else {"newline": "", "encoding": "utf-8"}
    with _one_sentence(path):
        place = Path(path)
        if _is_special(place):  # a device or a pipe is written directly, never replaced
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


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a regular file of at most `most` bytes; pipes and devices, which may never end, are refused."""
    handle = os.open(path, os.O_RDONLY | WITHOUT_WAITING)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InvalidInput(f"{path} is no regular file; give one")
        content = file.read(most + 1)
    if len(content) > most:
        raise InvalidInput(f"{path} has more than {most:,} bytes; give a smaller file")
    return content


def discard_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove the unfinished files that killed writers of this file left. No other process may be writing it."""
    place = Path(path).absolute()
    for beside in place.parent.iterdir():
        if beside.name.startswith(f".{place.name[:100]}.") and beside.name.endswith(MARK):
            beside.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with publish(path) as file:
        file.write(text)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    with publish(path, "wb") as file:
        file.write(content)


def write_with(path: str | os.PathLike[str], write: Callable[[Path], Any]) -> None:
    """For libraries that need a name, not a file: `write(name)` gets a temporary name with the same ending."""
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


def read_arrays(path: str | os.PathLike[str]) -> "dict[str, np.ndarray]":
    """The arrays of a file that `numpy.savez` wrote; ValueError, with the reason, for any other file.

    Such a file is not compressed: its parts together are no larger than the file, and no array is larger than its part.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    if not os.path.isfile(path):
        raise ValueError("it is no regular file")
    size = os.path.getsize(path)
    check_fits(path, size)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            unpacked = sum(part.file_size for part in parts)
            if unpacked > size or any(part.compress_type != zipfile.ZIP_STORED for part in parts):
                raise ValueError(f"it unpacks to {written(unpacked)} and has {written(size)}; nothing of it was read")
            return {part.filename.removesuffix(".npy"): _array(archive.read(part)) for part in parts}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, struct.error):
        raise ValueError("it is damaged, or no file of arrays") from None


def _array(content: bytes) -> "np.ndarray":
    """An array from the bytes of its part. The size in its header is compared with the bytes present."""
    import numpy as np
    from numpy.lib import format as form

    file = io.BytesIO(content)
    readers = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
    read = readers.get(form.read_magic(file))
    if read is None:
        raise ValueError("it has arrays of an unknown form")
    shape, in_columns, kind = read(file)
    if kind.hasobject or math.prod(shape) * kind.itemsize != len(content) - file.tell():
        raise ValueError("an array in it is not as large as it says")
    return np.frombuffer(content, kind, offset=file.tell()).reshape(shape, order="F" if in_columns else "C").copy()


def check_fits(path: str | os.PathLike[str], size: int) -> None:
    """Refuse to read what does not fit into memory."""
    free = memory_available()
    if free is not None and size > free:
        raise InvalidInput(
            f"{_shown(path)} takes {written(size)} when read, and {written(free)} of memory are free; give another file"
        )


def written(size: float) -> str:
    """A number of bytes in a readable unit, of which it is more than one."""
    unit, name = next((one for one in ((1e9, "GB"), (1e6, "MB")) if size >= one[0]), (1e3, "kB"))
    return f"{size / unit:,.1f} {name}"


def _is_special(place: Path) -> bool:
    return place.exists() and not stat.S_ISREG(place.stat().st_mode) and not place.is_dir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _one_sentence(path: object) -> Iterator[None]:
    """The system's error about a name or a disk, as one sentence."""
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


def _shown(path: object) -> str:
    text = ascii(str(path)) if not str(path).isprintable() else str(path)
    return text if len(text) <= 120 else text[:117] + "…"
