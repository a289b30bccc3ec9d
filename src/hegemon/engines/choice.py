"""Which engine runs what, and why."""

from hegemon.engines.adaptive import Adaptive
from hegemon.engines.agents import Agents
from hegemon.engines.events import Events
from hegemon.errors import InvalidInput

ENGINES = {"agents": Agents, "events": Events}


def choose_engine(name: str, protocol, topology, stop, faults):
    """The engine class and the reason for it."""
    if name == "auto":
        if topology.is_complete:
            return Agents, "every pair may meet"
        if topology.arcs <= 64 * topology.n:
            return Adaptive, "a sparse graph: steps one by one while many arcs are active, jumps while few are"
        return Agents, "a dense graph: each event would touch many arcs"
    if name not in ENGINES:
        raise InvalidInput(f"engine {name!r} is not known; choose auto, {', '.join(ENGINES)}")
    return ENGINES[name], "as asked"
