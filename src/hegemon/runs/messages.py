"""One run of a message-passing protocol, from the wake-up to a Run."""

from typing import cast

from hegemon.engines.messages.contacts import ContactsEngine
from hegemon.engines.messages.engine import MessageEngine
from hegemon.engines.messages.initiators import WakeUp
from hegemon.engines.messages.nodes import Nodes
from hegemon.engines.messages.tokens import TokensEngine
from hegemon.errors import InvalidInput, meant
from hegemon.models.messages import Contacts, MessageProtocol, Tokens
from hegemon.runs.record import TrialRecord
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for

PATTERNS: dict[type, type[MessageEngine]] = {Contacts: ContactsEngine, Tokens: TokensEngine}
ALL: list[type[MessageEngine]] = [Nodes, *PATTERNS.values()]
ENGINES = {engine.name: engine for engine in ALL}


def simulate_messages(asked: TrialRecord) -> Run:
    """Run until no message is on the way and no node waits, or for `max_steps` rounds.

    `wake` is the adversary's schedule: all, one-by-one, random, a file, or one round per node. The run has
    reached its end when exactly one node is elected.
    """
    seed, trial, checkpoint = asked.seed, asked.trial, asked.checkpoint
    topology = topology_for(asked.protocol, asked.graph, seed)
    protocol = cast(MessageProtocol, asked.protocol).adapt(topology)
    schedule = WakeUp(asked.wake, protocol)
    chosen, reason = choose_engine(asked.engine, protocol, topology, schedule)
    running = chosen(protocol, topology, schedule, seed, trial)
    if checkpoint and checkpoint.state:
        running.thaw(checkpoint.state["engine"])
    rest = (lambda: checkpoint.offer(running)) if checkpoint else None
    outcome = running.run(asked.max_steps, asked.progress, rest)
    return Run(
        protocol=protocol.id,
        n=protocol.n,
        unit=protocol.time_unit,
        steps=outcome.rounds,
        reached=outcome.finished and outcome.leaders == 1,
        leaders=outcome.leaders,
        engine=chosen.name,
        reason=reason,
        seed=seed,
        trial=trial,
        measures=outcome.measures,
        interrupted=outcome.interrupted,
    )


def choose_engine(name: str, protocol, topology, wake: WakeUp) -> tuple[type[MessageEngine], str]:
    """The engine class and the reason for it."""
    fast = PATTERNS.get(type(protocol.pattern))
    if name == "auto":
        if fast and fast.suits(topology, wake):
            return fast, f"it follows the protocol's pattern of {fast.name} at compiled speed"
        return Nodes, "the engine for every message-passing protocol"
    if name not in ENGINES:
        raise InvalidInput(
            f"engine {name!r} is not known for message passing; choose auto, {', '.join(ENGINES)}{meant(name, ENGINES)}"
        )
    if ENGINES[name] not in (Nodes, fast):
        raise InvalidInput(f"engine {name} does not know the course of {protocol.id}; use auto or nodes")
    if ENGINES[name] is fast and not fast.suits(topology, wake):
        raise InvalidInput(f"engine {name} cannot run on {topology.name}; use auto or nodes")
    return ENGINES[name], "as asked"
