"""The option `scheduler` of a run: a text becomes a scheduler, by the model of the protocol."""

from typing import Any

from hegemon.engines.schedulers.scheduler import Scheduler
from hegemon.engines.schedulers.uniform import UNIFORM
from hegemon.errors import InvalidInput, meant
from hegemon.graphs.topology import Topology

PAIRS: dict[str, Scheduler] = {UNIFORM.name: UNIFORM}
NODES = ("synchronous",)


def scheduler_for(given: Any, protocol, topology: Topology) -> Any:
    """The scheduler that a run asks for: None is its model's own, a text is read as the model reads it, and an object
    is one already."""
    model = protocol.model
    asked = model.scheduler if given is None else given
    return model.home("scheduler")(asked, protocol, topology) if isinstance(asked, str) else asked


def run_names(protocol) -> tuple[str, ...]:
    """The names of the schedulers that a run of the protocol can follow."""
    return tuple(PAIRS) if protocol.model.has_interactions else tuple(NODES)


def read_pairs(text: str, protocol, topology: Topology) -> Scheduler:
    """Who meets next, of a population: `NAME` or `NAME:…`."""
    return PAIRS[known_name(text, PAIRS, protocol)]


def read_nodes(text: str, protocol, topology: Topology) -> str:
    """Which nodes act next, in the rounds model."""
    return known_name(text, NODES, protocol)


def known_name(text: str, known, protocol) -> str:
    """The name of a scheduler, without what follows a colon; refused unless it is one of these."""
    name = text.partition(":")[0]
    if name not in known:
        raise InvalidInput(
            f"there is no scheduler {name!r} for {protocol.id}; choose {', '.join(known)}{meant(name, known)}"
        )
    return name
