"""Initial configurations of Informative Trains. A protocol instance in, an array of records out."""

import numpy as np

from hegemon.protocols.trains.legitimate import WAGON, breadth_first

ATTEMPTS = 8  # depth-first trees searched for a cycle of fitting length


def write_wagons(nodes, station: str, idx, ages, flags=0) -> None:
    """Fill a station of every node. A wagon of a train that has counted for `age` rounds when the wagon
    passed here adds  ⌊age/2^idx⌋ - 2⌊(age-1)/2^(idx+1)⌋  to the value of its train: its bit + 2 carry."""
    idx, ages = np.asarray(idx, np.int64), np.asarray(ages, np.int64)
    part = np.where(ages > 0, (ages >> idx) - 2 * ((ages - 1) >> (idx + 1)), 0)
    nodes[station] = WAGON
    nodes[f"{station}_idx"] = idx
    nodes[f"{station}_bit"] = part % 2
    nodes[f"{station}_carry"] = part // 2
    nodes[f"{station}_flag"] = flags


def all_leaders(protocol):
    nodes = np.zeros(protocol.n, protocol.space.dtype)
    nodes["leader"] = nodes["F"] = nodes["L"] = nodes["F_bit"] = nodes["L_idx"] = 1
    return nodes


def legitimate(protocol, topology, leader: int, head: int, flags=None):
    """The configuration of Γ_L with this leader, which now has the wagon of index `head` in its last station.

    `flags`, if given, marks the trains: entry j is the flag of the j-th train counted from the leader.
    """
    nodes = np.zeros(protocol.n, protocol.space.dtype)
    _, distance = breadth_first(leader, topology.offsets, topology.targets)
    nodes["leader"][leader] = 1
    for station, layer in (("L", 2 * distance), ("F", 2 * distance + 1)):
        idx = (head - layer) % protocol.N
        train = (layer + idx - head) // protocol.N
        write_wagons(nodes, station, idx, layer, 0 if flags is None else np.asarray(flags)[train])
    return nodes


def safe(protocol, rng, topology):
    return legitimate(protocol, topology, int(rng.integers(protocol.n)), int(rng.integers(protocol.N)))


def corrupted(protocol, rng, topology):
    nodes = safe(protocol, rng, topology)
    victims = rng.choice(protocol.n, size=protocol.k, replace=False)
    nodes[victims] = protocol.space.decode_array(rng.integers(protocol.space.size, size=protocol.k))
    return nodes


def no_leader(protocol, rng, topology):
    N = protocol.N
    cycle = fitting_cycle(topology, N if N % 2 else N // 2, rng)
    if cycle is None:
        nodes = safe(protocol, rng, topology)
        nodes["leader"] = 0
        return nodes
    # Every train has the same age, so all wagons of one index are alike, wherever they are.
    place = places(topology, cycle)
    nodes = np.zeros(protocol.n, protocol.space.dtype)
    for station, layer in (("L", 2 * place), ("F", 2 * place + 1)):
        idx = -layer % N
        write_wagons(nodes, station, idx, N - idx)
    return nodes


def places(topology, cycle: list[int]) -> np.ndarray:
    """How far along its way a train is at each node: round the cycle, then away from it."""
    place = np.full(topology.n, -1)
    place[cycle] = np.arange(len(cycle))
    queue = list(cycle)
    for v in queue:
        for u in topology.neighbours(v):
            if place[u] < 0:
                place[u] = place[v] + 1
                queue.append(u)
    return place


def fitting_cycle(topology, divisor: int, rng) -> list[int] | None:
    """A cycle whose length is a multiple of `divisor`, among those that an edge closes with a depth-first tree."""
    for _ in range(ATTEMPTS):
        root = int(rng.integers(topology.n))
        depth = np.full(topology.n, -1)
        depth[root] = 0
        path, rows = [root], [iter(shuffled(topology.neighbours(root), rng))]
        while path:
            v = path[-1]
            u = next(rows[-1], None)
            if u is None:
                path.pop()
                rows.pop()
            elif depth[u] < 0:
                depth[u] = len(path)
                path.append(int(u))
                rows.append(iter(shuffled(topology.neighbours(u), rng)))
            elif depth[v] - depth[u] >= 2 and (depth[v] - depth[u] + 1) % divisor == 0:
                return path[depth[u] :]
    return None


def shuffled(nodes, rng) -> np.ndarray:
    return nodes[rng.permutation(len(nodes))]
