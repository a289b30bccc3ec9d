"""Which engine runs what, and why: the one place that knows them all. It loads the one that it picks."""

from importlib import import_module
from typing import Any, NamedTuple

from hegemon.engines.engine import Engine
from hegemon.errors import InvalidInput, meant

# Where each engine is that a population protocol may ask for.
ENGINES = {
    "agents": ("hegemon.engines.population.agents", "Agents"),
    "batch": ("hegemon.engines.batch.batch", "Batch"),
    "events": ("hegemon.engines.population.events", "Events"),
}


class Choice(NamedTuple):
    engine: type[Engine]
    reason: str
    options: dict[str, Any]  # what the engine is told besides


def engine_named(name: str) -> type[Engine]:
    if name not in ENGINES:
        raise InvalidInput(f"engine {name!r} is not known; choose auto, {', '.join(ENGINES)}{meant(name, ENGINES)}")
    module, kind = ENGINES[name]
    return getattr(import_module(module), kind)


def choose_engine(name: str, protocol, topology, stop, observed=(), fast_forward: bool = True, threads=None) -> Choice:
    """The engine for a protocol on a topology, by name or the best one; `observed` functions will be measured."""
    if protocol.model.has_rounds:
        return _for_rounds(name, protocol, stop, observed, fast_forward, threads)
    if name == "auto":
        return Choice(*_automatic(protocol, topology), {})
    return Choice(engine_named(name), "as asked", {})


def _automatic(protocol, topology) -> tuple[type[Engine], str]:
    if topology.is_complete:
        from hegemon.engines.population.adaptive_complete import SMALL, AdaptiveComplete, AdaptiveSmall

        if topology.n <= SMALL:
            return AdaptiveSmall, "every pair may meet: steps one by one, many at once if the run is long"
        return AdaptiveComplete, "every pair may meet: many steps at once while the occupied states are few"
    from hegemon.engines.population.adaptive import Adaptive
    from hegemon.engines.population.events import MOST_COINS

    if topology.arcs <= 64 * topology.n and protocol.coins.size <= MOST_COINS:
        return Adaptive, "a sparse graph: steps one by one while many arcs are active, jumps while few are"
    return engine_named("agents"), "each event would touch many arcs, or try very many values of the coins"


def _for_rounds(name, protocol, stop, observed, fast_forward: bool, threads) -> Choice:
    from hegemon.engines.rounds.fast_forward import can_skip
    from hegemon.engines.rounds.rounds import Rounds

    if name not in ("auto", Rounds.name):
        raise InvalidInput(f"engine {name!r} does not run {protocol.id}; choose auto or {Rounds.name}")
    skips = fast_forward and can_skip(protocol, (*stop.conditions, *stop.whole, *observed))
    reason = "the engine of the rounds model" + (", with fast-forward" if skips else ", every round made")
    return Choice(Rounds, reason, {"fast_forward": skips, "threads": threads})
