"""One call of a node, and the one reading of what it leaves: messages, calls that it asks for, its status.

Every engine, the exact enumeration and the members of a network call `begin` and `round` through `call_node`, so that
an unusual result means the same to all of them, or is refused by all of them.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hegemon.errors import InvalidInput
from hegemon.models.messages import STATUSES, BasicNode, MessageProtocol

ROUND_LIMIT = "round limit"  # the cause of an election that was stopped before its end: `analysis/statistics` reads it
Refuse = Callable[[str], InvalidInput]


class NodeResult(NamedTuple):
    """`sending`: in the round in which the next messages leave, all that this node sends, by port; `calls`: the rounds
    at whose end it asked to be called."""

    sending: dict[int, Any]
    calls: set[int]


def call_node(
    protocol: MessageProtocol, node: BasicNode, function: str, call: Callable[[], Any], *, who: str = "a node",
    edge: Callable[[int], str] = "port {}".format, sending: Mapping[int, Any] | None = None,
) -> NodeResult:  # fmt: skip
    """What `call()`, which calls `begin` or `round`, leaves in the present round of this node.

    `sending` is what a node that begins sends in this round already. `who` and `edge(port)` are for refusals.
    """
    begins, now = function == "begin", node.round
    sends = now if begins else now + 1

    def refuse(what: str) -> InvalidInput:
        return InvalidInput(f"{protocol.id}: {who} {what}")

    node.calls = []
    if begins:
        vars(node)["_sending"] = dict(sending or {})
    try:
        answer = call()
        pairs = _pairs(answer)  # a generator runs only now
        taken = vars(node)["_sending"] if begins else {}
        calls = node.calls
    except InvalidInput:
        raise
    except Exception as error:  # an author's code may raise anything
        what = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"{protocol.id}: {function} fails at {who} in round {now}: {what}") from error
    finally:
        vars(node).pop("_sending", None)
        vars(node).pop("calls", None)
    if protocol.node_fields:
        protocol.settle(node)
    if node.status not in STATUSES:
        raise refuse(f"has the status {node.status!r} in round {now}; write ELECTED, NON_ELECTED or None")
    if pairs is None:
        raise refuse(f"returns {answer!r} in round {now}; return messages by port, such as {{0: self.message(…)}}")
    if not isinstance(taken, dict):
        raise refuse(f"sets node.sending to {taken!r} in round {now}; give it messages by port, or leave it")
    if early := [call for call in calls if call < sends]:
        raise refuse(f"asks in round {now} to be called in {min(early)}")
    if not pairs and not taken:
        return NodeResult({}, set(calls))
    sent: dict[int, Any] = {}
    degree, allowed = node.degree, protocol.largest_allowed
    for port, message in (*taken.items(), *pairs) if taken else pairs:
        if not isinstance(port, int) or not 0 <= port < degree:
            ports = f"its ports are 0..{degree - 1}" if degree else "it has no ports"
            raise refuse(f"sends through port {port!r} in round {sends}, but {ports}")
        bits = getattr(message, "bits", None)
        if bits is None or bits > allowed or port in sent:
            what, rule = _broken_rule(protocol, message, port in sent)
            raise refuse(f"sends {what} over the edge {edge(int(port))} in round {sends}; CONGEST {rule}")
        sent[int(port)] = message
    return NodeResult(sent, set(calls))


def _pairs(answer: Any) -> list[tuple[Any, Any]] | None:
    """The ports and messages that a function returned; None if it returned anything else."""
    if answer is None:
        return []
    if isinstance(answer, Mapping):
        return list(answer.items())
    if isinstance(answer, str | bytes) or not hasattr(answer, "__iter__"):
        return None
    found = list(answer)
    return found if all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in found) else None


def _broken_rule(protocol: MessageProtocol, message: Any, is_second: bool) -> tuple[str, str]:
    """What is sent, and the rule of CONGEST that it breaks."""
    if is_second:
        rule = "allows one message per edge, direction and round: merge them or send one later"
        return "a second message", rule
    if getattr(message, "bits", None) is None:
        return repr(message), "counts bits: make messages by self.message(field=value)"
    allowed = protocol.largest_allowed
    return f"{message.bits} bits", f"allows {protocol.congest} ceil(log2(n+1)) = {allowed}: send less at a time"


# -- the end of a run ------------------------------------------------------------------------------------------------


def measured(protocol: MessageProtocol, nodes: list[Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The author's own measures, from the nodes that have acted in the order of their numbers; `known` are ours."""
    try:
        found = protocol.measure(nodes)
    except InvalidInput:
        raise
    except Exception as error:  # an author's code may raise anything
        raise InvalidInput(f"{protocol.id}: measure fails: {type(error).__name__}: {error}") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{protocol.id}: measure returns {found!r}; return a dictionary of measures by name")
    if twice := sorted(known.keys() & found.keys()):
        raise InvalidInput(f"{protocol.id}: every run measures {', '.join(twice)} itself; rename what measure returns")
    return found


def cause(finished: bool, leaders: int, crashed: int, observed: str | None) -> str | None:
    """Why a run has not ended with one leader: `crashed` is the number of nodes that were elected and then crashed,
    `observed` the reason that the protocol's own nodes show."""
    if not finished:
        return ROUND_LIMIT
    if leaders == 1:
        return None
    if leaders == 0 and crashed:
        return "the leader crashed" if crashed == 1 else "all leaders crashed"
    return observed or ("no leader" if leaders == 0 else "several leaders")
