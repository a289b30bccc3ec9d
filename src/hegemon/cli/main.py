"""`hegemon`: from the words of a command line to an exit code. It loads little, so that the guard starts at once."""

import gc
import os
import signal
import sys

from hegemon.cli import failures, guard
from hegemon.cli.output import Sheet
from hegemon.errors import is_interrupt

COMPLETION = {"--show-completion", "--install-completion"}  # which Typer handles


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code (see failures.py); as a program, exit with it."""
    if arguments is not None:
        return perform(arguments)
    if sys.argv[1:2] == ["agent"]:  # a member handles signals itself, and loads nothing that it does not need
        from hegemon.cli.agent import main as be_member

        sys.exit(be_member(sys.argv[2:]))
    gc.set_threshold(100_000)  # a start makes many objects and keeps them: looking for garbage took a tenth of it
    if not any("mixing-time" in word for word in sys.argv):  # the one that multiplies large matrices
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start a thread per core, a fifth of `show`
    code = guard.split()
    if code is None:
        code = perform(sys.argv[1:])
        guard.leave(code)
    sys.exit(code)


def perform(arguments: list[str]) -> int:
    """Run one command line and return its exit code; every failure is reported in one sentence."""
    screen, sys.stdout = sys.stdout, Sheet(sys.stdout)
    for stream in (screen, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a screen that lacks a character still shows the rest
    try:
        from hegemon.cli.application import application

        words = [*arguments, *os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()]
        command = application(words)
        code = command(args=arguments or ["--help"], standalone_mode=False, prog_name="hegemon") or failures.YES
        if code == 128 + signal.SIGINT:  # what Typer makes of an interrupt
            raise KeyboardInterrupt
        sys.stdout.flush()
    except BaseException as error:  # a user's file may raise anything
        if isinstance(error, SystemExit) and (
            COMPLETION & {*arguments} or any("COMPLETE" in name for name in os.environ)
        ):
            code, text = int(error.code or 0), ""  # the shell has its completions, or the script that asks for them
        elif isinstance(error, failures.Interrupted):
            code, text = guard.exit_code(), str(error)
        elif guard.received is not None or is_interrupt(error) or type(error).__name__ == "Abort":
            code, text = guard.exit_code(), "interrupted"  # whatever an interrupted library has made of it
        else:
            code, text = failures.sentence(error)
        say(text)
    finally:
        sheet, sys.stdout = sys.stdout, screen
    return code if sheet.failure is None else lost(sheet, code)


def lost(sheet: Sheet, code: int) -> int:
    """Standard output could not be written. A reader that has gone away wanted no more; a full disk is reported."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing is tried again at the end
    except (OSError, ValueError):
        pass
    if sheet.failure is None or isinstance(sheet.failure, BrokenPipeError):
        return code
    place = failures.keep("output", sheet.text)
    say(f"the output cannot be written ({sheet.failure.strerror}); it is kept in {place}")
    return failures.UNFINISHED


def say(text: str) -> None:
    try:
        if text:
            print(f"hegemon: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass  # the stream of errors is closed
