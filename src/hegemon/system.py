"""All that differs between operating systems. Every other file works alike on Linux, macOS and Windows.

A network of processes on one machine and Slurm need a POSIX system; they refuse others in a sentence.
"""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

from hegemon.errors import InvalidInput

if TYPE_CHECKING:
    import asyncio

USUAL_MEMORY = 8e9  # bytes, where the system does not report how much it has
BINARY = getattr(os, "O_BINARY", 0)  # for os.open: Windows would translate the ends of lines
NEW_BINARY = os.O_CREAT | os.O_EXCL | BINARY | getattr(os, "O_CLOEXEC", 0)
WITHOUT_WAITING = BINARY | getattr(os, "O_NONBLOCK", 0)


def optional(name: str) -> ModuleType | None:
    """A module of Python that not every system has."""
    try:
        return __import__(name)
    except ImportError:
        return None


fcntl, msvcrt, resource = optional("fcntl"), optional("msvcrt"), optional("resource")


def require_posix(what: str, instead: str) -> None:
    """Raise InvalidInput on a system without fork and POSIX signals."""
    if not hasattr(os, "fork") or not hasattr(signal, "SIGUSR1"):
        raise InvalidInput(f"{what} needs Linux or macOS: this system has no fork and no signals; {instead}")


# -- users and locks -----------------------------------------------------------------------------------------------


def user() -> str:
    """What tells the present user from others in the name of a shared file."""
    if hasattr(os, "getuid"):
        return str(os.getuid())
    import getpass  # only here: Linux and macOS do not need it

    return getpass.getuser()


def is_own(folder: Path) -> bool:
    """Whether a folder belongs to this user; where files have no owner, the folder of temporary files is the user's."""
    return not folder.is_symlink() and (not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid())


@contextlib.contextmanager
def locked(file: IO[Any]) -> Iterator[None]:
    """Hold the lock of an open file, which the system releases when the process dies. OSError where it cannot."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # a child process forked meanwhile has the file open
    elif msvcrt is not None:
        _wait_for_first_byte(file, msvcrt)
        try:
            yield
        finally:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        yield


def _wait_for_first_byte(file: IO[Any], windows: Any) -> None:
    while True:
        file.seek(0)
        try:
            windows.locking(file.fileno(), windows.LK_LOCK, 1)  # gives up after ten seconds
            return
        except OSError as error:
            if error.errno not in (11, 13, 36):  # not: another process holds it
                raise


# -- memory and disks ----------------------------------------------------------------------------------------------


def peak_memory() -> int:
    """The peak memory of this process in bytes; 0 where the system does not report it."""
    if resource is None:
        return 0
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, the others kibibytes


def whole_memory() -> float:
    """The memory of this machine in bytes."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return USUAL_MEMORY


def memory_available() -> int | None:
    """Bytes available without swapping and within this process's limit (ulimit -v), if the system reports them."""
    try:
        with open("/proc/meminfo") as file:
            fields = dict(line.split(":", 1) for line in file)
        free = int(fields["MemAvailable"].split()[0]) * 1024
        limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
        if resource and limit != resource.RLIM_INFINITY:
            with open("/proc/self/statm") as file:
                free = min(free, max(0, limit - int(file.read().split()[0]) * resource.getpagesize()))
        return free
    except (OSError, KeyError, ValueError):
        return None


def room_on_disk(folder: Path) -> int:
    """Free bytes on the disk of a folder. Raises OSError where it cannot be asked."""
    return shutil.disk_usage(folder).free


# -- signals -------------------------------------------------------------------------------------------------------


def on_signal(loop: "asyncio.AbstractEventLoop", name: str, callback: Callable[[], object]) -> None:
    """Call back in the loop when a signal comes; nothing where the system does not have that signal."""
    number = getattr(signal, name, None)
    if number is None:
        return
    try:
        loop.add_signal_handler(number, callback)
    except NotImplementedError:  # of the loops of Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(callback))
