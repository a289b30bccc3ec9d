"""One run of a protocol of the rounds model, from a start to a Run."""

import numpy as np

from hegemon.compute.randomness import FAULT, KERNEL, generator, stream
from hegemon.engines.membership import Watcher, count_leaders
from hegemon.engines.rounds.fast_forward import can_skip
from hegemon.engines.rounds.rounds import Rounds
from hegemon.engines.stopping import parse_stop
from hegemon.errors import InvalidInput
from hegemon.runs.driver import Driver
from hegemon.runs.population import require_unique_leader
from hegemon.runs.run import Fault, History, Run
from hegemon.runs.setting import initial_configuration, topology_for


def simulate_rounds(
    protocol,
    *,
    graph=None,
    start=None,
    until="safe",
    seed: int = 0,
    trial: int = 0,
    max_steps: int | None = None,
    engine: str = "auto",
    fast_forward: bool = True,
    threads: int | None = None,
    faults: tuple[Fault, ...] = (),
    observe: dict | bool = False,
    at: list[int] | None = None,
    every: int | None = None,
    progress=None,
) -> Run:
    """Run until the stop is met or `max_steps` rounds are made; the options are those of population protocols.

    `fast_forward=False` makes every round one by one: a different sample of the same law.
    """
    if engine not in ("auto", Rounds.name):
        raise InvalidInput(f"engine {engine!r} does not run {protocol.id}; choose auto or {Rounds.name}")
    protocol.require_sound()
    topology = topology_for(protocol, graph, seed)
    stop = parse_stop(until, protocol)
    configuration = initial_configuration(protocol, start, seed, trial, topology=topology)
    if stop.watch:
        require_unique_leader(protocol, configuration)
    observables = {} if not observe else protocol.watched() if observe is True else observe
    history = History(Watcher(protocol, observables, topology), 1, at, every) if observables else None
    watched = (*stop.conditions, *stop.whole, *(observable.value for observable in observables.values()))
    skips = fast_forward and can_skip(protocol, watched)
    key = stream(seed, trial, KERNEL)
    driver = Driver(
        protocol, topology, Rounds, configuration, stop, key, history, progress, fast_forward=skips, threads=threads
    )
    limit = stop.limit if stop.limit is not None else max_steps
    rng = generator(seed, trial, FAULT)
    last_fault = None
    for fault in sorted(faults, key=lambda fault: fault.step):
        driver.run(fault.step, until_met=False)
        driver.corrupt(fault, rng)
        last_fault = fault.step
    met = driver.run(limit, until_met=True)
    steps = driver.engine.step
    reached = met or (stop.limit is not None and steps == stop.limit)
    final = driver.engine.configuration()
    measures = {"fast_forwarded_rounds": driver.engine.fast_forwarded_rounds, "bits": driver.engine.packing.bits}
    if last_fault is not None and reached:
        measures["recovery_rounds"] = steps - last_fault
    if not reached and stop.reason:
        nodes = final.agents.view(np.recarray)
        measures["outside"] = stop.reason(nodes, topology.offsets, topology.targets, protocol.p)
    return Run(
        protocol=protocol.id,
        n=protocol.n,
        unit=protocol.time_unit,
        steps=steps,
        reached=reached,
        leaders=count_leaders(protocol, final),
        engine=Rounds.name,
        reason="the engine of the rounds model" + (", with fast-forward" if skips else ", every round made"),
        seed=seed,
        trial=trial,
        configuration=final,
        history=history.table() if history else None,
        measures=measures,
        interrupted=driver.interrupted,
    )
