"""Random graphs: exact shape of each draw, and the law of many draws, with fixed seeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hegemon.graphs.random import _pair, gnp, random_regular

SMALLEST_P_VALUE = 1e-4  # one test in ten thousand seeds would fail by chance; the seeds are fixed


def edge_indices(topology):
    """Each edge of the topology as its place among all pairs (low, high), counted by the higher node."""
    low, high = topology.sources.astype(np.int64), topology.targets.astype(np.int64)
    low, high = low[low < high], high[low < high]
    return high * (high - 1) // 2 + low


@given(st.integers(2, 40), st.integers(1, 39), st.integers(0, 2**32))
def test_regular_graphs_are_regular_simple_and_connected(n, degree, seed):
    if degree >= n or n * degree % 2:
        return
    topology = random_regular(n, degree, np.random.default_rng(seed))
    assert set(topology.degrees) == {degree}  # loops and double edges are refused by Topology.from_edges
    assert degree < 3 or topology.is_connected


@pytest.mark.parametrize(
    ("n", "degree"), [(n, degree) for n in range(2, 9) for degree in range(1, n) if n * degree % 2 == 0]
)
def test_every_small_regular_graph_exists(n, degree):
    rng = np.random.default_rng(n * 100 + degree)
    for _ in range(20):
        assert set(random_regular(n, degree, rng).degrees) == {degree}


def test_a_large_regular_graph():
    topology = random_regular(200_000, 4, np.random.default_rng(3))
    assert set(topology.degrees) == {4} and topology.is_connected


@pytest.mark.parametrize(("n", "degree"), [(6, 3), (8, 3), (7, 2), (6, 1), (9, 4)])
def test_every_pair_is_equally_likely_in_a_regular_graph(n, degree):
    # One uniformly chosen edge per graph: independent draws, uniform over the pairs if the law is symmetric.
    rng = np.random.default_rng(11)
    counts = np.zeros(n * (n - 1) // 2)
    for _ in range(1500):
        topology = random_regular(n, degree, rng)
        assert degree < 3 or topology.is_connected  # now and then n = 8 pairs up to two tetrahedra
        counts[rng.choice(edge_indices(topology))] += 1
    assert stats.chisquare(counts).pvalue > SMALLEST_P_VALUE


def test_all_perfect_matchings_are_equally_likely():
    # Without loops or double edges to repair, the pairing is exactly uniform: 15 matchings of 6 nodes.
    rng = np.random.default_rng(12)
    seen = [tuple(edge_indices(random_regular(6, 1, rng))) for _ in range(3000)]
    matchings, counts = np.unique(seen, axis=0, return_counts=True)
    assert len(matchings) == 15 and stats.chisquare(counts).pvalue > SMALLEST_P_VALUE


@given(st.integers(2, 50), st.floats(0, 1), st.integers(0, 2**32))
def test_gnp_is_a_graph_on_all_its_nodes(n, p, seed):
    topology = gnp(n, p, np.random.default_rng(seed))
    assert topology.n == n and not topology.directed
    assert topology.arcs % 2 == 0 and topology.arcs <= n * (n - 1)


def test_gnp_at_the_ends():
    rng = np.random.default_rng(1)
    assert gnp(40, 0, rng).arcs == 0 and gnp(40, 1.0, rng).is_complete
    assert gnp(1000, 1e-300, rng).arcs == 0


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9])
def test_gnp_edges_are_independent_with_probability_p(p):
    n, draws = 12, 2000
    pairs = n * (n - 1) // 2
    rng = np.random.default_rng(21)
    occupied = np.zeros(pairs)
    edges = np.empty(draws, int)
    for draw in range(draws):
        indices = edge_indices(gnp(n, p, rng))
        occupied[indices] += 1
        edges[draw] = len(indices)
    # Pairs are independent: each standardised count is nearly normal.
    statistic = np.sum((occupied - draws * p) ** 2 / (draws * p * (1 - p)))
    assert SMALLEST_P_VALUE < stats.chi2.sf(statistic, pairs) < 1 - SMALLEST_P_VALUE
    # The number of edges is Binomial(pairs, p): its mean, and its whole law in classes of enough weight.
    assert abs(edges.mean() - pairs * p) < 4 * np.sqrt(pairs * p * (1 - p) / draws)
    cuts = np.unique(stats.binom.ppf(np.arange(0.1, 0.95, 0.1), pairs, p))
    law = np.diff(np.concatenate(([0], stats.binom.cdf(cuts, pairs, p), [1])))
    seen = np.bincount(np.searchsorted(cuts, edges, side="left"), minlength=len(law))
    assert stats.chisquare(seen, draws * law).pvalue > SMALLEST_P_VALUE


def test_all_graphs_on_four_nodes_have_their_probability():
    p, draws = 0.3, 8000
    rng = np.random.default_rng(22)
    seen = np.bincount([np.sum(1 << edge_indices(gnp(4, p, rng))) for _ in range(draws)], minlength=64)
    edges = np.array([graph.bit_count() for graph in range(64)])
    assert stats.chisquare(seen, draws * p**edges * (1 - p) ** (6 - edges)).pvalue > SMALLEST_P_VALUE


def test_gnp_counts_edges_right_where_pairs_are_many():
    n, p = 1_000_000, 2e-6
    edges = gnp(n, p, np.random.default_rng(23)).arcs / 2
    mean = n * (n - 1) / 2 * p
    assert abs(edges - mean) < 4 * np.sqrt(mean)


@settings(max_examples=300)
@given(st.integers(1, 2**28), st.integers(-3, 3))
def test_pair_inverts_its_index_even_where_the_square_root_rounds(high, offset):
    index = max(0, high * (high - 1) // 2 + offset)
    low, found = (int(value[0]) for value in _pair(np.array([index])))
    assert 0 <= low < found and found * (found - 1) // 2 + low == index
