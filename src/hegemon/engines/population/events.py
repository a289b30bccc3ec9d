"""Engine `events`: keeps the arcs whose interaction would change something, and jumps over all other steps.

The number of steps until one of k active among m arcs is drawn is geometric, so the jump is exact. Which arcs
are active can change only around the two agents of an event. With coins an arc is active if some value of the coins
changes something; they are tossed when it is drawn, so that some events change nothing.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from hegemon.compute.ahead import words_ahead
from hegemon.compute.compilation import part, specialize
from hegemon.compute.records import clearer, layout_of, meeting, record_functions, recounter, settler, widened
from hegemon.engines.engine import Engine, Snapshot, copied, kept, overwrite, require_size, within_clock
from hegemon.engines.pacing import Pace
from hegemon.engines.population.active import (
    ACTIVE,
    EVENTS,
    NEXT,
    PLACE,
    RATES,
    STEP,
    TRIED,
    Arcs,
    Rates,
    Rules,
    changes,
    find_active,
    react,
    run_events,
)
from hegemon.engines.population.agents import few_states, memory, require_array
from hegemon.engines.population.codes import FAILED, MET, Goal
from hegemon.engines.refusal import refuse_interaction
from hegemon.engines.watching import Watch
from hegemon.errors import InvalidInput
from hegemon.graphs.families import complete
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.process.membership import Membership
from hegemon.process.stopping import Stop

PER_ARC = 40  # bytes
MOST_COINS = 256  # values of the coins, all of which are tried whenever an agent has changed
# Plain Python finds out which of the first arcs are active: a run that changes to another engine has done so
# before a kernel would be compiled.
FEW_ARCS = 1024
_asked: Counter[Any] = Counter()


class Events(Engine):
    """The engine. `advance` may return early, after some number of events: call it again."""

    name = "events"

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return not stop.closed

    @classmethod
    def require_room(cls, protocol: PopulationProtocol, topology: Topology) -> None:
        require_array(protocol, cls.name)
        if protocol.coins.size > MOST_COINS:
            raise InvalidInput(
                f"{protocol.id} draws one of {protocol.coins.size:,} values in an interaction, and engine events tries "
                f"all of them, so it takes at most {MOST_COINS}; use engine agents"
            )
        if topology.is_complete and topology.n * (topology.n - 1) * PER_ARC > memory():
            raise InvalidInput(
                f"n = {protocol.n} agents that all may meet have {topology.n * (topology.n - 1):,} arcs, which take "
                f"{topology.n * (topology.n - 1) * PER_ARC / 1e9:,.1f} GB in engine events; use engine batch or agents"
            )

    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
        dense: int | None = None,
    ):
        self.protocol, self.space, self.stop, self.rng = protocol, protocol.space, stop, rng
        self._membership = Membership(protocol, stop)
        self.topology = topology
        self._arrange(topology)
        self._clock = np.array([0, -1, 0, 0, 0], np.int64)
        self._ahead, self._rates = words_ahead(), Rates(np.zeros(RATES, np.int64), np.zeros(RATES))
        self._pace = Pace(10_000)
        self._refusal: Exception | None = None  # after one, only `restore` and `load` are allowed
        self._dense = topology.arcs if dense is None else dense
        self._watch = Watch(protocol, stop)
        copy, same = record_functions(self.space)
        records = protocol.record_types
        meet = meeting(protocol.interact, protocol.coins.names, protocol.coins.biased)
        trial = part(react, records, allocates=False, inlined=True, meet=meet, copy=copy)
        needed = {"react": trial, "same": same, "clear": clearer(self.space)}
        bound = {"react": trial, "copy": copy, "same": same, "settle": settler(self.space)}
        bound["changes"] = part(changes, records, allocates=False, inlined=True, **needed)
        self._find = specialize(find_active, records, allocates=False, changes=bound["changes"])
        bound |= {"recount": recounter(stop.conditions, self._watch.fields)}
        self._kernel = specialize(run_events, records, allocates=False, **bound)
        wide = np.zeros(1, widened(self.space.dtype))
        self._rules = Rules(protocol.compiled_p, layout_of(self.space), protocol.coins.size, wide, self._watch.gate)
        self.load(configuration)

    def _arrange(self, topology: Topology) -> None:
        """List the arcs of this graph, and those at every node."""
        self._nodes, arcs = topology.n, topology.arcs
        ends = np.concatenate([topology.sources, topology.targets])
        incident = np.argsort(ends, kind="stable").astype(np.int32) % np.int32(arcs)
        degrees = np.bincount(ends, minlength=topology.n)
        first = np.zeros(topology.n + 1, np.int32)
        np.cumsum(degrees, out=first[1:])
        degree = int(degrees[0]) if (degrees == degrees[0]).all() else 0
        rows = np.stack([topology.sources, topology.targets, np.empty(arcs, np.int32)], axis=1)
        self._arcs = Arcs(rows, np.empty(arcs, np.int32), incident, first, degree)

    def _hold(self, agents: int) -> None:
        """Make room for this many agents, some of whom have come or gone: another complete graph."""
        if agents != self._nodes:
            self._arrange(complete(agents))
            self._population = np.empty(agents, self.space.dtype)

    @property
    def step(self) -> int:
        return int(self._clock[STEP])

    @property
    def active_share(self) -> float:
        return self._clock[ACTIVE] / len(self._arcs.rows)

    @property
    def is_silent(self) -> bool:
        """No interaction changes anything, now or ever after."""
        return self._clock[ACTIVE] == 0

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over a configuration: count the stop's conditions, find the active arcs."""
        if not self.topology.is_complete:
            require_size(self, configuration, self.topology.n)
        self._hold(configuration.n)
        if step is not None:
            self._clock[STEP] = step
        self._population, self._refusal = copied(configuration.agents), None
        self._counts = self._membership.counts(self._population)
        self._clock[NEXT] = -1
        if _asked[self._find] + len(self._arcs.rows) <= FEW_ARCS:
            _asked[self._find] += len(self._arcs.rows)
            if self._find_plainly():
                return
        self._run(self._find)

    def _find_plainly(self) -> bool:
        """As `find_active`; False if the author's code fails, as it does in the kernel, whose error is put in words."""
        codes = self.space.encode_array(self._population)
        pairs = [(int(codes[i]), int(codes[j])) for i, j, _ in self._arcs.rows]
        try:
            outcomes = {pair: self.protocol.outcomes(*pair) for pair in set(pairs)}
        except Exception:  # the author's code may raise anything
            return False
        active = [k for k, pair in enumerate(pairs) if any(after != pair for after in outcomes[pair])]
        self._arcs.rows[:, PLACE] = -1
        self._arcs.rows[active, PLACE] = np.arange(len(active))
        self._arcs.active[: len(active)] = active
        self._clock[ACTIVE], self._clock[TRIED] = len(active), len(pairs) - 1
        return True

    def advance(self, limit: int) -> bool:
        """Run towards `limit`, or exactly to the first step that meets the counted stop; whether it is met."""
        if self._refusal:
            raise self._refusal
        before = self._clock[EVENTS]
        self._pace.start()
        goal = Goal(self._counts, self.stop.low, self.stop.high, self.stop.watch)
        limit = within_clock(self, limit)
        self._watch.at(self._population)
        ended = self._run(self._kernel, self.rng, self._ahead, self._rates, goal, limit, self._dense, self._pace.amount)
        self._pace.done(self._clock[EVENTS] - before)
        if ended == FAILED:
            self._refuse()
        return ended == MET and self._whole_holds()

    def _whole_holds(self) -> bool:
        """Evaluate again what the kernel found: here, an error in a predicate is reported in words."""
        return not self.stop.whole or self._membership.whole_holds(self._population)

    def _run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return kernel(self._population, self._rules, self._arcs, self._clock, *arguments)
        except Exception as error:  # in the author's code: said with the two states
            self._refuse(error)

    def _refuse(self, error: BaseException | None = None) -> NoReturn:
        first, second = self.space.encode_array(self._population[self._arcs.rows[self._clock[TRIED], :PLACE]])
        try:
            refuse_interaction(self.protocol, first, second, range(self.protocol.coins.size), error)
        except Exception as refusal:
            self._refusal = refusal
            raise

    def counts_hold(self) -> bool:
        counted = not self.stop.conditions and self.stop.whole or self.stop.holds(self._counts)
        return bool(counted) and self._whole_holds()

    def configuration(self) -> Configuration:
        return Configuration(self.space, agents=copied(self._population))

    def view(self) -> Configuration:
        return Configuration(self.space, agents=self._population)

    def recent_occupancy(self, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        return few_states(self.space, self._population, most)

    def _parts(self) -> tuple[Any, ...]:
        return self._clock, self._population, self._counts, self.rng

    @property
    def _active(self) -> np.ndarray:
        return self._arcs.active[: self._clock[ACTIVE]]

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        copies: tuple[Any, ...] = kept(self._parts(), into and into[1:-1])
        return self.step, *copies, self._active.copy()

    def restore(self, snapshot: Snapshot) -> None:
        *parts, active = snapshot[1:]
        self._hold(len(parts[1]))
        rows = self._arcs.rows
        rows[slice(None) if self._refusal else self._active, PLACE] = -1  # a refused call may have set others
        self._refusal = None
        for mine, saved in zip(self._parts(), parts, strict=True):
            overwrite(mine, saved)
        self._active[:] = active
        rows[active, PLACE] = np.arange(len(active))
