"""Which engine runs a protocol, and why, for every model and for the page. Only the chosen engine is imported."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hegemon import parts
from hegemon.engines.engine import Engine
from hegemon.engines.inside import outside, require_inside
from hegemon.errors import InvalidInput, meant
from hegemon.graphs.topology import Topology
from hegemon.models.parameters import Parameter
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.process.stopping import Stop

if TYPE_CHECKING:  # a run of a ring does not load message passing
    from hegemon.engines.messages.engine import MessageEngine
    from hegemon.engines.messages.nodes import Nodes
    from hegemon.models.messages import MessageProtocol
    from hegemon.models.population import PopulationProtocol
    from hegemon.models.rounds import RoundsProtocol
    from hegemon.process.messages.surroundings import Surroundings

COMPLETE = "hegemon.engines.population.adaptive_complete"
MANY_ARCS = 2**15  # of a graph on which compiling a message protocol takes less time than it saves
PATTERNS = {"Contacts": "contacts", "Tokens": "tokens"}  # the engine that follows a pattern of messages
MADE = {
    *("__doc__", "__module__", "__qualname__", "_functions", "id", "message_fields", "node_fields", "node_type"),
    *("observables", "parameter_declarations", "sets", "starts", "topology"),
}  # names that every class of messages has without its author
FOLLOWED = {
    "agents": "one interaction at a time",
    "rounds": "the engine of rounds, every round made",
    "nodes": "every message delivered one by one",
    "asynchronous": "messages take time: each is an event of its own",
    "objects": "its states are Python objects",
}


class Choice(NamedTuple):
    engine: type[Engine]
    reason: str
    options: dict[str, Any]  # further arguments of the engine


def engine_named(name: str, protocol: Protocol) -> Any:
    """An engine of a protocol's model."""
    kind = f"{protocol.model.name} engines"
    if name not in parts.BUILT_IN[kind]:
        known = parts.BUILT_IN[kind]
        others = f"auto, {', '.join(known)}{meant(name, known)}"
        raise InvalidInput(
            f"engine {name!r} does not run {protocol.id}, a protocol {protocol.model.kind}; choose {others}"
        )
    return parts.part(kind, name)


_module = cache(import_module)  # a short run is over in less time than Python takes to look a module up


def choose_watched(
    name: str, protocol: Protocol, topology: Topology, most: int, scheduler: Scheduler = UNIFORM
) -> tuple[Any, str]:
    """An engine that can show every step, for the page; beyond `most` agents on a complete graph, one that counts."""
    model = protocol.model
    if model.has_interactions and name == "auto" and scheduler is not UNIFORM:
        return _following(scheduler, protocol, engine_named("agents", protocol), FOLLOWED["agents"])
    if model.has_interactions and name != "auto":
        return engine_named(name, protocol), "chosen by --engine"
    if follows_nodes(name, protocol, scheduler):
        return engine_named("daemon", protocol), f"the scheduler {scheduler} is followed node by node"
    if model.has_interactions and protocol.n > most and topology.is_complete and protocol.space.has_codes:
        return engine_named("batch", protocol), "more agents than can be seen one by one: counts"
    if name not in ("auto", model.follower):
        engine_named(name, protocol)
        raise InvalidInput(f"engine {name} does not show every step; watch {protocol.id} with engine {model.follower}")
    return engine_named(model.follower, protocol), FOLLOWED[model.follower]


def choose_for_messages(
    name: str, protocol: "MessageProtocol", topology: Topology, around: "Surroundings"
) -> tuple[type["MessageEngine"], str]:
    """The engine with this name, or the best one, for a message-passing protocol in these surroundings."""
    pattern = PATTERNS.get(type(protocol.pattern).__name__) if _is_described(type(protocol)) else None
    fast = engine_named(pattern, protocol) if pattern else None
    if name == "auto":
        if fast and fast.suits(topology, around):
            return fast, f"it follows the protocol's pattern of {fast.name} at compiled speed"
        if around.delay is None:
            return _for_messages(protocol, topology, around)
        return engine_named("asynchronous", protocol), FOLLOWED["asynchronous"]
    chosen = engine_named(name, protocol)
    if name not in ("nodes", "compiled", "asynchronous", pattern):
        raise InvalidInput(f"engine {name} does not know the course of {protocol.id}; use auto or nodes")
    if not chosen.suits(topology, around):
        told = ", ".join(f"{what} {value}" for what, value in around.departures.items())
        where = f"on {topology.name}" + (f" with {told}" if told else "")
        raise InvalidInput(f"engine {name} cannot run {where}; use auto")
    if name == "compiled":
        chosen.require(protocol)
    return chosen, "chosen by --engine"


def _is_described(protocol: type[Protocol]) -> bool:
    """Whether `pattern` describes this class. One based on the class that declares it may define parameters, what
    `pattern` reads, and `adapt`, which comes before it; anything else may make another protocol."""
    defined: set[str] = set()
    for kind in protocol.__mro__:
        if (pattern := vars(kind).get("pattern")) is not None:
            read = getattr(pattern, "func", None) or getattr(pattern, "fget", None)
            return defined <= MADE | {"adapt", *(read.__code__.co_names if read else ())}
        defined |= {name for name, value in vars(kind).items() if not isinstance(value, Parameter)}
    return False


def _for_messages(protocol: "MessageProtocol", topology: Topology, around: "Surroundings") -> tuple[Any, str]:
    """For synchronous rounds: `compiled` on a large graph if nodes and messages are declared fields, else `nodes`."""
    nodes = engine_named("nodes", protocol)
    if topology.arcs < MANY_ARCS or protocol.undeclared.keys() - {"status"}:
        return nodes, "the engine for every message-passing protocol"
    compiled = engine_named("compiled", protocol)
    if compiled.suits(topology, around):
        try:
            compiled.require(protocol)
        except InvalidInput as reason:
            return nodes, f"the engine for every message-passing protocol; {str(reason).rpartition(';')[0]}"
        return compiled, "its nodes and messages are declared fields: begin and round at compiled speed"
    return nodes, "the engine for every message-passing protocol"


def follow_messages(
    name: str, protocol: "MessageProtocol", topology: Topology, around: "Surroundings"
) -> tuple[type["Nodes"], str]:
    """The engine in which every message can be followed."""
    fitting = "nodes" if around.delay is None else "asynchronous"
    if name == "auto":
        name = fitting
    if name in ("compiled", *PATTERNS.values()):
        raise InvalidInput(f"engine {name} does not show every step; watch {protocol.id} with engine {fitting}")
    chosen = cast("type[Nodes]", choose_for_messages(name, protocol, topology, around)[0])
    return chosen, FOLLOWED.get(name, "")


def choose_engine(
    name: str,
    protocol: Protocol,
    topology: Topology,
    stop: Stop,
    observed: Sequence[Callable[..., Any]] = (),
    fast_forward: bool = True,
    threads: int | None = None,
    scheduler: Scheduler = UNIFORM,
) -> Choice:
    """The engine with this name, or the best one, for a protocol on a topology; `observed`: what will be measured."""
    if protocol.model.has_rounds:
        return _for_rounds(
            name, cast("RoundsProtocol", protocol), topology, stop, observed, fast_forward, threads, scheduler
        )
    if name == "auto" and (why := outside(protocol)):
        chosen, reason = engine_named("plain", protocol), f"plain Python, which is slow: {why}"
    elif name == "auto":
        chosen, reason = _automatic(cast("PopulationProtocol", protocol), topology)
        chosen, reason = _following(scheduler, protocol, chosen, reason)
    else:
        chosen, reason = engine_named(name, protocol), "chosen by --engine"
        if protocol.fields:
            require_inside(protocol, name, topology)
    return Choice(chosen, reason, scheduled(chosen, scheduler))


def _following(scheduler: Scheduler, protocol: Protocol, chosen: Any, reason: str) -> tuple[Any, str]:
    """The chosen engine if it follows this scheduler exactly, and otherwise one that does."""
    for other in ("agents", "stepwise"):
        if unhonoured(chosen, scheduler):
            chosen, reason = engine_named(other, protocol), f"the scheduler {scheduler} is followed pair by pair"
    return chosen, reason


def scheduled(engine: type[Engine], scheduler: Scheduler) -> dict[str, Any]:
    """The arguments with which an engine follows a scheduler; raises InvalidInput if it cannot do so exactly."""
    if missing := unhonoured(engine, scheduler):
        raise InvalidInput(
            f"engine {engine.name} is exact only for schedulers that are {', '.join(missing)}, and {scheduler} is not; "
            "use engine auto"
        )
    return {} if scheduler is UNIFORM else {"scheduler": scheduler}


def unhonoured(engine: type[Engine], scheduler: Scheduler) -> list[str]:
    """The traits that an engine needs and a scheduler does not have."""
    return [trait.replace("_", " ") for trait in engine.honours if not getattr(scheduler, trait)]


def _automatic(protocol: "PopulationProtocol", topology: Topology) -> tuple[type[Engine], str]:
    if topology.is_complete and not protocol.space.has_codes:
        return engine_named("agents", protocol), "one by one: its states have more values than a number of 64 bits"
    if topology.is_complete:
        complete = _module(COMPLETE)
        if topology.n <= complete.SMALL:
            return complete.AdaptiveSmall, "every pair may meet: steps one by one, many at once if the run is long"
        many = "every pair may meet: many steps at once while the occupied states are few"
        return complete.AdaptiveComplete, many
    from hegemon.engines.population.adaptive import Adaptive
    from hegemon.engines.population.events import MOST_COINS

    if topology.arcs <= 64 * topology.n and protocol.coins.size <= MOST_COINS:
        return Adaptive, "a sparse graph: steps one by one while many arcs are active, jumps while few are"
    return engine_named("agents", protocol), "each event would touch many arcs, or try very many values of the coins"


def follows_nodes(name: str, protocol: Protocol, scheduler: Scheduler, stop: Stop | None = None) -> bool:
    """Whether the nodes of a run are followed one by one: a daemon chooses them, or the stop is silence."""
    if not protocol.model.has_rounds:
        return False
    synchronous = str(scheduler) == protocol.model.scheduler
    if name in ("rounds", "plain") and (not synchronous or stop is not None and stop.silent):
        what = "looks for silence" if synchronous else f"follows the scheduler {scheduler}"
        raise InvalidInput(f"engine {name} moves all nodes at once, and engine daemon {what}; use auto")
    return name == "daemon" or not synchronous or stop is not None and stop.silent


def _for_rounds(
    name: str,
    protocol: "RoundsProtocol",
    topology: Topology,
    stop: Stop,
    observed: Sequence[Callable[..., Any]],
    fast_forward: bool,
    threads: int | None,
    scheduler: Scheduler,
) -> Choice:
    if follows_nodes(name, protocol, scheduler, stop):
        why = f"the scheduler {scheduler} is followed node by node"
        return Choice(engine_named("daemon", protocol), why, {"scheduler": scheduler})
    from hegemon.engines.rounds.fast_forward import can_skip

    if name == "auto" and (why := outside(protocol, topology)):
        return Choice(engine_named("plain", protocol), f"plain Python, which is slow: {why}", {})
    chosen = engine_named("rounds" if name == "auto" else name, protocol)
    if name == "plain":
        return Choice(chosen, "every round made in plain Python", {})
    require_inside(protocol, name, topology)
    skips = fast_forward and can_skip(protocol, (*stop.conditions, *stop.whole, *observed))
    reason = "the engine of the rounds model" + (", with fast-forward" if skips else ", every round made")
    return Choice(chosen, reason, {"fast_forward": skips, "threads": threads})
