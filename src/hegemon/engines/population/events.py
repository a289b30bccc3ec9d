"""Engine `events`: keeps the arcs whose interaction would change something, and jumps over all other steps.

The number of steps until one of k active among m arcs is drawn is geometric, so the jump is exact. Which arcs
are active can change only around the two agents of an event. With coins an arc is active if some value of the coins
changes something; they are tossed when it is drawn, so that some events change nothing.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numba import uint64

from hegemon.compute.compilation import part, specialize
from hegemon.compute.intrinsics import prefetch
from hegemon.compute.randomness import next_below, next_index, next_word
from hegemon.compute.records import clearer, layout_of, meeting, record_functions, recounter, settler, widened
from hegemon.compute.waiting import FOREVER, null_rate, null_run
from hegemon.engines.engine import Engine, Snapshot, copied, kept, overwrite, within_clock
from hegemon.engines.membership import Membership
from hegemon.engines.pacing import Pace
from hegemon.engines.population.agents import few_states, memory, require_array
from hegemon.engines.population.codes import FAILED, LIMIT, MET, Goal
from hegemon.engines.refusal import refuse_interaction
from hegemon.engines.stopping import Stop
from hegemon.engines.watching import Watch, holds_now
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol

PER_ARC = 40  # bytes
MOST_COINS = 256  # values of the coins, all of which are tried whenever an agent has changed
AHEAD = 16  # events: how far ahead memory is asked for
# Plain Python finds out which of the first arcs are active: a run that turns to another engine has its answer
# before a kernel would be compiled.
FEW_ARCS = 1024
_asked: Counter[Any] = Counter()
# The clock: the step, the step of the next event (-1: not drawn), how many arcs are active, the arc tried last, and
# how many events there were.
STEP, NEXT, ACTIVE, TRIED, EVENTS = range(5)

# ruff: noqa: F821 - in kernels, `meet`, `recount`, `copy`, `same`, `settle`, `react` … are bound


class Rules(NamedTuple):
    """What an interaction needs: the parameters, how states are packed, the number of values of the coins, wide records
    to work in, and the gate to the stop's whole predicates."""

    parameters: np.ndarray
    layout: np.ndarray
    values: int
    scratch: np.ndarray
    whole: np.ndarray


class Arcs(NamedTuple):
    """Every arc's two ends, the active ones, where each is among them (-1: nowhere), and the arcs at each node."""

    ends: np.ndarray
    active: np.ndarray
    where: np.ndarray
    first: np.ndarray
    incident: np.ndarray


class Foresight(NamedTuple):
    """The generator some events ahead, and what it foretells."""

    rng: np.ndarray
    foretold: np.ndarray


def react(a, b, coin, rules):  # type: ignore[no-untyped-def]
    """What a and b become, in the first two of the wide scratch records."""
    scratch = rules.scratch
    copy(a, scratch[0])
    copy(b, scratch[1])
    meet(scratch[0], scratch[1], rules.parameters[0], coin)


def changes(a, b, rules):  # type: ignore[no-untyped-def]
    """Whether any value of the coins changes something; what leaves its range does, and ends the run if it is drawn."""
    scratch = rules.scratch
    for coin in range(rules.values):
        react(a, b, coin, rules)
        clear(scratch[0], rules.layout)
        clear(scratch[1], rules.layout)
        if not same(a, scratch[0]) or not same(b, scratch[1]):
            return True
    return False


def find_active(population, rules, arcs, clock):  # type: ignore[no-untyped-def]
    """Try every arc on copies, and list those that may change something."""
    clock[ACTIVE] = 0
    for arc in range(len(arcs.ends)):
        clock[TRIED] = arc
        a, b = population[arcs.ends[arc, 0]], population[arcs.ends[arc, 1]]
        arcs.where[arc] = -1
        if changes(a, b, rules):
            arcs.where[arc] = clock[ACTIVE]
            arcs.active[clock[ACTIVE]] = arc
            clock[ACTIVE] += 1


def foretell(foresight, turn, number, values, population, arcs):  # type: ignore[no-untyped-def]
    """Ask memory for what the next events will need, in the order in which one address leads to another; it is what
    will be unless the set changes meanwhile."""
    ahead, foretold = foresight.rng, foresight.foretold
    next_word(ahead)  # the wait
    k = turn % AHEAD
    foretold[k] = np.int64(((next_word(ahead) >> uint64(32)) * uint64(number)) >> uint64(32))
    if values > 1:
        next_below(ahead, values)
    prefetch(arcs.active, foretold[k])
    k = (turn - AHEAD // 4) % AHEAD
    foretold[k] = arcs.active[min(foretold[k], number - 1)]
    prefetch(arcs.where, foretold[k])
    prefetch(arcs.ends, foretold[k])
    k = (turn - AHEAD // 2) % AHEAD
    foretold[k] = arcs.ends[foretold[k], 0]
    prefetch(population, foretold[k])
    prefetch(arcs.first, foretold[k])
    k = (turn - 3 * AHEAD // 4) % AHEAD
    prefetch(arcs.incident, np.int64(arcs.first[foretold[k]]))


def run_events(population, rules, arcs, clock, rng, foresight, goal, limit, dense, work):  # type: ignore[no-untyped-def]
    """At most `work` events up to the step `limit`, or until more than `dense` arcs are active; how it ended."""
    p, values, scratch = rules.parameters[0], rules.values, rules.scratch
    ends, active, where = arcs.ends, arcs.active, arcs.where
    for k in range(4):
        foresight.rng[k] = rng[k]
    for k in range(AHEAD):
        next_word(foresight.rng)
        next_word(foresight.rng)
        if values > 1:
            next_below(foresight.rng, values)
        foresight.foretold[k] = 0
    # In variables of their own: the compiler cannot know that no write to the population changes the clock.
    step, next_event, number, known, rate = clock[STEP], clock[NEXT], clock[ACTIVE], np.int64(-1), 0.0
    first, incident = arcs.first, arcs.incident
    ended, events = LIMIT, 0
    while events < work:
        if next_event < 0:
            if number == 0:  # nothing will ever change again: say so before leaping to the limit
                step = step if events else limit
                break
            if number != known:
                known, rate = number, null_rate(number / len(ends))
            wait = null_run(rng, number / len(ends), rate)
            next_event = step + wait + 1 if wait < FOREVER - step - 1 else FOREVER
        if next_event > limit:
            step = limit
            break
        step, next_event = next_event, np.int64(-1)
        event = uint64(active[uint64(next_index(rng, number))])
        coin = next_below(rng, values) if values > 1 else 0
        foretell(foresight, events, number, values, population, arcs)
        events += 1
        i, j = uint64(ends[event, 0]), uint64(ends[event, 1])
        a, b = population[i], population[j]
        copy(a, scratch[2])
        copy(b, scratch[3])
        clock[TRIED] = event
        react(a, b, coin, rules)
        if not (settle(scratch[0], rules.layout) and settle(scratch[1], rules.layout)):
            ended = FAILED
            break
        copy(scratch[0], a)
        copy(scratch[1], b)
        first_changed = not same(a, scratch[2])
        for side in range(2):
            node = i if side == 0 else j
            if not first_changed if side == 0 else same(b, scratch[3]):
                continue
            for index in range(uint64(first[node]), uint64(first[node + uint64(1)])):
                arc = uint64(incident[index])
                if arc == event and side == 1 and first_changed:
                    continue  # done from the other side
                c, d = population[uint64(ends[arc, 0])], population[uint64(ends[arc, 1])]
                clock[TRIED] = arc
                active_now = changes(c, d, rules)
                place = where[arc]
                if active_now and place < 0:
                    where[arc] = number
                    active[uint64(number)] = arc
                    number += 1
                elif not active_now and place >= 0:
                    number -= 1
                    last = active[uint64(number)]
                    active[uint64(place)] = last
                    where[uint64(last)] = place
                    where[arc] = -1
        if recount(scratch[2], scratch[3], a, b, p, goal) and holds_now(rules.whole, len(population)):
            ended = MET
            break
        if number > dense:
            break
    clock[STEP], clock[NEXT], clock[ACTIVE] = step, next_event, number
    clock[EVENTS] += events
    return ended


class Events(Engine):
    """The engine. `advance` may come back early, after some number of events: call it again."""

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
        pairs = np.stack([topology.sources, topology.targets], axis=1)
        arcs = len(pairs)
        ends = pairs.T.ravel()
        incident = np.argsort(ends, kind="stable").astype(np.int32) % np.int32(arcs)
        first = np.zeros(topology.n + 1, np.int32)
        np.cumsum(np.bincount(ends, minlength=topology.n), out=first[1:])
        self._arcs = Arcs(pairs, np.empty(arcs, np.int32), np.empty(arcs, np.int32), first, incident)
        self._clock = np.array([0, -1, 0, 0, 0], np.int64)
        self._foresight = Foresight(np.zeros(4, np.uint64), np.zeros(AHEAD, np.int64))
        self._pace = Pace(10_000)
        self._dense = arcs if dense is None else dense
        self._watch = Watch(protocol, stop)
        copy, same = record_functions(self.space)
        records = protocol.record_types
        meet = meeting(protocol.interact, protocol.coins.names, protocol.coins.biased)
        trial = part(react, records, allocates=False, meet=meet, copy=copy)
        bound = {"react": trial, "copy": copy, "same": same, "settle": settler(self.space)}
        bound["changes"] = part(changes, records, allocates=False, react=trial, same=same, clear=clearer(self.space))
        self._find = specialize(find_active, records, allocates=False, changes=bound["changes"])
        bound |= {"recount": recounter(stop.conditions, self._watch.fields), "foretell": foretell}
        self._kernel = specialize(run_events, records, allocates=False, **bound)
        scratch = np.zeros(4, widened(self.space.dtype))
        self._rules = Rules(protocol.compiled_p, layout_of(self.space), protocol.coins.size, scratch, self._watch.gate)
        self.load(configuration)

    @property
    def step(self) -> int:
        return int(self._clock[STEP])

    @property
    def active_share(self) -> float:
        return self._clock[ACTIVE] / len(self._arcs.ends)

    @property
    def is_silent(self) -> bool:
        """No interaction changes anything, now or ever after."""
        return self._clock[ACTIVE] == 0

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over a configuration: count the stop's conditions, find the active arcs."""
        if step is not None:
            self._clock[STEP] = step
        self._population = copied(configuration.agents)
        self._counts = self._membership.counts(self._population)
        self._clock[NEXT] = -1
        if _asked[self._find] + len(self._arcs.ends) <= FEW_ARCS:
            _asked[self._find] += len(self._arcs.ends)
            try:
                return self._find_plainly()
            except Exception:
                pass  # the kernel fails as well, and that is worded
        self._run(self._find)

    def _find_plainly(self) -> None:
        """As `find_active`."""
        codes = self.space.encode_array(self._population)
        pairs = [(int(codes[i]), int(codes[j])) for i, j in self._arcs.ends]
        outcomes = {pair: self.protocol.outcomes(*pair) for pair in set(pairs)}
        active = [k for k, pair in enumerate(pairs) if any(after != pair for after in outcomes[pair])]
        self._arcs.where[:] = -1
        self._arcs.where[active] = np.arange(len(active))
        self._arcs.active[: len(active)] = active
        self._clock[ACTIVE], self._clock[TRIED] = len(active), len(pairs) - 1

    def advance(self, limit: int) -> bool:
        """Run towards `limit`, or exactly to the first step that meets the counted stop; whether it is met."""
        before = self._clock[EVENTS]
        self._pace.start()
        goal = Goal(self._counts, self.stop.low, self.stop.high, self.stop.watch)
        limit = within_clock(self, limit)
        self._watch.at(self._population)
        ended = self._run(self._kernel, self.rng, self._foresight, goal, limit, self._dense, self._pace.amount)
        self._pace.done(self._clock[EVENTS] - before)
        if ended == FAILED:
            self._refuse()
        return ended == MET and self._whole_holds()

    def _whole_holds(self) -> bool:
        """What the kernel found, once more: a predicate that fails says here what is wrong."""
        return not self.stop.whole or self._membership.whole_holds(self._population)

    def _run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return kernel(self._population, self._rules, self._arcs, self._clock, *arguments)
        except Exception as error:
            self._refuse(error)

    def _refuse(self, error: BaseException | None = None) -> NoReturn:
        first, second = self.space.encode_array(self._population[self._arcs.ends[self._clock[TRIED]]])
        refuse_interaction(self.protocol, first, second, range(self.protocol.coins.size), error)

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
        return self._clock, self._population, self._counts, self._arcs.active, self._arcs.where, self.rng

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        return self.step, *kept(self._parts(), into and into[1:])

    def restore(self, snapshot: Snapshot) -> None:
        for mine, saved in zip(self._parts(), snapshot[1:], strict=True):
            overwrite(mine, saved)
