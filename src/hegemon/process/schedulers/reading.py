"""The option `scheduler` of a run: a text becomes a scheduler, by the model of the protocol."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from hegemon import parts
from hegemon.errors import InvalidInput, choose, meant
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import Scheduler

if TYPE_CHECKING:
    from hegemon.process.schedulers.nodes import NodeScheduler

NODES = {  # by name, what may follow the colon, or an example of it
    "synchronous": ("",),
    "central": ("uniform", "most-enabled", "delay-leader"),
    "locally-central": ("uniform",),
    "distributed": ("1/2",),
    "round-robin": ("",),
}


def scheduler_for(given: Any, protocol: Protocol, topology: Topology) -> Any:
    """The scheduler of a run: None is the default of its model, a text is read as the model reads it, a function
    is the user's own, and any other object is a scheduler already."""
    model = protocol.model
    asked = protocol.usual_scheduler if given is None else given
    if isinstance(asked, str):
        return model.home("scheduler")(asked, protocol, topology)
    if callable(asked) and model.has_rounds:
        from hegemon.process.schedulers.nodes import OwnNodes

        return OwnNodes(asked)
    if callable(asked) and not isinstance(asked, Scheduler) and model.has_interactions:
        from hegemon.process.schedulers.own import OwnScheduler

        return OwnScheduler(asked)
    return asked


def run_names(protocol: Protocol | type[Protocol]) -> tuple[str, ...]:
    """The names of the schedulers that a run of the protocol can follow; for rounds with what follows the colon."""
    if protocol.model.has_interactions:
        return tuple(parts.names("schedulers"))
    return tuple(f"{name}:{rule}" if rule else name for name, rules in NODES.items() for rule in rules)


def read_pairs(text: str, protocol: Protocol, topology: Topology) -> Scheduler:
    """Who meets next, of a population: `NAME` or `NAME:…`."""
    name, _, words = text.partition(":")
    if not parts.is_known("schedulers", name):
        known_name(name, parts.names("schedulers"), protocol)
    law, words = parts.part("schedulers", name), words.strip()
    if not isinstance(law, type | Scheduler):
        return law(words, protocol, topology)
    if words:
        raise InvalidInput(f"{name} takes nothing after a colon, and got {words[:40]!r}; write {name}")
    return law() if isinstance(law, type) else law


def read_nodes(text: str, protocol: Protocol, topology: Topology) -> "NodeScheduler":
    """Which nodes act next, in the rounds model."""
    from hegemon.process.schedulers.nodes import Strategy, read_daemon

    name, _, file = text.partition(":")
    if name == "strategy":
        return Strategy(file, protocol)
    return read_daemon(text, NODES[known_name(text, NODES, protocol)])


def known_name(text: str, known: Collection[str], protocol: Protocol) -> str:
    """The name of a scheduler, without what follows a colon; refused unless it is one of these."""
    name = text.partition(":")[0]
    if name not in known:
        raise InvalidInput(
            f"there is no scheduler {name[:40]!r} for {protocol.id}; {choose(known)}{meant(name, known)}"
        )
    return name
