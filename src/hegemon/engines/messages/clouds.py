"""Influence clouds (section 4 of the paper): the nodes that a directed path of messages joins to an initiator."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

MOST_CLOUDS = 2000  # followed in one run: beyond, only their number is reported


def reachable(source: int, sent_to: Mapping[int, Iterable[int]]) -> set[int]:
    """Every node that messages lead to from `source`, itself included."""
    found, stack = {source}, [source]
    while stack:
        for w in sent_to.get(stack.pop(), ()):
            if w not in found:
                found.add(w)
                stack.append(w)
    return found


def cloud_measures(sizes: Sequence[int] | np.ndarray, union: int) -> dict[str, float]:
    """How many clouds, how large, and whether disjoint: that is, whether the sizes add up to the union's."""
    total = int(sum(sizes))
    return {
        "clouds": len(sizes),
        "mean_cloud": total / len(sizes) if len(sizes) else 0.0,
        "largest_cloud": int(max(sizes, default=0)),
        "disjoint_clouds": total == union,
    }


def many_clouds(number: int) -> dict[str, int | None]:
    return {"clouds": number, "mean_cloud": None, "largest_cloud": None, "disjoint_clouds": None}


def closure(leads_to: np.ndarray) -> np.ndarray:
    """The reflexive and transitive closure of a small relation."""
    closed = leads_to | np.eye(len(leads_to), dtype=bool)
    for k in range(len(closed)):
        closed |= closed[:, k : k + 1] & closed[k]
    return closed


def cloud_sizes(members, alone, shared_starts, shared_candidates):  # type: ignore[no-untyped-def]
    """For each row of `members` (a set of candidates): the candidates and their referees, each node once.

    `alone[c]` counts c itself and the referees that only c contacted; a shared node's contacts stand in
    `shared_candidates` between two `shared_starts`.
    """
    sizes = np.zeros(len(members), np.int64)
    for row in range(len(members)):
        for c in range(members.shape[1]):
            if members[row, c]:
                sizes[row] += alone[c]
        for group in range(len(shared_starts) - 1):
            for k in range(shared_starts[group], shared_starts[group + 1]):
                if members[row, shared_candidates[k]]:
                    sizes[row] += 1
                    break
    return sizes
