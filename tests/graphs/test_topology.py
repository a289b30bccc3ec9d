"""The form itself: rows, counts, connectivity, two-colourability, and the way to NetworkX and back."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hegemon.errors import InvalidInput
from hegemon.graphs.families import complete, directed_ring, path, ring
from hegemon.graphs.files import from_networkx
from hegemon.graphs.topology import LARGEST_COMPLETE, LARGEST_IN_MEMORY, Topology


@st.composite
def networkx_graphs(draw):
    n = draw(st.integers(2, 12))
    directed = draw(st.booleans())
    pairs = [(u, v) for u in range(n) for v in range(n) if u < v or (directed and u > v)]
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)))
    return graph


def is_cycle(graph):
    return (
        graph.is_directed() and nx.is_strongly_connected(graph) and all(degree == 1 for _, degree in graph.out_degree())
    )


def adjacency(graph):
    return {v: set(graph[v]) for v in graph}


@given(networkx_graphs())
def test_networkx_round_trip(graph):
    back = from_networkx(graph).to_networkx()
    if is_cycle(graph):
        assert from_networkx(graph).is_directed_ring
    else:
        assert adjacency(back) == adjacency(graph)
    assert type(back) is type(graph)
    assert adjacency(from_networkx(back).to_networkx()) == adjacency(back)


@given(networkx_graphs())
def test_every_question_is_answered_as_networkx_answers_it(graph):
    topology = from_networkx(graph)
    if is_cycle(graph):
        graph = topology.to_networkx()
    edges = graph.to_undirected()
    assert topology.n == len(graph)
    assert topology.directed == graph.is_directed()
    assert topology.arcs == graph.number_of_edges() * (1 if topology.directed else 2)
    assert topology.components == nx.number_connected_components(edges)
    assert topology.is_connected == nx.is_connected(edges)
    assert topology.is_bipartite == nx.is_bipartite(edges)
    assert topology.is_complete == (topology.arcs == topology.n * (topology.n - 1))
    assert topology.offsets.dtype == np.int64 and topology.targets.dtype == np.int32
    assert len(topology.sources) == len(topology.targets) == topology.offsets[-1] == topology.arcs
    for v in range(topology.n):
        assert topology.neighbours(v).tolist() == sorted(graph[v])
        assert topology.degrees[v] == len(graph[v])
        assert set(topology.sources[topology.offsets[v] : topology.offsets[v + 1]]) <= {v}


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_the_implicit_complete_graph_is_the_complete_graph(n):
    topology = complete(n)
    assert topology.rows is None
    assert adjacency(topology.to_networkx()) == adjacency(nx.complete_graph(n))
    assert topology.arcs == n * (n - 1) == len(topology.targets)
    assert [topology.neighbours(v).tolist() for v in range(n)] == [[u for u in range(n) if u != v] for v in range(n)]
    assert topology.is_complete and topology.is_connected
    assert topology.is_bipartite == (n <= 2)


def test_a_huge_complete_graph_costs_nothing_but_has_no_rows():
    topology = complete(LARGEST_COMPLETE)
    assert topology.arcs == LARGEST_COMPLETE * (LARGEST_COMPLETE - 1)
    assert topology.is_complete and topology.is_connected and not topology.is_bipartite
    assert not topology.is_directed_ring
    topology.require_connected()
    for ask in ("offsets", "targets", "sources", "degrees"):
        with pytest.raises(InvalidInput, match="at most 20000 nodes"):
            getattr(complete(20_001), ask)


def test_complete_however_it_was_given():
    assert ring(3).is_complete and directed_ring(2).is_complete and path(2).is_complete
    assert not ring(4).is_complete and not directed_ring(3).is_complete


def test_only_the_ring_in_array_order_is_a_directed_ring():
    assert directed_ring(2).is_directed_ring and directed_ring(9).is_directed_ring
    assert not ring(9).is_directed_ring and not ring(2).is_directed_ring
    assert not complete(2).is_directed_ring and not path(1).is_directed_ring
    backwards = Topology.from_edges("backwards", 5, [1, 2, 3, 4, 0], [0, 1, 2, 3, 4], directed=True)
    two_rings = Topology.from_edges("two", 4, [0, 1, 2, 3], [1, 0, 3, 2], directed=True)
    assert not backwards.is_directed_ring and not two_rings.is_directed_ring


def test_nothing_about_a_topology_can_be_changed():
    topology = ring(5)
    written_out = complete(4).targets
    for array in (topology.offsets, topology.targets, topology.sources, topology.degrees, written_out):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        topology.n = 6


def test_a_topology_travels_between_processes():
    there = pickle.loads(pickle.dumps(ring(5)))
    assert there.name == "ring:5" and there.targets.tolist() == ring(5).targets.tolist()


def test_disconnected_graphs_are_refused_where_one_leader_is_wanted():
    ring(4).require_connected()
    with pytest.raises(InvalidInput, match="'pieces' falls into 3 connected components.*add edges"):
        Topology.from_edges("pieces", 5, [0, 1], [1, 2]).require_connected()


@pytest.mark.parametrize(
    ("tails", "heads", "directed", "message"),
    [
        ([0, 1], [1, 1], False, "the loop 1 1"),
        ([0, 1], [1, 0], False, "the double edge 0 1"),
        ([2, 2], [1, 1], True, "the double edge 2 1"),
        ([0], [3], False, r"not in 0\.\.2"),
        ([-1], [1], True, r"not in 0\.\.2"),
    ],
)
def test_only_simple_graphs(tails, heads, directed, message):
    with pytest.raises(InvalidInput, match=message):
        Topology.from_edges("bad", 3, tails, heads, directed)


def test_opposite_arcs_are_two_arcs():
    assert Topology.from_edges("both", 2, [0, 1], [1, 0], directed=True).arcs == 2


def test_too_large_is_refused_before_it_is_built():
    with pytest.raises(InvalidInput, match=f"too large, at most {LARGEST_IN_MEMORY} nodes"):
        ring(LARGEST_IN_MEMORY + 1)
