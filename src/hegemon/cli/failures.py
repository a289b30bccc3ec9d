"""The one place where a failure becomes one sentence and an exit code.

0    done, and the answer is yes: reached, or every claim holds
1    done, and the answer is no: a trial did not reach its stop, a claim is refuted or violated
2    bad input; the sentence says which value, what is allowed, and what to do
3    could not be finished: the sentence says where the details, or the output, are kept
129, 130, 143    stopped by a hang-up, by Ctrl-C, by SIGTERM; what was finished is printed
"""

import os
import tempfile
import traceback
from typing import Any

from hegemon.errors import InvalidInput, Unfinished, meant

YES, NO, BAD_INPUT, UNFINISHED = 0, 1, 2, 3
RENAMED = {"--precise": "--relative"}  # options by the names that they had
LONGEST = 400  # characters of a sentence; a value from outside may be any length

HELP = (
    "Exit codes: 0 reached, or every claim holds; 1 not reached, refuted or violated; 2 bad input; "
    "3 could not be finished; 129, 130, 143 stopped by a hang-up, by Ctrl-C, by SIGTERM."
)


class Refused(Exception):
    """A value of an option that cannot be used. No ValueError, which an option parser would reword."""


class Interrupted(BaseException):
    """A signal has ended the work; the text says how far it came."""


def sentence(error: BaseException) -> tuple[int, str]:
    """The exit code and the one sentence that an exception becomes."""
    if isinstance(error, InvalidInput | Refused):
        text, place = str(error), place_in_users_file(error.__cause__ or error, called=error.__cause__ is None)
        if place and f"line {place.rpartition('line ')[2].split(',')[0]}" not in text:
            text += f" ({place})"
        return UNFINISHED if isinstance(error, Unfinished) else BAD_INPUT, short(text)
    if hasattr(error, "format_message"):  # a wrong option, in whichever class this Typer has for it
        return BAD_INPUT, short(misused(error))
    if isinstance(error, MemoryError):
        return UNFINISHED, short(f"not enough memory ({error}); take a smaller n, fewer trials or fewer workers")
    if isinstance(error, RecursionError):
        return BAD_INPUT, "a value is nested too deeply; give a simpler one"
    place = place_in_users_file(error)
    if place:
        return BAD_INPUT, short(f"{place}: {type(error).__name__}: {error}; mend the file")
    place = keep("details", "".join(traceback.format_exception(error)))
    what = short(f"{type(error).__name__}: {error}", 150)
    return UNFINISHED, f"something unexpected went wrong ({what}); the details are in {place}"


def misused(error: Any) -> str:
    """What is wrong with an option or a command, the nearest one that there is, and whose --help tells more."""
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "") or "hegemon"
    said, given = error.format_message(), getattr(error, "option_name", None)
    if given and context:
        known = [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
        now = RENAMED.get(given)
        said = f"{path} has no option {given}{f', which is {now} now' if now in known else meant(given, known)}"
    return f"{said.rstrip('.')}{' See' if said.endswith('?') else '; see'} {path} --help"


def place_in_users_file(error: BaseException, called: bool = False) -> str:
    """Where in a user's own file an exception passed last, as `file.py, line 8, in validate`; "" if nowhere. With
    `called`, only where something of the laboratory was called: what users refuse themselves is their own sentence."""
    for depth, frame in enumerate(reversed(list(traceback.walk_tb(error.__traceback__)))):
        scope = frame[0].f_globals
        if str(scope.get("__name__", "")).startswith("hegemon_user_"):
            if called and depth == 0:
                return ""
            return f"{scope.get('__file__')}, line {frame[1]}, in {frame[0].f_code.co_name}"
    return ""


def short(text: str, longest: int = LONGEST) -> str:
    """One line of bounded length, whatever a value from outside has put into it."""
    text = "".join(c if c.isprintable() else " " if c.isspace() else ascii(c)[1:-1] for c in text)
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest * 2 // 3]} … {text[-longest // 3 :]}"


def keep(what: str, text: str) -> str:
    """Write a text where it can be found again; returns the place."""
    try:
        handle, name = tempfile.mkstemp(prefix=f"hegemon-{what}-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return name
    except OSError:
        return "no file, for the temporary folder cannot be written either"
