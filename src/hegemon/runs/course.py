"""The course of a run, from a start to a Run: the same for population protocols and for synchronous rounds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hegemon.compute.randomness import FAULT, KERNEL, generator, stream
from hegemon.engines.choice import Choice, choose_engine
from hegemon.engines.membership import Watcher, count_leaders
from hegemon.engines.schedulers.reading import scheduler_for
from hegemon.engines.stopping import Stop, parse_stop
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.conditions import is_condition, parse_set
from hegemon.models.configuration import Configuration
from hegemon.models.naming import asked_observables
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet
from hegemon.models.start_files import opened
from hegemon.models.unreliable import unreliable
from hegemon.runs.availability import Availability, one_leader
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.driver import Driver
from hegemon.runs.history import History
from hegemon.runs.rates import EventProcess, read_rates
from hegemon.runs.record import TrialRecord
from hegemon.runs.run import Fault, Run
from hegemon.runs.schedules import read_interactions, read_rounds
from hegemon.runs.setting import initial_configuration, topology_for


def simulate_states(asked: TrialRecord) -> Run:
    """Run until the stop is met or `max_steps` steps are made."""
    seed, trial, checkpoint = asked.seed, asked.trial, asked.checkpoint
    protocol: Any = unreliable(asked.protocol, asked.loss, asked.one_sided)
    protocol.require_sound()
    topology, start = topology_for(protocol, asked.graph, seed), opened(asked.start, protocol.starts)
    stop = parse_stop(asked.until, protocol)
    if asked.availability:
        stop = replace(one_leader(protocol), limit=stop.limit)
    _require_lasting(stop, asked)
    if getattr(protocol, "is_one_sided", False):  # half an interaction may leave a set that whole ones do not leave
        stop = replace(stop, closed=False)
    limit = min((one for one in (stop.limit, asked.max_steps) if one is not None), default=None)
    faults = (*asked.faults, *(read_disturbances(asked.disturbances) if asked.disturbances else ()))
    schedule = read_interactions(start, protocol, topology) if protocol.model.has_interactions else []
    rounds = read_rounds(start, protocol, topology) if protocol.model.has_rounds else []
    if rounds and faults:
        raise InvalidInput(f"{start} prescribes rounds, which are followed without faults; leave the faults out")
    if schedule and (faults or asked.engine not in ("auto", "agents")):
        raise InvalidInput(f"{start} prescribes interactions, which only engine agents follows, and without faults")
    observables = asked_observables(protocol, asked.observe or bool(asked.at or asked.every))
    watched = tuple(observable.value for observable in observables.values())
    scheduler = scheduler_for(asked.scheduler, protocol, topology)
    name = "agents" if schedule else asked.engine
    if asked.availability and name == "auto":
        name = "agents" if scheduler.blind else "stepwise"
    chosen = choose_engine(name, protocol, topology, stop, watched, asked.fast_forward, asked.threads, scheduler)
    chosen.engine.require_room(protocol, topology)
    configuration = initial_configuration(protocol, start, seed, trial, chosen.engine.as_multiset, topology)
    if stop.watch:
        require_unique_leader(protocol, configuration)
    history = None
    if observables:
        unit = protocol.n if protocol.model.has_interactions else 1
        history = History(Watcher(protocol, observables, topology), unit, asked.at, asked.every, asked.most_rows)
    key = stream(seed, trial, KERNEL)
    driver = Driver(
        protocol, topology, chosen.engine, configuration, stop, key, history, asked.progress, **chosen.options
    )
    if checkpoint and (schedule or rounds or observables):
        raise InvalidInput("a checkpoint keeps no records and no prescribed interactions; run without them")
    met, last_fault = _suffer(driver, faults, limit, generator(seed, trial, FAULT), checkpoint)
    met = met or driver.follow(schedule or rounds, limit)
    if not (asked.rates or asked.availability):
        met = met or driver.run(limit, until_met=True)
        return _record(protocol, topology, driver, chosen, met, last_fault, seed, trial, history, asked.keep)
    events = EventProcess(read_rates(asked.rates), protocol, topology, generator(seed, trial, FAULT))
    if asked.availability:
        followed = Availability(driver, events)
        followed.follow(limit or 0)
        run = _record(protocol, topology, driver, chosen, False, None, seed, trial, history, asked.keep)
        return replace(run, measures=run.measures | followed.measures() | events.measures(driver.engine))
    met = _live(driver, events, limit)
    run = _record(protocol, topology, driver, chosen, met, None, seed, trial, history, asked.keep)
    return replace(run, measures=run.measures | events.measures(driver.engine))


def _live(driver: Driver, events: EventProcess, limit: int | None) -> bool:
    """Run through all events up to the limit, or to the first step that meets the stop; whether it is met."""
    stop, protocol = driver.stop, driver.protocol

    def leads(code: int) -> bool:
        return code >= 0 and bool(protocol.holds(protocol.output, protocol.space.namespace(code)))

    while True:
        goal = events.step - 1 if limit is None else min(events.step - 1, limit)
        if driver.run(goal, until_met=True):
            return True
        if driver.interrupted or driver.engine.step == limit:
            return False
        before, after = events.strike(driver.engine)
        driver.note()
        if stop.watch and leads(before) != leads(after):
            return True


def _require_lasting(stop: Stop, asked: TrialRecord) -> None:
    """What events and availability need of a run, and what they cannot be combined with."""
    if not asked.rates and not asked.availability:
        return
    others = {"faults": asked.faults, "disturbances": asked.disturbances, "checkpoint": asked.checkpoint}
    if given := [name for name, value in others.items() if value]:
        raise InvalidInput(f"rates and availability cannot be combined with {given[0]}; leave one of them out")
    if asked.availability and stop.limit is None and asked.max_steps is None:
        raise InvalidInput("availability is measured up to a limit; give until steps:K, or max_steps")
    if asked.availability and asked.engine not in ("auto", "agents"):
        raise InvalidInput(f"availability is measured at every step, by engine agents; drop engine {asked.engine}")
    churns = any(one.kind != "corrupt" for one in asked.rates)  # type: ignore[union-attr]
    if churns and (stop.whole or _depends_on_n(asked)):
        raise InvalidInput(
            f"agents join and leave, and {stop.name} is about all n of them; give until a condition such as "
            '"count(leader == 1) == 1", or steps:K'
        )


def _depends_on_n(asked: TrialRecord) -> bool:
    """Whether the bounds of the set that ends the run are other ones for more agents."""
    protocol = asked.protocol
    chosen = asked.until if isinstance(asked.until, ConfigurationSet) else protocol.sets.get(str(asked.until))
    if chosen is None and is_condition(str(asked.until)):
        chosen = parse_set(str(asked.until), protocol)
    if chosen is None or asked.availability:
        return False
    values = dict(protocol.values)
    return any(one.bounds(values) != one.bounds(values | {"n": protocol.n + 1}) for one in chosen.counts)


def _suffer(driver: Driver, faults: Sequence[Fault], limit: int | None, rng, checkpoint) -> tuple[bool, int | None]:
    """Run to every fault within the limit and let it strike; whether a leader was lost, and the last one's step.

    What stops a run is looked for after the last fault: recovery is what is measured. Only a lost leader counts
    from the beginning, whether it was lost by an interaction or by the fault itself.
    """
    watches, last, struck = bool(driver.stop.watch), None, 0
    if checkpoint:
        driver.rest = lambda: checkpoint.offer(driver.engine, struck, rng)
        if checkpoint.state:
            rng.bit_generator.state = checkpoint.state["rng"]
            driver.engine.thaw(checkpoint.state["engine"])
    before = checkpoint.state["faults"] if checkpoint and checkpoint.state else 0
    for fault in sorted(faults, key=lambda fault: fault.step):
        if limit is not None and fault.step > limit:
            break
        if struck < before:  # it had struck when the checkpoint was made
            struck, last = struck + 1, fault.step
            continue
        if driver.run(fault.step, until_met=watches):
            return True, last
        if driver.interrupted:
            break
        last = fault.step
        struck += 1
        if driver.corrupt(fault, rng) and watches:
            return True, last
    return False, last


def _record(
    protocol: Protocol, topology: Topology, driver, chosen: Choice, met, last_fault, seed, trial, history, keep
) -> Run:
    engine, stop = driver.engine, driver.stop
    steps, unit = engine.step, protocol.time_unit
    reached = met or (stop.limit is not None and steps == stop.limit)
    final = engine.configuration()
    measures = engine.measures()
    if last_fault is not None and reached and not stop.watch:
        measures[f"recovery_{unit}"] = steps - last_fault
    outside = _why_outside(protocol, topology, stop, final) if not reached else None
    if outside is not None:
        measures["outside"] = outside
    return Run(
        protocol=protocol.id,
        n=protocol.n,
        unit=unit,
        steps=steps,
        reached=reached,
        leaders=count_leaders(protocol, final),
        engine=engine.name,
        reason=chosen.reason,
        seed=seed,
        trial=trial,
        configuration=final if keep else None,
        watched=history.watched() if history else None,
        measures=measures,
        interrupted=driver.interrupted,
        ended=driver.ended,
    )


def _why_outside(protocol: Protocol, topology: Topology, stop: Stop, final: Configuration) -> str | None:
    """What the author says keeps a configuration outside the set, where the author says so."""
    if stop.reason is None or not protocol.reads_graph:
        return None
    return stop.reason(final.agents.view(np.recarray), topology.offsets, topology.targets, protocol.p)


def require_unique_leader(protocol: Protocol, configuration: Configuration) -> None:
    leaders = count_leaders(protocol, configuration)
    if leaders != 1:
        raise InvalidInput(
            f"until broken needs a start with exactly one leader, and this one has {leaders}; try the start safe"
        )
