"""Faults to play with, as a script: `2 kill leader, 4 corrupt 10, 6 cut 3, 8 heal` (seconds, what, whom)."""

import random
from dataclasses import dataclass
from typing import Literal

from hegemon.errors import InvalidInput

CHURN = ("join", "leave")  # members that come or go, which the others learn
KINDS = ("kill", "restart", "pause", "resume", "corrupt", "cut", "heal", *CHURN)
FEWEST = 2  # members that always stay
MOST_FAULTS = 100_000
USAGE = (
    f"write `SECONDS KIND [WHOM]`, with commas between; KIND is one of {', '.join(KINDS)}; WHOM is leader or a number"
)


@dataclass(frozen=True)
class NetworkFault:
    """At `seconds`, `kind` happens to the leader (`whom` = "leader") or to that many members drawn at random."""

    seconds: float
    kind: str
    whom: Literal["leader"] | int = 1


def parse_faults(text: str, members: int, seconds: float | None) -> list[NetworkFault]:
    """The faults that a script describes, in order of time."""
    faults = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        words = part.split()
        try:
            at = float(words[0])
        except ValueError:
            raise InvalidInput(f"--faults: {part!r} does not begin with a time in seconds; {USAGE}") from None
        if len(words) not in (2, 3) or words[1] not in KINDS:
            raise InvalidInput(f"--faults: {part!r} is not understood; {USAGE}")
        said = words[2] if len(words) == 3 else "1"
        is_number = said.isascii() and said.isdecimal() and len(said) <= 9
        if said != "leader" and not (is_number and 1 <= int(said) <= members):
            raise InvalidInput(f"--faults: {part!r}: whom? Give leader, or how many of the {members} members")
        if not 0 <= at < (float("inf") if seconds is None else seconds):
            raise InvalidInput(f"--faults: {part!r} is not within the {seconds} seconds of the run; raise --for")
        faults.append(NetworkFault(at, words[1], int(said) if is_number else "leader"))
    if len(faults) > MOST_FAULTS:
        raise InvalidInput(f"--faults has {len(faults)} faults; at most {MOST_FAULTS} are made")
    return sorted(faults, key=lambda fault: fault.seconds)


def choose(fault: NetworkFault, leaders: list[int], suitable: list[int], rng: random.Random) -> list[int]:
    """The members that a fault strikes: the leader if there is one, or random members that it can affect."""
    if fault.whom == "leader":
        return [member for member in leaders if member in suitable][:1]
    return rng.sample(suitable, min(fault.whom, len(suitable)))
