"""The work is done in a child process, so that a signal takes effect within a second, whatever the work is doing.

A compiled kernel handles no signal before it returns. The parent only waits: it passes a signal on,
gives the child a moment to print what is finished, and ends it if it does not answer. It also turns a crash,
or a kill for lack of memory, into a sentence. The child ends if its parent is gone, so nothing is left behind.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from hegemon.cli.failures import BAD_INPUT, UNFINISHED

GRACE = 0.8  # seconds from a signal to the end of a child that does not answer
HEARD = 5.0  # seconds for a child that has heard it, and is ending its work
DELIVERY = 30.0  # seconds for a child that has answered, and is writing what it has
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

ENDED = "the program was ended from within, with code {}, before the work was done; drop os._exit from your file"

received: int | None = None  # the first signal
_answer: int | None = None  # the pipe to the parent


def exit_code() -> int:
    """128 and the signal that came, as shells have it."""
    return 128 + (received or signal.SIGINT)


def answered(word: bytes = b".") -> None:
    """The work has stopped and what is finished is about to be printed: the parent waits for that."""
    if _answer is not None:
        try:
            os.write(_answer, word)
        except OSError:
            pass


def leave(code: int) -> None:
    """Say to the parent that the work came to its end. After a signal: at once, for a thread inside a kernel would be
    waited for; nothing is left behind."""
    answered(b"d")
    if received is not None:
        _kill_family(os.getpid(), root=False)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        os._exit(code)


def split() -> int | None:
    """Fork. In the child: None. In the parent, once the child has ended: the exit code."""
    global _answer
    if not hasattr(os, "fork"):
        listen()
        return None
    alive_end, alive = os.pipe()  # the child sees the end of it when the parent is gone
    heard, _answer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # a signal waits until both sides can hear it
    child = os.fork()
    if child == 0:
        os.close(alive)
        os.close(heard)
        listen()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        threading.Thread(target=_end_with_parent, args=(alive_end,), daemon=True).start()
        return None
    os.close(alive_end)
    os.close(_answer)
    return _watch(child, heard, before)


def listen() -> None:
    """Every signal is an interrupt from the keyboard to Python code, once; which one it was is remembered."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, _interrupt)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    global received
    if received is None:
        received = number
        answered(b"h")
        sys.unraisablehook = lambda _: None  # an interrupt inside a destructor says nothing
        raise KeyboardInterrupt


def _end_with_parent(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    _kill_family(os.getpid(), root=False)
    _kill(os.getpid(), signal.SIGKILL)


def _watch(child: int, heard: int, mask: set[Any]) -> int:
    """Wait for the child, pass the first signal on, and end the child if it does not answer in time. Signals are
    blocked until they can be passed on; then `mask` is in force again."""
    first: list[tuple[int, float]] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if not first:
            first.append((number, time.monotonic()))
            _kill(child, number)

    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)  # so that select returns when a signal comes
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    patience, killed, ears, done = GRACE, False, [woken, heard], False
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        left = max(0.0, first[0][1] + patience - time.monotonic()) if first and not killed else None
        ready, _, _ = select.select(ears, [], [], left)
        for pipe in ready:
            said = os.read(pipe, 4096)
            if pipe == heard:
                done = done or b"d" in said
                patience = DELIVERY if b"." in said else max(patience, HEARD if said else 0.0)
                if not said:
                    ears.remove(heard)
        if first and not killed and time.monotonic() >= first[0][1] + patience:
            _kill_family(child)
            killed = True
    status = ended[1]
    if first and os.WIFSIGNALED(status):
        print("hegemon: interrupted", file=sys.stderr)
        return 128 + first[0][0]
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        why = "; the memory was probably used up" if name == "SIGKILL" else ""
        print(f"hegemon: the work was ended by the system ({name}{why}); try a smaller n", file=sys.stderr)
        return UNFINISHED
    os.set_blocking(heard, False)
    with contextlib.suppress(OSError):  # nothing more was said
        done = done or b"d" in os.read(heard, 4096)
    if not done:  # os._exit, in a user's file or a library
        print(f"hegemon: {ENDED.format(os.WEXITSTATUS(status))}", file=sys.stderr)
        return BAD_INPUT
    return os.WEXITSTATUS(status)


def _kill_family(process: int, root: bool = True) -> None:
    """End a process, and then all that it has started: nothing is left that could wait for a process that has ended.

    Python's tracker of semaphores is spared: it removes them, and ends by itself.
    """
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):  # where there is no such folder, workers end by themselves
        try:
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
    family = [process]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    for member in family if root else family[1:]:
        if b"multiprocessing.resource_tracker" not in _command(member):
            _kill(member, signal.SIGKILL)


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _kill(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass
