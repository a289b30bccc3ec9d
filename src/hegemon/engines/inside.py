"""Whether a protocol's transition has a form that machine code can do; what has none is run by plain Python."""

from typing import Any

from hegemon.compute.compilation import is_authored
from hegemon.errors import InvalidInput
from hegemon.language.kinds import WHOLE, Kind, Record, RowKind, kind_of_type
from hegemon.models.coins import CoinProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol


def outside(protocol: Protocol) -> str:
    """Why the transition cannot be compiled, with the line; nothing if it can be."""
    return protocol.shared.once("outside", lambda: _outside(protocol))


def _outside(protocol: Protocol) -> str:
    from hegemon.compute.translation import Translation
    from hegemon.language.reading import read

    function: Any = getattr(protocol, "interact" if protocol.model.has_interactions else "update")
    if not is_authored(function):
        return ""  # around an author's function, which is refused when it is compiled
    try:
        Translation({}, lambda *made: made).of(read(function), kinds_of(protocol))
    except InvalidInput as reason:
        return str(reason)
    return ""


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


def require_inside(protocol: Protocol, engine: str) -> None:
    """Raise InvalidInput for an engine that compiles what cannot be compiled."""
    if engine != "plain" and (reason := outside(protocol)):
        raise InvalidInput(f"engine {engine} cannot compile {protocol.id}: {reason}; or use engine plain")
