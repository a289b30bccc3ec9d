"""Which nodes begin, by their coins; when, by the adversary's wake-up schedule; and the identifiers of nodes."""

import json
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hegemon.errors import InvalidInput, meant
from hegemon.files import note_reading
from hegemon.models.messages import MessageProtocol

SCHEDULES = ("all", "one-by-one", "random")
ARRANGEMENTS = ("random", "increasing", "decreasing")


class WakeUp:
    """The round in which each node wakes up: all in round 1; node v in round v+1; each in a round that is
    uniform on 1..n; or as listed, one round per node in the order of the nodes."""

    def __init__(self, schedule: str | Path | ArrayLike, protocol: MessageProtocol):
        self.n = protocol.n
        if isinstance(schedule, str | Path) and str(schedule) not in SCHEDULES:
            schedule = read_list("wake", schedule, SCHEDULES)
        self._rounds: np.ndarray | None = None
        if isinstance(schedule, str):
            self.name = schedule
        else:
            self.name, self._rounds = "listed", check_rounds(schedule, protocol.n)
        if self.name != "all" and not protocol.wakes_at_any_time:
            raise InvalidInput(
                f"wake {schedule if self._rounds is None else 'from a list'} needs a protocol for nodes that wake up "
                f"at different times, and {protocol.id} as set is not one; leave wake at all"
                + (", or take the variant wakeup" if "variant" in protocol.values else "")
            )

    def rounds(self, nodes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """When the given nodes wake up."""
        if self.name == "all":
            return np.ones(len(nodes), np.int64)
        if self.name == "one-by-one":
            return nodes + 1
        if self.name == "random":
            return rng.integers(1, self.n, size=len(nodes), endpoint=True)
        assert self._rounds is not None  # it is listed
        return self._rounds[nodes]

    def possible(self, node: int) -> list[int]:
        """The rounds in which a node may be woken, all of them equally likely."""
        if self.name == "random":
            return list(range(1, self.n + 1))
        return [int(self.rounds(np.array([node]), np.random.default_rng(0))[0])]


class Identifiers:
    """The identifiers 1..n of the nodes, for a protocol that has them: a random permutation, increasing or decreasing
    from node to node (on an oriented ring: to the right), or as listed, one per node."""

    def __init__(self, arrangement: str | Path | ArrayLike, protocol: MessageProtocol):
        self.n, self.present = protocol.n, protocol.has_identifiers
        if not self.present and arrangement != "random":
            raise InvalidInput(f"identifiers mean nothing to {protocol.id}, whose nodes have none; leave them out")
        if isinstance(arrangement, str | Path) and str(arrangement) not in ARRANGEMENTS:
            arrangement = read_list("identifiers", arrangement, ARRANGEMENTS)
        self._listed: np.ndarray | None = None
        if isinstance(arrangement, str):
            self.name = arrangement
        else:
            self.name, self._listed = "listed", check_permutation(arrangement, protocol.n)

    def drawn(self, rng: np.random.Generator) -> np.ndarray | None:
        """The identifier of each node; none, and nothing is drawn, if the protocol has none."""
        if not self.present:
            return None
        if self.are_drawn:
            return rng.permutation(self.n) + 1
        ordered = np.arange(1, self.n + 1)
        return {"increasing": ordered, "decreasing": ordered[::-1]}.get(self.name, self._listed)

    @property
    def are_drawn(self) -> bool:
        return self.present and self.name == "random"

    def possible(self) -> list[tuple[int | None, ...]]:
        """All arrangements, equally likely."""
        if self.are_drawn:
            return list(permutations(range(1, self.n + 1)))
        known = self.drawn(np.random.default_rng(0))
        return [(None,) * self.n if known is None else tuple(known.tolist())]


def read_list(what: str, path: str | Path, names: tuple[str, ...]) -> list[Any]:
    """A JSON list of whole numbers, or a text with one number per line, one per node."""
    if not Path(path).is_file():
        raise InvalidInput(
            f"{what} {str(path)!r} is neither a file nor one of {', '.join(names)}{meant(str(path), names)}"
        )
    note_reading(path)
    return _read(what, Path(path), Path(path).stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read(what: str, path: Path, changed: int) -> list[Any]:
    """Once for all trials, unless the file has changed."""
    try:
        text = path.read_text()
        return json.loads(text) if text.lstrip().startswith("[") else [int(word) for word in text.split()]
    except ValueError as error:
        raise InvalidInput(f"{path} is no list for {what} ({error}); give one whole number >= 1 per node") from None


def check_rounds(schedule: object, n: int) -> np.ndarray:
    rounds = np.asarray(schedule)
    if rounds.shape != (n,) or rounds.dtype.kind not in "iu" or rounds.min() < 1:
        raise InvalidInput(
            f"a wake-up schedule needs {n} whole numbers >= 1, one per node; this one has {rounds.size} values"
            + (f", the smallest {rounds.min()}" if rounds.size and rounds.dtype.kind in "iuf" else "")
        )
    return rounds.astype(np.int64)


def check_permutation(given: object, n: int) -> np.ndarray:
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu" or sorted(numbers.ravel().tolist()) != list(range(1, n + 1)):
        raise InvalidInput(
            f"identifiers need each of 1..{n} exactly once, one per node; this list has {numbers.size} values"
            + (f", {len(set(numbers.ravel().tolist()))} of them different" if numbers.size == n else "")
        )
    return numbers.astype(np.int64)


def initiators(protocol: MessageProtocol, rng: np.random.Generator) -> np.ndarray:
    """The nodes that begin, in increasing order: each of n independently of the others."""
    number = int(rng.binomial(protocol.n, protocol.initiation))
    if number > protocol.n // 2:
        return np.sort(rng.permutation(protocol.n)[:number])
    chosen = np.empty(0, np.int64)
    while len(chosen) < number:  # draw as many as are missing: a uniform set, by symmetry
        drawn = rng.integers(protocol.n, size=number - len(chosen))
        chosen = np.unique(np.concatenate((chosen, drawn)))
    return chosen
