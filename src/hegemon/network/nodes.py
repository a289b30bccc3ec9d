"""The two models that work in rounds, in the form that a synchronizer calls: one word per round and port.

A word is a number below 2^64: the code of the visible part of a state, or of a message (0: no message).
"""

import copy
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.models.messages import ELECTED, MessageProtocol
from hegemon.models.node_calls import call_node
from hegemon.models.rounds import RoundsProtocol

LARGEST_WORD = 1 << 64


class RoundsNode:
    """A node of a protocol that reads its neighbours' states. A neighbour that left the round is not read."""

    begins_together = False

    def __init__(self, protocol: RoundsProtocol, state: int, coins: Callable[[int], int]):
        """`coins(round)` returns the outcome of a round's coins as a number."""
        self.protocol, self.coins, self.n = protocol, coins, protocol.n
        self.size = protocol.space.size
        self.state = state

    @property
    def is_leader(self) -> bool:
        return self.protocol.elects_leader and self.protocol.holds(self.protocol.output, self._namespace(self.state))

    def says(self, port: int) -> int:
        """The code of the state without its private fields, which are never sent."""
        shown = self._namespace(self.state)
        for name in self.protocol.private:
            setattr(shown, name, self.protocol.space.bounds[name][0])
        return self.protocol.space.code(shown)

    def accepts(self, word: int) -> bool:
        return 0 <= word < self.size

    def receives(self, round: int, words: list[int | None]) -> None:
        me = copy.copy(self._namespace(self.state))
        near = [self._namespace(word) for word in words if word is not None]
        self.protocol.move(me, near, self.coins(round))
        self.state = self.protocol.space.code(me)

    def _namespace(self, code: int) -> SimpleNamespace:
        return self.protocol.space.namespace(code)


class MessageNode:
    """A node of a message-passing protocol, from its waking in round 1 on. A message that misses its round is lost."""

    size = 1
    begins_together = True

    def __init__(self, protocol: MessageProtocol, degree: int, rng: random.Random):
        self.protocol, self.rng, self.n = protocol, rng, protocol.n
        self.messages = MessageCodes(protocol)
        self.state = 0
        self.node = protocol.node_type()
        self.node.degree, self.node.round = degree, 1
        self.outbox: dict[int, object] = {}
        self.calls: set[int] = set()
        if rng.random() < protocol.initiation:
            self._call("begin", rng)

    @property
    def is_leader(self) -> bool:
        return self.node.status == ELECTED

    @property
    def status(self) -> str:
        """ELECTED, NON-ELECTED or undecided."""
        return self.node.status or "undecided"

    def says(self, port: int) -> int:
        message = self.outbox.get(port)
        return 0 if message is None else self.messages.code(message)

    def accepts(self, word: int) -> bool:
        return self.messages.has(word)

    def receives(self, round: int, words: list[int | None]) -> None:
        """Process the words of this round; this determines what is sent in the next."""
        inbox = {port: self.messages.message(word) for port, word in enumerate(words) if word}
        is_called = self.node.round in self.calls
        self.calls.discard(self.node.round)
        self.outbox = {}
        if inbox or is_called:
            self._call("round", inbox, self.rng)
        self.node.round += 1

    def _call(self, function: str, *given: Any) -> None:
        call = getattr(self.protocol, function)
        result = call_node(self.protocol, self.node, function, lambda: call(self.node, *given))
        self.outbox = result.sending
        self.calls |= result.calls


class MessageCodes:
    """Messages as numbers from 1 on: mixed radix over the fields, as those of states."""

    def __init__(self, protocol: MessageProtocol):
        self.protocol, self.fields = protocol, protocol.message_fields
        self.bounds = protocol.format.bounds
        self.most = 1
        for low, high in self.bounds.values():
            self.most *= high - low + 2  # one more value for "this kind of message lacks the field"
        if self.most >= LARGEST_WORD:
            raise InvalidInput(f"{protocol.id}: a message does not fit in 64 bits; take a smaller n than {protocol.n}")

    def code(self, message: Any) -> int:
        code = 0
        for field in self.fields:
            (low, high), value = self.bounds[field.name], getattr(message, field.name)
            code = code * (high - low + 2) + (0 if value is None else field.domain.index(value) - low + 1)
        return code + 1

    def has(self, word: int) -> bool:
        """Whether a member may send this word."""
        if word == 0:
            return True
        try:
            return 0 < word <= self.most and self.message(word) is not None
        except InvalidInput:
            return False

    def message(self, word: int) -> Any:
        rest, given = word - 1, {}
        for field in reversed(self.fields):
            low, high = self.bounds[field.name]
            rest, digit = divmod(rest, high - low + 2)
            if digit:
                given[field.name] = field.domain.label(low + digit - 1)
        return self.protocol.message(**given)
