"""A run in words: a sentence for everything that changes."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.runs.stories import Interaction, Round
from hegemon.runs.trajectory import PRESCRIBED, Happening, Observer, Trajectory


class Changes(Observer):
    """Follows a trajectory. `lines` has one for every step that changes a state, where steps are made one by one; for
    nodes that send messages, one for every message and every decision."""

    def __init__(self, trajectory: Trajectory):
        self.protocol: Protocol = trajectory.plan.protocol
        self.lines, self._decided = list[str](), dict[int, Any]()
        self.engine: Any = trajectory.engine
        trajectory.observer, trajectory.notice = self, self._happened

    def begin(self) -> None:
        engine = self.engine
        if self.protocol.model.has_objects:
            self._before = [shown_object(agent) for agent in engine.agents]
        elif self.protocol.model.has_configurations:
            self._before = engine.configuration().agents

    def end(self) -> None:
        model = self.protocol.model
        if model.wakes:
            for sentence in self._of_messages():
                self._write(sentence)
        elif model.has_rounds:
            self._write(self._of_round())
        elif meeting := self.engine.last_meeting():
            self._write(self._of_meeting(*meeting))

    @property
    def _meeting(self) -> PopulationProtocol:
        return cast(PopulationProtocol, self.protocol)

    def _happened(self, happening: Happening) -> None:
        if happening.kind == PRESCRIBED and isinstance(happening.prescribed, tuple):
            self._write(told_interaction(self._meeting, happening.acting, happening.before, happening.prescribed[2]))

    def _write(self, sentence: str) -> None:
        if sentence:
            self.lines.append(f"{self.protocol.time_unit[:-1]} {self.engine.step:,}: {sentence}")

    def _of_meeting(self, initiator: int, responder: int, coin: Any) -> str:
        before: Any = self._before
        pair = [initiator, responder]
        if self.protocol.model.has_configurations:
            return told_interaction(self._meeting, pair, self.protocol.space.encode_array(before[pair]).tolist(), coin)
        after = shown_object(self.engine.agents[initiator]), shown_object(self.engine.agents[responder])
        meeting = Interaction(initiator, responder, (before[initiator], before[responder]), after)
        return meeting.sentence() if meeting.before != meeting.after else ""

    def _of_round(self) -> str:
        before, after = self._before, self.engine.configuration().agents
        mapping = self.protocol.space.mapping
        changed = np.flatnonzero(before != after)
        return Round(tuple((int(v), mapping(before[v]), mapping(after[v])) for v in changed)).sentence()

    def _of_messages(self) -> list[str]:
        nodes = self.engine.nodes
        sentences = []
        for v, w, message in nodes.last_messages if nodes.round == self.engine.step else ():
            fields = ", ".join(f"{name} {value}" for name, value in message._asdict().items() if name != "bits")
            sentences.append(f"node {v} tells node {w}: {fields or 'nothing'} ({message.bits} bits)")
        for v, node in sorted(nodes.nodes.items()):
            if node.status != self._decided.get(v):
                self._decided[v] = node.status
                sentences.append(f"node {v} is {node.status}")
        return sentences


def told_interaction(protocol: PopulationProtocol, pair: Sequence[int], before: Sequence[int], coin: int) -> str:
    """A sentence on two codes that meet; empty if nothing changes."""
    (first, second), space, after = pair, protocol.space, protocol.transition_codes(before[0], before[1], coin)
    (a, b), (c, d) = ([space.mapping_of(int(code)) for code in codes] for codes in (before, after))
    if (a, b) == (c, d):
        return ""
    coins = {
        name: value for name, value in protocol.coins.mapping(coin).items() if name not in protocol.coins_of_losses
    }
    return Interaction(first, second, (a, b), (c, d), coins).sentence()


def shown_object(agent: Any) -> dict[str, Any]:
    """The attributes of an agent or node that is a Python object, each short enough to be shown."""
    return {name: shortened(value) for name, value in vars(agent).items()}


def shortened(value: Any) -> str | int | float | bool | None:
    if isinstance(value, bool | int | float | str) or value is None:
        return value if not isinstance(value, int) or abs(value) < 2**53 else str(value)
    if isinstance(value, set | frozenset | list | tuple | dict):
        return f"{len(value)} items" if len(value) > 6 else str(value)[:80]
    return str(value)[:80]
