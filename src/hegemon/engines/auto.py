"""Engine `auto`: the fastest of the others, changed during the run when another has become faster.

Decisions are made from the step and the population alone, so that a run is the same whatever is recorded.
Costs are in nanoseconds per step as measured on one machine; only their ratios matter.
"""

from hegemon.engines.agents import LARGEST_POPULATION, Agents
from hegemon.engines.batch import Batch, activity, plan
from hegemon.engines.events import Events, count_active
from hegemon.engines.skipping import EVENT, PER_STATE
from hegemon.models.configuration import LARGEST_ARRAY, Configuration

CLEARLY = 0.6  # another engine must be this much cheaper to be worth a change
FEW_STATES = 256  # up to so many the chance of a change is computed exactly
PERIOD = 16  # interactions per agent or arc between two decisions, at first
BRIEF = 1 << 20  # steps that engine agents makes before anybody thinks: not worth another engine
SMALL = 1 << 16  # agents or arcs: up to here a run begins with engine agents


def cost_of_agents(n: int) -> float:
    """A step of engine agents: memory is slower the more of it is used."""
    return 10.0 * max(1.0, n / 1e5) ** 0.25


def cost_of_event(n: int) -> float:
    """An event of engine events."""
    return 120.0 * max(1.0, n / 1e5) ** 0.25


class Auto:
    """Runs one engine at a time and offers what every engine offers."""

    gave_up = False

    def __init__(self, protocol, topology, configuration, stop, rng):
        self.protocol, self.topology, self.stop, self.rng = protocol, topology, stop, rng
        self._engines: dict = {}
        self._used: list[str] = []
        self._decision = 0  # the step of the next decision
        self._engine = None
        self._use(Agents if self._size() <= SMALL else self._best(configuration), configuration, 0)

    @property
    def name(self) -> str:
        return "+".join(self._used)

    @property
    def step(self) -> int:
        return self._engine.step

    @property
    def silent(self) -> bool:
        return self._engine.silent

    @property
    def stride(self) -> int:
        return self._engine.stride

    def _use(self, kind, configuration: Configuration, step: int) -> None:
        if kind in self._engines:
            self._engine = self._engines[kind]
            self._engine.load(configuration)
        else:
            self._engine = kind(self.protocol, self.topology, configuration, self.stop, self.rng)
            self._engines[kind] = self._engine
        self._engine.step = step
        self._limit(self._engine)
        self._postpone()
        if kind.name not in self._used:
            self._used.append(kind.name)

    def advance(self, limit: int) -> bool:
        """As every engine's; decisions are made on the way."""
        if isinstance(self._engine, Agents):
            if self.step >= self._decision:
                self._decide()
            if isinstance(self._engine, Agents):
                limit = min(limit, self._decision)
        met = self._engine.advance(limit)
        if self._engine.gave_up:
            self._use(Agents, self.configuration(), self.step)
        return met

    def _decide(self) -> None:
        kind = self._best(None)
        if kind is not Agents:
            self._use(kind, self.configuration(), self.step)
        self._postpone()

    def _postpone(self) -> None:
        self._decision = self.step + max(BRIEF, PERIOD * self._size(), self.step // 2)

    def counts_hold(self) -> bool:
        return self._engine.counts_hold()

    def configuration(self) -> Configuration:
        return self._engine.configuration()

    def load(self, configuration: Configuration) -> None:
        self._engine.load(configuration)

    def snapshot(self):
        return self.step, self._engine, self._engine.snapshot(), self._decision

    def restore(self, snapshot) -> None:
        _, self._engine, inner, self._decision = snapshot
        self._engine.restore(inner)


class AutoComplete(Auto):
    """On the complete graph: `batch` unless very many states are occupied or the population is small."""

    as_multiset = True
    reason = "complete graph: batch where it is faster, agents while n is small or the states are many"

    def _size(self) -> int:
        return self.protocol.n

    def _agents_possible(self) -> bool:
        n = self.protocol.n
        return n <= LARGEST_POPULATION and n * self.protocol.space.dtype.itemsize <= LARGEST_ARRAY

    def _best(self, configuration):
        if not self._agents_possible():
            return Batch
        codes, counts = configuration.multiset if configuration else self._engine.occupancy()
        n = self.protocol.n
        cost = plan(len(codes), n)[1]
        if cost > CLEARLY * cost_of_agents(n) and len(codes) <= FEW_STATES:
            chance = activity(self.protocol, self.stop, codes, counts)
            cost = min(cost, chance * (EVENT + PER_STATE * len(codes)))
        return Batch if cost < CLEARLY * cost_of_agents(n) else Agents

    def _limit(self, engine) -> None:
        if isinstance(engine, Batch) and self._agents_possible():
            engine.dear = cost_of_agents(self.protocol.n) / CLEARLY


class AutoSmall(AutoComplete):
    """The same for few agents: the start is an array, as for engine agents, which mostly runs alone."""

    as_multiset = False


class AutoGraph(Auto):
    """On other graphs: `agents` while many arcs are active, `events` when few are."""

    as_multiset = False
    reason = "not a complete graph: agents while many arcs are active, events when few are"

    def _size(self) -> int:
        return self.topology.arcs

    def _best(self, configuration):
        n = self.protocol.n
        share = count_active(self.protocol, self.topology, configuration or self.configuration()) / self.topology.arcs
        return Events if share * cost_of_event(n) < CLEARLY * cost_of_agents(n) else Agents

    def _limit(self, engine) -> None:
        n = self.protocol.n
        if isinstance(engine, Events):
            engine.dense = int(self.topology.arcs * cost_of_agents(n) / cost_of_event(n) / CLEARLY)
