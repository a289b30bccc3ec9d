"""Synchronous message passing (CONGEST): nodes know ports, not names; messages are small and are counted.

In round r a node sends at most one message through each port, receives what its neighbours sent in the same
round, and computes. A protocol declares

- `class Message:` with fields over finite domains, from which follows the number of bits of every message;
- `class Node:` with the variables of a node and their first values, `rank = 0`, or with their domain as well,
  `rank: Range(0, "n") = 0`: then an engine may compile the protocol;
- `begin(self, node, rng)`, called when the node wakes up: returns the messages of that round;
- `round(self, node, inbox, rng)`, called at the end of every round in which the node received messages or
  asked to be called (`node.wake_at(round)`): returns the messages of the next round.

Messages are returned as a mapping from ports (0..degree-1) to messages, or as (port, message) pairs; the
inbox is such a mapping, in the order of the ports. `rng` is a `random.Random`: the node's private coins.

A protocol with `has_identifiers = True` is not anonymous: every node has a `node.identifier` in 1..n, all different.
"""

import operator
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.declarations import require_arguments
from hegemon.models.fields import Field, declared_fields, declared_variables
from hegemon.models.model import MESSAGES
from hegemon.models.protocol import Protocol
from hegemon.models.purity import require_pure

ELECTED, NON_ELECTED = "ELECTED", "NON-ELECTED"
STATUSES = (None, ELECTED, NON_ELECTED)


def failure(elected: Sequence[int], ranks: Sequence[int]) -> str | None:
    """Why an election by ranks has not ended with one leader, as far as the ranks show it: those of the nodes that were
    elected, and of all candidates."""
    if not len(ranks):
        return "no candidate"
    if any(
        rank != elected[0] for rank in elected
    ):  # only compared: `verify` may know no more of ranks than their order
        return "several ranks elected"
    highest = max(ranks)
    tied = len(elected) > 1 or not len(elected) and sum(rank == highest for rank in ranks) > 1
    return "equal ranks" if tied else None


class MessageFormat:
    """Makes messages of the declared fields. The size of a message is that of the fields it has."""

    def __init__(self, fields: Any, values: Any, owner: str):
        self.owner, self.fields = owner, fields
        self.bounds = {field.name: field.domain.bounds(values) for field in fields}
        self.kind: Any = _message_type(*self.bounds, "bits")

    def make(self, **given: Any) -> Any:
        """A message; a field that this kind of message does not have is None."""
        values: dict[str, Any] = {}
        bits = 0
        for field in self.fields:
            name, domain = field.name, field.domain
            if any(values[other] not in allowed for other, allowed in domain.condition):
                values[name] = None
                continue
            if name not in given:
                raise InvalidInput(f"{self.owner}: a message {given} has no value for {name}")
            low, high = self.bounds[name]
            value = given[name]
            if not isinstance(domain.index(value), int) or not low <= domain.index(value) <= high:
                allowed = ", ".join(domain.names) or f"{low}..{high}"
                raise InvalidInput(f"{self.owner}: a message has {name} = {value!r}, which is not in {allowed}")
            values[name] = value
            bits += (high - low).bit_length()  # the smallest number of bits for high-low+1 different values
        surplus = [name for name in given if values.get(name) is None]
        if surplus:
            raise InvalidInput(f"{self.owner}: a message {given} cannot have {', '.join(surplus)}")
        return self.kind(**values, bits=max(1, bits))  # a message without content still carries one bit: its arrival


def _message_type(*names: str) -> Any:
    return namedtuple("Message", names)


class BasicNode:
    """What every node has. It does not know its number: the network is anonymous, unless identifiers are given."""

    calls: list[int]  # the rounds that the present call asked for
    degree = 0
    identifier: int  # in 1..n, no two alike; only where the protocol `has_identifiers`
    round = 0  # the present round
    status: str | None = None  # the paper's ⊥, until the node is ELECTED or NON-ELECTED

    @property
    def sending(self) -> Any:
        """In `begin`: what the node sends in this round anyway, in answer to the last; `begin` may change it."""
        if "_sending" not in vars(self):
            raise AttributeError("node.sending is known in begin alone")
        return vars(self)["_sending"]

    @sending.setter
    def sending(self, messages: Any) -> None:
        if "_sending" not in vars(self):
            raise AttributeError("node.sending can be set in begin alone; return what the node sends next")
        vars(self)["_sending"] = messages

    def wake_at(self, round: int) -> None:
        """Call `round` of the protocol at the end of this round, whether or not messages arrive."""
        try:
            self.calls.append(operator.index(round))
        except TypeError:
            raise TypeError(f"wake_at({round!r}) needs a whole number of a round") from None


TAKEN = {"calls", "degree", "identifier", "round", "sending", "_sending", "wake_at"}  # names that every node has


class MessageProtocol(Protocol):
    """Declare `class Message:`, `class Node:`, `begin(self, node, rng)` and `round(self, node, inbox, rng)`."""

    message_fields: ClassVar[tuple[Field, ...]]
    node_fields: ClassVar[tuple[Field, ...]]  # the variables whose domain is declared
    node_type: ClassVar[type[BasicNode]]
    begin: Callable[..., Any]  # (self, node, rng) -> messages
    round: Callable[..., Any]  # (self, node, inbox, rng) -> messages

    model = MESSAGES
    time_unit = "rounds"
    arbitrary_start = False
    default_start = None
    congest = 8  # a message has at most congest * ceil(log2(n + 1)) bits
    facts: dict[str, Any] = {}  # what is known about the run beforehand: goes into its measures
    graph_parameters: dict[str, Any] = {}  # parameters that `adapt` has found in the graph
    missing_parameters = ""  # the missing ones, in words for an error message: without a graph they are unknown
    records_clouds = False  # whether to follow whom each initiator influences
    has_identifiers = False  # whether every node is given an identifier of its own, `node.identifier`
    pattern: Any = None  # Contacts or Tokens, where a compiled engine knows the protocol's course of events

    class Message:
        pass

    class Node:
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.message_fields = declared_fields(cls.Message, cls.__name__, "Message")
        for field in cls.message_fields:
            if field.name == "bits" or field.name.startswith("_"):
                raise InvalidInput(f"{cls.__name__}: a message already has {field.name!r}; rename the field")
        cls.node_fields = declared_variables(cls.Node, cls.__name__)
        for field in cls.node_fields:
            if field.name.startswith("_") or field.name in {*TAKEN, "status"}:
                raise InvalidInput(f"{cls.__name__}: a node already has {field.name!r}; rename the variable")
        for kind in cls.Node.__mro__[:-1]:
            if taken := sorted((vars(kind).keys() - {"status"}) & TAKEN):
                raise InvalidInput(f"{cls.__name__}: a node already has {taken[0]!r}; rename the variable")
        cls.node_type = type("Node", (cls.Node, BasicNode), {})
        if cls.node_type.status not in STATUSES:
            raise InvalidInput(
                f"{cls.__name__}: a node has the status {cls.node_type.status!r} at first; "
                "write ELECTED, NON_ELECTED or None"
            )

    def __init__(self, n: int | float, **given: Any):
        for name in ("begin", "round"):
            function: Any = getattr(type(self), name, None)
            if not callable(function):
                raise InvalidInput(f"{type(self).__name__} needs `def {name}(self, node, …)`")
            arguments = "self, node, rng" if name == "begin" else "self, node, inbox, rng"
            require_arguments(function, arguments, f"{type(self).__name__}: {name}", f"def {name}({arguments})")
            require_pure(function, f"{self.id}: {name}", "its only randomness is `rng`")
        super().__init__(n, **given)

    @cached_property
    def node_bounds(self) -> dict[str, tuple[int, int]]:
        """The lowest and highest value of every declared variable of a node."""
        found = {}
        for field in self.node_fields:
            low, high = found[field.name] = field.domain.bounds(self.values)
            if not low <= field.domain.index(field.default) <= high:
                raise InvalidInput(
                    f"{self.id}: the first value of Node.{field.name}, {field.default}, is not in {low}..{high}"
                )
        return found

    @property
    def undeclared(self) -> dict[str, Any]:
        """The variables of a node without a declared domain, and their first values."""
        declared = {field.name for field in self.node_fields}
        found = {name: value for kind in reversed(self.Node.__mro__[:-1]) for name, value in vars(kind).items()}
        return {name: value for name, value in found.items() if name not in declared and not name.startswith("__")}

    def settle(self, node: Any) -> None:
        """Refuse a node with a declared variable outside its domain; True and False become 1 and 0."""
        for field in self.node_fields:
            value = getattr(node, field.name)
            if field.domain.names:
                if value in field.domain.names:
                    continue
                allowed = ", ".join(field.domain.names)
            else:
                low, high = self.node_bounds[field.name]
                if isinstance(value, int) and low <= value <= high:
                    if type(value) is bool:
                        setattr(node, field.name, int(value))
                    continue
                allowed = f"{low}..{high}"
            raise InvalidInput(f"{self.id}: a node has {field.name} = {value!r}, which is not in {allowed}")

    @cached_property
    def format(self) -> MessageFormat:
        return MessageFormat(self.message_fields, self.values, self.id)

    def message(self, **fields: Any) -> Any:
        """A message with the given values, Choices by name."""
        return self.format.make(**fields)

    @property
    def largest_allowed(self) -> int:
        """The O(log n) bits of CONGEST, with its constant."""
        return self.congest * self.n.bit_length()

    @property
    def initiation(self) -> float:
        """The probability with which a node that wakes up begins. The others wait for a message, and `begin`
        is never called for them, so that an engine need not visit them at all."""
        return 1.0

    @property
    def wakes_at_any_time(self) -> bool:
        """Whether the protocol is meant for nodes that wake up in different rounds."""
        return True

    def adapt(self, topology: Topology) -> "MessageProtocol":
        """The protocol together with what its nodes know about the graph."""
        return self

    def measure(self, nodes: list[Any]) -> dict[str, Any]:
        """Measures of the author's own at the end of a run, from the nodes that have acted, in order of their numbers.

        A measure called `cause` is the reason, shown by these nodes, why there is not exactly one leader, or None.
        """
        return {}

    def check_topology(self, topology: Topology) -> None:
        super().check_topology(topology)
        if topology.directed:
            raise InvalidInput(
                f"{self.id} sends messages over edges in both directions, but {topology.name} is directed; "
                "use an undirected graph such as ring:N"
            )


# Two courses of events that compiled engines follow message by message without calling `begin` and `round`.
# They describe the same process; the tests compare the distributions.


@dataclass(frozen=True)
class Contacts:
    """On the complete graph, each initiator draws a rank in 1..ranks and sends it to `contacts` random nodes;
    a node answers the highest rank of the first round in which it hears any, and never again; an initiator
    that all its contacts answered is elected, and tells everyone if `inform_bits` is not 0. An answer rides on
    a contact that takes the same edge in the same round, as between nodes that wake up one after the other."""

    contacts: int
    ranks: int
    contact_bits: int
    answer_bits: int
    inform_bits: int = 0


@dataclass(frozen=True)
class Tokens:
    """Each initiator draws a rank in 1..ranks and starts `tokens` walks of `steps` steps, lazy or not; nodes
    discard walks below the best rank seen; the survivors are counted back along the ports they came from."""

    tokens: int
    steps: int
    lazy: bool
    ranks: int
    token_bits: int
    win_bits: int
