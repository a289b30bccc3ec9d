"""Which engine runs what, and why: the one place that knows them all. It loads the one that it picks."""

from importlib import import_module
from typing import Any, NamedTuple

from hegemon.engines.engine import Engine
from hegemon.engines.schedulers.scheduler import Scheduler
from hegemon.engines.schedulers.uniform import UNIFORM
from hegemon.errors import InvalidInput, meant

# Where each engine is that a population protocol may ask for.
ENGINES = {
    "agents": ("hegemon.engines.population.agents", "Agents"),
    "batch": ("hegemon.engines.batch.batch", "Batch"),
    "events": ("hegemon.engines.population.events", "Events"),
}


SCHEDULERS: dict[str, Scheduler] = {UNIFORM.name: UNIFORM}


class Choice(NamedTuple):
    engine: type[Engine]
    reason: str
    options: dict[str, Any]  # what the engine is told besides


def engine_named(name: str) -> type[Engine]:
    if name not in ENGINES:
        raise InvalidInput(f"engine {name!r} is not known; choose auto, {', '.join(ENGINES)}{meant(name, ENGINES)}")
    module, kind = ENGINES[name]
    return getattr(import_module(module), kind)


def choose_engine(
    name: str, protocol, topology, stop, observed=(), fast_forward: bool = True, threads=None, scheduler=UNIFORM
) -> Choice:
    """The engine for a protocol on a topology, by name or the best one; `observed` functions will be measured."""
    if protocol.model.has_rounds:
        return _for_rounds(name, protocol, stop, observed, fast_forward, threads)
    chosen, reason = _automatic(protocol, topology) if name == "auto" else (engine_named(name), "as asked")
    if name == "auto" and unhonoured(chosen, scheduler):
        chosen, reason = engine_named("agents"), f"the scheduler {scheduler} is followed pair by pair"
    if missing := unhonoured(chosen, scheduler):
        raise InvalidInput(
            f"engine {chosen.name} is exact only for schedulers that are {', '.join(missing)}, and {scheduler} is not; "
            "use engine auto"
        )
    return Choice(chosen, reason, {} if scheduler is UNIFORM else {"scheduler": scheduler})


def unhonoured(engine: type[Engine], scheduler: Scheduler) -> list[str]:
    """The traits that an engine needs and a scheduler does not have."""
    return [trait.replace("_", " ") for trait in engine.honours if not getattr(scheduler, trait)]


def scheduler_named(given: "str | Scheduler") -> Scheduler:
    """The scheduler of that name, or the one that was given."""
    if isinstance(given, str) and given not in SCHEDULERS:
        known = ", ".join(SCHEDULERS)
        raise InvalidInput(f"there is no scheduler {given!r}; choose {known}{meant(given, SCHEDULERS)}")
    return SCHEDULERS[given] if isinstance(given, str) else given


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
