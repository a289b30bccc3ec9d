"""Commands of a page, validated: each is a JSON object whose numbers are in their ranges."""

import json
from typing import Any, NoReturn

from hegemon.errors import InvalidInput

LONGEST_REFUSAL = 400  # characters
NOT_UNDERSTOOD = "the page sent a command that is not understood"
NO_MEMORY = "there is not enough memory for that run; take a smaller n or another graph"


def parse_command(text: str) -> dict[str, Any]:
    """The command in a message of the page; ValueError if the message is not a command."""
    try:
        command = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError(text[:80]) from None
    if not isinstance(command, dict) or not isinstance(command.get("do"), str):
        raise ValueError(text[:80])
    return command


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def number_in(command: dict[str, Any], name: str, low: float, high: float, is_whole: bool = True) -> float:
    """A number of a command, checked against its range."""
    value = command.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if low <= value <= high and not (is_whole and value != int(value)):
            return int(value) if is_whole else float(value)
        shown = json.dumps(value)
    else:
        shown = type(value).__name__
    what = "a whole number" if is_whole else "a number"
    raise InvalidInput(f"{name} = {shown[:40]} is out of range; it must be {what} in {low:,}..{high:,}")


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_REFUSAL else text[:LONGEST_REFUSAL] + "…"


def refused(error: Exception) -> dict[str, Any]:
    """The reply to a command that raised this error; an error that no command may raise is raised again."""
    if isinstance(error, InvalidInput):
        return {"refused": shortened(str(error))}
    if isinstance(error, MemoryError):
        return {"refused": NO_MEMORY}
    if isinstance(error, KeyError | TypeError | ValueError | OverflowError | IndexError):
        return {"refused": NOT_UNDERSTOOD}
    raise error
