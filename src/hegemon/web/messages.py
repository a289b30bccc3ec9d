"""The world of message passing: nodes of engine `nodes`, and the messages of the last round on their edges."""

from typing import Any

import numpy as np

from hegemon.engines.choice import follow_messages
from hegemon.engines.messages.nodes import Nodes
from hegemon.graphs.topology import Topology
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol
from hegemon.process.messages.surroundings import OPTIONS, surroundings_of
from hegemon.runs.capabilities import supporting
from hegemon.runs.messages import RoundByRound, round_by_round
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import Start
from hegemon.runs.telling import shortened
from hegemon.web.explaining import Listing, listing, traced
from hegemon.web.layout import LARGEST_DRAWN, LARGEST_RASTER
from hegemon.web.look import MOST_BADGES, Channel
from hegemon.web.world import ELSEWHERE, World

STATUS = ("asleep", "undecided", "NON-ELECTED", "ELECTED")
COLOURS = ("#a3adb8", "#56b4e9", "#0072b2")  # of the first three statuses
MOST_MESSAGES = 4000  # messages drawn at once
BASIC = {"status"}


class MessageWorld(World):
    """Message-passing protocols. To go back in time, the run is played again from the start, with the same coins."""

    supports = supporting(
        "a watched run of messages",
        f"graph seed engine {' '.join(OPTIONS)}",
        instead=ELSEWHERE,
    )
    protocol: MessageProtocol
    is_rounds = True
    keeps_its_past = False
    undisturbed = (
        "messages are not disturbed: a node begins once and decides once, so whatever is damaged has no later round "
        "to heal in"
    )

    def __init__(self, protocol: MessageProtocol, topology: Topology, record: RunRecord, start: Start = None):
        self.protocol, self.topology = protocol.adapt(topology), topology
        self._around = surroundings_of(record, self.protocol)
        self._kind, self.reason = follow_messages(record.engine, self.protocol, topology, self._around)
        self._rounds = RoundByRound(lambda: self._kind(self.protocol, topology, self._around, record.seed, 0))
        self.plan = round_by_round(self.protocol, topology)
        n = protocol.n
        self.kind = "graph" if n <= LARGEST_DRAWN else "raster" if n <= LARGEST_RASTER else "bands"
        self.look = NodeLook(protocol)
        self.listing = Listing(listing(type(protocol).begin).blocks + listing(type(protocol).round).blocks)

    @property
    def engine(self) -> Nodes:
        return self._rounds.nodes

    @property
    def _moved(self) -> RoundByRound:
        return self._rounds

    def seek_change(self, deadline: float) -> bool:
        before = self._elected()
        self._rounds.met = lambda: self._elected() != before
        try:
            return self.trajectory.run(deadline=deadline)
        finally:
            self._rounds.met = None

    def _elected(self) -> tuple[set[Any], int]:
        leaders, _ = self.engine.count_leaders(self.step)
        return {v for v, node in self.engine.nodes.items() if node.status == ELECTED}, leaders

    def entry(self, outside: tuple[Any, ...], name: str, limit: int) -> int | None:
        return None

    def before_step(self, focus: int | None) -> dict[str, Any]:
        """From now on the engine follows the call of the node in focus, which is noted here."""
        told: dict[str, Any] = {"lines": []}
        plain = self.engine.plain_call

        def call(v: int, function: str, *arguments: Any) -> Any:
            if v != focus:
                return plain(v, function, *arguments)
            answer, lines = traced(getattr(self.protocol, function), *arguments)
            told.update(node=v, lines=lines)
            return answer

        self.engine.call = call
        return told

    def told_step(self, before: dict[str, Any], focus: int | None) -> dict[str, Any]:
        engine = self.engine
        engine.call = engine.plain_call
        if engine.round != self.step:
            return {"text": f"round {self.step}: nothing happens", "changed": False, **before}
        kinds: dict[str, int] = {}
        for _, _, message in engine.last_messages:
            kind = str(getattr(message, "kind", "message"))
            kinds[kind] = kinds.get(kind, 0) + 1
        text = f"round {engine.round}: " + (", ".join(f"{k:,} × {kind}" for kind, k in kinds.items()) or "no messages")
        return {"text": text, "changed": bool(kinds), **before}

    def picture(self) -> np.ndarray:
        result = np.zeros(self.protocol.n, np.uint8)
        for v, node in self.engine.nodes.items():
            result[v] = self.look.byte(node)
        return result

    def bands(self) -> list[tuple[int, int]]:
        seen: dict[int, int] = {0: self.protocol.n - len(self.engine.nodes)}
        for node in self.engine.nodes.values():
            byte = self.look.byte(node)
            seen[byte] = seen.get(byte, 0) + 1
        return sorted(seen.items())

    def readings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        nodes, engine = self.engine.nodes, self.engine
        leaders, _ = engine.count_leaders(self.step)
        values = {"leaders": leaders, "messages": engine.messages, "bits": engine.bits}
        values |= {"this round": len(engine.last_messages), "nodes awake": len(nodes)}
        finished = engine.next_round is None
        return values, {"one leader": leaders == 1, "finished": finished}

    def state(self, agent: int) -> dict[str, Any]:
        node = self.engine.nodes.get(agent)
        if node is None:
            return {"status": "asleep: it has neither begun nor heard anything"}
        shown = {"status": node.status or "undecided", "degree": node.degree}
        if self.protocol.has_identifiers:
            shown["identifier"] = node.identifier
        for name in self.look.variables:
            shown[name] = shortened(getattr(node, name))
        return shown

    def parts(self) -> list[str]:
        identifier = ["identifier"] if self.protocol.has_identifiers else []
        return [*identifier, "status", *self.look.variables]

    def labels(self) -> list[str | None]:
        label, p = self.protocol.label, self.protocol.p  # type: ignore[attr-defined]
        nodes = (self.engine.nodes.get(v) for v in range(self.protocol.n))
        return [None if node is None else label(node, p) for node in nodes]

    def messages(self) -> list[Any]:
        """The messages of the last round as [from, to, kind]."""
        kinds = self.look.kinds
        sent = self.engine.last_messages
        step = max(1, len(sent) // MOST_MESSAGES)
        return [[v, w, kinds.get(str(getattr(m, "kind", "")), 0)] for v, w, m in sent[::step]]


class NodeLook:
    """A node's byte: its status, and which of its variables differ from what they were at the beginning."""

    def __init__(self, protocol: MessageProtocol):
        first = {name: value for name, value in vars(protocol.Node).items() if not name.startswith("_")}
        self.variables = [name for name in first if name not in BASIC]
        self._first = first
        self._badges = self.variables[:MOST_BADGES]
        self.channels = [
            Channel("leader", "status", ("not elected", "elected")),
            Channel("class", "status", STATUS[:3], COLOURS),
        ]
        self.channels += [Channel("badge", name, ("as at first", "set")) for name in self._badges]
        declared = {field.name: field.domain for field in protocol.message_fields}
        names = declared["kind"].names if "kind" in declared else ()
        self.kinds = {name: k for k, name in enumerate(names)}

    def byte(self, node: Any) -> int:
        elected = int(node.status == ELECTED)
        value = elected * 3 + (2 if node.status in (NON_ELECTED, ELECTED) else 1)
        for name in self._badges:
            value = 2 * value + int(getattr(node, name) != self._first[name])
        return value
