"""Rounds over a bad network: each round is the definition's, whatever the datagrams do and the counters were."""

import asyncio
import contextlib
import json
import random
import socket

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.graphs.families import complete, grid, ring
from hegemon.network import join, new_key
from hegemon.network.keys import Keys
from hegemon.network.nodes import MessageCodes, MessageNode, RoundsNode
from hegemon.network.synchronizer import GATHERING, LAST, Synchronizer
from hegemon.network.wire import Wire, fingerprint_of
from tests.network.virtual import Clock, Conditions, Network
from tests.patience import PATIENCE

BAD = Conditions(loss=0.2, duplication=0.2, delay=0.001, jitter=0.2)
KEYS = Keys((bytes(32),))


class Rounds:
    """Nodes of a protocol on a graph, in virtual time; keeps every node's state before each of its rounds."""

    def __init__(
        self, protocol, topology, nodes, seed=0, conditions=None, counters=None, kind=Synchronizer, late=None, **options
    ):
        self.clock = Clock()
        rng = random.Random(seed)
        self.network = Network(self.clock, random.Random(rng.getrandbits(64)), conditions)
        self.nodes = nodes
        self.synchronizers = []
        for number, node in enumerate(nodes):
            wire = Wire(KEYS, fingerprint_of(protocol), random=random.Random(rng.getrandbits(64)).randbytes)
            near = topology.neighbours(number).tolist()
            made = kind(
                node,
                wire,
                self.network.port(number),
                self.clock,
                peers=near,
                round=counters[number] if counters else 0,
                rng=random.Random(rng.getrandbits(64)),
                wall=self.clock.time,
                **{"rate": 1000.0, "repeat": 0.05, "patience": 3.0} | options,
            )
            self.synchronizers.append(made)
            self.clock.call_later(
                (late or {}).get(number, 0.0), lambda made=made, number=number: self.begin(number, made)
            )

    def begin(self, number, made):
        self.network.receivers[number] = made.receive
        made.start()

    @property
    def rounds(self):
        return [one.round for one in self.synchronizers]

    def run_to(self, round, seconds=10**4):
        return self.clock.run(lambda: min(self.rounds) >= round, seconds=seconds)


def coins_of(seed, number, bits):
    return lambda round: random.Random(f"{seed} {number} {round}").getrandbits(bits)


def trains(topology, seed):
    """Nodes of `trains` in random states, and the same run by the plain definition."""
    protocol = hg.Trains(n=topology.n)
    start = protocol.initial("random", np.random.default_rng(seed), topology=topology)
    codes = protocol.space.encode_array(start.agents).tolist()
    nodes = [RoundsNode(protocol, code, coins_of(seed, v, protocol.random_bits)) for v, code in enumerate(codes)]
    return protocol, codes, nodes


def plain_rounds(protocol, codes, topology, seed, rounds):
    states = [[protocol.space.namespace(code) for code in codes]]
    for round in range(rounds):
        now, after = states[-1], []
        for v in range(len(codes)):
            node = RoundsNode(protocol, protocol.space.code(now[v]), coins_of(seed, v, protocol.random_bits))
            near = [now[w] for w in topology.neighbours(v).tolist()]
            me = protocol.space.namespace(node.state)
            protocol.update(me, near, node.coins(round), protocol.p)
            after.append(me)
        states.append(after)
    return [[protocol.space.code(state) for state in row] for row in states]


def history_of(rounds):
    """What each node's state was at the beginning of each round that it was in."""
    seen = [{} for _ in rounds.nodes]
    for number, node in enumerate(rounds.nodes):
        seen[number][0] = node.state

        def receives(round, words, node=node, number=number, inner=node.receives):
            inner(round, words)
            seen[number][round + 1] = node.state

        node.receives = receives
    return seen


class Hasty(Synchronizer):
    """The broken twin: it goes on with what it happens to have."""

    def _word_of(self, peer):
        heard = self.heard.get(peer)
        return None if heard is None else heard.said


def same_as_the_definition(kind, seed=3, rounds=60):
    topology = grid(3, 3)
    protocol, codes, nodes = trains(topology, seed)
    network = Rounds(protocol, topology, nodes, seed=seed, conditions=BAD, kind=kind)
    seen = history_of(network)
    assert network.run_to(rounds)
    expected = plain_rounds(protocol, codes, topology, seed, rounds)
    return all(seen[v].get(r) == expected[r][v] for r in range(rounds) for v in range(topology.n))


@pytest.mark.parametrize("seed", [3, 4])
def test_every_round_is_the_definitions(seed):
    assert same_as_the_definition(Synchronizer, seed)


def test_a_hasty_synchronizer_is_caught():
    assert not same_as_the_definition(Hasty)


@pytest.mark.parametrize(
    "counters",
    [
        [0, 0, 0, 0, 0, 10**9],
        [LAST - 1] * 6,
        [LAST - 1, 0, LAST - 2, 5, LAST - 1, 2**40],
        [LAST, 2**64 - 1, LAST + 7, LAST - 3, 0, 1],
        [k * 2**61 for k in range(6)],
    ],
)
def test_any_counters_are_overcome(counters):
    topology = ring(6)
    protocol, _, nodes = trains(topology, seed=1)
    network = Rounds(protocol, topology, nodes, conditions=BAD, counters=counters, rate=4.0, repeat=0.25, patience=1.0)
    network.clock.run(seconds=40)
    steady = network.rounds
    network.clock.run(seconds=15)
    near = list(zip(network.rounds, network.rounds[1:] + network.rounds[:1], strict=True))
    assert all(abs(a - b) <= 1 for a, b in near)
    assert all(5 <= b - a < 100 for a, b in zip(steady, network.rounds, strict=True))


def test_trains_elect_one_leader():
    topology = ring(5)
    protocol, _, nodes = trains(topology, seed=5)
    network = Rounds(protocol, topology, nodes, conditions=Conditions(loss=0.02, jitter=0.005), rate=100.0)
    for _ in range(60):
        network.run_to(min(network.rounds) + 25)
        if sum(node.is_leader for node in nodes) == 1:
            return
    raise AssertionError("no single leader after 1,500 rounds")


def test_a_dead_neighbour_blocks_nobody():
    topology = ring(6)
    protocol, _, nodes = trains(topology, seed=2)
    network = Rounds(protocol, topology, nodes, patience=1.0, rate=50.0)
    network.run_to(10)
    network.synchronizers[0].stop()
    del network.network.receivers[0]
    stopped = network.rounds
    network.clock.run(seconds=4)
    assert all(now - before > 20 for before, now in list(zip(stopped, network.rounds, strict=True))[1:])
    assert network.synchronizers[1].counters["unreachable"] > 0


def elected(protocol, topology, seed, rounds, conditions, late=None, together=True):
    adapted = protocol.adapt(topology)
    nodes = [MessageNode(adapted, len(topology.neighbours(v)), random.Random(f"{seed} {v}")) for v in range(topology.n)]
    for node in nodes:
        node.begins_together = together
    network = Rounds(adapted, topology, nodes, seed=seed, conditions=conditions, late=late)
    assert network.run_to(rounds)
    return [node.is_leader for node in nodes], sum(node.node.rank is not None for node in nodes)


@pytest.mark.parametrize("seed", range(4))
def test_referees_and_walks_elect_whatever_the_datagrams_do(seed):
    """The same coins over a perfect and over a bad network: the same outcome."""
    for protocol, topology, rounds in (
        (hg.Referees(n=9), complete(9), 6),
        (hg.Walks(n=8, mixing_time=12, walks=6), ring(8), 30),
    ):
        good, candidates = elected(protocol, topology, seed, rounds, None)
        assert (good, candidates) == elected(protocol, topology, seed, rounds, BAD)
        assert sum(good) <= 1


def test_message_passing_waits_for_members_that_begin_late():
    case = hg.Walks(n=8, mixing_time=12, walks=6), ring(8)
    differ = 0
    for seed in range(6):
        good = elected(*case, seed, 30, None)
        assert good == elected(*case, seed, 30, BAD, late={2: 20.0, 5: 11.0})
        differ += good != elected(*case, seed, 30, BAD, late={2: 20.0, 5: 11.0}, together=False)
    assert differ  # who does not wait loses messages


@pytest.mark.parametrize("heard", [True, False])
def test_a_dead_neighbour_blocks_no_message_passing_member_for_ever(heard):
    """One that was heard leaves after the patience, one that never was after the time of gathering; not sooner."""
    topology = ring(6)
    adapted = hg.Walks(n=6, mixing_time=12, walks=6).adapt(topology)
    nodes = [MessageNode(adapted, 2, random.Random(v)) for v in range(6)]
    network = Rounds(adapted, topology, nodes, rate=50.0, patience=1.0, late=None if heard else {0: 10.0**9})
    if heard:
        network.run_to(10)
        network.synchronizers[0].stop()
        del network.network.receivers[0]
    wait = 1.0 if heard else GATHERING
    network.clock.run(seconds=0.5 * wait)
    stuck = network.rounds[1]
    assert stuck <= 11 if heard else stuck <= 1
    network.clock.run(seconds=wait + 5)
    assert min(network.rounds[1:]) > stuck + 20 and network.synchronizers[1].counters["unreachable"] > 0


def test_messages_as_words():
    protocol = hg.Referees(n=9)
    codes = MessageCodes(protocol)
    for fields in ({"kind": "RANK", "rank": 6561, "wins": 0}, {"kind": "WINNER"}, {"kind": "LEADER", "leader": 7}):
        message = protocol.message(**fields)
        assert codes.message(codes.code(message)) == message and codes.has(codes.code(message))
    rng = random.Random(1)
    for word in (rng.randrange(1, codes.most + 5) for _ in range(500)):
        assert not codes.has(word) or codes.code(codes.message(word)) == word
    assert not codes.has(codes.most + 1) and codes.has(0)


async def elections(protocol, topology, patience=5.0):
    """Members of a message-passing protocol with sockets of their own; how many are elected when all have decided."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(topology.n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
        one.setblocking(False)
    addresses = [one.getsockname() for one in sockets]
    key = new_key()
    async with contextlib.AsyncExitStack() as stack, asyncio.timeout(PATIENCE):
        members = [
            await stack.enter_async_context(
                join(
                    protocol, peers=[addresses[w] for w in topology.neighbours(v).tolist()], key=key,
                    listen=sockets[v], rate=1000.0, patience=patience,
                )
            )
            for v in range(topology.n)
        ]  # fmt: skip
        while any(member.state["status"] == "undecided" or member.metrics["completed"] < 6 for member in members):
            await asyncio.sleep(0.02)
        with pytest.raises(InvalidInput, match="elects once"):
            members[0].set_peers(addresses[1:2])
        assert {member.state["status"] for member in members} <= {"ELECTED", "NON-ELECTED"}
        return sum(member.is_leader for member in members)


@pytest.mark.parametrize("case", ["referees", "walks"])
def test_message_passing_members_elect_once_over_udp(case):
    """With every node a candidate and every node its referee, or as many walks as meet for sure: exactly one, unless
    the highest rank was drawn twice, as in one election of walks in a hundred."""
    if case == "referees":
        protocol, topology = hg.Referees(n=6, candidates=6, referees=5), complete(6)
    else:
        protocol, topology = hg.Walks(n=4, mixing_time=20, lazy="yes", candidates=4, walks=6), ring(4)
    assert any(asyncio.run(elections(protocol, topology)) == 1 for _ in range(3))


@pytest.mark.full
def test_walks_among_processes(capsys):
    """The command tells nodes the mixing time of the graph."""
    main(["network", "walks", "--graph", "regular:8,4", "--rate", "200", "--patience", "5", "--for", "8", "--json"])
    content = json.loads(capsys.readouterr().out)
    assert content["members"] == 8 and content["interactions"] > 8 * 10 and content["leaders"] <= 1
