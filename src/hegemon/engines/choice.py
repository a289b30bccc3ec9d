"""Which engine runs what, and why."""

from hegemon.engines.agents import Agents
from hegemon.engines.auto import SMALL, AutoComplete, AutoGraph, AutoSmall
from hegemon.engines.batch import Batch
from hegemon.engines.events import Events
from hegemon.errors import InvalidInput

ENGINES = {"agents": Agents, "batch": Batch, "events": Events}


def choose_engine(name: str, topology):
    """The engine class and the reason for it."""
    if name == "auto":
        chosen = AutoGraph
        if topology.is_complete:
            chosen = AutoSmall if topology.n <= SMALL else AutoComplete
        return chosen, chosen.reason
    if name not in ENGINES:
        raise InvalidInput(f"engine {name!r} is not known; choose auto, {', '.join(ENGINES)}")
    return ENGINES[name], "as asked"
