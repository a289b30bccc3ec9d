"""Schedules without chance: all arcs in turn (round-robin), or recorded pairs, again and again from the beginning."""

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import uint64

from hegemon.errors import InvalidInput
from hegemon.files import note_reading
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import MOST_ROWS, SchedulePlan, Scheduler
from hegemon.process.schedulers.uniform import all_arcs

LARGEST_FILE = 500_000_000  # bytes


def pair_in_turn(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """The next row; the first says which one that is."""
    k = rows[0, 0]
    rows[0, 0] = k + 1 if k + 1 < len(rows) else 1
    return uint64(rows[k, 0]), uint64(rows[k, 1]), s0, s1, s2, s3


class Cyclic(Scheduler):
    """`pairs` in this order, again and again; without them, all arcs of the graph."""

    memoryless = False

    def __init__(self, pairs: Sequence[Any] | np.ndarray | None = None, name: str = "round-robin"):
        self.name = name
        self._pairs = None if pairs is None else np.asarray(pairs, np.int64).reshape(-1, 2)

    def _rows(self, topology: Topology) -> np.ndarray:
        if self._pairs is None:
            return all_arcs(topology)
        known = set(map(tuple, all_arcs(topology).tolist())) if not topology.is_complete else None
        for place, (i, j) in enumerate(self._pairs.tolist(), 1):
            if not (0 <= i < topology.n and 0 <= j < topology.n and i != j) or (known and (i, j) not in known):
                raise InvalidInput(f"{self.name}: pair {place}, {i} -> {j}, is no arc of {topology.name}")
        if not len(self._pairs):
            raise InvalidInput(f"{self.name} has no pairs; give at least one")
        return self._pairs

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        return pair_in_turn, np.concatenate([[[1, 0]], self._rows(topology)]).astype(np.int64)

    def plan(self, topology: Topology) -> SchedulePlan:
        rows = self._rows(topology)
        if len(rows) > MOST_ROWS:
            raise InvalidInput(f"{self.name} has {len(rows):,} pairs; an exact chain remembers at most {MOST_ROWS:,}")
        after = np.roll(np.arange(len(rows), dtype=np.int32), -1)
        return SchedulePlan(
            rows.astype(np.int32), np.ones(len(rows), np.int64), after, np.arange(len(rows) + 1, dtype=np.int64)
        )


def read_recorded(words: str, protocol: Protocol, topology: Topology) -> Cyclic:
    """`recorded:FILE.csv` with the columns `initiator,responder`, or contacts as they are published, `time,u,v`, in
    their order; who initiates a contact is u."""
    name, path = f"recorded:{words}", Path(words)
    if not words or not os.path.isfile(path) or path.stat().st_size > LARGEST_FILE:
        raise InvalidInput(
            f"{name}: there is no such file of at most {LARGEST_FILE // 10**6} MB; write recorded:FILE.csv"
        )
    note_reading(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            table = csv.reader(opened)
            header = [column.strip() for column in next(table, [])]
            if header not in (["initiator", "responder"], ["time", "u", "v"]):
                raise InvalidInput(f"{name} needs a first line initiator,responder or time,u,v")
            pairs = [(int(row[-2]), int(row[-1])) for row in table if row]
    except (OSError, ValueError, IndexError, UnicodeDecodeError, csv.Error) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{name} cannot be read as pairs of agents ({error})") from None
    return Cyclic(pairs, name)
