"""The one exception that bad input raises, and its kin for what broke on the way. The command line prints the sentence
and exits with 2, or with 3."""

from collections.abc import Iterable


class InvalidInput(ValueError):
    """A value from outside that cannot be used: the message names it, what is allowed, and a way out."""


class Unfinished(InvalidInput):
    """Nothing is wrong with what was asked, but it could not be finished: a disk is full, a scheduler is gone."""


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt from the keyboard is what it is, or what it comes from.

    An interrupt that arrives inside compiled code comes out as another error, whose cause it is: from Numba
    a SystemError ("returned a result with an exception set"), from NumPy a TypeError.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def pass_interrupt(error: BaseException | None) -> None:
    """Raise the interrupt that an error comes from, if it comes from one."""
    if is_interrupt(error):
        raise KeyboardInterrupt from None


def meant(word: str, known: Iterable[str]) -> str:
    """` (did you mean all-leaders?)` for a word that is nearly one of those known; nothing if it is far from all."""
    import difflib  # only a mistake needs it

    def plain(text: str) -> str:
        return text[:60].lower().replace("_", "-").strip("-")

    names = {plain(name): name for name in known}
    near = difflib.get_close_matches(plain(str(word)), names, n=1, cutoff=0.6)
    return f" (did you mean {names[near[0]]}?)" if near else ""
