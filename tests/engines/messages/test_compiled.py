"""Engine `compiled` against engine `nodes`: the same story word for word on the same coins, or the same refusal."""

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon import InvalidInput, simulate
from hegemon.compute import mersenne
from hegemon.engines import choice
from hegemon.engines.messages.compiled import engine as compiled_engine
from hegemon.engines.messages.compiled.engine import Compiled
from hegemon.engines.messages.compiled.statements import Function
from hegemon.engines.messages.nodes import Nodes
from hegemon.graphs.families import parse
from hegemon.models import MessageProtocol, Range
from hegemon.process.messages.surroundings import Surroundings
from tests.engines.messages.machines import FAULTS, Machine, Numbered

PATIENT = {
    "deadline": None, "suppress_health_check": [HealthCheck.too_slow],
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
}  # fmt: skip
GIVEN_UP = ("absent", "large", "often")  # which compiled code leaves to plain Python, where nothing is wrong
GRAPHS = ["ring:5", "star:6", "path:4", "complete:5", "grid:2x4", "path:2", "gnp:9,0.5"]


def story(engine, protocol, graph, seed, limit=None, wake="all"):
    """All that can be known of a run: its outcome, the variables of every node, the coins left over."""
    around = Surroundings(protocol, wake=wake)
    playing = engine(protocol, graph, around, seed, 0)
    try:
        outcome = playing.run(limit)
    except InvalidInput as refusal:
        return str(refusal)
    plain = playing._plain if isinstance(playing, Compiled) else playing
    assert plain is None or plain is playing or protocol.parameters.get("fault") in GIVEN_UP
    if plain is None:
        nodes, words = playing._made_nodes(), playing.arrays.words.tolist()
    else:
        nodes, words = plain.nodes, mersenne.words_of(plain.rng).tolist()
    rows = [(v, vars(nodes[v])) for v in sorted(nodes)]
    known = {name: getattr(protocol.node_type, name) for name in (*protocol.node_bounds, "status")}
    return outcome, [(v, known | row) for v, row in rows], words


def same_story(protocol, graph, seed, **options):
    made = story(Nodes, protocol, graph, seed, **options)
    assert story(Compiled, protocol, graph, seed, **options) == made
    return made


drawn_machines = {
    "a": st.integers(1, 1000), "b": st.integers(0, 6), "c": st.integers(1, 4), "last": st.integers(1, 9),
    "share": st.floats(0, 1), "style": st.sampled_from(["kind", "rude"]),
}  # fmt: skip


def drawn_graph(spec, seed):
    return parse(spec, None, np.random.default_rng(seed))


@settings(max_examples=60, **PATIENT)
@given(
    st.fixed_dictionaries(drawn_machines), st.sampled_from(GRAPHS), st.integers(0, 2**32),
    st.sampled_from(["all", "one-by-one", "random"]), st.one_of(st.none(), st.integers(1, 8)),
)  # fmt: skip
def test_the_same_story_word_for_word(values, spec, seed, wake, limit):
    graph = drawn_graph(spec, seed)
    same_story(Machine(n=graph.n, **values), graph, seed, wake=wake, limit=limit)


@settings(max_examples=25, **PATIENT)
@given(st.integers(1, 30), st.sampled_from(GRAPHS), st.integers(0, 2**32))
def test_identifiers_and_calls_far_ahead(far, spec, seed):
    graph = drawn_graph(spec, seed)
    same_story(Numbered(n=graph.n, far=far), graph, seed)


@pytest.mark.parametrize("fault", FAULTS)
def test_what_compiled_code_cannot_do_is_done_or_refused_by_plain_python(fault):
    """In the middle of a run: the domain of a node, of a message, a field it has not, 64 bits, more calls than it has
    room for. The sentence is that of engine `nodes`."""
    graph = drawn_graph("grid:3x4", 1)
    made = {}
    for seed in range(3):
        protocol = Machine(n=graph.n, fault=fault, c=1, last=3)
        made[seed] = same_story(protocol, graph, seed)
    refused = {"domain", "message", "port", "twice", "past", "zero", "forgotten", "raise"}
    assert any(isinstance(one, str) for one in made.values()) == (fault in refused)


def test_the_last_kept_round_is_far_from_the_first(monkeypatch):
    """Plain Python goes on from a round that was kept, with all that was under way."""
    monkeypatch.setattr(compiled_engine, "LEAST_CALLS", 5)
    graph = drawn_graph("gnp:30,0.2", 2)
    for fault in ("large", "often"):
        kept = Machine(n=30, fault=fault, c=1, last=7, b=4)
        playing = Compiled(kept, graph, Surroundings(kept), 5, 0)
        playing.run(None)
        assert playing._plain is not None and playing.arrays.round > 2
        same_story(kept, graph, 5)
        same_story(Numbered(n=30, far=3), graph, 5)


def test_more_calls_than_there_is_room_for():
    """A heap that is too small grows, and nothing happens twice."""
    graph = drawn_graph("ring:40", 0)
    protocol = Numbered(n=40, far=50)
    playing = Compiled(protocol, graph, Surroundings(protocol), 1, 0)
    playing.arrays.heap = playing.arrays.heap[:, :3].copy()
    outcome = playing.run(None)
    assert outcome == Nodes(protocol, graph, Surroundings(protocol), 1, 0).run(None)
    assert playing.arrays.heap.shape[1] > 40


@pytest.mark.parametrize(
    ("protocol", "graph"),
    [
        (hg.FloodMax(n=40, diameter=9), "regular:40,4"),
        (hg.HirschbergSinclair(n=33), "oriented-ring:33"),
        pytest.param(hg.ChangRoberts(n=33), "oriented-ring:33", marks=pytest.mark.full),
        pytest.param(hg.Peterson(n=33), "oriented-ring:33", marks=pytest.mark.full),
    ],
)
def test_protocols_of_the_catalogue(protocol, graph):
    for seed in range(5):
        same_story(protocol, drawn_graph(graph, seed), seed)
        same_story(protocol, drawn_graph(graph, seed), seed, limit=4)


# -- twins: the comparison notices what is wrong ------------------------------------------------------------------


class OtherCoins(Compiled):
    """One word of the coins is thrown away."""

    def _first(self):
        arrays = super()._first()
        arrays.words[mersenne.WORDS] -= 1
        return arrays


class OtherOrder(Compiled):
    """The last node begins first."""

    def _first(self):
        arrays = super()._first()
        arrays.beginners = arrays.beginners[::-1].copy()
        return arrays


@pytest.mark.parametrize("twin", [OtherCoins, OtherOrder])
def test_a_wrong_twin_tells_another_story(twin):
    graph = drawn_graph("grid:3x4", 1)
    protocol = Machine(n=graph.n, c=1)
    assert any(story(twin, protocol, graph, seed) != story(Nodes, protocol, graph, seed) for seed in range(3))


@pytest.mark.full
def test_messages_that_are_not_taken_back_are_noticed(monkeypatch):
    monkeypatch.setattr(Function, "_taken_back", lambda self: [])
    graph = drawn_graph("grid:3x4", 1)
    protocol = Machine(n=graph.n, c=1)
    compiled_engine._kept.clear()
    try:
        with pytest.raises(AssertionError):  # another story, or one that only `nodes` could finish
            for seed in range(3):
                assert story(Compiled, protocol, graph, seed) == story(Nodes, protocol, graph, seed)
    finally:
        compiled_engine._kept.clear()


# -- the coins ----------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**64), st.integers(-(2**40), 2**40), st.integers(0, 2**62), st.integers(0, 63), st.integers(0, 700)
)
def test_the_coins_are_those_of_python(seed, low, width, bits, before):
    rng = random.Random(seed)
    for _ in range(before):
        rng.getrandbits(32)
    words = mersenne.words_of(rng)
    assert mersenne.randint(words, low, low + width) == rng.randint(low, low + width)
    assert mersenne.uniform(words) == rng.random()
    assert mersenne.getrandbits(words, bits) == rng.getrandbits(bits)
    assert mersenne.randrange(words, low, low + width + 1) == rng.randrange(low, low + width + 1)
    other = random.Random()
    mersenne.set_words(other, words)
    assert other.getstate() == rng.getstate()


# -- what is chosen and what is refused ---------------------------------------------------------------------------


def test_the_automatic_choice(monkeypatch):
    """Compiled where there is enough to do and everything is declared; the measures are the same."""
    few = simulate(hg.FloodMax(n=30), seed=1)
    assert few.engine == "nodes"
    monkeypatch.setattr(choice, "MANY_ARCS", 1000)
    protocol = hg.FloodMax(n=300, diameter=3)
    many = simulate(protocol, graph="regular:300,4", seed=1)
    assert (many.engine, "declared fields" in many.reason) == ("compiled", True)
    plain = simulate(protocol, graph="regular:300,4", seed=1, engine="nodes")
    assert (many.steps, many.leaders, many.measures) == (plain.steps, plain.leaders, plain.measures)
    lossy = simulate(protocol, graph="regular:300,4", seed=1, loss="1/10", max_steps=1)
    assert lossy.engine == "nodes"
    wide = simulate(hg.FloodMax(n=50_000, diameter=1), graph="ring:50000", seed=1)
    assert wide.engine == "nodes" and "beyond 62 bits" in wide.reason


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "1/10"}, "engine compiled cannot run on .* with loss 1/10; use auto"),
        ({"crashes": "round=2,nodes=1"}, "engine compiled cannot run on .* with crash"),
        ({"delay": "uniform:1..2"}, "engine compiled cannot run on .* with delay"),
    ],
)
def test_surroundings_that_it_does_not_know(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        simulate(hg.FloodMax(n=5), engine="compiled", **options)


class Base(MessageProtocol):
    class Message:
        rank: Range(1, "n")

    class Node:
        rank: Range(0, "n") = 0
        left: Range(0, "n") = 0

    def begin(self, node, rng):
        return {}

    def round(self, node, inbox, rng):
        return {}


class Sampled(Base):
    def begin(self, node, rng):
        node.rank = rng.sample(range(5), 2)[0]  # here


class Undeclared(Base):
    def begin(self, node, rng):
        node.other = 3  # here


class Unassigned(Base):
    def round(self, node, inbox, rng):
        for message in inbox.values():
            best = message.rank
        node.rank = best  # here


class Untyped(Base):
    def begin(self, node, rng):
        ranks = {3, 4}  # here
        node.rank = len(ranks)


class Mixed(Base):
    def begin(self, node, rng):
        if node.rank == "high":  # here
            node.rank = 1


class Real(Base):
    def round(self, node, inbox, rng):
        node.left = max(rng.random(), 2)  # here
        return {}


class Recursive(Base):
    def begin(self, node, rng):
        return self.again(node)

    def again(self, node):
        return self.again(node)  # here


class Unsent(Base):
    def begin(self, node, rng):
        self.tell(node)  # here
        return {}

    def tell(self, node):
        return {0: self.message(rank=1)}


class Lazy(Base):
    def begin(self, node, rng):
        return ((port, self.message(rank=1)) for port in range(2))  # here


class Open(Base):
    class Node:
        rank = ()


class Followed(Base):
    records_clouds = True


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Sampled, "rng.sample"), (Undeclared, "node.other` is not declared in class Node"),
        (Unassigned, "`best` may have no value here"), (Untyped, "cannot be compiled"),
        (Mixed, "compares a whole number with a text"), (Real, "is a real number, where a whole number is needed"),
        (Recursive, "again calls itself"), (Unsent, "makes messages that are not sent"), (Lazy, "cannot be compiled"),
        (Open, r"Node.rank = \(\) has no declared type"), (Followed, "records_clouds"),
    ],
)  # fmt: skip
def test_what_cannot_be_compiled_is_refused_with_its_line(kind, reason):
    with pytest.raises(InvalidInput, match=reason) as refused:
        simulate(kind(n=3), engine="compiled")
    text = str(refused.value)
    assert "use auto or nodes" in text
    import inspect

    lines, first = inspect.getsourcelines(kind)
    marked = [first + place for place, line in enumerate(lines) if "# here" in line]
    assert re.findall(r"test_compiled.py, line (\d+)", text) == [str(line) for line in marked]


def test_declared_variables_are_kept_to_their_domain_by_every_engine():
    class Beyond(Base):
        def begin(self, node, rng):
            node.rank = self.n + 1

    for engine in ("nodes", "compiled", "asynchronous"):
        options = {"delay": "uniform:1..2"} if engine == "asynchronous" else {}
        with pytest.raises(InvalidInput, match=r"rank = 4, which is not in 0\.\.3"):
            simulate(Beyond(n=3), engine=engine, **options)
    with pytest.raises(InvalidInput, match=r"rank = 4, which is not in 0\.\.3"):
        hg.verify(Beyond(n=3))


def test_declarations_of_a_node():
    with pytest.raises(InvalidInput, match=r"Node\.rank needs a first value"):
        type("Bad", (Base,), {"Node": type("Node", (), {"__annotations__": {"rank": Range(0, 3)}})})
    with pytest.raises(InvalidInput, match="a node already has 'degree'"):
        type("Bad", (Base,), {"Node": type("Node", (), {"__annotations__": {"degree": Range(0, 3)}, "degree": 0})})
    with pytest.raises(InvalidInput, match=r"the first value of Node\.rank, 7, is not in 0\.\.3"):
        made = type("Bad", (Base,), {"Node": type("Node", (), {"__annotations__": {"rank": Range(0, 3)}, "rank": 7})})
        simulate(made(n=3))
