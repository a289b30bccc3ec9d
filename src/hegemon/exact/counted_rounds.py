"""Rounds as the literature on self-stabilization counts them, for every schedule of a daemon.

A round ends when every node that was enabled at its beginning has acted, or was not enabled at some moment since. So a
configuration is joined with the nodes that the present round still waits for; none stands for a new round, which costs
1 with its first step. The round in which the set is reached counts.
"""

from dataclasses import dataclass

import numpy as np

from hegemon.exact.decisions import DecisionProcess, Decisions

MOST_ENTRIES = 3_000_000  # outcomes of choices, over all configurations and waiting nodes
BATCH = 1 << 14


@dataclass(frozen=True)
class CountedRounds:
    """`fresh` is where each configuration is at the beginning of a round (-1: not active), `costs` those of choices.
    The last configuration stands for all that are not active."""

    process: DecisionProcess
    costs: np.ndarray
    fresh: np.ndarray


def with_rounds(process: Decisions, active: np.ndarray, n: int) -> CountedRounds | None:
    """The decision process among the active configurations and the waiting nodes; None if it is too large."""
    begins = np.flatnonzero(active)
    known = begins << n  # with no node to wait for
    order = np.arange(len(known))
    done, entries, pieces = 0, 0, []
    while done < len(known):
        part = known[done : done + BATCH]
        place, waiting = part >> n, part & ((1 << n) - 1)
        owners, choice = _spread(process.first, place)
        rest = np.where(waiting == 0, process.enabled[place], waiting)[owners] & ~process.labels[choice]
        sources, entry = _spread(process.offsets, choice)
        goal = process.targets[entry].astype(np.int64)
        keys = np.where(active[goal], goal << n | (rest[sources] & process.enabled[goal]), -1)
        pieces.append(
            (owners + done, (waiting == 0)[owners], np.diff(process.offsets)[choice], keys, process.weights[entry])
        )
        fresh = np.unique(keys[keys >= 0])
        where = np.searchsorted(known, fresh, sorter=order)
        new = fresh[(where == len(known)) | (known[order[np.minimum(where, len(known) - 1)]] != fresh)]
        known = np.concatenate([known, new])
        order = np.argsort(known, kind="stable")
        done, entries = done + len(part), entries + len(keys)
        if entries > MOST_ENTRIES:
            return None
    owners, costs, lengths, keys, weights = (np.concatenate(column) for column in zip(*pieces, strict=True))
    targets = np.full(len(keys), len(known), np.int64)
    inner = keys >= 0
    targets[inner] = order[np.searchsorted(known, keys[inner], sorter=order)]
    first = np.searchsorted(owners, np.arange(len(known) + 2))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    counted = DecisionProcess(first, offsets, targets.astype(np.int32), weights, process.denominator)
    place_of = np.full(process.size, -1, np.int64)
    place_of[begins] = np.arange(len(begins))
    return CountedRounds(counted, costs.astype(float), place_of)


def _spread(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries of these rows: for each, the index of its row among them, and its place."""
    lengths = (offsets[1:] - offsets[:-1])[rows]
    ends = np.cumsum(lengths)
    owners = np.repeat(np.arange(len(rows)), lengths)
    return owners, np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths - offsets[rows], lengths)
