"""Neighbours as a set, a multiset or ports: random protocols of each kind in every engine against plain Python, step by
step; a rule that reads more than it declares is refused; broken twins are caught."""

import importlib.util
import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import hegemon as hg
from hegemon.engines.rounds import kernels
from hegemon.exact.closure import closure_everywhere
from hegemon.exact.rounds import RoundConfigurations
from hegemon.graphs.families import as_topology
from hegemon.models import Bit, Parameter, Range, RoundsProtocol, everywhere
from hegemon.network.rules import RoundsRules
from hegemon.runs.faults import Fault
from hegemon.runs.setting import topology_for
from hegemon.web import choosing
from tests.engines.random_protocols import mix

EXAMPLES = Path(__file__).parents[3] / "examples"


class Drawn(RoundsProtocol):
    """A random function of the least and the largest x around."""

    topology = "ring"
    key = Parameter(1, low=0)

    class State:
        x: Range(0, 4)

    def update(me, neighbours, coins, p):
        least, most = me.x, me.x
        for k in range(len(neighbours)):
            least, most = min(least, neighbours[k].x), max(most, neighbours[k].x)
        me.x = (mix(mix(mix(p.key, me.x), least), most) >> 9) % 5


class Counted(Drawn):
    """Of how many neighbours have each x."""

    neighbourhood = "multiset"

    def update(me, neighbours, coins, p):
        total = 0
        for k in range(len(neighbours)):
            total += 100 ** neighbours[k].x
        me.x = (mix(mix(p.key, me.x + 5 * len(neighbours)), total) >> 9) % 5


class Numbered(Drawn):
    """Of who is on which port, by which number it calls this node, and at whom it points."""

    neighbourhood = "ports"
    max_degree = Parameter("n - 1", low=1)

    class State:
        x: Range(0, 4)
        at: Range(-1, "degree - 1")

    def update(me, neighbours, coins, p):
        h = mix(p.key, me.x + 5 * (me.at + 1))
        for k in range(len(neighbours)):
            mine = 1 if neighbours[k].at == neighbours[k].back else 0
            h = mix(mix(h, neighbours[k].x + 5 * mine), neighbours[k].back)
        me.x = (h >> 9) % 5
        me.at = (h >> 19) % (len(neighbours) + 1) - 1


KINDS = [Drawn, Counted, Numbered]
GRAPHS = ["path:6", "star:6", "complete:6", "gnp:6,0.5"]


def reference(kind, key, adjacency, states):
    """A round, written again from the adjacency lists alone."""
    after = []
    for v, near in enumerate(adjacency):
        me = states[v]
        if kind is Drawn:
            values = [me["x"], *(states[u]["x"] for u in near)]
            after.append({"x": (mix(mix(mix(key, me["x"]), min(values)), max(values)) >> 9) % 5})
        elif kind is Counted:
            total = sum(100 ** states[u]["x"] for u in near)
            after.append({"x": (mix(mix(key, me["x"] + 5 * len(near)), total) >> 9) % 5})
        else:
            h = mix(key, me["x"] + 5 * (me["at"] + 1))
            for u in near:
                back = adjacency[u].index(v)
                h = mix(mix(h, states[u]["x"] + 5 * (states[u]["at"] == back)), back)
            after.append({"x": (h >> 9) % 5, "at": (h >> 19) % (len(near) + 1) - 1})
    return after


def agree(kind, graph, key, options, rounds=5) -> bool:
    """Whether runs are those of the reference."""
    protocol = kind(6, key=key)
    topology = topology_for(protocol, graph, key)
    adjacency = [sorted(topology.neighbours(v).tolist()) for v in range(6)]
    states = hg.simulate(protocol, graph=topology, seed=key, until="rounds:0", **options).configuration.mappings()
    start = states
    for k in range(1, rounds + 1):
        states = reference(kind, key, adjacency, states)
        run = hg.simulate(protocol, graph=topology, start=start, seed=key, until=f"rounds:{k}", **options)
        if run.configuration.mappings() != states:
            return False
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_runs_are_those_of_plain_python(kind, graph):
    for key in (1, 2):
        assert agree(kind, graph, key, {"fast_forward": key == 1})
    assert agree(kind, graph, 3, {"scheduler": "synchronous", "engine": "daemon"})


def gather_without_ports(faces, v, near, given):
    """A twin that forgets which port leads back."""
    begin, end = given.offsets[v], given.offsets[v + 1]
    degree = 0
    for arc in range(begin, end):
        show(faces[given.targets[arc]], near[degree])  # noqa: F821
        near[degree].back = 0
        degree += 1
    return degree


def test_a_twin_without_ports_is_caught(monkeypatch):
    monkeypatch.setattr(kernels, "gather_ports", gather_without_ports)
    assert not agree(Numbered, "gnp:6,0.5", 2, {})


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_chain_makes_the_same_rounds(kind):
    protocol = kind(4, key=5)
    topology = topology_for(protocol, "star:4")
    adjacency = [sorted(topology.neighbours(v).tolist()) for v in range(4)]
    space = RoundConfigurations(protocol, topology)
    keys = space.all_keys()
    expected = 5**4 if kind is not Numbered else (5 * 4) * (5 * 2) ** 3
    assert len(keys) == expected
    codes = space.codes(keys[:: max(1, len(keys) // 300)])
    _, after, _ = space.successors(codes)
    for before, found in zip(codes, after, strict=True):
        assert space.mappings(found) == reference(kind, 5, adjacency, space.mappings(before))


def test_every_random_start_fits():
    protocol = Numbered(40, max_degree=39)
    topology = topology_for(protocol, "star:40")
    drawn = [protocol.initial("random", np.random.default_rng(k), topology=topology).agents["at"] for k in range(200)]
    leaves = np.concatenate([ports[topology.degrees == 1] for ports in drawn])
    assert set(leaves.tolist()) == {-1, 0} and abs(np.mean(leaves == 0) - 0.5) < 0.03
    assert max(int(ports[topology.degrees == 39].max()) for ports in drawn) > 20


# -- what is refused -------------------------------------------------------------------------------------------------


def declared(kind, update, **members):
    return type(kind.__name__, (kind,), {"update": update, **members})


def counts(me, neighbours, coins, p):
    me.x = min(4, sum([state.x for state in neighbours]))


def takes_the_first(me, neighbours, coins, p):
    me.x = neighbours[0].x if len(neighbours) > 0 else 0


def takes_the_middle(me, neighbours, coins, p):
    me.x = neighbours[1].x if len(neighbours) == 3 else 0


def test_rules_that_read_more_than_they_declare_are_refused():
    for update in (counts, takes_the_first, takes_the_middle):
        with pytest.raises(hg.InvalidInput, match="or counts equal ones; neighbourhood = 'multiset' lets it count"):
            declared(Drawn, update)(5).require_sound()
    declared(Counted, counts)(5).require_sound()
    for update in (takes_the_first, takes_the_middle):
        with pytest.raises(hg.InvalidInput, match="order of the neighbours, which a multiset does not show"):
            declared(Counted, update)(5).require_sound()
        declared(Drawn, update, neighbourhood="ports")(5).require_sound()


def test_declarations_that_mean_nothing_are_refused():
    with pytest.raises(hg.InvalidInput, match="neighbourhood = 'list' is not known; choose set, multiset, ports"):
        declared(Drawn, counts, neighbourhood="list")
    with pytest.raises(hg.InvalidInput, match="is oriented, so its neighbours are"):
        declared(Drawn, counts, neighbourhood="ports", oriented=True)
    with pytest.raises(hg.InvalidInput, match="a field cannot be named back"):
        declared(Drawn, counts, neighbourhood="ports", State=type("State", (), {"__annotations__": {"back": Bit}}))
    fields = type("State", (), {"__annotations__": {"x": Range(0, "degree")}})
    with pytest.raises(hg.InvalidInput, match="depends on the degree, which a set does not show"):
        declared(Drawn, counts, State=fields)
    with pytest.raises(hg.InvalidInput, match="nothing says how large it is; write max_degree = Parameter"):
        declared(Counted, counts, State=fields)


def beyond(me, neighbours, coins, p):
    me.at = len(neighbours)


def test_states_that_do_not_fit_a_degree_are_refused():
    with pytest.raises(hg.InvalidInput, match=r"wrote at = \d, outside -1..\d at a node of degree \d"):
        declared(Numbered, beyond)(5).require_sound()
    with pytest.raises(
        hg.InvalidInput, match="max_degree = 2, and star:5 has a node of degree 4; give --set max_degree=4"
    ):
        hg.simulate(Numbered(5, max_degree=2), graph="star:5")
    wrong = [{"x": 0, "at": 1}] * 5
    with pytest.raises(hg.InvalidInput, match="node 0 has degree 1, and no such node can be in the state"):
        hg.simulate(Numbered(5), graph="path:5", start=wrong, until="rounds:1")
    with pytest.raises(hg.InvalidInput, match="a fault must name the values that it writes"):
        hg.simulate(Numbered(5), graph="path:5", until="rounds:5", faults=[Fault(2, agents=1)])


def rare(me, neighbours, coins, p):
    if me.x == 4 and len(neighbours) == 5:
        me.at = 5


def test_the_compiled_engine_finds_a_state_that_does_not_fit():
    """Trials see at most four neighbours, so that only a run can notice it."""
    protocol = declared(Numbered, rare)(8)
    start = [{"x": 4, "at": -1}] * 8
    with pytest.raises(hg.InvalidInput, match="outside -1..4 at a node of degree 5"):
        hg.simulate(protocol, graph=star_with_tail(), start=start, until="rounds:1")


def star_with_tail():
    """A node of degree 5, and a path: a node of degree 7 exists nowhere, but max_degree allows it."""
    graph = nx.star_graph(5)
    graph.add_edges_from([(5, 6), (6, 7)])
    return graph


def test_networks_refuse_ports_and_degrees():
    with pytest.raises(hg.InvalidInput, match="not by which number each of them calls it"):
        RoundsRules(Numbered(5))
    fields = type("State", (), {"__annotations__": {"x": Range(0, "degree")}})
    kind = declared(Counted, counts, State=fields, max_degree=Parameter(4))
    with pytest.raises(hg.InvalidInput, match="members, whose peers come and go, do not run it"):
        RoundsRules(kind(5))
    RoundsRules(Counted(5))


def test_the_hand_tool_takes_ports():
    me, near = {"x": 1, "at": -1}, [{"x": 2, "at": 0, "back": 0}, {"x": 0, "at": 1, "back": 2}]
    assert Numbered(5).transition(me, near)["at"] in (-1, 0, 1)
    with pytest.raises(hg.InvalidInput, match="a neighbour needs `back`"):
        Numbered(5).transition(me, [{"x": 2, "at": 0}])
    with pytest.raises(hg.InvalidInput, match="a neighbour has no `back`"):
        Counted(5).transition({"x": 1}, [{"x": 2, "back": 0}])


# -- the examples ----------------------------------------------------------------------------------------------------


def example(file: str, name: str):
    place = importlib.util.spec_from_file_location(f"example_{file}", EXAMPLES / f"{file}.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return getattr(module, name)


def courses(protocol, graph, start, rounds, **options):
    return [
        hg.simulate(protocol, graph=graph, start=start, until=f"rounds:{k}", **options).configuration.agents
        for k in range(rounds + 1)
    ]


def test_the_game_of_life():
    side = 7
    cells = nx.strong_product(nx.cycle_graph(side), nx.cycle_graph(side))
    cells = nx.convert_node_labels_to_integers(cells, ordering="sorted")
    board = np.zeros((side, side), int)
    board[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1  # a glider
    board[5, 3:6] = 1  # and a blinker
    start = [{"alive": int(value)} for value in board.ravel()]
    for agents in courses(example("life", "Life")(side**2), cells, start, 12):
        assert np.array_equal(agents["alive"].reshape(side, side), board)
        around = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        board = ((around == 3) | ((around == 2) & (board == 1))).astype(int)


def test_a_breadth_first_tree():
    graph = nx.gnp_random_graph(14, 0.25, seed=3)
    protocol = example("bfs_tree", "BfsTree")(14, max_degree=max(dict(graph.degree).values()))
    topology = as_topology(graph, None, None)
    run = hg.simulate(protocol, graph=topology, seed=2)
    assert run.reached
    nodes, distances = run.configuration.mappings(), nx.single_source_shortest_path_length(graph, 0)
    for v, node in enumerate(nodes):
        near = sorted(graph[v])
        assert node["distance"] == distances[v]
        assert (near[node["parent"]] if node["parent"] >= 0 else None) == next(
            (u for u in near if distances[u] == distances[v] - 1), None
        )
    assert sum(node["children"] for node in nodes) == 13
    start = protocol.initial("random", np.random.default_rng(1), topology=topology).mappings()
    before = start
    for agents in courses(protocol, topology, start, 6):
        assert [protocol.space.mapping(agent) for agent in agents] == before
        after = []
        for v, node in enumerate(before):
            near = sorted(graph[v])
            fathers = [(before[u]["distance"], port) for port, u in enumerate(near)]
            pointing = [u for u in near if before[u]["parent"] == sorted(graph[u]).index(v)]
            least, port = min(fathers)
            after.append(
                {
                    "root": node["root"],
                    "distance": 0 if node["root"] else min(13, least + 1),
                    "parent": -1 if node["root"] else port,
                    "children": len(pointing),
                }
            )
        before = after


def test_colouring_with_degree_plus_one_colours():
    kind = example("colouring", "Colouring")
    graph = nx.gnp_random_graph(30, 0.2, seed=1)
    protocol = kind(30)
    run = hg.simulate(protocol, graph=graph, seed=1)
    colours = run.configuration.agents["colour"]
    assert run.reached and all(colours[u] != colours[v] for u, v in graph.edges)
    assert all(colours[v] <= graph.degree[v] for v in graph)
    for before, after in itertools.pairwise(courses(protocol, graph, "random", 6, seed=4)):
        for v in graph:
            mine, near = int(before["colour"][v]), {int(before["colour"][u]) for u in graph[v]}
            free = min(set(range(graph.degree[v] + 1)) - near)
            assert after["colour"][v] in ({mine, free} if mine in near else {mine})
    answer = hg.verify(kind(4), graph="star:4")
    assert answer.ok and len(answer.inside) == 4 * 2**3


# -- closure on every graph, and the page ----------------------------------------------------------------------------


class Parity(Counted):
    """x follows the parity of how many neighbours have 1; all 0 is closed, all 1 is not."""

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        ones = 0
        for k in range(len(neighbours)):
            ones += neighbours[k].x
        me.x = ones % 2

    zeros = everywhere(lambda a, p: a.x == 0)
    ones = everywhere(lambda a, p: a.x == 1)

    def listed(self, name, topology):
        return np.full((1, topology.n), int(name == "ones"))


def test_closure_on_every_small_graph_counts_neighbours():
    found = closure_everywhere(Parity, 4, "zeros")
    assert len(found) == 1 + 1 + 2 + 6 and all(one.holds for one in found)
    for one in closure_everywhere(Parity, 4, "ones"):
        assert one.holds == bool((one.graph.degrees % 2 == 1).all())


def test_the_page_offers_what_ports_allow():
    class Session:
        protocol = Numbered(4, key=2)
        topology = topology_for(protocol, "star:4")

    space = Session.protocol.space
    start = [{"x": v, "at": 0} for v in range(4)]
    nodes = [space.parse(state) for state in start]
    adjacency = [sorted(Session.topology.neighbours(v).tolist()) for v in range(4)]
    for v, after in enumerate(reference(Numbered, 2, adjacency, start)):
        assert choosing._outcomes(Session, v, nodes) == {space.code(space.parse(after)): 1}
