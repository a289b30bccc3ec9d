"""Errors for a transition that compiled code could not finish: they name the agents, or the node, at which it fails."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from hegemon.compute.border import NumbaError
from hegemon.compute.failures import Undone
from hegemon.errors import InvalidInput, pass_interrupt
from hegemon.graphs.topology import Topology
from hegemon.models import authors
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol

if TYPE_CHECKING:
    from hegemon.models.rounds import RoundsProtocol

PACKAGE = Path(__file__).parent.parent


def refuse_interaction(
    protocol: PopulationProtocol, first: int, second: int, coins: Iterable[int], error: BaseException | None = None
) -> NoReturn:
    """Repeat the interaction of two codes, with each of these coins, in plain Python, and raise what is wrong."""
    pass_interrupt(error)
    if isinstance(error, NumbaError):
        refuse_compilation(protocol, "interact", error)
    if isinstance(error, InvalidInput):  # its message already says what is wrong, and where
        raise InvalidInput(
            f"{protocol.id}: {error} ({protocol.shown_meeting(first, second, next(iter(coins)))})"
        ) from None
    space, shown = protocol.space, ""
    for coin in coins:
        a, b = space.namespace(int(first)), space.namespace(int(second))
        shown = protocol.shown_meeting(first, second, coin)
        with _in_words(shown, f"{protocol.id}: interact fails, {shown}"):
            protocol.meet(a, b, coin)
            space.code(a), space.code(b)
    why = f": {type(error).__name__}: {error}" if error else ", though plain Python does not"
    raise InvalidInput(f"{protocol.id}: the compiled interact fails, {shown}{why}")


def refuse_update(
    protocol: "RoundsProtocol",
    topology: Topology,
    configuration: Configuration,
    time: int,
    fails: Callable[[int, int], bool],
    error: BaseException | None = None,
) -> NoReturn:
    """Find the first node at which the round after `time` fails, and repeat its update in plain Python.

    `fails(low, high)` makes this round for a range of nodes, compiled.
    """
    if isinstance(error, NumbaError):
        refuse_compilation(protocol, "update", error)
    low, high = 0, topology.n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(low, middle) else (middle, high)
    space, near = protocol.space, topology.neighbours(low)
    me, *others = protocol.namespaces(configuration.agents[np.concatenate([[low], near])])
    shown = f"{space.mapping(me)} with neighbours {[space.mapping(other) for other in others]}"
    if isinstance(error, Undone):  # its message already says what is wrong, and where
        raise InvalidInput(f"{protocol.id}: {error} (node {shown})") from None
    others = protocol.as_seen(others, protocol.ports_back(topology, low))
    for coins, _ in protocol.coin_faces:
        state, tossed = copy.copy(me), protocol.coins_in_words(coins)
        with _in_words(f"node {shown}, coins {tossed}", f"{protocol.id}: update fails on {shown}, coins {tossed}"):
            protocol.move(state, others, coins)
            space.check(state)
    why = f": {type(error).__name__}: {error}" if error else ""
    raise InvalidInput(f"{protocol.id}: the compiled update fails in round {time + 1}{why}")


@contextmanager
def _in_words(place: str, failure: str) -> Iterator[None]:
    """Raise an InvalidInput for what an author's function raises: an InvalidInput with the `place` added, anything else
    as a `failure`."""
    try:
        yield
    except InvalidInput as problem:
        raise InvalidInput(f"{problem} ({place})") from None
    except Exception as problem:  # in the author's code: said with the place
        raise InvalidInput(f"{failure}: {type(problem).__name__}: {problem}{authors.place(problem)}") from None


def _places(lines: list[str]) -> Iterator[tuple[Path, int]]:
    """The files and lines in the compiler's message, the innermost first."""
    for line in lines:
        if found := re.match(r'File "(.+)", line (\d+)', line):
            yield Path(found[1]).resolve(), int(found[2])


def _is_authors(file: Path) -> bool:
    """Whether this is neither a kernel of hegemon nor a library."""
    ours = file.is_relative_to(PACKAGE) and file.relative_to(PACKAGE).parts[0] != "protocols"
    return not ours and "site-packages" not in file.parts


def refuse_compilation(protocol: Protocol, what: str, error: NumbaError) -> NoReturn:
    """Raise InvalidInput with the one line of the compiler's message that names what it does not support."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("Unknown attribute", "Use of unsupported", "Untyped global"))]
    reason = (said or [line for line in lines if not line.startswith(("Failed in", "During"))] or ["no reason"])[0]
    place = next((f" ({file.name}, line {line})" for file, line in _places(lines) if _is_authors(file)), "")
    raise InvalidInput(
        f"{protocol.id}: {what} cannot be compiled: {reason}{place}; use numbers, fields, parameters and plain loops"
    ) from None
