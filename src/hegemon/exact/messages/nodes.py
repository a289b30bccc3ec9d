"""Single nodes: their possible states, numbered, and all outcomes of a call of `begin` or `round`.

What a node does depends on its state, its messages and its coins alone, so every call is made once and remembered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from hegemon.errors import InvalidInput
from hegemon.exact.messages.frozen import CHANGEABLE, Freezer, renumbered, thaw
from hegemon.exact.messages.scripted_coins import ScriptedCoins, Unenumerable, branches
from hegemon.models.messages import ELECTED, MessageProtocol
from hegemon.models.node_calls import NodeResult, call_node

Numbers = tuple[tuple[tuple[int, int], int], ...]  # how many different numbers were drawn from each range
Places = tuple[tuple[tuple[int, int], tuple[int, ...]], ...]  # the new place of each
Post = tuple[tuple[int, Any], ...]  # messages by port, frozen


class Local(NamedTuple):
    """One node between two calls. `variables` is None for a node that has not been called yet."""

    degree: int
    begins: int | None  # the round in which it will begin by itself
    variables: tuple[tuple[str, Any], ...] | None = None
    calls: tuple[int, ...] = ()  # the rounds in which it is to be called
    outbox: Post = ()
    identifier: int | None = None  # of a node without variables: afterwards it is one of them
    crash: int | None = None  # the round from which on it does nothing

    def lives(self, round: int) -> bool:
        return self.crash is None or round < self.crash


@dataclass(frozen=True)
class CallOutcome:
    """Of a call: its probability above/below, the node afterwards, and how the numbers drawn so far are renumbered."""

    above: int
    below: int
    local: int
    drawn: Numbers
    places: Places


class LocalStates:
    """All states of nodes of a protocol found so far, by number."""

    def __init__(self, protocol: MessageProtocol, ordered: bool):
        self.protocol, self.ordered = protocol, ordered
        self.states: list[Local] = []
        self._numbers: dict[Local, int] = {}
        self._outcomes: dict[tuple[Any, ...], tuple[CallOutcome, ...]] = {}
        self._emptied: dict[int, int] = {}
        self._renumbered: dict[tuple[int, Places], int] = {}
        self.require_separate()

    def require_separate(self) -> None:
        """Refuse a list or dictionary in the class itself: all nodes and all branches would share it."""
        for kind in self.protocol.node_type.__mro__:
            for name, value in vars(kind).items():
                if type(value) in CHANGEABLE and not name.startswith("__"):
                    raise InvalidInput(
                        f"{self.protocol.id}: Node.{name} is one {type(value).__name__} for all nodes; make it in begin"
                    )

    def number(self, local: Local) -> int:
        number = self._numbers.get(local)
        if number is None:
            number = self._numbers[local] = len(self.states)
            self.states.append(local)
        return number

    def emptied(self, local: int) -> int:
        """The same node after its messages have been taken."""
        if local not in self._emptied:
            self._emptied[local] = self.number(self.states[local]._replace(outbox=()))
        return self._emptied[local]

    def renumber(self, local: int, places: Places) -> int:
        """The same node after numbers were drawn elsewhere."""
        key = local, places
        if key not in self._renumbered:
            now, moved = self.states[local], dict(places)
            self._renumbered[key] = self.number(
                now._replace(variables=renumbered(now.variables, moved), outbox=renumbered(now.outbox, moved))
            )
        return self._renumbered[key]

    def thawed(self, local: int, round: int | None) -> Any:
        """The node as an object; `round` is None after the end of a run."""
        state = self.states[local]
        node = (self.protocol.node_type if round is not None else self._ended)()
        node.degree = state.degree
        if state.identifier is not None:
            node.identifier = state.identifier
        for name, value in state.variables or ():
            setattr(node, name, thaw(value))
        if round is not None:
            node.round = round
        return node

    @cached_property
    def _ended(self) -> type:
        def forgotten(node: Any) -> None:
            raise InvalidInput(f"{self.protocol.id}: measure reads node.round, which verify does not keep")

        return type("Node", (self.protocol.node_type,), {"round": property(forgotten)})

    def is_elected(self, local: int) -> bool:
        """A node that was never called still has its first status."""
        kept = dict(self.states[local].variables or ())
        return bool(kept.get("status", self.protocol.node_type.status) == ELECTED)

    def begin(self, local: int, round: int, drawn: Numbers) -> tuple[CallOutcome, ...]:
        """All outcomes when the node wakes up in this round."""
        return self._remembered(("begin", local, round, drawn), None)

    def round(self, local: int, round: int, drawn: Numbers, inbox: Post) -> tuple[CallOutcome, ...]:
        """All outcomes when the node is called at the end of this round. Its outbox is empty by then."""
        return self._remembered(("round", local, round, drawn, inbox), inbox)

    def hear(self, local: int, round: int, drawn: Numbers, inbox: Post) -> tuple[CallOutcome, ...]:
        """All outcomes when one message arrives within this round; the node may be called again at its end."""
        return self._remembered(("hear", local, round, drawn, inbox), inbox)

    def _remembered(self, key: tuple[Any, ...], inbox: Post | None) -> tuple[CallOutcome, ...]:
        if key not in self._outcomes:
            merged: dict[tuple[Any, ...], Fraction] = {}
            for probability, *rest in self._called(key[0], key[1], key[2], key[3], inbox):
                merged[tuple(rest)] = merged.get(tuple(rest), Fraction(0)) + probability
            self._outcomes[key] = tuple(CallOutcome(*p.as_integer_ratio(), *rest) for rest, p in merged.items())
        return self._outcomes[key]

    def _called(
        self, function: str, local: int, round: int, drawn: Numbers, inbox: Post | None
    ) -> Iterator[tuple[Any, ...]]:
        def call(coins: ScriptedCoins) -> tuple[Any, NodeResult]:
            node = self.thawed(local, round)
            received = () if inbox is None else ({port: thaw(message) for port, message in inbox},)
            sending = {port: thaw(message) for port, message in self.states[local].outbox}
            return node, self._ask(function, node, (*received, coins), sending)

        known = dict(drawn)
        for coins, (node, result) in branches(call, known, self.ordered):
            after = self._after(local, function, round, node, result, coins)
            numbers = tuple(sorted((key, len(places)) for key, places in coins.places.items()))
            moved = tuple(
                (key, tuple(coins.renumbered(*key, place) for place in range(1, k + 1)))
                for key, k in drawn
                if coins.has_drawn and len(coins.places[key]) > k
            )
            yield coins.probability, after, numbers, moved

    def _ask(self, function: str, node: Any, arguments: tuple[Any, ...], sending: dict[int, Any]) -> NodeResult:
        before = dict(vars(self.protocol))
        called = "begin" if function == "begin" else "round"
        try:
            result = call_node(
                self.protocol, node, called, lambda: getattr(self.protocol, called)(node, *arguments), sending=sending
            )
        except Unenumerable as reason:
            raise InvalidInput(f"{self.protocol.id}: {called} {reason}") from None
        for name, value in vars(self.protocol).items():
            computed_once = isinstance(getattr(type(self.protocol), name, None), cached_property)
            if value is not before.get(name) and not computed_once:
                raise InvalidInput(f"{self.protocol.id}: {called} changes self.{name}; a node may only change itself")
        return result

    def _after(self, local: int, function: str, round: int, node: Any, result: NodeResult, coins: ScriptedCoins) -> int:
        """The node after a call."""
        calls = {*self.states[local].calls, *result.calls} - {round if function == "round" else None}
        freezer = Freezer(f"{self.protocol.id}: a node", coins.renumbered)
        variables = {name: value for name, value in vars(node).items() if name not in NOT_KEPT}
        begins, crash = None if function == "begin" else self.states[local].begins, self.states[local].crash
        posts = (
            result.sending.items() if begins is not None else sorted(result.sending.items())
        )  # `begin` may see the order
        return self.number(
            Local(
                degree=node.degree,
                begins=begins,
                variables=tuple(sorted((name, freezer.freeze(value)) for name, value in variables.items())),
                calls=tuple(sorted(call for call in calls if crash is None or call < crash)),
                outbox=tuple((port, freezer.freeze(message)) for port, message in posts),
                crash=crash,
            )
        )


NOT_KEPT = ("degree", "round")
