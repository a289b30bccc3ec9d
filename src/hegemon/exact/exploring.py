"""Breadth-first exploration in whole batches: configurations that a function expands, many at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.chain import PER_CONFIGURATION, PER_ENTRY, require_memory
from hegemon.exact.configurations import ConfigurationSpace, StartCodes

Expansion = tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]  # rows, keys that follow, further columns


@dataclass(frozen=True)
class Exploration:
    """The keys found, in the order of their distance from a start, and one entry per expanded successor."""

    keys: np.ndarray
    rows: np.ndarray
    targets: np.ndarray
    columns: tuple[np.ndarray, ...]
    parents: np.ndarray | None
    starts: tuple[int, ...]


def explore(
    space: ConfigurationSpace, starts: StartCodes | None, expand: Callable[[np.ndarray], Expansion],
    merge: Callable[..., tuple[Any, ...]], batch: int, memory: float, progress: Show | None = None,
) -> Exploration:  # fmt: skip
    """What can be reached from the given arrays of codes (None: everything).

    `expand(codes)` returns the successors of many configurations at once; `merge` joins entries of one row that mean
    the same, and sorts them by row.
    """
    if starts is None:
        needed = space.size * (PER_CONFIGURATION + 8 * space.n + space.width * PER_ENTRY)
        require_memory(space, needed, memory, "the chain of all configurations", space.size)
        known = space.all_keys()
    else:
        known = np.unique([space.key(codes) for codes in starts])
    parents = [np.full(len(known), -1)]
    first = len(known)
    order = np.argsort(known)  # positions of the known keys, ascending by key
    pieces: list[tuple[Any, ...]] = []
    done = entries = 0
    while done < len(known):
        part = known[done : done + batch]
        rows, keys, columns = expand(space.codes(part))
        if starts is not None:
            fresh, where = np.unique(keys, return_index=True)
            place = np.searchsorted(known, fresh, sorter=order)
            is_new = (place == len(known)) | (known[order[np.minimum(place, len(known) - 1)]] != fresh)
            new = np.flatnonzero(is_new)
            new = new[np.argsort(where[new], kind="stable")]
            known = np.concatenate([known, fresh[new]])
            parents.append(done + rows[where[new]])
            order = np.argsort(known, kind="stable")
        targets = order[np.minimum(np.searchsorted(known, keys, sorter=order), len(known) - 1)]
        if starts is None and not np.array_equal(known[targets], keys):
            raise InvalidInput(f"{space.protocol.id}: a step changes an input, which must never change")
        pieces.append(merge(rows + done, targets, *columns))
        done += len(part)
        entries += len(pieces[-1][0])
        needed = len(known) * PER_CONFIGURATION + entries * PER_ENTRY
        require_memory(
            space, needed, memory, f"the part of the chain found so far ({len(known)} configurations)", len(known)
        )
        if progress:
            progress("exploring", done, len(known))
    rows, targets, *merged = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return Exploration(
        known, rows, targets.astype(np.int32), tuple(merged),
        None if starts is None else np.concatenate(parents).astype(np.int32),
        () if starts is None else tuple(range(first)),
    )  # fmt: skip
