"""Who begins, and when: the nodes whose coin says so, and the adversary's wake-up schedule."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from hegemon.errors import InvalidInput, meant
from hegemon.models.messages import MessageProtocol

SCHEDULES = ("all", "one-by-one", "random")


class WakeUp:
    """The round in which each node wakes up: all in round 1; node v in round v+1; each in a round that is
    uniform on 1..n; or as listed, one round per node in the order of the nodes."""

    def __init__(self, schedule, protocol: MessageProtocol):
        self.n = protocol.n
        if isinstance(schedule, str | Path) and str(schedule) not in SCHEDULES:
            schedule = read_schedule(schedule)
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


def read_schedule(path) -> list:
    """A JSON list of rounds, or a text with one round per line."""
    if not Path(path).is_file():
        raise InvalidInput(
            f"wake {str(path)!r} is neither a file nor one of {', '.join(SCHEDULES)}{meant(str(path), SCHEDULES)}"
        )
    return _read(Path(path), Path(path).stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int) -> list:
    """Once for all trials, unless the file has changed."""
    try:
        text = path.read_text()
        return json.loads(text) if text.lstrip().startswith("[") else [int(word) for word in text.split()]
    except ValueError as error:
        raise InvalidInput(f"{path} is not a wake-up schedule ({error}); give one round >= 1 per node") from None


def check_rounds(schedule, n: int) -> np.ndarray:
    rounds = np.asarray(schedule)
    if rounds.shape != (n,) or rounds.dtype.kind not in "iu" or rounds.min() < 1:
        raise InvalidInput(
            f"a wake-up schedule needs {n} whole numbers >= 1, one per node; this one has {rounds.size} values"
            + (f", the smallest {rounds.min()}" if rounds.size and rounds.dtype.kind in "iuf" else "")
        )
    return rounds.astype(np.int64)


def initiators(protocol: MessageProtocol, rng: np.random.Generator) -> np.ndarray:
    """The nodes that begin, in increasing order: each of n independently, without looking at the others."""
    number = int(rng.binomial(protocol.n, protocol.initiation))
    if number > protocol.n // 2:
        return np.sort(rng.permutation(protocol.n)[:number])
    chosen = np.empty(0, np.int64)
    while len(chosen) < number:  # as many new draws as are missing: a uniform set, by symmetry
        drawn = rng.integers(protocol.n, size=number - len(chosen))
        chosen = np.unique(np.concatenate((chosen, drawn)))
    return chosen
