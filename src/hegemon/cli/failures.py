"""The one place where a failure becomes one sentence and an exit code.

0    done, and the answer is yes: reached, or every claim holds
1    done, and the answer is no: a trial did not reach its stop, something verified does not hold, a claim is violated
2    bad input; the sentence says which value, what is allowed, and what to do
3    could not be finished: the sentence says where the details, or the output, are kept
129, 130, 143    stopped by a hang-up, by Ctrl-C, by SIGTERM; what was finished is printed
"""

import os
import tempfile
import traceback
from typing import Any

from hegemon import errors
from hegemon.errors import Unfinished, meant, short

YES, NO, BAD_INPUT, UNFINISHED = 0, 1, 2, 3
RENAMED = {"--precise": "--relative"}  # options by the names that they had

HELP = (
    "Exit codes: 0 reached, or every claim holds; 1 not reached, refuted or violated; 2 bad input; "
    "3 could not be finished; 129, 130, 143 stopped by a hang-up, by Ctrl-C, by SIGTERM."
)


class Interrupted(BaseException):
    """A signal has ended the work; the text says how far it came."""


def sentence(error: BaseException) -> tuple[int, str]:
    """The exit code and the one sentence that an exception becomes."""
    if hasattr(error, "format_message"):  # a wrong option, in whichever class this Typer has for it
        return BAD_INPUT, short(misused(error))
    said = errors.sentence(error)
    if said is not None:
        return UNFINISHED if isinstance(error, Unfinished | MemoryError) else BAD_INPUT, said
    place = keep("details", "".join(traceback.format_exception(error)))
    what = short(f"{type(error).__name__}: {error}", 150)
    return UNFINISHED, f"something unexpected went wrong ({what}); the details are in {place}"


def misused(error: Any) -> str:
    """What is wrong with an option or a command, the nearest one that there is, and whose --help says more."""
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "") or "hegemon"
    said, given = error.format_message(), getattr(error, "option_name", None)
    if given and context:
        known = [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
        now = RENAMED.get(given)
        said = f"{path} has no option {given}{f', which is {now} now' if now in known else meant(given, known)}"
    return f"{said.rstrip('.')}{' See' if said.endswith('?') else '; see'} {path} --help"


def keep(what: str, text: str) -> str:
    """Write a text where it can be found again; returns the place."""
    try:
        handle, name = tempfile.mkstemp(prefix=f"hegemon-{what}-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return name
    except OSError:
        return "no file, for the temporary folder cannot be written either"
