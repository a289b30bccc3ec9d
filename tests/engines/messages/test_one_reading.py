"""What a node leaves means the same to every engine and to the exact enumeration, or all of them refuse it."""

from fractions import Fraction

import pytest

import hegemon as hg
from hegemon import InvalidInput
from hegemon.engines.messages.asynchronous import Asynchronous
from hegemon.engines.messages.compiled.engine import Compiled
from hegemon.engines.messages.nodes import Nodes
from hegemon.graphs.families import parse
from hegemon.models import ELECTED, NON_ELECTED, Bit, MessageProtocol, Parameter
from hegemon.process.messages.surroundings import Surroundings
from tests.engines.messages.odd_protocols import ILLEGAL, LEGAL, odd_protocol

GRAPHS = ("path:2", "path:3", "ring:3", "star:4")
WAYS = ({}, {"wake": "one-by-one"}, {"crashes": "round=2,node=0"})


def told(engine, protocol, graph, options, seed=0, limit=None):
    """Rounds, leaders and measures of one run; or the words "refused"."""
    try:
        run = engine(protocol, graph, Surroundings(protocol, **options), seed, 0).run(limit)
    except InvalidInput:
        return "refused"
    return run.rounds, run.finished, run.leaders, run.measures


def enumerated(protocol, graph, options):
    """The laws of leaders with rounds and of causes, and the means of what is measured; or "refused"."""
    try:
        answer = hg.verify(protocol, graph=graph, **options)
    except InvalidInput:
        return "refused"
    return answer


def expected(runs, probability):
    """The same from runs that are all equally likely."""
    ends, causes = {}, {}
    for rounds, _, leaders, measures in runs:
        ends[leaders, rounds] = ends.get((leaders, rounds), 0) + probability
        word = measures.get("cause") or "elected"
        causes[word] = causes.get(word, 0) + probability
    return ends, causes


def agree(engine, protocol, graph, options, draws):
    """Runs of an engine have the law of the enumeration, if no coins are drawn, or lie in it; or both refuse."""
    runs = [told(engine, protocol, graph, options, seed=trial) for trial in range(3)]
    answer = enumerated(protocol, graph, options)
    if "refused" in runs or answer == "refused":
        return runs == ["refused"] * 3 and answer == "refused"
    if draws:
        return {(leaders, rounds) for rounds, _, leaders, _ in runs} <= set(answer.tally.ends)
    measures = runs[0][3]
    return (
        runs[0] == runs[1] == runs[2]
        and (answer.tally.ends, answer.tally.causes) == expected(runs, Fraction(1, 3))
        and (answer.messages, answer.tally.measures["sum"]) == (measures["messages"], measures["sum"])
    )


@pytest.mark.parametrize("seed", range(60))
def test_odd_but_legal_protocols_mean_the_same_to_all(seed, tmp_path):
    kind = odd_protocol(seed, tmp_path, **LEGAL)
    graph, options = parse(GRAPHS[seed % 4], None, None), WAYS[seed % 3]
    protocol, draws = kind(n=graph.n), "randrange" in (tmp_path / f"odd_{seed}.py").read_text()
    assert agree(Nodes, protocol, graph, options, draws)
    assert agree(Asynchronous, protocol, graph, options | {"delay": "uniform:1..1"}, draws)


@pytest.mark.parametrize("seed", [3, 4, 5, *(pytest.param(k, marks=pytest.mark.full) for k in range(6, 40))])
def test_odd_but_legal_protocols_of_declared_fields_are_compiled_alike(seed, tmp_path):
    kind = odd_protocol(seed, tmp_path, compiled=True, **LEGAL)
    protocol, graph = kind(n=4), parse("star:4", None, None)
    compiled = [told(Compiled, protocol, graph, {}, seed=trial) for trial in range(4)]
    assert compiled == [told(Nodes, protocol, graph, {}, seed=trial) for trial in range(4)]


@pytest.mark.parametrize("what", ILLEGAL)
def test_what_is_not_legal_is_refused_by_all(what, tmp_path):
    kind = odd_protocol(7, tmp_path, illegal=what.replace("{{", "{").replace("}}", "}"), last=3, wake="node.wake_at(1)",
                        call="pass", begins="None", status="None")  # fmt: skip
    graph = parse("path:3", None, None)
    protocol = kind(n=3)
    assert told(Nodes, protocol, graph, {}) == "refused"
    assert told(Asynchronous, protocol, graph, {"delay": "uniform:1..1"}) == "refused"
    assert enumerated(protocol, graph, {}) == "refused"
    assert enumerated(protocol, graph, {"delay": "uniform:1..1"}) == "refused"


class SteppedDown(MessageProtocol):
    """All nodes are elected at first; who begins steps down."""

    class Message:
        v: Bit

    class Node:
        status = ELECTED

    @property
    def initiation(self):
        return 0.5

    def begin(self, node, rng):
        node.status = NON_ELECTED

    def round(self, node, inbox, rng):
        return None


def test_a_node_that_was_never_called_still_has_its_first_status():
    quarter = Fraction(1, 4)
    assert hg.verify(SteppedDown(n=2)).leaders == {0: quarter, 1: 2 * quarter, 2: quarter}
    for engine in ("nodes", "compiled"):
        runs = [hg.simulate(SteppedDown(n=2), engine=engine, seed=seed) for seed in range(40)]
        assert [run.leaders for run in runs] == [hg.simulate(SteppedDown(n=2), seed=k).leaders for k in range(40)]
        assert {run.leaders for run in runs} == {0, 1, 2}
    gone = hg.simulate(SteppedDown(n=2), crashes="round=1,node=0", seed=3)
    assert (
        gone.leaders + 1 == hg.simulate(SteppedDown(n=2), crashes="round=1,node=0;round=1,node=1", seed=3).leaders + 2
    )


class Late(MessageProtocol):
    """Node 0 of a path is elected at once and does nothing before round 20."""

    class Message:
        v: Bit

    def begin(self, node, rng):
        node.status = ELECTED if node.degree == 1 and node.round == 1 else NON_ELECTED
        node.wake_at(20)

    def round(self, node, inbox, rng):
        return None


@pytest.mark.parametrize("options", [{}, {"delay": "uniform:1..1"}])
def test_a_crash_counts_up_to_the_limit(options):
    for limit, leaders in ((4, 1), (5, 0), (10, 0), (30, 0)):
        given = {"crashes": "round=5,node=0", "wake": [1, 2, 2], **options}
        run = hg.simulate(Late(n=3), graph="path:3", max_steps=limit, seed=0, **given)
        assert (run.leaders, run.measures["crashed"]) == (leaders, 1 - leaders)
    assert run.measures["cause"] == "the leader crashed"
    assert hg.verify(Late(n=3), graph="path:3", **given).tally.causes == {"the leader crashed": 1}


def test_a_cause_is_what_was_seen():
    """Nobody elected because a message was lost or a node crashed is no tie."""
    lossy = hg.run_trials(hg.Referees(n=60), 60, loss="1/20", seed=1, workers=1).summary
    assert "equal ranks" not in lossy["causes"] and sum(lossy["causes"].values()) == 60 - lossy["reached"]
    crashed = hg.verify(hg.Referees(n=2), crashes="round=2,nodes=2")
    assert crashed.leaders.keys() == {0} and "elected" not in crashed.tally.causes
    path = hg.verify(hg.FloodMax(n=3), graph="path:3", crashes="round=1,node=1")
    assert path.tally.causes.get("equal ranks", 0) <= Fraction(1, 81)


@pytest.mark.parametrize(("kind", "graph"), [(hg.ChangRoberts, None), (hg.Peterson, None), (hg.FloodMax, "ring:8")])
def test_a_run_that_the_limit_stopped_is_censored(kind, graph):
    batch = hg.run_trials(kind(n=8), 5, graph=graph, max_steps=2, seed=0, workers=1)
    assert {run.measures["cause"] for run in batch.runs} == {"round limit"}
    messages = batch.summary["messages"]
    assert messages["censored"] == 5 and messages["mean"] is None


class Exactly(MessageProtocol):
    """A leader is who finds the type of its rank to be that of a whole number."""

    ranks = Parameter(20, low=2)

    class Message:
        v: Bit

    class Node:
        rank = 0

    def begin(self, node, rng):
        node.rank = rng.randint(1, self.ranks)
        node.status = ELECTED if type(node.rank) is int and node.rank > 0 else NON_ELECTED

    def round(self, node, inbox, rng):
        return None


def test_the_type_of_a_number_is_that_of_a_run():
    answer = hg.verify(Exactly(n=2))
    assert answer.leaders == {2: 1} and not answer.tally.ordered

    class Both(Exactly):
        def begin(self, node, rng):
            node.status = ELECTED if type(rng.random()) is float else None

    with pytest.raises(InvalidInput, match="calls type and rng.random"):
        hg.verify(Both(n=2))


class Signed(MessageProtocol):
    """Keeps a zero with its sign, which decides later."""

    smallest_n = 1

    class Message:
        v: Bit

    class Node:
        zero = 1.0

    def begin(self, node, rng):
        node.zero = -0.0 if rng.randrange(2) else 0.0
        node.wake_at(2)

    def round(self, node, inbox, rng):
        node.status = ELECTED if str(node.zero) == "-0.0" else NON_ELECTED


def test_minus_zero_is_not_zero():
    assert hg.verify(Signed(n=1)).leaders == {0: Fraction(1, 2), 1: Fraction(1, 2)}


class Keeps(Signed):
    def begin(self, node, rng):
        node.zero = {8, 0} if rng.randrange(2) else {0, 8}


def test_a_set_whose_order_no_one_knows_is_refused():
    with pytest.raises(InvalidInput, match="keeps a set, and the order"):
        hg.verify(Keeps(n=1))


def test_no_round_no_candidate():
    for engine in ("nodes", "tokens"):
        run = hg.simulate(hg.Walks(n=8, candidates=8, mixing_time=4), engine=engine, max_steps=0, seed=0)
        assert (run.measures["candidates"], run.measures["cause"]) == (0, "round limit")
    referees = [hg.simulate(hg.Referees(n=8), engine=one, max_steps=0, seed=0) for one in ("nodes", "contacts")]
    assert [run.measures["candidates"] for run in referees] == [0, 0]


class Clashing(Signed):
    def measure(self, nodes):
        return {"messages": 3}


class Broken(Signed):
    def measure(self, nodes):
        return {"first": nodes[7]}


def test_measures_of_the_author_do_not_hide_ours():
    with pytest.raises(InvalidInput, match="every run measures messages itself"):
        hg.simulate(Clashing(n=2))
    with pytest.raises(InvalidInput, match="measure fails: IndexError"):
        hg.simulate(Broken(n=2))
    with pytest.raises(InvalidInput, match="measure fails: IndexError"):
        hg.verify(Broken(n=2))


def test_names_and_statuses_of_a_node_are_checked_when_the_class_is_made():
    with pytest.raises(InvalidInput, match="has the status 'elected' at first"):
        type("Bad", (Signed,), {"Node": type("Node", (), {"status": "elected"})})
    with pytest.raises(InvalidInput, match="a node already has 'round'"):
        type("Bad", (Signed,), {"Node": type("Node", (), {"round": 4})})


def test_measures_see_nodes_in_the_order_of_their_numbers():
    class Order(Signed):
        def begin(self, node, rng):
            node.zero = float(node.round)

        def measure(self, nodes):
            return {"order": sum(node.zero * 10**k for k, node in enumerate(nodes))}

    protocol, wake = Order(n=3), [3, 1, 2]
    run = hg.simulate(protocol, wake=wake, seed=0)
    assert run.measures["order"] == 213 == hg.verify(protocol, wake=wake).tally.measures["order"]


class Everybody(hg.Referees):
    """Another protocol, based on one of which an engine knows the course of events."""

    def round(self, node, inbox, rng):
        node.status = ELECTED


class FewReferees(hg.Referees):
    """Other numbers in the same course of events."""

    contacted = Parameter(2)

    @property
    def chosen(self):
        return self.contacted


class Chatty(hg.Referees):
    @property
    def message(self):
        return super().message


def test_an_engine_that_knows_a_course_of_events_is_not_used_for_another_protocol():
    run = hg.simulate(Everybody(n=20), seed=1)
    assert run.engine == "nodes" and run.leaders > 8
    with pytest.raises(InvalidInput, match="does not know the course"):
        hg.simulate(Everybody(n=20), engine="contacts")
    assert hg.simulate(hg.Referees(n=20), seed=1).engine == "contacts"
    assert hg.simulate(FewReferees(n=20), seed=1).engine == "contacts"
    assert hg.simulate(Chatty(n=20), seed=1).engine == "contacts"  # the pattern reads `message`, too


# -- a wrong twin is caught ---------------------------------------------------------------------------------------


class Inattentive(Nodes):
    """Leaves out the nodes that were never called."""

    def count_leaders(self, last):
        return sum(node.status == ELECTED for node in self.nodes.values()), 0


def test_the_comparison_notices_a_wrong_reading(tmp_path):
    graph = parse("path:3", None, None)
    wrong = 0
    for seed in range(10):
        kind = odd_protocol(seed, tmp_path, **LEGAL, first="ELECTED", begins="None", wake="pass", call="pass")
        protocol, options = kind(n=3), {"wake": [1, 2, 1], "crashes": "round=1,node=1"}
        wrong += told(Inattentive, protocol, graph, options) != told(Nodes, protocol, graph, options)
    assert wrong > 5
