"""The mixing time τ(G, n): the least k with ‖A^k π0 - π*‖∞ <= 1/(2n) from every start (equation 1 of the paper).

Exact on small graphs, from all eigenvectors; bounds on any graph, from the second eigenvalue. A lazy walk
stays where it is with probability 1/2 in every step, which makes it mix on bipartite graphs too.
"""

import math
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hegemon import doors
from hegemon.errors import InvalidInput
from hegemon.graphs.families import as_topology
from hegemon.graphs.kinds import GRAPH
from hegemon.graphs.topology import Topology

METHODS = ("auto", "exact", "spectral")
LARGEST_EXACT = 3000  # nodes: the exact computation multiplies n x n matrices
LARGEST_QUICK = 512  # nodes: where `auto` is exact
STEPS = 1000  # of the Lanczos iteration
ACCURACY = 1e-3  # of the spectral gap
ROUNDING = 1e-12  # relative: the norm may equal 1/(2n) exactly, as on the complete graph of 3 nodes


@dataclass(frozen=True)
class MixingTime:
    """`low <= τ <= high`; both are τ itself if `exact`. `second` is the second largest modulus of an eigenvalue."""

    low: int
    high: int
    second: float
    lazy: bool
    graph: str = ""
    n: int = 0
    bipartite: bool = False

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def record(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "graph": self.graph,
            "n": self.n,
            "bipartite": self.bipartite,
            "lazy": self.lazy,
            "exact": self.exact,
            "mixing_time": self.high,
            "at_least": self.low,
            "second_eigenvalue": self.second,
        }


_lock = threading.Lock()


@doors.door(topology=GRAPH, lazy=doors.switch | doors.none, method=doors.one_of(*METHODS))
def mixing_time(topology: Topology, lazy: bool | None = None, method: str = "auto") -> MixingTime:
    """By `exact` or `spectral`; `auto` is exact where that is cheap. Lazy by default on bipartite graphs only.

    The graph may also be a NetworkX graph, or a spec such as `ring:64`.
    """
    topology = as_topology(topology, None, np.random.default_rng(0))
    topology.require_connected()
    if topology.directed or topology.n < 2:
        raise InvalidInput(f"{topology.name} has no mixing time: it needs an undirected graph of at least 2 nodes")
    lazy = topology.is_bipartite if lazy is None else lazy
    if topology.is_bipartite and not lazy:
        raise InvalidInput(f"{topology.name} is bipartite, where only the lazy walk mixes; take the lazy walk")
    if method == "exact" and not topology.is_complete and topology.n > LARGEST_EXACT:
        raise InvalidInput(
            f"the exact mixing time needs at most {LARGEST_EXACT} nodes and {topology.name} has {topology.n}; "
            "use the spectral bound"
        )
    if method == "auto":
        method = "exact" if topology.is_complete or topology.n <= LARGEST_QUICK else "spectral"
    with _lock:  # trials run in threads: compute once
        time = _computed(topology, lazy, method)
    return replace(time, graph=topology.name, n=topology.n, bipartite=topology.is_bipartite)


@lru_cache(maxsize=32)
def _computed(topology: Topology, lazy: bool, method: str) -> MixingTime:
    if topology.is_complete and method == "exact":
        return _complete(topology.n, lazy)
    return _exact(topology, lazy) if method == "exact" else _spectral(topology, lazy)


def _complete(n: int, lazy: bool) -> MixingTime:
    """A^k = J/n + λ^k (I - J/n) with λ = -1/(n-1): the diagonal is farthest from 1/n."""
    second = abs((1 - 1 / (n - 1)) / 2 if lazy else -1 / (n - 1))
    k = 1
    while second**k * (1 - 1 / n) > (1 + ROUNDING) / (2 * n):
        k += 1
    return MixingTime(k, k, second, lazy)


def _symmetric(topology: Topology) -> csr_array:
    """D^(1/2) A D^(-1/2), whose eigenvalues are those of the walk."""
    root = 1 / np.sqrt(topology.degrees)
    weights = root[topology.sources] * root[topology.targets]
    return csr_array((weights, topology.targets, topology.offsets), (topology.n, topology.n))


def _exact(topology: Topology, lazy: bool) -> MixingTime:
    """From every start at once. The norm never grows with k (a step averages over starts), so bisect."""
    values, vectors = np.linalg.eigh(_symmetric(topology).toarray())
    values, vectors = values[:-1], vectors[:, :-1]  # the last belongs to the stationary distribution
    if lazy:
        values = (1 + values) / 2
    root = np.sqrt(topology.degrees)
    bound = (1 + ROUNDING) / (2 * topology.n)

    def mixed(k: int) -> bool:
        rest = np.abs((vectors * values**k) @ vectors.T)
        return bool((rest * root / root[:, None]).max() <= bound)

    high = 1
    while not mixed(high):
        high *= 2
    low = high // 2 if high > 1 else 0  # not mixed after `low` steps
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mixed(middle) else (middle, high)
    return MixingTime(high, high, float(np.abs(values).max()), lazy)


def _spectral(topology: Topology, lazy: bool) -> MixingTime:
    """|A^k(x,y) - π(y)| <= λ^k (d_y/d_x)^(1/2), and an eigenvector of λ shows that some entry is >= λ^k / n
    (Levin, Peres, Wilmer, Markov Chains and Mixing Times, chapter 12)."""
    second, error = _second_modulus(topology, lazy)
    ratio = math.sqrt(topology.degrees.max() / topology.degrees.min())
    return MixingTime(
        max(1, math.ceil(math.log(2) / _decay(second - error) - ROUNDING)),
        max(1, math.ceil(math.log(2 * topology.n * ratio) / _decay(second + error))),
        second,
        lazy,
    )


def _decay(modulus: float) -> float:
    return -math.log(min(max(modulus, 1e-300), 1 - 1e-15))


def _second_modulus(topology: Topology, lazy: bool) -> tuple[float, float]:
    """The largest modulus below the eigenvalue 1, and how wrong it may be: by Lanczos iteration from a fixed
    random vector, orthogonal to the known eigenvector of 1. Plain sums, since threads in BLAS cost more here."""
    matrix = _symmetric(topology)
    known = np.sqrt(topology.degrees)
    known /= math.sqrt((known * known).sum())
    before, vector = np.zeros(topology.n), np.random.default_rng(0).standard_normal(topology.n)
    diagonal, beside, beta, look = [], [], 0.0, 10
    for step in range(1, STEPS + 1):
        vector -= (known * vector).sum() * known
        length = math.sqrt((vector * vector).sum())
        if step > 1:
            beta = length
            beside.append(beta)
        before, vector = vector / length if length > 1e-14 else vector * 0, before
        applied = matrix @ before
        if lazy:
            applied = (applied + before) / 2
        diagonal.append(float((before * applied).sum()))
        vector = applied - diagonal[-1] * before - beta * vector
        exhausted = step >= topology.n - 1 or length <= 1e-14
        if step >= look or exhausted:
            look = 5 * step // 4
            modulus, last = max(_end(diagonal, beside, 0), _end(diagonal, beside, step - 1))
            error = last * math.sqrt((vector * vector).sum())
            if error <= ACCURACY * (1 - modulus) or exhausted:
                return modulus, error
    return _by_factorization(matrix, lazy)


def _end(diagonal: list[float], beside: list[float], index: int) -> tuple[float, float]:
    """The modulus of one eigenvalue of a tridiagonal matrix, and that of its vector's last entry."""
    from scipy.linalg import eigh_tridiagonal  # only here: it takes long to load

    values, vectors = eigh_tridiagonal(diagonal, beside, select="i", select_range=(index, index))
    return float(abs(values[0])), float(abs(vectors[-1, 0]))


def _by_factorization(matrix: csr_array, lazy: bool) -> tuple[float, float]:
    """The eigenvalue for a tiny gap: the graph is then thin, so that factorizing it is cheap."""
    from scipy.sparse.linalg import eigsh  # only here: it takes long to load

    matrix = matrix.tocsc()
    top = np.sort(eigsh(matrix, k=2, sigma=1 + 1e-6, which="LM", return_eigenvectors=False))[0]
    if lazy:
        return float((1 + top) / 2), 0.0
    bottom = eigsh(matrix, k=1, sigma=-1 - 1e-6, which="LM", return_eigenvectors=False)[0]
    return float(max(top, -bottom)), 0.0
