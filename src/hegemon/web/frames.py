"""What is sent: a greeting once, then frames. A frame is the length of a JSON head, the head, and the picture.

The picture is one byte per agent, uncompressed; for counts it is empty and the head has the bands.
"""

import json
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.web.choosing import can_choose
from hegemon.web.colours import KINDS, looks
from hegemon.web.layout import edges, places, torus
from hegemon.web.repeating import command_of
from hegemon.web.setup import choices, offered, shown

if TYPE_CHECKING:
    from hegemon.web.session import Session


def greeting(session: "Session") -> dict[str, Any]:
    """All that does not change while a run is watched."""
    protocol, world, topology = session.protocol, session.world, session.topology
    channels = [channel.record() for channel in world.look.channels]
    content = {
        "protocol": protocol.id,
        "name": session.protocol.id,
        "summary": protocol.summary(),
        "manner": manner(protocol),
        "reference": protocol.reference,
        "model": protocol.model.name,
        "unit": protocol.time_unit,
        "n": protocol.n,
        "parameters": {key: value for key, value in protocol.parameters.items() if value is not None},
        "graph": topology.name,
        "directed": topology.directed,
        "seed": session.seed,
        "engine": world.engine.name,
        "reason": world.reason,
        "start": str(session.start),
        "setup": shown(session.record),
        "choices": choices(type(protocol)),
        "protocols": offered(type(protocol)),
        "kind": world.kind,
        "channels": channels,
        "looks": looks(channels),
        "kindColours": KINDS,
        "fields": world.fields(),
        "sets": {name: chosen.doc for name, chosen in protocol.sets.items()},
        "observables": _observables(protocol),
        "listing": world.listing.record(),
        "canChoose": can_choose(session),
        "canDisturb": not session.undisturbed,
        "undisturbed": session.undisturbed,
        "hasEvents": bool(session.rates),
        "hasOutput": world.has_output,
        "kinds": list(getattr(world.look, "kinds", ())),
        "writable": world.writable(),
        "story": len(session.schedule),
        "rows": [[step, values] for step, values in session.rows],
    }
    if world.torus:
        content["torus"] = torus(world.torus, protocol.n)
        content["edges"] = []
    elif world.kind == "graph":
        content["places"] = np.round(places(topology), 4).tolist()
        content["edges"] = edges(topology).ravel().tolist()
    elif world.kind == "raster":
        content["width"] = raster_width(topology)
    return content


def manner(protocol: Protocol) -> str:
    """How time passes in the model, in one sentence."""
    model = protocol.model
    if model.wakes:
        return "In a round, nodes receive messages, compute and send."
    if model.has_rounds:
        return "In a round, nodes read their neighbours and change their states."
    return "A step is a meeting of two agents, initiator and responder."


def raster_width(topology: Topology) -> int:
    """The width of the raster. Grids keep their shape; everything else is as square as possible."""
    if topology.name.startswith(("grid:", "torus:")):
        return int(topology.name.partition(":")[2].split("x")[1])
    return math.ceil(math.sqrt(topology.n))


def _observables(protocol: Protocol) -> dict[str, Any]:
    if not protocol.model.has_configurations:
        return {}
    return {name: observable.doc for name, observable in protocol.watched().items()}


def frame(session: "Session", **head: Any) -> tuple[dict[str, Any], bytes]:
    """The head and the picture of the present moment."""
    world = session.world
    head = {"step": session.step, "last": session.last, "note": session.note, "silent": world.is_silent, **head}
    head |= {"command": command_of(session), "disturbances": session.disturbed}
    head["chosen"] = session.story_end - session.story_start[0] if session.story_start else 0
    if world.kind == "bands":
        head["bands"] = [[byte, str(count)] for byte, count in world.bands()]
        return head, b""
    if session.writing:
        head |= {"writing": session.writing, "texts": world.written(session.writing)}
    if world.torus:
        head["places"] = world.places().ravel().tolist()
    messages = world.messages()
    if messages:
        head["messages"] = messages
    return head, world.picture().tobytes()


def packed(head: dict[str, Any], picture: bytes) -> bytes:
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + picture
