"""An interaction that compiled code could not finish, said in a sentence that names the pair."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from hegemon.compute.border import NumbaError
from hegemon.errors import InvalidInput, pass_interrupt
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol

PACKAGE = Path(__file__).parent.parent


def refuse_interaction(
    protocol: PopulationProtocol, first: int, second: int, coins: Iterable[int], error: BaseException | None = None
) -> NoReturn:
    """Repeat the interaction of two codes, with each of these coins, in plain Python, which says what is wrong."""
    pass_interrupt(error)
    if isinstance(error, NumbaError):
        refuse_compilation(protocol, "interact", error)
    if isinstance(error, InvalidInput):  # it says what is wrong, and where
        raise InvalidInput(
            f"{protocol.id}: {error} ({protocol.shown_meeting(first, second, next(iter(coins)))})"
        ) from None
    space, shown = protocol.space, ""
    for coin in coins:
        a, b = space.namespace(int(first)), space.namespace(int(second))
        shown = protocol.shown_meeting(first, second, coin)
        try:
            protocol.meet(a, b, coin)
            space.code(a), space.code(b)
        except InvalidInput as problem:
            raise InvalidInput(f"{problem} ({shown})") from None
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"
            raise InvalidInput(f"{protocol.id}: interact fails, {shown}: {said}") from None
    why = f": {type(error).__name__}: {error}" if error else ", though plain Python does not"
    raise InvalidInput(f"{protocol.id}: the compiled interact fails, {shown}{why}")


def _places(lines: list[str]) -> Iterator[tuple[Path, int]]:
    """Where the compiler was, the innermost first."""
    for line in lines:
        if found := re.match(r'File "(.+)", line (\d+)', line):
            yield Path(found[1]).resolve(), int(found[2])


def _is_authors(file: Path) -> bool:
    """Not a kernel of ours, and not the compiler's own library."""
    ours = file.is_relative_to(PACKAGE) and file.relative_to(PACKAGE).parts[0] != "protocols"
    return not ours and "site-packages" not in file.parts


def refuse_compilation(protocol: Protocol, what: str, error: NumbaError) -> NoReturn:
    """What the compiler does not know, without its wall of text."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("Unknown attribute", "Use of unsupported", "Untyped global"))]
    reason = (said or [line for line in lines if not line.startswith(("Failed in", "During"))] or ["no reason"])[0]
    place = next((f" ({file.name}, line {line})" for file, line in _places(lines) if _is_authors(file)), "")
    raise InvalidInput(
        f"{protocol.id}: {what} cannot be compiled: {reason}{place}; use numbers, fields, parameters and plain loops"
    ) from None
