"""Graphs from files and from NetworkX: labels, order, rings in any labelling, and every refusal."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hegemon.errors import InvalidInput
from hegemon.graphs.families import as_topology, parse
from hegemon.graphs.files import from_file, from_networkx


@pytest.fixture
def write(tmp_path):
    def write(text, name="graph.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def arcs(topology):
    return list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))


def test_an_edge_list(write):
    topology = from_file(write("# a comment\n\n10 2\n2 33  # another\n 33\t10\n"))
    assert not topology.directed and topology.n == 3 and topology.is_complete
    topology = from_file(write("carol bob\nbob alice\n"))
    assert arcs(topology) == [(0, 1), (1, 0), (1, 2), (2, 1)]  # in order of appearance


def test_integer_labels_keep_their_order(write):
    assert arcs(from_file(write("10 9\n9 2\n"))) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert from_file(write("01 1\n1 2\n")).n == 3  # labels are text: 01 is not 1


def test_commas(write):
    assert arcs(from_file(write("new york, boston\r\nboston,\tlos angeles\r\n"))) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_a_directed_edge_list(write):
    topology = from_file(write("\ufeff# Directed\n0 1\n2 1\n1 0\n"))
    assert topology.directed and arcs(topology) == [(0, 1), (1, 0), (2, 1)]
    assert not from_file(write("# undirected\n0 1\n")).directed


@given(st.permutations(range(9)), st.permutations(range(9)))
def test_a_directed_cycle_in_any_labelling_becomes_the_ring(labels, order):
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(labels[:4], reverse=True))
    graph.add_edges_from((labels[i], labels[(i + 1) % 9]) for i in order)
    assert from_networkx(graph).is_directed_ring


def test_a_directed_cycle_in_a_file_becomes_the_ring(write):
    path = write("# directed\nc a\nb c\na b\n")
    topology = parse(path, 3, np.random.default_rng(1))
    assert topology.is_directed_ring and topology.name == path
    assert from_file(write("# directed\n0 1\n1 0\n")).is_directed_ring


def test_what_is_no_single_cycle_stays_as_it_is(write):
    for text in ("# directed\n0 2\n2 0\n1 3\n3 1\n", "# directed\n0 2\n2 1\n1 2\n", "# directed\n0 2\n2 1\n"):
        assert not from_file(write(text)).is_directed_ring
    assert arcs(from_file(write("# directed\n0 2\n2 0\n1 3\n3 1\n"))) == [(0, 2), (1, 3), (2, 0), (3, 1)]


@pytest.mark.parametrize(
    "graph",
    [
        nx.petersen_graph(),
        nx.cycle_graph(12),
        nx.DiGraph([(0, 1), (2, 1)]),
        nx.grid_2d_graph(3, 4),
        nx.MultiGraph([("a", "b"), ("b", "c")]),
    ],
)
def test_graphml(tmp_path, graph):
    path = tmp_path / "graph.graphml"
    nx.write_graphml(nx.relabel_nodes(graph, str), path)
    topology = from_file(path)
    assert topology.name == str(path) and topology.directed == graph.is_directed()
    index = {label: i for i, label in enumerate(graph)}
    assert arcs(topology) == sorted((index[u], index[v]) for u in graph for v in graph[u])


def test_a_directed_cycle_in_graphml_becomes_the_ring(tmp_path):
    path = tmp_path / "ring.GraphML"
    nx.write_graphml(nx.DiGraph([("b", "a"), ("c", "b"), ("a", "c")]), path)
    assert from_file(path).is_directed_ring


def test_names_of_networkx_graphs():
    assert from_networkx(nx.Graph([(0, 1)], name="wire")).name == "wire"
    assert from_networkx(nx.DiGraph([(0, 1)])).name == "DiGraph"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n2\n", "line 2 of .* is '2', but a line must hold two node labels"),
        ("0 1\n1 2 3\n", "line 2"),
        ("0,1\n1,\n", "line 2"),
        ("0 1\n\n# fine\n1 1\n", "line 4 of .* has the loop 1 1"),
        ("0 1\n1 0\n", "line 2 of .* has the edge 1 0 a second time.*# directed"),
        ("# directed\n0 1\n0 1\n", "line 3 of .* has the edge 0 1 a second time"),
        ("0 1\n# directed\n1 2\n", "line 2 of .* says '# directed' after the first edge"),
        ("", "has 0 nodes, but n must be at least 2"),
        ("# nothing\n", "has 0 nodes"),
        (b"\xff\xfe\x00", "cannot be read as UTF-8"),
    ],
)
def test_wrong_edge_lists_are_one_sentence(write, text, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        from_file(write(text))
    assert "\n" not in str(caught.value)


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">{}</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n", "is not readable GraphML"),
        ("<graphml/>", "is not readable GraphML"),
        (GRAPHML.format('<node id="a"/>'), "has 1 nodes"),
        (GRAPHML.format('<node id="a"/><edge source="a" target="a"/>'), "has the loop a a"),
        (GRAPHML.format('<edge source="a" target="b"/><edge source="b" target="a"/>'), "a second time"),
        (GRAPHML.format('<edge source="a" target="b"/><edge directed="true" source="b" target="a"/>'), "GraphML"),
        (b"\xff\xfe\x00", "is not readable GraphML"),
    ],
)
def test_wrong_graphml_is_one_sentence(write, text, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        from_file(write(text, "graph.graphml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph(), "has 0 nodes"),
        (nx.path_graph(1), "has 1 nodes"),
        (nx.Graph([("a", "a")]), "has the loop a a"),
        (nx.MultiGraph([(0, 1), (1, 0)]), "'MultiGraph' has the edge 0 1 a second time"),
        (nx.MultiDiGraph([(0, 1), (0, 1)]), "a second time"),
    ],
)
def test_wrong_networkx_graphs(graph, message):
    with pytest.raises(InvalidInput, match=message):
        from_networkx(graph)


def test_absent_files_and_wrong_sizes(write, tmp_path):
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(InvalidInput, match="there is no graph file"):
            from_file(path)
    with pytest.raises(InvalidInput, match="has 2 nodes, and n is 3"):
        parse(write("a b\n"), 3, np.random.default_rng(1))


def test_a_graph_is_accepted_in_every_form(write):
    rng = np.random.default_rng(0)
    ring = as_topology("ring:5", None, rng)
    for graph in (ring, nx.cycle_graph(5), write("0 1\n1 2\n2 3\n3 4\n4 0\n")):
        assert arcs(as_topology(graph, 5, rng)) == arcs(ring)
    assert as_topology(nx.DiGraph([("a", "b"), ("b", "a")]), None, rng).directed
    for wrong in (3, None, ["ring:5"], {0: [1]}):
        with pytest.raises(
            InvalidInput, match="a graph cannot be read from a value of type .*; give a spec such as ring:64"
        ):
            as_topology(wrong, None, rng)


def test_labels_that_are_not_all_numbers_keep_their_order():
    graph = nx.path_graph(5)
    graph = nx.relabel_nodes(graph, {0: "3", 1: "1", 2: "9" * 5000, 3: "2", 4: "0"})
    assert arcs(from_networkx(graph)) == arcs(from_networkx(nx.path_graph(5)))
