"""One run of a population protocol, from a start to a Run."""

from hegemon.compute.randomness import FAULT, KERNEL, generator, stream
from hegemon.engines.choice import choose_engine
from hegemon.engines.membership import Watcher, count_leaders
from hegemon.engines.stopping import parse_stop
from hegemon.errors import InvalidInput
from hegemon.runs.driver import Driver
from hegemon.runs.run import Fault, History, Run
from hegemon.runs.schedules import read_schedule
from hegemon.runs.setting import initial_configuration, topology_for


def simulate_population(
    protocol,
    *,
    graph=None,
    start=None,
    until="safe",
    seed: int = 0,
    trial: int = 0,
    max_steps: int | None = None,
    engine: str = "auto",
    faults: tuple[Fault, ...] = (),
    observe: dict | bool = False,
    at: list[int] | None = None,
    every: int | None = None,
    progress=None,
) -> Run:
    """Run until the stop is met or `max_steps` steps are made.

    `progress(step)` is called now and then; a true answer interrupts the run. `observe` records the
    protocol's observables (or the given ones) at the steps `at`, every so many steps, or evenly spread.
    """
    protocol.require_sound()
    topology = topology_for(protocol, graph, seed)
    stop = parse_stop(until, protocol)
    schedule = read_schedule(start, topology)
    if schedule and (faults or engine not in ("auto", "agents")):
        raise InvalidInput(f"{start} prescribes interactions, which only engine agents follows, and without faults")
    engine = "agents" if schedule else engine
    chosen, reason = choose_engine(engine, protocol, topology, stop, faults)
    configuration = initial_configuration(protocol, start, seed, trial, chosen.as_multiset)
    if stop.watch:
        require_unique_leader(protocol, configuration)
    history = None
    if observe:
        observables = protocol.watched() if observe is True else observe
        history = History(Watcher(protocol, observables), protocol.n, at, every)
    driver = Driver(protocol, topology, chosen, configuration, stop, stream(seed, trial, KERNEL), history, progress)
    limit = stop.limit if stop.limit is not None else max_steps
    rng = generator(seed, trial, FAULT)
    last_fault = None
    for fault in sorted(faults, key=lambda fault: fault.step):
        driver.run(fault.step, until_met=False)
        driver.corrupt(fault, rng)
        last_fault = fault.step
    met = driver.follow(schedule, limit) or driver.run(limit, until_met=True)
    reached = met or (stop.limit is not None and driver.engine.step == stop.limit)
    final = driver.engine.configuration()
    steps = driver.engine.step
    return Run(
        protocol=protocol.id,
        n=protocol.n,
        unit=protocol.time_unit,
        steps=steps,
        reached=reached,
        leaders=count_leaders(protocol, final),
        engine=driver.engine.name,
        reason=reason,
        seed=seed,
        trial=trial,
        configuration=final,
        measures={"recovery_steps": steps - last_fault} if last_fault is not None and reached else {},
        history=history.table() if history else None,
        interrupted=driver.interrupted,
    )


def require_unique_leader(protocol, configuration) -> None:
    leaders = count_leaders(protocol, configuration)
    if leaders != 1:
        raise InvalidInput(
            f"until broken needs a start with exactly one leader, and this one has {leaders}; try the start safe"
        )
