"""The exception that bad input raises, and the one for work that could not be finished. The command line prints its
sentence and exits with 2, or with 3."""

import errno
import traceback
from collections.abc import Iterable

# one meaning for all commands: a full or read-only disk, a name that no file can have, a right that is missing
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EFBIG)
LONGEST = 400  # characters of a sentence; a value from outside may be any length


class InvalidInput(ValueError):
    """A value from outside that cannot be used: the message names it, what is allowed, and a way out."""


class Unfinished(InvalidInput):
    """The input is correct, but the work could not be finished: a lost scheduler."""


class Refused(Exception):
    """A value of an option that cannot be used. It is not a ValueError, which an option parser would reword."""


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an exception is an interrupt from the keyboard, or is caused by one.

    An interrupt that arrives inside compiled code comes out as another error, whose cause it is: from Numba
    a SystemError ("returned a result with an exception set"), from NumPy a TypeError.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def pass_interrupt(error: BaseException | None) -> None:
    """Raise the interrupt that caused an error, if one did."""
    if is_interrupt(error):
        raise KeyboardInterrupt from None


def meant(word: str, known: Iterable[str]) -> str:
    """` (did you mean all-leaders?)` for a word that resembles a known one; else an empty string."""
    import difflib  # imported here: needed only for errors

    def plain(text: str) -> str:
        return text[:60].lower().replace("_", "-").strip("-")

    names = {plain(name): name for name in known}
    near = difflib.get_close_matches(plain(str(word)), names, n=1, cutoff=0.6)
    return f" (did you mean {names[near[0]]}?)" if near else ""


def choose(known: Iterable[str], instead: str = "") -> str:
    """`choose a, b, c, or …` from the names that are not empty; without any, the advice `instead`."""
    names = [name for name in known if name]
    if names:
        return f"choose {', '.join(names)}" + (f", or {instead}" if instead else "")
    return instead or "there is none to choose, so leave it out"


def sentence(error: BaseException) -> str | None:
    """The one sentence that an exception becomes; None if the exception is unexpected."""
    if isinstance(error, InvalidInput | Refused):
        text, place = str(error), place_in_users_file(error.__cause__ or error, called=error.__cause__ is None)
        if place and f"line {place.rpartition('line ')[2].split(',')[0]}" not in text:
            text += f" ({place})"
        return short(text)
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        name = f"{error.filename} " if error.filename else "a file "
        return short(f"{short(name, 100)} cannot be written or read: {error.strerror}; give another file")
    if isinstance(error, MemoryError):
        return short(f"not enough memory ({error}); take a smaller n, fewer trials or fewer workers")
    if isinstance(error, RecursionError):
        return "a value is nested too deeply; give a simpler one"
    place = place_in_users_file(error)
    return short(f"{place}: {type(error).__name__}: {error}; fix the file") if place else None


def place_in_users_file(error: BaseException, called: bool = False) -> str:
    """The last place of an exception in a user's own file, as `file.py, line 8, in validate`; "" if there is none. With
    `called`, only a place that called hegemon: errors that users raise themselves keep their own sentence."""
    for depth, frame in enumerate(reversed(list(traceback.walk_tb(error.__traceback__)))):
        scope = frame[0].f_globals
        if str(scope.get("__name__", "")).startswith("hegemon_user_"):
            if called and depth == 0:
                return ""
            return f"{scope.get('__file__')}, line {frame[1]}, in {frame[0].f_code.co_name}"
    return ""


def shown(value: object, longest: int = 80) -> str:
    """A value as it is quoted in a sentence: short, printable, and whatever it does when it is shown."""
    try:
        text = repr(value)
    except Exception:  # somebody else's __repr__ raises anything; a number of very many digits is a ValueError
        text = f"a value of type {type(value).__name__}"
    return short(text if len(text) <= longest else f"{text[: longest - 1]}…")


def short(text: str, longest: int = LONGEST) -> str:
    """One line of bounded length, whatever a value from outside has put into it."""
    text = "".join(c if c.isprintable() else " " if c.isspace() else ascii(c)[1:-1] for c in text)
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest * 2 // 3]} … {text[-longest // 3 :]}"
