"""Bad starts where the chain is too large to build: local search over configurations, by simulation.

The value of a start is the mean of its simulated times. Candidates come from the named starts and at random; a
neighbour changes one agent, one field, or all agents in one state. A challenger is simulated in small doses
until it is clearly worse than the champion or has as many runs as the champion and a larger mean. The last
estimate comes from fresh runs, so that lucky runs of the search do not bias it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon import display, doors
from hegemon.analysis.statistics import mean_interval
from hegemon.compute.randomness import KERNEL, START, generator, stream
from hegemon.engines.choice import choose_engine
from hegemon.errors import InvalidInput
from hegemon.exact.instance import fixed_start
from hegemon.exact.verification import Verification, verify
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.process.stopping import parse_stop
from hegemon.runs import kinds
from hegemon.runs.option import seed_of
from hegemon.runs.plan import RunPlan
from hegemon.runs.setting import Graph, topology_for
from hegemon.runs.stories import Trace
from hegemon.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from hegemon.models.state import StateSpace
    from hegemon.runs.option import Seed

DOSE = 8  # runs between two evaluations of a challenger
DOUBT = 1.0  # a challenger this many standard errors behind is dropped early
POOL = 24  # random candidates to begin with
CHAMPIONS = 3
LARGEST_N = 10**6
FEWEST = 32  # fresh runs, whatever their length


@dataclass(frozen=True)
class WorstStart:
    """The worst start found, with an estimate from fresh runs."""

    protocol: Protocol
    graph: str
    scheduler: str
    until: str
    seed: int
    start: Trace
    mean: float
    interval: tuple[float, float] | None
    trials: int
    unfinished: int  # final runs longer than `max_steps`; with any, the mean is a lower bound
    random_mean: float | None  # None: interrupted before it was measured
    evaluations: int
    runs: int
    ended_early: str = ""  # the reason why not all evaluations were made
    interrupted: bool = False  # by a signal: the command ends with that signal's exit code
    exact: dict[str, Any] | None = None  # expected steps of the start found, and the worst of all

    def __str__(self) -> str:
        low, high = self.interval or (None, None)
        about = {
            "start": display.states(self.start.configuration),
            "mean": f"{'at least ' * bool(self.unfinished)}{display.figure(self.mean)}",
            "95 % interval": None if low is None else [low, high],
            "from random starts": self.random_mean,
            "trials": self.trials,
            "evaluations": self.evaluations,
            "seed": str(self.seed),
        }
        protocol = self.protocol
        return display.plain(f"{protocol.id}, n = {protocol.n:,}: the slowest start found on {self.graph}", about)

    def record(self) -> dict[str, Any]:
        compared = {} if self.exact is None else {"exact": self.exact}
        return {
            "protocol": self.protocol.id,
            "n": self.protocol.n,
            "parameters": self.protocol.parameters,
            "graph": self.graph,
            "scheduler": self.scheduler,
            "until": self.until,
            "seed": self.seed,
            "start": self.start.configuration,
            "mean": self.mean,
            "ci95": None if self.interval is None else list(self.interval),
            "trials": self.trials,
            "unfinished": self.unfinished,
            "mean_from_random_starts": self.random_mean,
            "evaluations": self.evaluations,
            "runs": self.runs,
            "ended_early": self.ended_early,
            "interrupted": self.interrupted,
            **compared,
        }


class Candidate:
    """A start as an array of codes, and the times seen from it."""

    def __init__(self, codes: np.ndarray):
        self.codes = codes
        self.times: list[int] = []

    @property
    def mean(self) -> float:
        return float(np.mean(self.times))

    @property
    def doubt(self) -> float:
        return float(np.std(self.times)) / len(self.times) ** 0.5 + 1e-12


class Simulator:
    """Many short runs from given codes on one engine."""

    def __init__(
        self, protocol: Protocol, topology: Topology, until: Any, seed: int, max_steps: int, scheduler: Scheduler
    ):
        stop = parse_stop(until, protocol)
        if stop.watch or stop.limit is not None:
            raise InvalidInput(f"until {until!r} is not a set; search-worst needs one to be reached, such as safe")
        name = "agents" if scheduler.blind else "stepwise"
        chosen = choose_engine(name, protocol, topology, stop, scheduler=scheduler)
        self.space, self.runs, self.unfinished, self.steps = protocol.space, 0, 0, 0
        self.seed = seed
        begin = Configuration(self.space, agents=self.space.decode_array(np.zeros(protocol.n, np.int64)))
        self._rng = stream(seed, 0, KERNEL)
        plan = RunPlan(protocol, topology, chosen.engine, stop, chosen.options, max_steps)
        self._trajectory = Trajectory(plan, plan.engine(begin, self._rng))
        self._begin = None if scheduler.memoryless else self._trajectory.engine.snapshot()

    def times(self, codes: np.ndarray, number: int) -> list[int]:
        configuration, engine = (
            Configuration(self.space, agents=self.space.decode_array(codes)),
            self._trajectory.engine,
        )
        found = []
        for run in range(self.runs, self.runs + number):
            if self._begin:  # reset the scheduler's memory of the run before
                engine.restore(self._begin)
            engine.load(configuration, 0)
            self._rng[:] = stream(self.seed, run, KERNEL)
            if not self._trajectory.run():
                self.unfinished += 1
            found.append(engine.step)
            self.steps += found[-1]
        self.runs += number
        return found


@kinds.door(evaluations=kinds.TRIALS, final=kinds.TRIALS, budget=doors.whole(1), exact=kinds.FLAG)
@display.with_progress
def search_worst(
    protocol: Protocol, *, graph: Graph = None, scheduler: "str | Scheduler | None" = None, until: str = "safe",
    evaluations: int = 1000, trials: int = 256,
    final: int = 2000, seed: "Seed" = 0, max_steps: int = 10**7, budget: int = 2 * 10**9, exact: bool = False,
    progress: display.Show | None = None,
) -> WorstStart:  # fmt: skip
    """Look for a start with large expected time: `evaluations` candidates, at most about `trials` runs each
    (a champion collects more), and `final` fresh runs from the best. The search ends after about `budget`
    simulated steps, and at an interrupt from the keyboard; what it has found by then is returned.
    `exact` also computes the worst of all starts, where the chain is small enough."""
    if not protocol.model.has_interactions:
        raise InvalidInput(f"search-worst is for population protocols, and {protocol.id} is not one")
    if not protocol.arbitrary_start:
        raise InvalidInput(
            f"search-worst tries any configuration, and {protocol.id} is made for the start {protocol.default_start}; "
            "hegemon verify and hegemon run measure it from there"
        )
    if protocol.inputs:
        raise InvalidInput(
            f"search-worst tries any state, but {protocol.id} gives some agents an input "
            f"({', '.join(protocol.inputs)}) that must stay; hegemon verify finds its worst start"
        )
    protocol.space.require_codes("search-worst cannot number them; take a shorter array")
    if protocol.n > LARGEST_N:
        raise InvalidInput(
            f"search-worst lists every agent of a start: n = {protocol.n} is more than {LARGEST_N}; take a smaller one"
        )
    protocol.require_sound()
    seed = seed_of(seed)
    rng = generator(seed, 0, START)
    topology = topology_for(protocol, graph, seed)
    law = scheduler_for(scheduler, protocol, topology)
    simulator = Simulator(protocol, topology, until, seed, max_steps, law)
    tell = progress or (lambda stage, done, total: None)
    pool = [Candidate(codes) for codes in first_candidates(protocol, topology, rng)]
    champions, made, ended_early, interrupted, winner = [], 0, "", False, None
    try:
        champions = best_of(pool, simulator, trials, tell)
        for made in range(evaluations):  # noqa: B007 - the number made is reported
            tell("searching", made, evaluations)
            if simulator.steps > budget:
                ended_early = f"after {made} of {evaluations} starts, {simulator.steps} steps were simulated"
                break
            champion = champions[int(rng.integers(len(champions)))]
            challenger = Candidate(neighbour(protocol.space, champion.codes, rng))
            ordered: Any = np.sort if law.even else np.asarray
            if np.array_equal(ordered(challenger.codes), ordered(champion.codes)):
                continue
            if beats(challenger, champion, simulator, trials):
                champions[champions.index(champion)] = challenger
        else:
            made = evaluations
        longest = max(champion.mean for champion in champions)
        final = min(final, max(FEWEST, int(budget / (len(champions) + 2) / longest)) if longest else final)
        winner, times = fresh_winner(champions, simulator, final, tell)
        unfinished = simulator.unfinished
        draws = rng.integers(protocol.space.size, size=(min(final, 500), protocol.n))
        uniform = [simulator.times(codes, 1)[0] for codes in draws]
    except KeyboardInterrupt:
        seen = [candidate for candidate in champions or pool if candidate.times]
        if not seen:
            raise
        interrupted, ended_early = True, "interrupted: the mean is over the runs of the search itself, and flatters"
        winner = max(seen, key=lambda candidate: candidate.mean)
        times, unfinished, uniform = winner.times, simulator.unfinished, []
    space = protocol.space
    found = WorstStart(
        protocol=protocol,
        graph=topology.name,
        scheduler=str(law),
        until=until,
        seed=seed,
        start=Trace.of(protocol, [space.mapping_of(code) for code in winner.codes]),
        mean=float(np.mean(times)),
        interval=None if unfinished else mean_interval(times),
        trials=len(times),
        unfinished=unfinished,
        random_mean=float(np.mean(uniform)) if uniform else None,
        evaluations=made,
        runs=simulator.runs,
        ended_early=ended_early,
        interrupted=interrupted,
    )
    return replace(found, exact=exact_comparison(found, topology, law, tell)) if exact and not interrupted else found


def exact_comparison(found: WorstStart, topology: Topology, law: Scheduler, progress: display.Show) -> dict[str, Any]:
    """The exact expected steps of the start found and of the worst of all starts."""
    space = found.protocol.space
    asked: Any = {"graph": topology, "start": "all", "property": f"time:{found.until}", "scheduler": law}
    times = verify(found.protocol, progress=progress, **asked)
    assert isinstance(times, Verification) and times.hitting is not None  # asked for
    codes = [space.code(space.parse(state)) for state in found.start.configuration]
    return {
        "found": float(times.hitting.values[times.chain.index(codes)]),
        "worst": times.hitting.record()["worst"],
        "worst_start": times.hitting.worst_start.configuration,
    }


def first_candidates(protocol: Protocol, topology: Topology, rng: np.random.Generator) -> list[np.ndarray]:
    """The named starts, uniformly random ones, and ones in which all agents are alike."""
    found = []
    for name in protocol.starts:
        try:
            found.append(fixed_start(protocol, name, topology))
        except InvalidInput:
            continue  # a random start: covered below
    n, q = protocol.n, protocol.space.size
    found += [rng.integers(q, size=n) for _ in range(POOL // 2)]
    found += [np.full(n, rng.integers(q)) for _ in range(POOL // 2)]
    return found


def best_of(pool: list[Candidate], simulator: Simulator, trials: int, tell: Callable[..., Any]) -> list[Candidate]:
    """Halve the pool repeatedly, with twice the runs for those that remain."""
    number = DOSE
    while True:
        for place, candidate in enumerate(pool):
            tell(f"first candidates, {number} runs each:", place, len(pool))
            candidate.times += simulator.times(candidate.codes, number)
        pool.sort(key=lambda candidate: -candidate.mean)
        if len(pool) <= CHAMPIONS:
            return pool
        pool = pool[: max(CHAMPIONS, len(pool) // 2)]
        number = min(2 * number, trials)


def beats(challenger: Candidate, champion: Candidate, simulator: Simulator, trials: int) -> bool:
    """Compare dose by dose. The champion gets new runs too, so that lucky first runs do not keep it on top."""
    champion.times += simulator.times(champion.codes, DOSE)
    while len(challenger.times) < max(trials, len(champion.times) // 2):
        challenger.times += simulator.times(challenger.codes, DOSE)
        if challenger.mean + DOUBT * challenger.doubt < champion.mean - DOUBT * champion.doubt:
            return False
    return challenger.mean > champion.mean


def fresh_winner(
    champions: list[Candidate], simulator: Simulator, final: int, tell: Callable[..., Any]
) -> tuple[Candidate, list[int]]:
    """Measure the champions with fresh runs, and then the best of them with fresh runs again."""
    for place, champion in enumerate(champions):
        tell(f"{final} fresh runs from each of the best:", place, len(champions) + 1)
        champion.times = simulator.times(champion.codes, final)
    winner = max(champions, key=lambda champion: champion.mean)
    simulator.unfinished = 0
    tell(f"{final} fresh runs from each of the best:", len(champions), len(champions) + 1)
    return winner, simulator.times(winner.codes, final)


def neighbour(space: "StateSpace", codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another configuration nearby."""
    codes = codes.copy()
    n = len(codes)
    chosen = rng.integers(n)
    match rng.integers(5):
        case 0:  # one agent anywhere
            codes[chosen] = rng.integers(space.size)
        case 1:  # one agent as another
            codes[chosen] = codes[rng.integers(n)]
        case 2:  # one field of one agent
            codes[chosen] = change_field(space, codes[chosen], rng)
        case 3:  # one field of all agents in one state
            codes[codes == codes[chosen]] = change_field(space, codes[chosen], rng)
        case 4:  # two agents anywhere, or one field of every agent
            if rng.random() < 0.5:
                codes[rng.choice(n, size=2, replace=False)] = rng.integers(space.size, size=2)
            else:
                codes = _everywhere(space, codes, rng)
    return codes


def change_field(space: "StateSpace", code: int, rng: np.random.Generator) -> int:
    """Change one field of the state; the fields of a new class get random values."""
    state = space.namespace(int(code))
    name = rng.choice(sorted(space.present(vars(state))))
    low, high = space.bounds[name]
    setattr(state, name, int(rng.integers(low, high + 1)))
    present = space.present(vars(state))
    if name in space.discriminators:
        for other in present - {name}:
            if space.domains[other].condition:
                lowest, highest = space.bounds[other]
                setattr(state, other, int(rng.integers(lowest, highest + 1)))
    return space.code(state)


def _everywhere(space: "StateSpace", codes: Any, rng: np.random.Generator) -> np.ndarray:
    """One field takes the same value in every agent that has it."""
    name = rng.choice(space.names)
    low, high = space.bounds[name]
    value = int(rng.integers(low, high + 1))
    fresh = []
    for code in codes:
        state = space.namespace(int(code))
        if name in space.present(vars(state)) and name not in space.discriminators:
            setattr(state, name, value)
        fresh.append(space.code(state))
    return np.array(fresh)
