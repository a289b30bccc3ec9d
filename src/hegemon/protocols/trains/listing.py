"""Every legitimate configuration of Informative Trains on a graph, found by trying, not by construction.

By Definition 4.1 (b) all nodes at one distance from the leader hold the same two wagons, so the wagons along
a path away from the leader say everything. They are found layer by layer: each of the 8N wagons is tried, and
`first_flaw` judges. How such configurations are *built* (trains_starts) plays no part.
"""

import itertools
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from hegemon.protocols.trains.legitimate import EMPTY, LEGITIMATE, WAGON, breadth_first, first_flaw


def path_rows(length: int):
    """The path 0 - 1 - … - length-1 as offsets and targets."""
    near = [[u for u in (v - 1, v + 1) if 0 <= u < length] for v in range(length)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in near])])
    return offsets, np.array([u for row in near for u in row], np.int64)


@lru_cache(maxsize=32)
def trains_away_from_a_leader(N: int, depth: int) -> tuple:
    """All sequences of 2·(depth + 1) wagons (idx, bit, carry, flag), by layer, that are legitimate."""
    rows, p = path_rows(depth + 1), SimpleNamespace(N=N)
    trains: list[tuple] = [()]
    wagons = list(itertools.product(range(N), (0, 1), (0, 1), (0, 1)))
    for _ in range(2 * (depth + 1)):
        trains = [wagons_so_far + (wagon,) for wagons_so_far in trains for wagon in wagons
                 if _is_sound(wagons_so_far + (wagon,), depth, rows, p)]  # fmt: skip
    return tuple(trains)


def _is_sound(wagons, depth, rows, p) -> bool:
    """Whether nothing is wrong up to the last wagon given; the stations behind are still empty."""
    nodes = [_node(wagons, place, int(place == 0), 0) for place in range(depth + 1)]
    flaw, _, layer = first_flaw(nodes, *rows, p)
    return flaw == LEGITIMATE or layer >= len(wagons)


def _node(wagons, place: int, leader: int, rand: int) -> SimpleNamespace:
    node = SimpleNamespace(leader=leader, rand=rand)
    for station, layer in (("L", 2 * place), ("F", 2 * place + 1)):
        idx, bit, carry, flag = wagons[layer] if layer < len(wagons) else (0, 0, 0, 0)
        setattr(node, station, WAGON if layer < len(wagons) else EMPTY)
        for name, value in (("idx", idx), ("bit", bit), ("carry", carry), ("flag", flag)):
            setattr(node, f"{station}_{name}", value)
    return node


def legitimate_configurations(protocol, topology) -> np.ndarray:
    """Γ_L as rows of codes: every leader, every layering of wagons, every value of every `rand`."""
    space, n = protocol.space, topology.n
    rands = np.array(list(itertools.product((0, 1), repeat=n)))
    pieces = []
    for leader in range(n):
        _, distance = breadth_first(leader, topology.offsets, topology.targets)
        for wagons in trains_away_from_a_leader(protocol.N, int(distance.max())):
            codes = np.array(
                [[space.code(_node(wagons, distance[v], int(v == leader), rand)) for rand in (0, 1)] for v in range(n)]
            )
            pieces.append(codes[np.arange(n), rands])
    return np.concatenate(pieces)
