"""What is measured beside the tests. A reader that closes the pipe early, as `| head` does, is no failure."""

import os
import sys
from types import TracebackType


def _unless_closed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to be flushed at the end
    else:
        sys.__excepthook__(kind, error, trace)


if sys.argv[0] == "-m":  # a command, `python -m benchmarks.figures`
    sys.excepthook = _unless_closed
