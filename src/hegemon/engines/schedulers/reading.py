"""The option `scheduler` of a run: a text becomes a scheduler, by the model of the protocol."""

from typing import Any

from hegemon.engines.schedulers.scheduler import Scheduler
from hegemon.engines.schedulers.uniform import UNIFORM
from hegemon.errors import InvalidInput, meant
from hegemon.graphs.topology import Topology

PAIRS: dict[str, Scheduler] = {UNIFORM.name: UNIFORM}
NODES = {  # by name, what may follow the colon, or an example of it
    "synchronous": ("",),
    "central": ("uniform", "most-enabled", "delay-leader"),
    "locally-central": ("uniform",),
    "distributed": ("1/2",),
    "round-robin": ("",),
}


def scheduler_for(given: Any, protocol, topology: Topology) -> Any:
    """The scheduler that a run asks for: None is its model's own, a text is read as the model reads it, and an object
    is one already."""
    model = protocol.model
    asked = protocol.usual_scheduler if given is None else given
    if isinstance(asked, str):
        return model.home("scheduler")(asked, protocol, topology)
    if callable(asked) and model.has_rounds:
        from hegemon.engines.schedulers.nodes import OwnNodes

        return OwnNodes(asked)
    return asked


def run_names(protocol) -> tuple[str, ...]:
    """The names of the schedulers that a run of the protocol can follow; for rounds with what follows the colon."""
    if protocol.model.has_interactions:
        return tuple(PAIRS)
    return tuple(f"{name}:{rule}" if rule else name for name, rules in NODES.items() for rule in rules)


def read_pairs(text: str, protocol, topology: Topology) -> Scheduler:
    """Who meets next, of a population: `NAME` or `NAME:…`."""
    return PAIRS[known_name(text, PAIRS, protocol)]


def read_nodes(text: str, protocol, topology: Topology) -> Any:
    """Which nodes act next, in the rounds model."""
    from hegemon.engines.schedulers.nodes import read_daemon

    return read_daemon(text, NODES[known_name(text, NODES, protocol)])


def known_name(text: str, known, protocol) -> str:
    """The name of a scheduler, without what follows a colon; refused unless it is one of these."""
    name = text.partition(":")[0]
    if name not in known:
        raise InvalidInput(
            f"there is no scheduler {name!r} for {protocol.id}; choose {', '.join(known)}{meant(name, known)}"
        )
    return name
