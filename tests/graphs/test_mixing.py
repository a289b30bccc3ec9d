"""Mixing times: known values, the definition by brute force, and the bounds around them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon import InvalidInput, mixing_time
from hegemon.graphs import mixing
from hegemon.graphs.families import complete, hypercube, lollipop, parse, path, ring, star, torus
from hegemon.graphs.random import gnp
from hegemon.graphs.topology import Topology


def by_definition(topology, lazy):
    """Multiply the transition matrix until every start is within 1/(2n) of the stationary distribution."""
    n = topology.n
    matrix = np.zeros((n, n))
    matrix[topology.sources, topology.targets] = 1 / topology.degrees[topology.sources]
    if lazy:
        matrix = (matrix + np.eye(n)) / 2
    stationary = topology.degrees / topology.arcs
    power, k = matrix.copy(), 1
    while np.abs(power - stationary).max() > 1 / (2 * n) + 1e-12:
        power, k = power @ matrix, k + 1
    return k


@pytest.mark.parametrize("n", [3, 4, 5, 10, 57])
def test_complete_graphs_mix_in_two_steps(n):
    """The paper says 1, but after one step the walk is certainly not where it started: 1/n > 1/(2n)."""
    assert mixing_time(complete(n)).high == 2 == by_definition(complete(n), False)


def test_a_complete_graph_of_any_size_costs_nothing():
    assert mixing_time(complete(10**15)).high == 2


def test_the_lazy_walk_on_an_edge_mixes_in_one_step():
    assert mixing_time(path(2)).high == 1


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6, 7])
def test_hypercubes_by_their_eigenvalues(d):
    """The lazy walk returns after k steps with probability 2^-d Σ C(d,j) (1 - j/d)^k."""
    k = 1
    while abs(sum(math.comb(d, j) * (1 - j / d) ** k for j in range(1, d + 1))) > 0.5 + 1e-12:
        k += 1
    assert mixing_time(hypercube(d)).high == k


@pytest.mark.parametrize("n", [3, 5, 7, 9, 15, 21, 33])
def test_odd_cycles_by_their_eigenvalues(n):
    """P^k(0, x) - 1/n = (1/n) Σ cos(2πj/n)^k cos(2πjx/n) over j = 1..n-1."""
    angles = 2 * np.pi * np.arange(1, n) / n
    waves = np.cos(np.outer(np.arange(n), angles))
    k = 1
    while np.abs(waves @ np.cos(angles) ** k).max() > 0.5 + 1e-12:
        k += 1
    assert mixing_time(ring(n)).high == k


def test_cycles_mix_in_quadratic_time():
    times = [mixing_time(ring(n), method="exact").high / n**2 for n in (32, 64, 128)]
    assert max(times) / min(times) < 1.02


@pytest.mark.parametrize(
    "topology", [star(9), path(6), torus(3, 4), torus(4, 4), lollipop(5, 4), ring(10), hypercube(4)], ids=str
)
@pytest.mark.parametrize("lazy", [None, True])
def test_the_definition(topology, lazy):
    found = mixing_time(topology, lazy, "exact")
    assert found.high == by_definition(topology, found.lazy)


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 14), st.floats(0.3, 1), st.integers(0, 2**32))
def test_any_connected_graph(n, probability, seed):
    graph = gnp(n, probability, np.random.default_rng(seed))
    if not graph.is_connected:
        return
    exact, bound = mixing_time(graph, method="exact"), mixing_time(graph, method="spectral")
    assert exact.high == by_definition(graph, exact.lazy)
    assert bound.low <= exact.high <= bound.high
    assert bound.second == pytest.approx(exact.second, abs=1e-3)


@pytest.mark.parametrize("spec", ["regular:300,4", "torus:15x15", "lollipop:40,40", "ring:101", "hypercube:8"])
def test_spectral_bounds_enclose_the_exact_value(spec):
    graph = parse(spec, None, np.random.default_rng(1))
    exact, bound = mixing_time(graph, method="exact"), mixing_time(graph, method="spectral")
    assert bound.low <= exact.high <= bound.high
    assert bound.second == pytest.approx(exact.second, rel=1e-3)


def test_a_tiny_gap_is_found_by_factorization(monkeypatch):
    monkeypatch.setattr(mixing, "STEPS", 20)
    for graph, second in ((ring(2000), (1 + math.cos(math.pi / 1000)) / 2), (ring(2001), math.cos(math.pi / 2001))):
        assert mixing_time(graph, method="spectral").second == pytest.approx(second, rel=1e-10)


def test_bipartite_graphs_are_walked_lazily():
    assert mixing_time(torus(4, 4)).lazy and not mixing_time(torus(3, 3)).lazy
    with pytest.raises(InvalidInput, match="bipartite"):
        mixing_time(ring(6), lazy=False)


def test_what_has_no_mixing_time_is_refused():
    with pytest.raises(InvalidInput, match="2 connected components"):
        mixing_time(Topology.from_edges("two", 4, [0, 2], [1, 3]))
    with pytest.raises(InvalidInput, match="undirected"):
        mixing_time(parse("directed-ring:5", None, None))
    with pytest.raises(InvalidInput, match="at least 2 nodes"):
        mixing_time(complete(1))
    with pytest.raises(InvalidInput, match="give one of auto, exact, spectral"):
        mixing_time(ring(5), method="guess")
    with pytest.raises(InvalidInput, match="use the spectral bound"):
        mixing_time(ring(5000), method="exact")
