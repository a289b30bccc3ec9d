"""The events (`--rate`) and faults (`--fault`) of a watched run: the same as in `run`, from the same stream of the same
seed."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.faults import agents_left, fault_codes, require_churn
from hegemon.runs.rates import Rate, churns, read_rates
from hegemon.runs.record import RunRecord
from hegemon.runs.run import Fault
from hegemon.web.world import World

if TYPE_CHECKING:
    from hegemon.models.state import StateSpace

FOLLOWS = ("agents", "batch")  # engines that can go back to a moment with a different set of agents
UNDISTURBED = "this run has rates, which disturb it; a run has rates or disturbances, not both"


def require_watched(record: RunRecord, world: World) -> tuple[Rate, ...]:
    """The rates of a record; refused where the world cannot follow them."""
    rates, protocol = read_rates(record.rates), world.protocol
    if rates:
        _require_following(world, "events", "rates")
    if churns(rates):
        require_churn(protocol, world.topology, scheduler_for(record.scheduler, protocol, world.topology))
    if churns(rates) or any(rate.kind == "crash" for rate in rates):
        world.unread = about_n(protocol)
    return rates


def given_faults(record: RunRecord, world: World, schedule: list[Any]) -> tuple[Fault, ...]:
    """The faults of the command line by their steps; refused here where `run` refuses them."""
    given = (*record.faults, *(read_disturbances(record.disturbances) if record.disturbances else ()))
    faults, protocol = tuple(sorted(given, key=lambda fault: fault.step)), world.protocol
    if not faults:
        return ()
    if not world.can_disturb:
        raise InvalidInput(world.undisturbed)
    if record.rates:
        raise InvalidInput("rates cannot be combined with faults; leave one of them out")
    if schedule:
        raise InvalidInput(f"{record.start} prescribes {protocol.time_unit}, which are followed without faults")
    if churns(faults):
        _require_following(world, "agents that join or leave", "faults")
        require_churn(protocol, world.topology, scheduler_for(record.scheduler, protocol, world.topology))
        agents_left(faults, protocol, None)
    for fault in faults:
        fault_codes(fault, protocol.space, np.zeros(1, np.int64), np.random.default_rng(0))  # may raise InvalidInput
    return faults


def _require_following(world: World, what: str, option: str) -> None:
    if world.engine.name not in FOLLOWS:
        raise InvalidInput(
            f"{what} are watched with engine {' or '.join(FOLLOWS)}, not with {world.engine.name}; "
            f"leave the engine or the {option} out"
        )


def about_n(protocol: Protocol) -> frozenset[str]:
    """The sets that refer to all n agents: with fewer agents it is undefined whether they are reached."""
    values = dict(protocol.values)
    more = values | {"n": protocol.n + 1}
    return frozenset(
        name
        for name, chosen in protocol.sets.items()
        if chosen.whole or any(count.bounds(values) != count.bounds(more) for count in chosen.counts)
    )


def told_event(space: "StateSpace", *codes: int) -> dict[str, Any]:
    """A description of an event that changed the code of its agent, or -1 where it is absent."""
    before, after = (space.mapping_of(code) if code >= 0 else None for code in codes)
    return {"text": _sentence(before, after), "lines": [], "changed": before != after}


def _sentence(before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    def shown(state: dict[str, Any]) -> str:
        return ", ".join(f"{name}={value}" for name, value in state.items())

    if before is None and after is None:
        return "an event that changes nothing: nobody can come or go"
    if before is None:
        return f"an agent joins: {shown(after or {})}"
    if after is None:
        return f"an agent leaves: {shown(before)}"
    changes = [f"{name} {value}→{after.get(name)}" for name, value in before.items() if after.get(name) != value]
    changes += [f"{name}={value}" for name, value in after.items() if name not in before]
    return f"an agent is corrupted: {', '.join(changes) or 'its state stays the same'}"
