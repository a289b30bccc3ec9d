"""Random graphs from a given generator: regular graphs, and G(n, p)."""

import math

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology, require_room

_REPAIRS = 200  # rounds of swaps before a pairing is given up and drawn afresh


def random_regular(n: int, degree: int, rng: np.random.Generator) -> Topology:
    """A simple regular graph by random pairing and repair; connected if degree >= 3.

    Its law is symmetric in the nodes, but not exactly uniform over all labelled regular graphs.
    """
    name = f"regular:{n},{degree}"
    if n < 2 or not 1 <= degree < n:
        raise InvalidInput(
            f"{name!r} has degree {degree} on {n} nodes, but the degree must be in 1..n-1: lower the degree or raise n"
        )
    if n * degree % 2:
        raise InvalidInput(
            f"{name!r} has an odd number of edge ends, but n x degree must be even: change one of the two by 1"
        )
    require_room(name, n, n * degree)
    while True:
        # A pairing of more than half of all pairs hardly ever succeeds; its complement is sparse.
        if 2 * degree > n - 1:
            edges = _complement(n, _pairing(n, n - 1 - degree, rng))
        else:
            edges = _pairing(n, degree, rng)
        topology = Topology.from_edges(name, n, *edges)
        if degree < 3 or topology.is_connected:
            return topology


def gnp(n: int, p: float, rng: np.random.Generator) -> Topology:
    """G(n, p): every pair is an edge with probability p, independently. The cost follows the edges."""
    name = f"gnp:{n},{p}"
    if n < 2:
        raise InvalidInput(f"{name!r} has {n} nodes, but n must be at least 2: use for instance gnp:64,0.1")
    if not 0 <= p <= 1:
        raise InvalidInput(
            f"{name!r} has the edge probability {p:g}, but it must be in [0, 1]: use for instance gnp:64,0.1"
        )
    require_room(name, n, 0)
    pairs = n * (n - 1) // 2
    require_room(name, n, round(2 * pairs * p))
    return Topology.from_edges(name, n, *_pair(_successes(pairs, p, rng)))


def _successes(trials: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """The indices that succeed among `trials` independent trials, by geometric jumps from one to the next."""
    if p == 0:
        return np.empty(0, np.int64)
    pieces, last = [], -1
    while last < trials:
        missing = (trials - last) * p
        jumps = rng.geometric(p, int(missing + 4 * math.sqrt(missing)) + 16)
        pieces.append(last + np.cumsum(np.minimum(jumps, trials + 1)))  # the cap keeps the sum within 64 bits
        last = int(pieces[-1][-1])
    indices = np.concatenate(pieces)
    return indices[: np.searchsorted(indices, trials)]


def _pair(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair (low, high) with high (high-1) / 2 + low = index: all pairs, in order of the higher node."""
    high = ((1 + np.sqrt(8.0 * index + 1)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > index  # rounding may lift the root to a whole number
    return index - high * (high - 1) // 2, high


def _complement(n: int, edges: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.minimum(*edges), np.maximum(*edges)
    absent = np.ones(n * (n - 1) // 2, bool)
    absent[high * (high - 1) // 2 + low] = False
    return _pair(np.flatnonzero(absent))


def _pairing(n: int, degree: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pair up `degree` stubs per node at random; then bad pairs swap ends with others until all is simple."""
    while True:
        stubs = rng.permutation(np.repeat(np.arange(n, dtype=np.int64), degree))
        a, b = stubs[::2].copy(), stubs[1::2].copy()
        for _ in range(_REPAIRS):
            keys = _keys(n, a, b)
            order = np.argsort(keys, kind="stable")
            taken = keys[order]
            bad = a == b
            bad[order[1:]] |= taken[1:] == taken[:-1]
            if not bad.any():
                return a, b
            _swap(n, a, b, np.flatnonzero(bad), taken, rng)


def _keys(n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum(a, b) * n + np.maximum(a, b))


def _swap(n: int, a: np.ndarray, b: np.ndarray, bad: np.ndarray, taken: np.ndarray, rng: np.random.Generator) -> None:
    """Exchange ends between bad pairs and random partners, wherever both new pairs are simple and new."""
    partner = rng.integers(len(a), size=len(bad))
    flipped = rng.random(len(bad)) < 0.5
    near, far = np.where(flipped, b[partner], a[partner]), np.where(flipped, a[partner], b[partner])
    first, second = _keys(n, a[bad], far), _keys(n, near, b[bad])
    allowed = (a[bad] != far) & (near != b[bad])
    for key in (first, second):
        allowed &= taken[np.minimum(np.searchsorted(taken, key), len(taken) - 1)] != key
    # Swaps of one round must not touch the same pair; if they make the same new pair, the next round repairs it.
    chosen = _without_clashes(np.flatnonzero(allowed), bad, partner)
    bad, partner, ends = bad[chosen], partner[chosen], b[bad[chosen]]
    b[bad] = far[chosen]
    a[partner], b[partner] = near[chosen], ends


def _without_clashes(chosen: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Those of `chosen` for which no earlier one has the same value on either side."""
    values = np.stack((left[chosen], right[chosen]), axis=1).ravel()
    first = np.zeros(len(values), bool)
    first[np.unique(values, return_index=True)[1]] = True
    return chosen[first.reshape(-1, 2).all(axis=1)]
