"""Whether a protocol's transition has a form that machine code can do; what has none is run by plain Python."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.compute.compilation import is_authored
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.language.kinds import WHOLE, Kind, Record, RowKind, kind_of_type
from hegemon.models.coins import CoinProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol

if TYPE_CHECKING:
    from hegemon.compute.translation import Translated


def outside(protocol: Protocol, topology: Topology | None = None) -> str:
    """Why the transition cannot be compiled, with the line; nothing if it can be. On a topology, machine code does not
    test whether there is a first neighbour."""
    reason, takes_first = protocol.shared.once("outside", lambda: _outside(protocol))
    if not reason and takes_first and topology is not None and not np.all(topology.degrees):
        return "it reads neighbours[0], and a node has no neighbours"
    return reason


def _outside(protocol: Protocol) -> tuple[str, bool]:
    """The reason, and whether a node's first neighbour is read, in a helper as well."""
    from hegemon.compute.translation import Translation
    from hegemon.language.reading import read

    function: Any = getattr(protocol, "interact" if protocol.model.has_interactions else "update")
    if not is_authored(function):
        return "", False  # around an author's function, which is refused when it is compiled
    functions: list[Translated] = []
    try:
        Translation({}, lambda *made: functions.append(made[2])).of(read(function), kinds_of(protocol))
    except InvalidInput as reason:
        return str(reason), False
    return "", any(function.takes_first for function in functions)


def kinds_of(protocol: Protocol) -> tuple[Kind, ...]:
    """The arguments of a transition."""
    assert isinstance(protocol, CoinProtocol)  # all that declare fields
    state = kind_of_type(protocol.space.dtype, "a state")
    parameters = kind_of_type(protocol.compiled_p.dtype, "the parameters")
    drawn = Record("the coins", tuple((name, WHOLE) for name in protocol.coins.names))
    if not isinstance(protocol, RoundsProtocol):
        return (state, state, parameters, *((drawn,) if protocol.coin_fields else ()))
    assert isinstance(state, Record)
    shown = {name: kind for name, kind in state.members if name in {*protocol.public, *protocol.public_names}}
    ports = {"back": WHOLE} if protocol.neighbourhood == "ports" else {}
    neighbour = Record("the state of a neighbour", tuple((shown | ports).items()))
    return state, RowKind(neighbour, "list"), drawn if protocol.coin_fields else WHOLE, parameters


def require_inside(protocol: Protocol, engine: str, topology: Topology) -> None:
    """Raise InvalidInput for an engine that compiles what cannot be compiled."""
    if engine != "plain" and (reason := outside(protocol, topology)):
        raise InvalidInput(f"engine {engine} cannot compile {protocol.id}: {reason}; or use engine plain")
