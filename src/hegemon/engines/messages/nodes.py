"""Engine `nodes`: every node as a plain Python object, every message delivered, the CONGEST limits enforced.

The reference for the compiled engines, and the engine of a user's own protocols. A node comes into being
when it begins or hears its first message, so the cost follows the messages.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from hegemon.compute.portraits import classes_of, portray, revive
from hegemon.compute.randomness import FAULT, KERNEL, python_generator
from hegemon.engines.messages.clouds import MOST_CLOUDS, cloud_measures, many_clouds, reachable
from hegemon.engines.messages.engine import MessageEngine, MessageOutcome
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.messages import ELECTED, BasicNode, MessageProtocol
from hegemon.models.node_calls import call_node, measured
from hegemon.process.messages.links import happens
from hegemon.process.messages.ports import ports_of
from hegemon.process.messages.surroundings import Surroundings

LARGEST_NUMBER = 10_000_000  # nodes that may begin: each is a Python object


class Nodes(MessageEngine):
    """The engine for every protocol, in synchronous rounds."""

    name = "nodes"
    honours = frozenset({"loss", "crash"})
    kept: tuple[str, ...] = (
        "nodes", "outbox", "calls", "beginners", "messages", "bits", "largest", "sent_to", "first_heard", "first_sent",
        "lost",
    )  # fmt: skip

    def require_room(self) -> None:
        expected = self.protocol.n * self.protocol.initiation
        if expected > LARGEST_NUMBER:
            raise InvalidInput(f"{expected:.3g} nodes would begin, and at most {LARGEST_NUMBER} can: take a smaller n")

    def __init__(self, protocol: MessageProtocol, topology: Topology, around: Surroundings, seed: int, trial: int):
        super().__init__(protocol, topology, around, seed, trial)
        self.ports = ports_of(topology)
        self.beginners = defaultdict(list)
        for v, round in zip(self.chosen.tolist(), self.waking.tolist(), strict=True):
            if self.lives(v, round):
                self.beginners[round].append(v)
        self._reliable = around.is_reliable
        self.rng = python_generator(seed, trial, KERNEL)
        self.chance = python_generator(seed, trial, FAULT)  # of the links: nodes draw the same coins whatever is lost
        self.nodes: dict[int, BasicNode] = {}
        self.calls: dict[int, set[int]] = defaultdict(set)  # round -> nodes that are to be called
        self.outbox: dict[int, dict[int, Any]] = defaultdict(dict)  # node -> port -> message, for the next round
        self.round = self.messages = self.bits = self.largest = self.lost = 0
        self.sent_to: dict[int, set[int]] = defaultdict(set)  # the communication graph of section 4
        self.first_heard: dict[int, int] = {}
        self.first_sent: dict[int, int] = {}
        self.call = self.plain_call  # a caller may replace it, to follow every call
        self._sent: dict[int, dict[int, Any]] = {}
        self._arrived: list[tuple[int, int, Any]] = []  # the messages that arrived, kept where not all do

    def play(self, limit: int | None) -> MessageOutcome:
        interrupted = False
        while (ahead := self.next_round) is not None and not interrupted:
            if limit is not None and ahead > limit:
                break
            self.play_next()
            interrupted = self.is_cancelled(self.round)
        finished = ahead is None
        last = max(1, self.round) if finished or interrupted or limit is None else limit
        leaders, crashed_leaders = self.count_leaders(last)
        measures = {"messages": self.messages, "bits": self.bits, "largest_message": self.largest} | self.measured()
        measures |= {} if self.crashing is None else {"crashed": int(np.count_nonzero(self.crashing <= last))}
        if self.protocol.records_clouds:
            measures |= self._clouds()
        measures |= measured(self.protocol, [node for _, node in sorted(self.nodes.items())], measures)
        return MessageOutcome(max(1, self.round), finished, leaders, measures, interrupted, crashed_leaders)

    def count_leaders(self, last: int) -> tuple[int, int]:
        """How many nodes are elected after that many rounds and have not crashed, and how many have crashed. A node
        that was never called still has its first status."""
        elected = {v for v, node in self.nodes.items() if node.status == ELECTED}
        crashed = set() if self.crashing is None else set(np.flatnonzero(self.crashing <= last).tolist())
        leaders, gone = len(elected - crashed), len(elected & crashed)
        if self.protocol.node_type.status == ELECTED:
            asleep = len(crashed - self.nodes.keys())
            leaders, gone = leaders + self.protocol.n - len(self.nodes) - asleep, gone + asleep
        return leaders, gone

    def measured(self) -> dict[str, int]:
        """Measures that only these surroundings have."""
        return {"lost": self.lost} if self.around.loss else {}

    def lives(self, v: int, round: int | None = None) -> bool:
        """Whether a node still acts in a round, or in the present one."""
        return self.crashing is None or (self.round if round is None else round) < self.crashing[v]

    def is_lost(self) -> bool:
        lost = happens(self.around.loss, self.chance)
        self.lost += lost
        return lost

    def freeze(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in self.kept}
        return self.round, portray([kept, self.rng.getstate(), self.chance.getstate()], self._classes)

    def thaw(self, frozen: tuple[int, Any]) -> None:
        self.round, text = frozen
        kept, coins, chance = revive(text, self._classes)
        for name, value in kept.items():
            usual = getattr(self, name)
            setattr(self, name, defaultdict(usual.default_factory, value) if type(usual) is defaultdict else value)
        self.rng.setstate(coins)
        self.chance.setstate(chance)

    @property
    def _classes(self) -> dict[str, type]:
        return classes_of(type(self.protocol).begin, self.protocol.node_type, self.protocol.format.kind)

    def plain_call(self, v: int, function: str, *arguments: Any) -> Any:
        return getattr(self.protocol, function)(*arguments)

    @property
    def next_round(self) -> int | None:
        """The next round in which anything happens: nodes that wait cost nothing."""
        if self.outbox:
            return self.round + 1
        return min([*self.beginners, *self.calls], default=None)

    @property
    def last_messages(self) -> list[tuple[int, int, Any]]:
        """Sender, receiver and content of every message that arrived in the last round."""
        if not self._reliable:
            return self._arrived
        return [(v, self.ports.cross(v, k)[0], one) for v, sent in self._sent.items() for k, one in sent.items()]

    def play_next(self) -> bool:
        """Play the next round in which anything happens; false if there is none."""
        ahead = self.next_round
        if ahead is None:
            return False
        self.round = ahead
        for v in self.beginners.pop(self.round, ()):
            self._call(v, "begin", sending=self.outbox.get(v))
        inboxes = defaultdict(list)
        self._arrived, cross, records_clouds = [], self.ports.cross, self.protocol.records_clouds
        for v, sending in self.outbox.items():
            for port, message in sending.items():
                w, back = cross(v, port)
                self._count(v, message)
                if not self._reliable:
                    if self.is_lost() or not self.lives(w):
                        continue
                    self._arrived.append((v, w, message))
                inboxes[w].append((back, message))
                if records_clouds:
                    self._influence(v, w)
        self._sent = self.outbox
        self.outbox = defaultdict(dict)
        for w in sorted({*inboxes, *self.calls.pop(self.round, ())}):
            inbox = dict(sorted(inboxes[w], key=lambda pair: pair[0])) if w in inboxes else {}
            self._call(w, "round", inbox)
        return True

    def _node(self, v: int) -> BasicNode:
        node = self.nodes.get(v)
        if node is None:
            node = self.nodes[v] = self.protocol.node_type()
            node.degree = self.ports.degree(v)
            if self.identifiers is not None:
                node.identifier = int(self.identifiers[v])
        node.round = self.round
        return node

    def _call(self, v: int, function: str, *inbox: dict[int, Any], sending: dict[int, Any] | None = None) -> None:
        """Call a node; note what it sends, and the rounds in which it is to be called."""
        node = self._node(v)
        result = call_node(
            self.protocol, node, function, lambda: self.call(v, function, node, *inbox, self.rng), who=f"node {v}",
            edge=lambda port: f"{v} -> {self.ports.cross(v, port)[0]} (port {port})", sending=sending,
        )  # fmt: skip
        if result.sending:
            self.outbox[v] = result.sending
        else:
            self.outbox.pop(v, None)
        for call in result.calls:
            if self.lives(v, call):
                self.calls[call].add(v)

    def _count(self, v: int, message: Any) -> None:
        self.messages += 1
        self.bits += message.bits
        self.largest = max(self.largest, message.bits)
        if self.protocol.records_clouds:
            self.first_sent.setdefault(v, self.round)

    def _influence(self, v: int, w: int) -> None:
        self.sent_to[v].add(w)
        self.first_heard.setdefault(w, self.round)

    def _clouds(self) -> dict[str, Any]:
        """How many nodes sent before they were influenced, and which nodes each of them influenced (section 4)."""
        started = [v for v, sent in self.first_sent.items() if self.first_heard.get(v, sent) >= sent]
        if len(started) > MOST_CLOUDS:
            return many_clouds(len(started))
        clouds = [reachable(v, self.sent_to) for v in started]
        return cloud_measures([len(cloud) for cloud in clouds], len(set().union(*clouds)))
