"""The course of runs, from a start to a Run: the same for population protocols and for synchronous rounds.

What does not depend on the trial is made once. Short trials are made many at a time where that is possible (see
`engines/population/codes.py`): those that end within their first steps need no engine of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.compute.randomness import FAULT, KERNEL, generator, stream, streams
from hegemon.engines.choice import choose_engine
from hegemon.engines.membership import LeaderCount, Watcher
from hegemon.engines.schedulers.reading import scheduler_for
from hegemon.engines.stopping import Stop, parse_stop
from hegemon.errors import InvalidInput
from hegemon.models.conditions import alternatives, is_condition, parse_set
from hegemon.models.configuration import Configuration
from hegemon.models.halting import living
from hegemon.models.naming import asked_observables
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet
from hegemon.models.start_files import opened
from hegemon.runs.availability import Availability, one_leader
from hegemon.runs.capabilities import supporting
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.driver import Driver
from hegemon.runs.faults import agents_left, require_churn
from hegemon.runs.history import History
from hegemon.runs.measures import MEASURES, End
from hegemon.runs.rates import EventProcess, churns, marks_of, read_rates
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Fault, Run, made_like
from hegemon.runs.schedules import read_interactions, read_rounds
from hegemon.runs.setting import Starts, topology_for
from hegemon.runs.trial import BLOCK_ENGINE, Block, Course, Trial

if TYPE_CHECKING:
    from hegemon.runs.checkpoint import Checkpoint


FIRST_STEPS = 1 << 16  # steps that trials make together: fewer than before the driver's first review
MOST_CODES = 1 << 22  # agents of all trials that are made together
USUAL = "graph start until seed max_steps engine scheduler loss one_sided"  # options that every path here supports
SHOWN = "fast_forward threads observe at every"
TAKEN_BY_ENGINES = ("fast_forward", "threads")
BLOCK = supporting("a block of short trials", USUAL)
LASTING = supporting("a run with rates or availability", f"{USUAL} {SHOWN} rates availability")
KEPT = supporting("a checkpoint", f"{USUAL} fast_forward threads faults disturbances checkpoint")


class StateCourse(Course):
    """Trials that run until the stop is met or `max_steps` steps are made."""

    supports = supporting(
        "a run of agents", f"{USUAL} {SHOWN} faults disturbances rates availability checkpoint", " ".join(MEASURES)
    )

    protocol: Any
    stop: Stop
    faults: tuple[Fault, ...]

    def __init__(self, asked: MadeRecord):
        self.asked = asked
        for path, is_taken in ((LASTING, asked.rates or asked.availability), (KEPT, asked.checkpoint)):
            if is_taken:
                path.require(asked.made_by)
        marks = marks_of(read_rates(asked.rates)) if asked.rates else ()
        protocol: Any = asked.process()
        protocol.require_sound()
        topology, start = topology_for(protocol, asked.graph, asked.seed), opened(asked.start, protocol.starts)
        stop = parse_stop(asked.until, protocol)
        if asked.availability:
            stop = replace(one_leader(protocol), limit=stop.limit)
        if getattr(protocol, "is_one_sided", False):  # these may leave a set that complete ones keep
            stop = replace(stop, closed=False)
        if marks:
            stop = replace(stop, conditions=tuple(living(one, marks) for one in stop.conditions))
        self.protocol, self.topology, self.stop = protocol, topology, stop
        self.limit = min((one for one in (stop.limit, asked.max_steps) if one is not None), default=None)
        self.faults = (*asked.faults, *(read_disturbances(asked.disturbances) if asked.disturbances else ()))
        self.scheduler = scheduler_for(asked.scheduler, protocol, topology)
        self._require_lasting()
        schedule = read_interactions(start, protocol, topology) if protocol.model.has_interactions else []
        rounds = read_rounds(start, protocol, topology) if protocol.model.has_rounds else []
        self.prescribed = schedule or rounds
        if rounds and self.faults:
            raise InvalidInput(f"{start} prescribes rounds, which are followed without faults; leave the faults out")
        if schedule and (self.faults or asked.engine not in ("auto", "agents")):
            raise InvalidInput(f"{start} prescribes interactions, which only engine agents follows, and without faults")
        self.observables = asked_observables(protocol, asked.observe or bool(asked.at or asked.every))
        watched = tuple(observable.value for observable in self.observables.values())
        name = "agents" if schedule else asked.engine
        if asked.availability and name == "auto":
            name = "agents" if self.scheduler.blind else "stepwise"
        self.chosen = choose_engine(
            name, protocol, topology, stop, watched, asked.fast_forward, asked.threads, self.scheduler
        )
        if asked.checkpoint and self.prescribed:
            raise InvalidInput(f"a checkpoint keeps no prescribed {protocol.time_unit}; run without it")
        engine = self.chosen.engine
        if missing := [name for name in asked.made_by if name in TAKEN_BY_ENGINES and name not in engine.options]:
            raise InvalidInput(f"engine {engine.name} does not support {missing[0]}; leave it out")
        engine.require_room(protocol, topology)
        self.starts = Starts(protocol, start, asked.seed, self.chosen.engine.as_multiset, topology)
        self.leaders = LeaderCount(protocol)
        self.measures = {name: measure for name, measure in MEASURES.items() if measure.applies(self)}
        self.at_once = self._most_at_once()

    def _require_lasting(self) -> None:
        """The requirements of events, bursts and availability, and what they cannot be combined with."""
        asked, stop = self.asked, self.stop
        if asked.availability and self.limit is None:
            raise InvalidInput("availability is measured up to a limit; give until steps:K, or max_steps")
        if asked.availability and asked.engine not in ("auto", "agents"):
            raise InvalidInput(f"availability is measured at every step, by engine agents; drop engine {asked.engine}")
        loses = churns((*asked.rates, *self.faults))
        if loses:
            require_churn(self.protocol, self.topology, self.scheduler)
        elif not any(one.kind == "crash" for one in read_rates(asked.rates)):
            return
        is_whole = agents_left(self.faults, self.protocol, self.limit) == self.protocol.n and not asked.rates
        if not is_whole and (stop.whole or _depends_on_n(asked, self.protocol)):
            what = "join and leave" if loses else "crash"
            raise InvalidInput(
                f"agents {what}, and {stop.name} is about all n of them; give until a condition such as "
                '"count(leader == 1) == 1", or steps:K'
            )

    def __call__(self, trial: Trial) -> Run:
        asked, number = self.asked, trial.trial
        configuration = next(self.starts.of(range(number, number + 1)))
        if self.stop.watch:
            require_unique_leader(self.leaders(configuration))
        history = None
        if self.observables:
            unit = self.protocol.n if self.protocol.model.has_interactions else 1
            watcher = Watcher(self.protocol, self.observables, self.topology)
            history = History(watcher, unit, asked.at, asked.every, trial.most_rows)
        driver = self._driver(trial, configuration, stream(asked.seed, number, KERNEL), history)
        checkpoint = asked.checkpoint
        rng = generator(asked.seed, number, FAULT) if self.faults or checkpoint else None
        met, last_fault = _suffer(driver, self.faults, self.limit, rng, checkpoint)
        met = met or driver.follow(self.prescribed, self.limit)
        if asked.rates or asked.availability:
            return self._live(trial, driver)
        met = met or driver.run(self.limit, until_met=True)
        return self._record(trial, driver, met, last_fault)

    def _live(self, trial: Trial, driver: Driver) -> Run:
        """A run with events that are part of the process."""
        rng, more = generator(self.asked.seed, trial.trial, FAULT), {}
        events = EventProcess(read_rates(self.asked.rates), self.protocol, rng)
        if self.asked.availability:
            followed = Availability(driver, events)
            followed.follow(self.limit or 0)
            more = followed.measures()
        met = not self.asked.availability and _live(driver, events, self.limit)
        run = self._record(trial, driver, met, None)
        return replace(run, measures=run.measures | more | events.measures(driver.engine))

    def _driver(
        self, trial: Trial, configuration: Configuration, key: np.ndarray, history: History | None = None
    ) -> Driver:
        chosen = self.chosen
        return Driver(
            self.protocol, self.topology, chosen.engine, configuration, self.stop, key, history, trial.progress,
            **chosen.options,
        )  # fmt: skip

    # -- many at once -----------------------------------------------------------------------------------

    def _most_at_once(self) -> int:
        """The largest number of trials that are made together."""
        can_begin = not self.prescribed and self.chosen.engine.begins_with_codes(self.protocol)
        if not can_begin or self.stop.whole or not BLOCK.support(self.asked.made_by, self.measures):
            return 1
        return max(1, MOST_CODES // self.protocol.n) if self.scheduler.memoryless else 1

    def many(self, trials: Sequence[Trial]) -> "list[Run | Callable[[], Run]]":
        """Trials with consecutive numbers: for each its result or, if it is long, a function that continues it."""
        block = self.block(range(trials[0].trial, trials[-1].trial + 1)) if len(trials) > 1 else None
        if block is None:
            return [self(trial) for trial in trials]
        like = self._run(trials[0], 0, False, None, BLOCK_ENGINE, None, {})
        rows = zip(
            trials, block.over.tolist(), block.steps.tolist(), block.reached.tolist(), block.leaders, strict=True
        )
        return [
            made_like(like, trial.trial, steps, reached, leaders, block.final(row) if trial.keep else None)
            if over
            else partial(block.go_on, row, trial)
            for row, (trial, over, steps, reached, leaders) in enumerate(rows)
        ]

    def block(self, numbers: range) -> Block | None:
        """These trials as columns; None if they are made one by one, or each must report its error."""
        if self.at_once == 1:
            return None
        from hegemon.engines.population.codes import LIMIT, MET, Codes

        protocol, stop = self.protocol, self.stop
        codes = Codes(protocol, self.topology, stop, self.scheduler)
        fixed = self.starts.fixed  # while starts are made they may be found to be
        starts = [fixed] if fixed else self.starts.of(numbers)
        populations = np.stack([codes.of(start) for start in starts])
        counts = np.stack([codes.counts(population) for population in populations])
        if stop.watch and np.any(counts[:, 0] != 1):
            return None
        if fixed:
            populations, counts = (np.repeat(one, len(numbers), axis=0) for one in (populations, counts))
        ended = np.where(stop.hold(counts), MET, LIMIT)
        words = streams(self.asked.seed, numbers, KERNEL)
        steps = FIRST_STEPS if self.limit is None else min(self.limit, FIRST_STEPS)
        made = codes.run(populations, words, counts, stop, steps, ended)
        met = ended == MET

        def final(row: int) -> Configuration:
            return codes.configuration(populations[row])

        def go_on(row: int, trial: Trial) -> Run:
            if ended[row] == LIMIT:
                return self._go_on(trial, final(row), words[row].copy(), int(made[row]))
            return self(trial)  # this trial or an earlier one failed

        return Block(
            unit=protocol.time_unit,
            steps=made,
            reached=met | (False if stop.limit is None else made == stop.limit),
            over=met | ((ended == LIMIT) & (False if self.limit is None else made == self.limit)),
            leaders=self.leaders.of_rows(codes.states, populations),
            final=final,
            go_on=go_on,
        )

    def _go_on(self, trial: Trial, configuration: Configuration, key: np.ndarray, step: int) -> Run:
        """The rest of a trial from this step on: an engine continues it with unused random numbers."""
        driver = self._driver(trial, configuration, key)
        driver.engine.load(configuration, step)
        return self._record(trial, driver, driver.run(self.limit, until_met=True), None)

    # -- results ----------------------------------------------------------------------------------------

    def _record(self, trial: Trial, driver: Driver, met: bool, last_fault: int | None) -> Run:
        engine = driver.engine
        final, measures = engine.configuration(), engine.measures()
        leaders = self.leaders(final)
        run = self._run(trial, engine.step, met, leaders, engine.name, final if trial.keep else None, measures)
        end = End(self, final, run.steps, run.reached, last_fault)
        measures |= {name: value for name, one in self.measures.items() if (value := one.value(end)) is not None}
        watched = driver.history.watched() if driver.history else None
        if not (watched or driver.interrupted or driver.ended):
            return run
        return replace(run, watched=watched, interrupted=driver.interrupted, ended=driver.ended)

    def _run(
        self, trial: Trial, steps: int, met: bool, leaders: int | None, engine: str, final: Configuration | None,
        measures: dict[str, Any],
    ) -> Run:  # fmt: skip
        protocol = self.protocol
        return Run(
            protocol=protocol.id,
            n=protocol.n,
            unit=protocol.time_unit,
            steps=steps,
            reached=met or (self.stop.limit is not None and steps == self.stop.limit),
            leaders=leaders,
            engine=engine,
            reason=self.chosen.reason,
            seed=self.asked.seed,
            trial=trial.trial,
            configuration=final,
            measures=measures,
        )


def _live(driver: Driver, events: EventProcess, limit: int | None) -> bool:
    """Run with all events up to the limit, or to the first step that meets the stop; returns whether it is met."""
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


def _depends_on_n(asked: MadeRecord, protocol: Protocol) -> bool:
    """Whether the bounds of the set that ends the run change with the number of agents."""
    text = str(asked.until)
    chosen = asked.until if isinstance(asked.until, ConfigurationSet) else protocol.sets.get(text)
    if asked.availability or chosen is None and not is_condition(text):
        return False

    def bounds(n: int) -> list[tuple[int, int]]:
        values: dict[str, Any] = protocol.values | {"n": n}
        rows: list[Any] = [] if chosen else alternatives(text, protocol, values) or []
        counts = (chosen or parse_set(text, protocol)).counts
        return [*(count.bounds(values) for count in counts), *(bound for row in rows for bound in row.values())]

    n = protocol.n
    return any(
        one != other and one[0] <= n and (one[0] != other[0] or (one[1], other[1]) != (n, n + 1))
        for one, other in zip(bounds(n), bounds(n + 1), strict=True)
    )  # bounds that n agents always or never satisfy do not count


def _suffer(
    driver: Driver, faults: Sequence[Fault], limit: int | None, rng: Any, checkpoint: "Checkpoint | None"
) -> tuple[bool, int | None]:
    """Run to every fault within the limit and apply it; returns whether a leader was lost, and the step of the last
    fault.

    The stop is evaluated after the last fault, since recovery is measured. Only the loss of a leader counts
    from the beginning, whether an interaction or the fault itself caused it.
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
        if struck < before:  # applied before the checkpoint
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


def require_unique_leader(leaders: int | None) -> None:
    if leaders != 1:
        raise InvalidInput(
            f"until broken needs a start with exactly one leader, and this one has {leaders}; try the start safe"
        )
