"""The classical elections on rings with identifiers: what they cost, over all arrangements and all schedules."""

from fractions import Fraction
from itertools import permutations

import pytest

import hegemon as hg
from hegemon import InvalidInput
from hegemon.engines.messages.nodes import Nodes
from hegemon.models.messages import ELECTED, NON_ELECTED
from hegemon.process.messages.ports import ports_of
from hegemon.process.messages.surroundings import Surroundings
from hegemon.runs.setting import topology_for

# Messages until the winner knows: the mean over all (n-1)! arrangements, the least and the most.
COSTS = {
    "chang-roberts": {
        3: ("11/2", 5, 6), 4: ("25/3", 7, 10), 5: ("137/12", 9, 15), 6: ("147/10", 11, 21), 7: ("363/20", 13, 28),
        8: ("761/35", 15, 36),
    },
    "hirschberg-sinclair": {
        3: ("23", 23, 23), 4: ("88/3", 28, 32), 5: ("158/3", 49, 55), 6: ("306/5", 54, 68), 7: ("1051/15", 59, 78),
        8: ("8408/105", 64, 89),
    },
    "franklin": {
        3: ("12", 12, 12), 4: ("56/3", 16, 24), 5: ("80/3", 20, 30), 6: ("172/5", 24, 36), 7: ("1862/45", 28, 42),
        8: ("15136/315", 32, 64),
    },
    "peterson": {
        3: ("9", 9, 9), 4: ("44/3", 12, 20), 5: ("65/3", 15, 25), 6: ("142/5", 18, 30), 7: ("1547/45", 21, 35),
        8: ("12616/315", 24, 56),
    },
}  # fmt: skip


class Forgetful(hg.Peterson):
    """Broken: goes on with t1 although t2 is larger."""

    def round(self, node, inbox, rng):
        forgotten = {port: message._replace(t=min(message.t, node.t1)) for port, message in inbox.items()}
        return super().round(node, forgotten if node.active and node.t1 else inbox, rng)


class Resigning(hg.HirschbergSinclair):
    """Elects the same node, but a candidate that has passed on a larger identifier never begins another phase."""

    def probes(self, node):
        return [] if node.status == NON_ELECTED else super().probes(node)


def arrangements(n):
    """Up to rotation."""
    return [(n, *others) for others in permutations(range(1, n))]


def cost(protocol, identifiers):
    """The messages of one synchronous run, which elects one node and leaves no other undecided."""
    engine = Nodes(protocol, topology_for(protocol), Surroundings(protocol, identifiers=identifiers), 0, 0)
    outcome = engine.run(10_000)
    statuses = sorted(node.status for node in engine.nodes.values())
    assert outcome.finished and statuses == [ELECTED] + [NON_ELECTED] * (protocol.n - 1)
    return outcome.measures["messages"]


def costs(protocol):
    found = [cost(protocol, identifiers) for identifiers in arrangements(protocol.n)]
    return str(Fraction(sum(found), len(found))), min(found), max(found)


SIZES = [pytest.param(n, marks=[pytest.mark.full] if n > 6 else []) for n in range(3, 9)]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", COSTS)
def test_costs_over_all_arrangements(name, n):
    assert costs(hg.CATALOGUE[name](n=n)) == COSTS[name][n]


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("name", COSTS)
def test_verify_finds_the_same_mean_and_one_leader(name, n):
    found = hg.verify(hg.CATALOGUE[name](n=n))
    assert found.certain and found.messages == Fraction(COSTS[name][n][0])


def test_a_wrong_rule_costs_something_else():
    assert costs(Forgetful(n=4)) != COSTS["peterson"][4]


def test_the_largest_identifier_wins_except_in_peterson():
    """Peterson's winner holds the largest value, and that value has moved."""
    won = {}
    for name in COSTS:
        protocol = hg.CATALOGUE[name](n=5)
        engine = Nodes(protocol, topology_for(protocol), Surroundings(protocol, identifiers=[2, 5, 1, 4, 3]), 0, 0)
        engine.run(100)
        (won[name],) = [node.identifier for node in engine.nodes.values() if node.status == ELECTED]
    assert won.pop("peterson") != 5 and set(won.values()) == {5}


class EveryOrder:
    """All orders in which the messages of a ring can arrive, if links keep their order: what each run sends in all."""

    def __init__(self, protocol, identifiers):
        self.protocol, self.ports = protocol, ports_of(topology_for(protocol))
        self.ends, self.seen = set(), set()
        nodes, links, sent = [], {}, 0
        for v, identifier in enumerate(identifiers):
            node = self.woken(v, {"identifier": identifier})
            sent += self.take(v, protocol.begin(node, None), links)
            nodes.append(vars(node))
        pending = [(nodes, links, sent)]
        while pending:
            pending += self.successors(*pending.pop())

    def woken(self, v, variables):
        node = self.protocol.node_type()
        vars(node).update(variables, degree=self.ports.degree(v), calls=[])
        return node

    def take(self, v, answered, links):
        pairs = answered.items() if isinstance(answered, dict) else answered or ()
        for port, message in pairs:
            links[v, port] = (*links.get((v, port), ()), message)
        return len(pairs)

    def successors(self, nodes, links, sent):
        waiting = [link for link, queue in links.items() if queue]
        if not waiting:
            elected = tuple(v for v, one in enumerate(nodes) if one.get("status") == ELECTED)
            self.ends.add((sent, elected))
        for v, port in waiting:
            w, back = self.ports.cross(v, port)
            node, then = self.woken(w, nodes[w]), dict(links)
            message, *then[v, port] = links[v, port]
            then[v, port] = tuple(then[v, port])
            more = self.take(w, self.protocol.round(node, {back: message}, None), then)
            after = [vars(node) if u == w else one for u, one in enumerate(nodes)]
            key = (
                sent + more,
                tuple(tuple((k, x) for k, x in sorted(one.items()) if k != "calls") for one in after),
                tuple(sorted((link, queue) for link, queue in then.items() if queue)),
            )
            if key not in self.seen:
                self.seen.add(key)
                yield after, then, sent + more


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("n", [3, 4])
def test_every_schedule_of_links_that_keep_their_order_sends_as_many_messages(name, n):
    protocol = hg.CATALOGUE[name](n=n)
    for identifiers in arrangements(n):
        ((sent, elected),) = EveryOrder(protocol, identifiers).ends
        assert sent == cost(protocol, identifiers) and len(elected) == 1


def test_a_cost_that_depends_on_the_schedule_is_noticed():
    assert any(len(EveryOrder(Resigning(n=4), identifiers).ends) > 1 for identifiers in arrangements(4))


def test_identifiers_are_drawn_from_the_seed_given_or_read(tmp_path):
    protocol = hg.ChangRoberts(n=5)
    seen = {hg.simulate(protocol, seed=seed).measures["messages"] for seed in range(20)}
    assert len(seen) > 3 and hg.simulate(protocol, seed=4) == hg.simulate(protocol, seed=4)
    file = tmp_path / "ids.txt"
    file.write_text("5\n4\n3\n2\n1\n")
    for worst in ("decreasing", [5, 4, 3, 2, 1], str(file)):
        assert hg.simulate(protocol, identifiers=worst).measures["messages"] == 15
    assert hg.simulate(protocol, identifiers="increasing").measures["messages"] == 9
    assert hg.verify(protocol, identifiers="increasing").messages == 9


@pytest.mark.parametrize(
    ("protocol", "identifiers", "sentence"),
    [
        (hg.ChangRoberts(n=5), [1, 2, 3, 4], "each of 1..5 exactly once.*4 values"),
        (hg.ChangRoberts(n=5), [1, 2, 3, 4, 4], "4 of them different"),
        (hg.ChangRoberts(n=5), [0, 1, 2, 3, 4], "each of 1..5"),
        (hg.ChangRoberts(n=5), "increasin", "did you mean increasing"),
        (hg.FloodMax(n=5), "increasing", "whose nodes have none"),
        (hg.Pairwise(n=5), "increasing", "means nothing to pairwise"),
    ],
)
def test_other_identifiers_are_refused(protocol, identifiers, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        hg.simulate(protocol, identifiers=identifiers)


def test_members_of_a_network_have_no_identifiers():
    with pytest.raises(InvalidInput, match="members of a network are anonymous"):
        hg.ChangRoberts.model.home("member")(hg.ChangRoberts(n=4))
