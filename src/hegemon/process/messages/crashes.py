"""Crash-stop: from the beginning of some round on a node does nothing more. What it sent before still arrives."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from hegemon.doors import entries
from hegemon.errors import InvalidInput
from hegemon.models.expressions import fraction_of, whole_number
from hegemon.models.grammar import short

FORMS = "round=K,nodes=J (J random nodes), round=K,node=V (this one) or rate=R (each node, in every round)"
NEVER = 2**62
LARGEST = 10_000_000  # nodes


@dataclass(frozen=True)
class Crash:
    """At the beginning of `round` the node `node`, or `nodes` random ones; or each node, in every round, with
    probability `rate`."""

    round: int = 0
    nodes: int = 0
    node: int | None = None
    rate: Fraction = Fraction(0)

    def __str__(self) -> str:
        if self.rate:
            return f"rate={self.rate}"
        return f"round={self.round}," + (f"nodes={self.nodes}" if self.node is None else f"node={self.node}")


def parse_crash(text: str) -> Crash:
    parts = dict(part.partition("=")[::2] for part in str(text).replace(" ", "").split(","))
    try:
        if parts.keys() == {"rate"}:
            found = Crash(rate=fraction_of(parts["rate"]))
        elif parts.keys() in ({"round", "nodes"}, {"round", "node"}):
            numbers = {name: whole_number(value, name, high=NEVER) for name, value in parts.items()}
            found = Crash(numbers["round"], numbers.get("nodes", 0), numbers.get("node"))
        else:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"the crash {short(text)} is not understood; write {FORMS}") from None
    fixed = found.round >= 1 and (found.nodes >= 1 if found.node is None else found.node >= 0)
    if not (0 < found.rate < 1 if "rate" in parts else fixed):
        raise InvalidInput(f"the crash {short(text)} is out of range; rounds and numbers of nodes are >= 1, 0 < R < 1")
    return found


def read_crashes(given: Any) -> tuple[Crash, ...]:
    """`none`, strings (several divided by semicolons), or crashes."""
    return tuple(one if isinstance(one, Crash) else parse_crash(one) for one in entries("crash", given))


def require_nodes(crashes: tuple[Crash, ...], n: int) -> None:
    """Raise InvalidInput if a crash names more nodes than there are, or there are too many nodes."""
    for one in crashes:
        if one.nodes > n or one.node is not None and one.node >= n:
            raise InvalidInput(f"the crash {one} needs more nodes than there are; they are 0..{n - 1}")
    if crashes and n > LARGEST:
        raise InvalidInput(f"crashes are drawn for every node, and n = {n:,} are too many; take at most {LARGEST:,}")


def crash_rounds(crashes: tuple[Crash, ...], n: int, rng: np.random.Generator) -> np.ndarray | None:
    """The round from which on each node does nothing; without crashes None, and nothing is drawn."""
    if not crashes:
        return None
    rounds = np.full(n, NEVER)
    for one in crashes:
        if one.rate:
            drawn = rng.geometric(float(one.rate), size=n)
            rounds = np.minimum(rounds, np.where(drawn > 0, drawn, NEVER))  # beyond 64 bits NumPy returns the least
        else:
            chosen = rng.choice(n, one.nodes, replace=False) if one.node is None else [one.node]
            rounds[chosen] = np.minimum(rounds[chosen], one.round)
    return rounds


def possible_crashes(crashes: tuple[Crash, ...], n: int) -> list[tuple[int | None, ...]]:
    """All equally likely ways in which nodes crash: the round of each. No crash may have a rate."""
    found: list[tuple[int | None, ...]] = [(None,) * n]
    for one in crashes:
        ways = combinations(range(n), one.nodes) if one.node is None else [(one.node,)]
        found = [
            tuple(one.round if v in chosen and (before is None or one.round < before) else before
                  for v, before in enumerate(rounds))
            for chosen in ways for rounds in found
        ]  # fmt: skip
    return found
