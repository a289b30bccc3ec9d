"""The course of runs, from a start to a Run: the same for population protocols and for synchronous rounds.

What does not depend on the trial is made once. Short trials are made many at a time where that is possible (see
`engines/population/codes.py`): those that end within their first steps need no engine of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.compute.randomness import FAULT, KERNEL, generator, stream, streams
from hegemon.engines.choice import choose_engine
from hegemon.errors import InvalidInput
from hegemon.models.conditions import is_condition, parse_set
from hegemon.models.configuration import Configuration
from hegemon.models.halting import living
from hegemon.models.naming import asked_observables
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet
from hegemon.models.start_files import opened
from hegemon.process.membership import LeaderCount, Watcher
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.stopping import Stop, parse_stop
from hegemon.runs.availability import Availability, one_leader
from hegemon.runs.capabilities import supporting
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.faults import agents_left, require_churn
from hegemon.runs.history import History
from hegemon.runs.measures import MEASURES, End
from hegemon.runs.plan import RunPlan
from hegemon.runs.rates import Rate, churns, marks_of, read_rates
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Fault, Run, made_like
from hegemon.runs.schedules import read_interactions, read_rounds
from hegemon.runs.setting import Starts, topology_for
from hegemon.runs.trajectory import Trajectory, keep_in
from hegemon.runs.trial import BLOCK_ENGINE, Block, Course, Trial

if TYPE_CHECKING:
    pass


FIRST_STEPS = 1 << 16  # steps that trials make together: fewer than before the driver's first review
MOST_CODES = 1 << 22  # agents of all trials that are made together
USUAL = "graph start until seed max_steps engine scheduler loss one_sided"  # options that every path here supports
SHOWN = "fast_forward threads observe at every"
BLOCK = supporting("a block of short trials", USUAL)
LASTING = supporting("a run with rates or availability", f"{USUAL} {SHOWN} rates availability checkpoint")
KEPT = supporting("a checkpoint", f"{USUAL} fast_forward threads faults disturbances rates checkpoint")


class StateCourse(Course):
    """Trials that run until the stop is met or `max_steps` steps are made."""

    supports = supporting(
        "a run of agents", f"{USUAL} {SHOWN} faults disturbances rates availability checkpoint", " ".join(MEASURES)
    )

    protocol: Any
    stop: Stop
    faults: tuple[Fault, ...]

    def __init__(self, record: MadeRecord):
        self.record = record
        for path, is_taken in ((LASTING, record.rates or record.availability), (KEPT, record.checkpoint)):
            if is_taken:
                path.require(record.made_by)
        rates = read_rates(record.rates) if record.rates else ()
        marks = marks_of(rates)
        protocol: Any = record.process()
        protocol.require_sound()
        topology, start = topology_for(protocol, record.graph, record.seed), opened(record.start, protocol.starts)
        stop = parse_stop(record.until, protocol)
        if record.availability:
            stop = replace(one_leader(protocol), limit=stop.limit)
        if getattr(protocol, "is_one_sided", False):  # these may leave a set that complete ones keep
            stop = replace(stop, closed=False)
        if marks:
            stop = replace(stop, conditions=tuple(living(condition, marks) for condition in stop.conditions))
        self.protocol, self.topology, self.stop = protocol, topology, stop
        self.limit = min((limit for limit in (stop.limit, record.max_steps) if limit is not None), default=None)
        self.faults = (*record.faults, *(read_disturbances(record.disturbances) if record.disturbances else ()))
        self.scheduler = scheduler_for(record.scheduler, protocol, topology)
        self._require_lasting(rates)
        schedule = read_interactions(start, protocol, topology) if protocol.model.has_interactions else []
        rounds = read_rounds(start, protocol, topology) if protocol.model.has_rounds else []
        if rounds and self.faults:
            raise InvalidInput(f"{start} prescribes rounds, which are followed without faults; leave the faults out")
        if schedule and (self.faults or record.engine not in ("auto", "agents")):
            raise InvalidInput(f"{start} prescribes interactions, which only engine agents follows, and without faults")
        self.observables = asked_observables(protocol, record.observe or bool(record.at or record.every))
        watched = tuple(observable.value for observable in self.observables.values())
        name = "agents" if schedule else record.engine
        if record.availability and name == "auto":
            name = "agents" if self.scheduler.blind else "stepwise"
        self.chosen = choose_engine(
            name, protocol, topology, stop, watched, record.fast_forward, record.threads, self.scheduler
        )
        engine = self.chosen.engine
        for name, is_given in (("fast_forward", not record.fast_forward), ("threads", record.threads is not None)):
            if is_given and name not in engine.options:
                raise InvalidInput(f"engine {engine.name} does not support {name}; leave it out")
        engine.require_room(protocol, topology)
        self.starts = Starts(protocol, start, record.seed, self.chosen.engine.as_multiset, topology)
        self.leaders = LeaderCount(protocol)
        faults = sorted(self.faults, key=lambda fault: fault.step)
        self.plan = RunPlan(
            protocol, topology, engine, stop,
            options=self.chosen.options,
            limit=self.limit,
            prescribed=dict(enumerate(schedule or rounds)),
            faults=tuple(fault for fault in faults if self.limit is None or fault.step <= self.limit),
            rates=rates,
            is_ended=not record.availability,
        )  # fmt: skip
        self.measures = {name: measure for name, measure in MEASURES.items() if measure.applies(self)}

    def _require_lasting(self, rates: tuple[Rate, ...]) -> None:
        """The requirements of events, bursts and availability, and what they cannot be combined with."""
        record, stop = self.record, self.stop
        if record.availability and self.limit is None:
            raise InvalidInput("availability is measured up to a limit; give until steps:K, or max_steps")
        if record.availability and record.engine not in ("auto", "agents"):
            raise InvalidInput(f"availability is measured at every step, by engine agents; drop engine {record.engine}")
        loses = churns((*rates, *self.faults))
        if loses:
            require_churn(self.protocol, self.topology, self.scheduler)
        elif not any(rate.kind == "crash" for rate in rates):
            return
        is_whole = agents_left(self.faults, self.protocol, self.limit) == self.protocol.n and not record.rates
        if not is_whole and (stop.whole or _depends_on_n(record, self.protocol)):
            what = "join and leave" if loses else "crash"
            raise InvalidInput(
                f"agents {what}, and {stop.name} is about all n of them; give until a condition such as "
                '"count(leader == 1) == 1", or steps:K'
            )

    def __call__(self, trial: Trial) -> Run:
        trajectory = self.begin(trial)
        if self.record.checkpoint:
            keep_in(self.record.checkpoint, trajectory)
        trajectory.run()
        return self._record(trial, trajectory)

    def begin(self, trial: Trial) -> Trajectory:
        record, number = self.record, trial.trial
        configuration = next(self.starts.of(range(number, number + 1)))
        if self.stop.watch:
            require_unique_leader(self.leaders(configuration))
        history = None
        if self.observables:
            unit = self.protocol.n if self.protocol.model.has_interactions else 1
            watcher = Watcher(self.protocol, self.observables, self.topology)
            history = History(watcher, unit, record.at, record.every, trial.most_rows)
        trajectory = self._trajectory(trial, configuration, stream(record.seed, number, KERNEL), history)
        if record.availability:
            trajectory.observer = Availability(trajectory.engine)
        return trajectory

    def _trajectory(
        self, trial: Trial, configuration: Configuration, key: np.ndarray, history: History | None = None
    ) -> Trajectory:
        plan = self.plan
        has_chances = plan.faults or plan.rates or self.record.checkpoint
        chance = generator(self.record.seed, trial.trial, FAULT) if has_chances else None
        return Trajectory(plan, plan.engine(configuration, key), chance, history, trial.progress)

    # -- many at once -----------------------------------------------------------------------------------

    @cached_property
    def at_once(self) -> int:
        can_begin = not self.plan.prescribed and self.chosen.engine.begins_with_codes(self.protocol)
        if not can_begin or self.stop.whole or not BLOCK.support(self.record.made_by, self.measures):
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
            populations, counts = (np.repeat(row, len(numbers), axis=0) for row in (populations, counts))
        ended = np.where(stop.hold(counts), MET, LIMIT)
        words = streams(self.record.seed, numbers, KERNEL)
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
        trajectory = self._trajectory(trial, configuration, key)
        trajectory.engine.load(configuration, step)
        trajectory.run()
        return self._record(trial, trajectory)

    # -- results ----------------------------------------------------------------------------------------

    def _record(self, trial: Trial, trajectory: Trajectory) -> Run:
        engine, history = trajectory.engine, trajectory.history
        final, measures = engine.configuration(), engine.measures()
        leaders, is_met = self.leaders(final), trajectory.is_met
        run = self._run(trial, engine.step, is_met, leaders, engine.name, final if trial.keep else None, measures)
        end = End(self, trajectory, final, run.reached)
        measures |= {
            name: value for name, measure in self.measures.items() if (value := measure.value(end)) is not None
        }
        measures |= trajectory.observer.measures() if trajectory.observer else {}
        measures |= trajectory.events.measures(engine) if trajectory.events else {}
        watched = history.watched() if history else None
        if not (watched or trajectory.interrupted or trajectory.ended):
            return run
        return replace(run, watched=watched, interrupted=trajectory.interrupted, ended=trajectory.ended)

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
            seed=self.record.seed,
            trial=trial.trial,
            configuration=final,
            measures=measures,
        )


def _depends_on_n(record: MadeRecord, protocol: Protocol) -> bool:
    """Whether the bounds of the set that ends the run change with the number of agents."""
    text = str(record.until)
    named = record.until if isinstance(record.until, ConfigurationSet) else protocol.sets.get(text)
    if record.availability or named is None and not is_condition(text):
        return False
    chosen = parse_set(text, protocol) if named is None else named

    def bounds(n: int) -> list[tuple[int, int]]:
        values: dict[str, Any] = protocol.values | {"n": n}
        return [count.bounds(values) for count in chosen.counts]

    n = protocol.n
    for (low, high), (next_low, next_high) in zip(bounds(n), bounds(n + 1), strict=True):
        is_all = (high, next_high) == (n, n + 1)  # as many as there are is no bound
        if low <= n and (low != next_low or high != next_high and not is_all):
            return True
    return False


def require_unique_leader(leaders: int | None) -> None:
    if leaders != 1:
        raise InvalidInput(
            f"until broken needs a start with exactly one leader, and this one has {leaders}; try the start safe"
        )
