"""Which engine runs what, and why."""

from hegemon.engines.batch.batch import Batch
from hegemon.engines.population.adaptive import Adaptive
from hegemon.engines.population.adaptive_complete import SMALL, AdaptiveComplete, AdaptiveSmall
from hegemon.engines.population.agents import Agents
from hegemon.engines.population.events import Events
from hegemon.errors import InvalidInput

ENGINES = {"agents": Agents, "batch": Batch, "events": Events}


def choose_engine(name: str, protocol, topology, stop, faults):
    """The engine class and the reason for it."""
    if name == "auto":
        if topology.is_complete and topology.n <= SMALL:
            return AdaptiveSmall, "every pair may meet: steps one by one, many at once if the run is long"
        if topology.is_complete:
            return AdaptiveComplete, "every pair may meet: many steps at once while the occupied states are few"
        if topology.arcs <= 64 * topology.n:
            return Adaptive, "a sparse graph: steps one by one while many arcs are active, jumps while few are"
        return Agents, "a dense graph: each event would touch many arcs"
    if name not in ENGINES:
        raise InvalidInput(f"engine {name!r} is not known; choose auto, {', '.join(ENGINES)}")
    return ENGINES[name], "as asked"
