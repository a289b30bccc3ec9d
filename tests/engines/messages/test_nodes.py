"""Engine `nodes`: a protocol of a user's own, exact message counts, and the CONGEST limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon import FloodMax, InvalidInput, run_trials, simulate
from hegemon.graphs.families import complete, grid, parse, path, ring, star
from hegemon.graphs.random import gnp
from hegemon.models import ELECTED, NON_ELECTED, Bit, MessageProtocol, Parameter, Range
from hegemon.process.messages.ports import CompletePorts, ListedPorts, ports_of
from hegemon.protocols.loading import find_protocol, name_protocol

OWN_FLOOD = '''
from hegemon.models import ELECTED, NON_ELECTED, MessageProtocol, Parameter, Range


class Flood(MessageProtocol):
    """Flood the largest rank for so many rounds, whether it is news or not."""

    rounds = Parameter("n", low=1)

    class Message:
        rank: Range(0, "n^3")

    class Node:
        rank = best = 0

    def begin(self, node, rng):
        node.rank = node.best = rng.randint(0, self.n**3)
        return {port: self.message(rank=node.best) for port in range(node.degree)}

    def round(self, node, inbox, rng):
        node.best = max([node.best] + [message.rank for message in inbox.values()])
        if node.round < self.rounds:
            return {port: self.message(rank=node.best) for port in range(node.degree)}
        node.status = ELECTED if node.best == node.rank else NON_ELECTED
'''


@pytest.mark.parametrize("spec", ["ring:12", "grid:3x5", "complete:8", "star:7"])
def test_a_user_s_own_protocol_sends_rounds_times_arcs_messages(tmp_path, spec):
    file = tmp_path / "mine.py"
    file.write_text(OWN_FLOOD)
    graph = parse(spec, None, None)
    protocol = find_protocol(name_protocol(f"{file}:Flood"))(n=graph.n, rounds=graph.n)
    run = simulate(protocol, graph=graph, seed=3)
    assert (run.engine, run.steps, run.leaders, run.reached) == ("nodes", graph.n, 1, True)
    bits = (graph.n**3).bit_length()
    assert run.measures == {
        "messages": graph.n * graph.arcs,
        "bits": graph.n * graph.arcs * bits,
        "largest_message": bits,
    }
    assert len(run_trials(protocol, 5, seed=1, graph=graph, workers=2).runs) == 5


def test_flood_max_counts():
    """On K_n everyone speaks once; if the diameter is not known, all but the highest once more."""
    n = 20
    known = simulate(FloodMax(n=n, diameter=1), seed=1)
    assert (known.measures["messages"], known.steps, known.leaders) == (n * (n - 1), 1, 1)
    unknown = simulate(FloodMax(n=n), seed=1)
    assert (unknown.measures["messages"], unknown.steps) == (n * (n - 1) + (n - 1) * (n - 1), n - 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 15), st.floats(0.2, 1), st.integers(0, 2**32))
def test_flood_max_elects_on_every_connected_graph(n, probability, seed):
    graph = gnp(n, probability, np.random.default_rng(seed))
    if not graph.is_connected:
        return
    run = simulate(FloodMax(n=n), graph=graph, seed=seed)
    assert run.leaders == 1 or run.measures["cause"] == "equal ranks"


class Script(MessageProtocol):
    """Node 0 (the only one whose degree is 3, on a star) does what the test says."""

    answer = None
    smallest_n = 1
    first = Parameter(0, low=0)

    class Message:
        value: Range(0, "2^(12*n)")

    class Node:
        calls_seen = ()
        inbox_sizes = ()

    def begin(self, node, rng):
        return self.answer(node) if node.degree == 3 else {}

    def round(self, node, inbox, rng):
        node.calls_seen += (node.round,)
        node.inbox_sizes += (len(inbox),)

    def measure(self, nodes):
        return {"calls": [(node.calls_seen, node.inbox_sizes) for node in nodes if node.calls_seen]}


def scripted(answer):
    protocol = Script(n=4)
    protocol.answer = answer
    return protocol


SMALL = Script(n=4).message(value=1)._replace(bits=1)


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        (lambda node: [(1, SMALL), (2, SMALL), (1, SMALL)], ["node 0", "0 -> 2", "port 1", "round 1", "one message"]),
        (lambda node: {2: SMALL._replace(bits=25)}, ["node 0", "25 bits", "0 -> 3", "round 1", "= 24"]),
        (lambda node: {3: SMALL}, ["node 0", "port 3", "0..2", "round 1"]),
        (lambda node: {-1: SMALL}, ["port -1"]),
        (lambda node: {0: "hello"}, ["node 0", "'hello'", "0 -> 1", "self.message"]),
        (lambda node: node.wake_at(0), ["node 0", "called in 0"]),
        (lambda node: 1 // 0, ["begin fails at node 0 in round 1", "ZeroDivisionError"]),
    ],
)  # fmt: skip
def test_a_violation_names_node_round_and_edge(answer, parts):
    with pytest.raises(InvalidInput) as refusal:
        simulate(scripted(answer), graph="star:4")
    for part in parts:
        assert part in str(refusal.value)


def test_the_largest_allowed_message_is_allowed():
    run = simulate(scripted(lambda node: {0: SMALL._replace(bits=24)}), graph="star:4")
    assert run.measures["bits"] == run.measures["largest_message"] == 24


def test_a_node_is_called_when_it_asked_and_when_it_hears():
    def answer(node):
        node.wake_at(1)
        node.wake_at(1000)
        return {0: SMALL}

    run = simulate(scripted(answer), graph="star:4")
    assert run.measures["calls"] == [((1, 1000), (0, 0)), ((1,), (1,))]
    assert run.steps == 1000


def test_rounds_are_counted_and_cut_off():
    cut = simulate(FloodMax(n=10), graph="ring:10", max_steps=3, seed=0)
    assert (cut.steps, cut.reached, cut.leaders, cut.measures["cause"]) == (3, False, 0, "round limit")
    stopped = simulate(FloodMax(n=10), graph="ring:10", seed=0, progress=lambda round: round == 2)
    assert stopped.interrupted and stopped.steps == 2


@pytest.mark.parametrize("graph", [complete(6), ring(7), path(5), star(6), grid(3, 4)], ids=lambda g: g.name)
def test_ports_lead_there_and_back(graph):
    ports = ports_of(graph)
    assert isinstance(ports, CompletePorts if graph.is_complete else ListedPorts)
    for v in range(graph.n):
        behind = [ports.cross(v, port) for port in range(ports.degree(v))]
        assert sorted(w for w, _ in behind) == sorted(graph.neighbours(v))
        assert [w for w, _ in behind] == sorted(w for w, _ in behind)  # ports are in the order of neighbours
        for port, (w, back) in enumerate(behind):
            assert ports.cross(w, back) == (v, port)


def test_the_same_seed_tells_the_same_story():
    runs = [simulate(FloodMax(n=30), graph="torus:5x6", seed=5, trial=2).record() for _ in range(2)]
    assert runs[0] == runs[1]


def test_graphs_that_cannot_carry_an_election_are_refused():
    with pytest.raises(InvalidInput, match="directed"):
        simulate(FloodMax(n=5), graph="directed-ring:5")
    with pytest.raises(InvalidInput, match="connected components"):
        simulate(FloodMax(n=30), graph="gnp:30,0.01")
    with pytest.raises(InvalidInput, match="engine 'batch' does not run"):
        simulate(FloodMax(n=5), engine="batch")
    with pytest.raises(InvalidInput, match="does not know the course"):
        simulate(FloodMax(n=5), engine="tokens")


class Pinger(MessageProtocol):
    """A node that begins marks its neighbours; nobody decides."""

    class Message:
        ping: Bit

    def begin(self, node, rng):
        node.status = ELECTED if rng.random() < 2 else NON_ELECTED
        return {port: self.message(ping=1) for port in range(node.degree)}

    def round(self, node, inbox, rng):
        return {}


def test_wake_up_rounds_decide_who_begins_when():
    run = simulate(Pinger(n=4), graph="path:4", wake=[5, 1, 9, 2], seed=0)
    assert (run.steps, run.measures["messages"], run.leaders) == (9, 6, 4)
    cut = simulate(Pinger(n=4), graph="path:4", wake=[5, 1, 9, 2], max_steps=5, seed=0)
    assert cut.leaders == 3
