"""Which engine runs what, and why."""

from hegemon.engines.agents import Agents
from hegemon.engines.batch import Batch
from hegemon.errors import InvalidInput

ENGINES = {"agents": Agents, "batch": Batch}


def choose_engine(name: str, protocol, topology, stop, faults):
    """The engine class and the reason for it."""
    if name == "auto":
        return Agents, "the only engine for population protocols"
    if name not in ENGINES:
        raise InvalidInput(f"engine {name!r} is not known; choose auto, {', '.join(ENGINES)}")
    return ENGINES[name], "as asked"
