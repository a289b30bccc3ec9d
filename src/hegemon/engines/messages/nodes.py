"""Engine `nodes`: every node as a plain Python object, every message delivered, the CONGEST limits enforced.

The reference for the compiled engines, and the engine of a user's own protocols. A node comes into being
when it begins or hears its first message, so the cost follows the messages.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from hegemon.compute.portraits import classes_of, portray, revive
from hegemon.compute.randomness import FAULT, KERNEL, python_generator
from hegemon.engines.messages.clouds import MOST_CLOUDS, cloud_measures, many_clouds, reachable
from hegemon.engines.messages.engine import MessageEngine, MessageOutcome
from hegemon.engines.messages.links import happens
from hegemon.engines.messages.ports import ports_of
from hegemon.engines.messages.surroundings import Surroundings
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.messages import ELECTED, BasicNode, MessageProtocol

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
        # a caller may replace it, to follow every call
        self.call: Callable[..., Any] = lambda v, function, *arguments: getattr(protocol, function)(*arguments)
        self._sent: dict[int, dict[int, Any]] = {}
        self._arrived: list[tuple[int, int, Any]] = []  # the messages that arrived, kept where not all do

    def play(self, limit: int | None) -> MessageOutcome:
        interrupted = False
        while (ahead := self.next_round) is not None and not interrupted:
            if limit is not None and ahead > limit:
                break
            self.play_next()
            interrupted = self.is_cancelled(self.round)
        crashed = set() if self.crashing is None else set(np.flatnonzero(self.crashing <= max(1, self.round)).tolist())
        leaders = sum(node.status == ELECTED for v, node in self.nodes.items() if v not in crashed)
        measures = {"messages": self.messages, "bits": self.bits, "largest_message": self.largest} | self.measured()
        measures |= {} if self.crashing is None else {"crashed": len(crashed)}
        measures |= self.protocol.measure(list(self.nodes.values()))
        if self.protocol.records_clouds:
            measures |= self._clouds()
        return MessageOutcome(max(1, self.round), ahead is None, leaders, measures, interrupted)

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
            node = self._node(v)
            node.sending = self.outbox[v]
            self._collect(v, node, self._ask(v, "begin", node, self.rng), self.round)
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
            node = self._node(w)
            inbox = dict(sorted(inboxes[w], key=lambda pair: pair[0])) if w in inboxes else {}
            self._collect(w, node, self._ask(w, "round", node, inbox, self.rng), self.round + 1)
        return True

    def _node(self, v: int) -> BasicNode:
        node = self.nodes.get(v)
        if node is None:
            node = self.nodes[v] = self.protocol.node_type()
            node.degree, node.calls = self.ports.degree(v), []
            if self.identifiers is not None:
                node.identifier = int(self.identifiers[v])
        node.round = self.round
        return node

    def _ask(self, v: int, function: str, *arguments: Any) -> Any:
        try:
            return self.call(v, function, *arguments)
        except InvalidInput:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise InvalidInput(
                f"{self.protocol.id}: {function} fails at node {v} in round {self.round}: {what}"
            ) from error

    def _collect(self, v: int, node: BasicNode, answered: Any, round: int) -> None:
        """Take what a node sends in `round`, and the rounds in which it is to be called."""
        if self.protocol.node_fields:
            self.protocol.settle(node)
        pairs = answered.items() if isinstance(answered, dict) else answered or ()
        sending = self.outbox[v] if answered else {}
        for port, message in pairs:
            if not isinstance(port, int) or not 0 <= port < node.degree:
                raise InvalidInput(
                    f"{self.protocol.id}: node {v} sends through port {port!r} in round {round}, "
                    f"but its ports are 0..{node.degree - 1}"
                )
            if port in sending:
                rule = "allows one message per edge, direction and round: merge them or send one later"
                self._refuse(v, port, round, "a second message", rule)
            bits = getattr(message, "bits", None)
            if bits is None:
                self._refuse(v, port, round, repr(message), "counts bits: make messages by self.message(field=value)")
            allowed = self.protocol.largest_allowed
            if bits > allowed:
                rule = f"allows {self.protocol.congest} ceil(log2(n+1)) = {allowed}: send less at a time"
                self._refuse(v, port, round, f"{bits} bits", rule)
            sending[port] = message
        for call in node.calls:
            if call < round:
                raise InvalidInput(f"{self.protocol.id}: node {v} asks in round {node.round} to be called in {call}")
            if self.lives(v, call):
                self.calls[call].add(v)
        node.calls = []

    def _refuse(self, v: int, port: int, round: int, what: str, rule: str) -> NoReturn:
        w, _ = self.ports.cross(v, port)
        raise InvalidInput(
            f"{self.protocol.id}: node {v} sends {what} over the edge {v} -> {w} (port {port}) in round {round}; "
            f"CONGEST {rule}"
        )

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
