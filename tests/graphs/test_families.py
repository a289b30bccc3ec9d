"""The families against NetworkX, and every way a spec can be right or wrong."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hegemon.errors import InvalidInput
from hegemon.graphs import families as graphs
from hegemon.graphs import mixing
from hegemon.graphs import topology as sizes
from hegemon.graphs.families import FAMILIES, node_count, parse
from hegemon.graphs.mixing import mixing_time
from hegemon.graphs.topology import LARGEST_COMPLETE


def rng():
    return np.random.default_rng(1)


def same(topology, graph):
    graph = nx.convert_node_labels_to_integers(graph)
    assert topology.n == len(graph) and topology.directed == graph.is_directed()
    assert [topology.neighbours(v).tolist() for v in range(topology.n)] == [sorted(graph[v]) for v in graph]


SIZES = st.integers(2, 30)


@given(SIZES)
def test_one_dimension(n):
    same(graphs.path(n), nx.path_graph(n))
    same(graphs.star(n), nx.star_graph(n - 1))
    same(graphs.directed_ring(n), nx.cycle_graph(n, create_using=nx.DiGraph))
    same(graphs.ring(n), nx.cycle_graph(n))


@given(st.integers(1, 7), st.integers(2, 7))
def test_two_dimensions(rows, columns):
    same(graphs.grid(rows, columns), nx.grid_2d_graph(rows, columns))
    wrapped = nx.grid_2d_graph(rows, columns, periodic=True)
    wrapped.remove_edges_from(list(nx.selfloop_edges(wrapped)))
    same(graphs.torus(rows, columns), wrapped)
    torus = graphs.torus(rows, columns)
    assert set(torus.degrees) == {min(rows - 1, 2) + min(columns - 1, 2)}


@pytest.mark.parametrize("dimension", range(1, 8))
def test_hypercube(dimension):
    topology = graphs.hypercube(dimension)
    assert topology.n == 2**dimension and set(topology.degrees) == {dimension}
    assert set((topology.sources ^ topology.targets).tolist()) == {1 << bit for bit in range(dimension)}
    assert topology.is_connected and topology.is_bipartite


@given(st.integers(2, 8), st.integers(1, 8))
def test_lollipop(clique, tail):
    same(graphs.lollipop(clique, tail), nx.lollipop_graph(clique, tail))


def test_the_smallest_graphs_are_simple():
    for topology in (graphs.ring(2), graphs.torus(1, 2), graphs.torus(2, 1), graphs.hypercube(1)):
        assert topology.targets.tolist() == [1, 0]
    assert graphs.directed_ring(2).targets.tolist() == [1, 0] and graphs.directed_ring(2).directed
    assert set(graphs.torus(2, 2).degrees) == {2} and set(graphs.torus(2, 3).degrees) == {3}
    assert graphs.path(1).arcs == 0 and graphs.path(1).is_connected


def test_a_million_nodes():
    sizes = {"ring": 2_000_000, "directed-ring": 1_000_000, "star": 1_999_998, "torus": 4_000_000}
    for spec, arcs in sizes.items():
        assert parse(spec, 1_000_000, rng()).arcs == arcs


@pytest.mark.parametrize(
    ("spec", "n", "arcs"),
    [
        ("complete:8", 8, 56),
        ("complete:1", 1, 0),
        ("path:1", 1, 0),
        ("ring:64", 64, 128),
        ("directed-ring:64", 64, 64),
        ("path:5", 5, 8),
        ("star:5", 5, 8),
        ("grid:2x3", 6, 14),
        ("torus:8x8", 64, 256),
        ("hypercube:6", 64, 384),
        ("regular:20,3", 20, 60),
        ("gnp:9,1", 9, 72),
        ("gnp:9,0.0", 9, 0),
        ("lollipop:20,10", 30, 400),
        (f"complete:{LARGEST_COMPLETE}", LARGEST_COMPLETE, None),
    ],
)
def test_specs(spec, n, arcs):
    for given_n in (None, n):
        topology = parse(spec, given_n, rng())
        assert topology.n == n and (arcs is None or topology.arcs == arcs)
        assert parse(topology.name, None, rng()).arcs == topology.arcs
    with pytest.raises(InvalidInput, match=f"has {n} nodes, and n is {n + 1}"):
        parse(spec, n + 1, rng())


@pytest.mark.parametrize(
    ("spec", "n", "name"),
    [
        ("complete", 8, "complete:8"),
        ("ring", 8, "ring:8"),
        ("directed-ring", 8, "directed-ring:8"),
        ("path", 1, "path:1"),
        ("star", 8, "star:8"),
        ("ring:", 8, "ring:8"),
        ("grid", 12, "grid:3x4"),
        ("torus", 64, "torus:8x8"),
        ("grid", 4, "grid:2x2"),
        ("hypercube", 64, "hypercube:6"),
        ("hypercube", 2, "hypercube:1"),
    ],
)
def test_the_size_may_come_from_n(spec, n, name):
    topology = parse(spec, n, rng())
    assert topology.name == name and topology.n == n


@pytest.mark.parametrize(
    ("spec", "n", "message"),
    [
        ("rign:64", None, "'rign:64' is neither.*complete:N.*lollipop:CLIQUE,TAIL"),
        ("", None, "neither a known family"),
        ("no/such/file.txt", None, "nor an existing file"),
        ("x" * 5000, None, "nor an existing file"),
        (".", None, "nor an existing file"),
        ("ring", None, "'ring' has no size: write it as ring:N, or give n"),
        ("grid", None, "has no size"),
        ("hypercube", None, "has no size"),
        ("ring:abc", None, "'ring:abc' cannot be read: write it as ring:N"),
        ("ring:64.0", None, "cannot be read"),
        ("ring:6,4", None, "cannot be read"),
        ("ring:" + "9" * 5000, None, "cannot be read"),
        ("grid:8", None, "write it as grid:ROWSxCOLUMNS"),
        ("grid:8x", None, "cannot be read"),
        ("grid:2x2x2", None, "cannot be read"),
        ("gnp:64", None, "write it as gnp:N,P"),
        ("gnp:64,much", None, "cannot be read"),
        ("regular:64,4.5", None, "cannot be read"),
        ("regular", 64, "'regular' has no numbers: write it as regular:N,DEGREE"),
        ("gnp", 64, "write it as gnp:N,P"),
        ("lollipop", 64, "write it as lollipop:CLIQUE,TAIL"),
        ("complete:0", None, r"has 0 nodes, but n must be in 1\.\.1152921504606846976"),
        (f"complete:{LARGEST_COMPLETE + 1}", None, r"n must be in 1\.\."),
        ("ring:1", None, "'ring:1' has 1 nodes, but n must be at least 2"),
        ("ring", -3, "at least 2"),
        ("directed-ring:1", None, "at least 2"),
        ("star:1", None, "at least 2"),
        ("path:0", None, "at least 1"),
        ("grid:1x1", None, "product at least 2"),
        ("grid:-2x-3", None, "both must be at least 1"),
        ("torus:0x8", None, "both must be at least 1"),
        ("grid", 13, "a grid cannot have n = 13 nodes"),
        ("torus", 1, "a torus cannot have n = 1 nodes"),
        ("torus", -4, "a torus cannot have n = -4 nodes"),
        ("hypercube:0", None, r"must be in 1\.\.23"),
        ("hypercube:24", None, r"must be in 1\.\.23"),
        ("hypercube", 48, "n = 48 nodes, only a power of two from 2 on: use for instance n = 64"),
        ("hypercube", 1, "only a power of two from 2 on"),
        ("hypercube", -8, "use for instance n = 2"),
        ("hypercube", 2**40, r"must be in 1\.\.23"),
        ("regular:5,3", None, "n x degree must be even"),
        ("regular:4,4", None, r"the degree must be in 1\.\.n-1"),
        ("regular:4,0", None, r"the degree must be in 1\.\.n-1"),
        ("regular:1,0", None, r"the degree must be in 1\.\.n-1"),
        ("regular:100000000,4", None, "too large"),
        ("gnp:1,0.5", None, "at least 2"),
        ("gnp:64,1.5", None, r"the edge probability 1.5, but it must be in \[0, 1\]"),
        ("gnp:64,-0.1", None, r"must be in \[0, 1\]"),
        ("gnp:64,nan", None, r"must be in \[0, 1\]"),
        ("gnp:1000000,0.5", None, "too large"),
        ("gnp:" + "9" * 4000 + ",0.5", None, "cannot be read"),
        ("lollipop:1,5", None, "the clique needs at least 2"),
        ("lollipop:5,0", None, "the tail at least 1"),
        ("lollipop:100000,5", None, "too large"),
        ("ring:1000000000000", None, "too large"),
        ("grid:" + "9" * 4000 + "x" + "9" * 4000, None, "cannot be read"),
        ("torus", 10**30, "too large"),
    ],
)
def test_wrong_specs_are_one_sentence(spec, n, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        parse(spec, n, rng())
    assert "\n" not in str(caught.value) and ":" in str(caught.value)


@given(st.sampled_from(sorted(FAMILIES)), st.text("0123456789.,x-e ", max_size=8), st.none() | st.integers(-5, 200))
def test_any_spec_is_a_topology_or_one_sentence(family, arguments, n):
    arguments = "".join(part[:2] for part in arguments.partition("x"))  # two digits are size enough here
    try:
        topology = parse(f"{family}:{arguments}", n, rng())
    except InvalidInput:
        return
    assert topology.n >= 1 and n in (None, topology.n)
    assert topology.arcs == len(topology.targets)


@pytest.mark.parametrize("spec", ["ring:" + "9" * 5000, "x" * 5000, "grid:3x" + "1" * 100, "ring:\ud800", "\x00"])
def test_a_spec_beyond_all_bounds_is_one_short_sentence(spec):
    with pytest.raises(InvalidInput) as caught:
        parse(spec, None, rng())
    assert len(str(caught.value)) < 500


SPECS = (
    *("complete:7", "ring:7", "directed-ring:7", "oriented-ring:7", "path:7", "star:7", "grid:2x5", "torus:3x4"),
    *("hypercube:3", "regular:8,3", "gnp:8,1", "lollipop:4,3"),
)


def test_the_number_of_nodes_is_known_before_a_graph_is_made():
    assert {spec.partition(":")[0] for spec in SPECS} == set(FAMILIES)
    for spec in SPECS:
        assert node_count(spec) == parse(spec, None, np.random.default_rng(0)).n
    assert node_count("ring", 9) == 9 and node_count("a_file.txt") is None


# -- sizes are known before anything is allocated ----------------------------------------------------------------

LARGE = [
    "ring:300000", "directed-ring:300000", "oriented-ring:300000", "path:300000", "star:300000", "grid:400x400",
    "torus:400x400", "hypercube:16", "regular:50000,10", "regular:900,800", "gnp:4000,0.03", "lollipop:800,50",
]  # fmt: skip


def peak(work) -> int:
    """The most bytes that were allocated at one time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("spec", LARGE)
def test_a_graph_that_does_not_fit_is_refused_before_it_is_built(spec, monkeypatch):
    monkeypatch.setattr(sizes, "memory_available", lambda: 10_000_000)

    def attempt():
        with pytest.raises(InvalidInput, match="10.0 MB are free: make it smaller"):
            parse(spec, None, rng())

    assert peak(attempt) < 1_000_000


def test_a_complete_graph_is_refused_before_its_arcs_are_written_out(monkeypatch):
    monkeypatch.setattr(sizes, "memory_available", lambda: 10_000_000)
    with pytest.raises(InvalidInput, match="complete:5000.*free"):
        mixing_time("complete:5000", method="spectral")
    assert parse("complete:5000", None, rng()).is_connected  # implicit: it takes no memory


@pytest.mark.parametrize("spec", [spec for spec in LARGE if "directed-ring" not in spec])
def test_no_graph_takes_more_than_was_asked_for(spec, monkeypatch):
    """Built, seen through, and its spectrum computed; the same bound holds for all families."""
    monkeypatch.setattr(mixing, "_by_factorization", lambda *_: (0.5, 0.0))
    monkeypatch.setattr(mixing, "STEPS", 12)
    mixing_time("ring:5", method="spectral")  # what is loaded for the first time does not count
    made = []

    def work():
        made.append(parse(spec, None, rng()))
        assert made[0].is_connected
        mixing_time(made[0], method="spectral")

    taken = peak(work)
    assert taken < sizes.PER_ARC * made[0].arcs + sizes.PER_NODE * made[0].n
