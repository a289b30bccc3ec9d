"""Engine `agents`: the population as an array, one pair of its scheduler per step.

An agent is its code where a table of all pairs of states is small enough (see `codes`). Otherwise it is a record, and
`interact` works on the records themselves.
"""

from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.intrinsics import blank
from hegemon.compute.records import layout_of, meeting, record_functions, recounter, settler, widened
from hegemon.engines.engine import Engine, Snapshot, copied, kept, overwrite, require_size
from hegemon.engines.pacing import Pace
from hegemon.engines.population.codes import FAILED, LIMIT, MET, Codes, Goal
from hegemon.engines.population.draws import draws_of, move_words
from hegemon.engines.refusal import refuse_interaction
from hegemon.engines.watching import Watch, holds_now
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import LARGEST_ARRAY, Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.models.state import StateSpace
from hegemon.process.membership import Membership
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.process.stopping import Stop
from hegemon.system import whole_memory

LARGEST_POPULATION = 2**32 - 1
MOST_COUNTS = 1 << 20  # numbers of agents in a state that are collected at a time
PER_AGENT = 24  # bytes besides the record, while a start is made

# ruff: noqa: F821 - in kernels, `draw`, `meet`, `recount` … are bound by specialize


class Given(NamedTuple):
    """What an interaction needs: the parameters, how states are packed, and what wide records look like; who met last,
    with which coins; and the gate to the stop's whole predicates."""

    parameters: np.ndarray
    layout: np.ndarray
    wide: np.ndarray
    tried: np.ndarray
    whole: np.ndarray


def run_records(population, chance, goal, given, budget):  # type: ignore[no-untyped-def]
    """At most `budget` steps on records; returns the steps made and how they ended.

    `interact` works on wide copies, which are stored only when every field is in its range.
    """
    p, tried = given.parameters[0], given.tried
    after_a, after_b = blank(given.wide), blank(given.wide)
    first, second, coins = chance.first, chance.second, chance.coins
    done = 0
    while done < budget:
        size = min(chance.block, budget - done)
        move_words(chance.rng, chance.before)
        draw(population, chance, size)
        for k in range(size):
            tried[0], tried[1], tried[2] = first[k], second[k], coins[k]
            a, b = population[first[k]], population[second[k]]
            copy(a, after_a)
            copy(b, after_b)
            meet(after_a, after_b, p, coins[k])
            if not settle(after_a, given.layout) or not settle(after_b, given.layout):
                return done + k, FAILED
            met = recount(a, b, after_a, after_b, p, goal)
            copy(after_a, a)
            copy(after_b, b)
            if met and holds_now(given.whole, len(population)):
                if k + 1 < size:
                    move_words(chance.before, chance.rng)
                    draw(population, chance, k + 1)  # the later pairs are drawn again by the next call
                return done + k + 1, MET
        done += size
    return done, LIMIT


def require_array(protocol: PopulationProtocol, engine: str) -> None:
    """Refuse a population that does not fit in memory as an array, with the memory that it would take."""
    size = protocol.space.dtype.itemsize
    needed = protocol.n * (size + PER_AGENT)
    if protocol.n > LARGEST_POPULATION or protocol.n * size > LARGEST_ARRAY or needed > memory():
        raise InvalidInput(
            f"n = {protocol.n} agents of {size} bytes take {needed / 1e9:,.1f} GB as an array, which is too much for "
            f"engine {engine}; take a smaller n, or engine batch on a complete graph, which keeps counts"
        )


def few_states(space: StateSpace, agents: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The codes of these agents' states, ascending, with their numbers; None if there are more than `most`."""
    if not space.has_codes:  # codes beyond 64 bits take long to make
        return None
    for more in (8, 64):  # a sample that already shows too many states saves the sorting of all agents
        if len(np.unique(space.encode_array(agents[:: len(agents) // (more * most) + 1]))) > most:
            return None
    codes, counts = np.unique(space.encode_array(agents), return_counts=True)
    return (codes, counts) if len(codes) <= most else None


@cache
def memory() -> float:
    """The memory that a run may use: three quarters of this machine's, in bytes."""
    return 0.75 * whole_memory()


class Agents(Engine):
    """The engine: `advance` runs up to a step, exactly to the first step that meets the stop."""

    name = "agents"
    honours: tuple[str, ...] = ("one_pair", "blind")
    step = 0

    @classmethod
    def require_room(cls, protocol: PopulationProtocol, topology: Topology) -> None:
        require_array(protocol, cls.name)

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return not stop.closed

    @classmethod
    def begins_with_codes(cls, protocol: PopulationProtocol) -> bool:
        return cls.advance is _advance and Codes.suit(protocol)

    def __init__(
        self,
        protocol: PopulationProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
        scheduler: Scheduler = UNIFORM,
    ):
        self.require_room(protocol, topology)
        self.protocol, self.space, self.stop, self.rng = protocol, protocol.space, stop, rng
        self._codes = Codes(protocol, topology, stop, scheduler) if Codes.suit(protocol) and not stop.whole else None
        if self._codes:
            self._chance, self._tried = self._codes.chance, self._codes.tried
        else:
            self._prepare_records(topology, scheduler)
        self._arcs, self._nodes = self._chance.arcs, topology.n
        self._memory = (self._arcs,) * (not scheduler.memoryless)
        self._pace = Pace(1 << 18)
        self.load(configuration)

    def _prepare_records(self, topology: Topology, scheduler: Scheduler) -> None:
        protocol, space = self.protocol, self.space
        self._membership = Membership(protocol, self.stop)
        draw, self._chance = draws_of(scheduler, topology, protocol.coins.size, self.rng)
        self._tried = np.zeros(3, np.int64)
        copy, _ = record_functions(space)
        self._watch, wide = Watch(protocol, self.stop), np.zeros(1, widened(space.dtype))
        self._given = Given(protocol.compiled_p, layout_of(space), wide, self._tried, self._watch.gate)
        bound: dict[str, Any] = {
            "meet": meeting(protocol.interact, protocol.coins.names, protocol.coins.biased),
            "recount": recounter(self.stop.conditions, self._watch.fields),
        }
        bound |= {"draw": draw, "copy": copy, "settle": settler(space)}
        self._kernel = specialize(run_records, protocol.record_types, allocates=False, **bound)

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over a configuration and count the stop's conditions in it."""
        if len(self._arcs):
            require_size(self, configuration, self._nodes)
        self.step = self.step if step is None else step
        self._silent, self._made = False, 0
        if self._codes:
            self._population = self._codes.of(configuration)
            self._counts = self._codes.counts(self._population)
        else:
            self._population = copied(configuration.agents)
            self._counts = self._membership.counts(self._population)

    def advance(self, limit: int) -> bool:
        """Towards `limit`, or exactly to the first step that meets the counted stop; whether it is met."""
        if self._silent:
            self.step = limit
            return False
        self._pace.start()
        try:
            done, ended = self._move(min(limit - self.step, self._pace.amount))
        except Exception as error:  # in the author's code: said with the two states
            self._refuse(error)
        self._pace.done(done)
        if ended == FAILED:
            self._refuse()
        self.step += done
        self._made = done
        return ended == MET and self._whole_holds()

    def _whole_holds(self) -> bool:
        """Evaluate again what the kernel found: here, an error in a predicate is reported in words."""
        return not self.stop.whole or self._membership.whole_holds(self._population)

    def advance_counting(self, limit: int, every: int, rows: int) -> tuple[bool, np.ndarray, np.ndarray] | None:
        """As `advance`, with `codes` alone: see the contract."""
        if self._codes is None or self._silent or type(self).advance is not _advance:
            return None
        first = every - self.step % every
        within = (limit - self.step - first) // every + 1
        rows = min(rows, within, self._pace.amount // every, MOST_COUNTS // self.space.size)
        if rows < 2:
            return None
        self._pace.start()
        moved = self._population, self.rng, self._counts, self.stop
        census, rest, ended = self._codes.observe(*moved, first, every, rows)
        steps = self.step + first + every * np.arange(len(census))
        self._made = rest or (every if len(census) > 1 else first)
        done = int(steps[-1]) - self.step + rest if len(census) else rest
        self._pace.done(done)
        if ended == FAILED:
            self._refuse()
        self.step += done
        return ended == MET, steps, census

    def _move(self, steps: int) -> tuple[int, int]:
        """Make at most `steps` steps; returns how many were made, and how they ended."""
        if self._codes:
            ended = np.array([LIMIT])
            rows = self._population[None], self.rng[None], self._counts[None]
            return int(self._codes.run(*rows, self.stop, steps, ended)[0]), int(ended[0])
        goal = Goal(self._counts, self.stop.low, self.stop.high, self.stop.watch)
        self._watch.at(self._population)
        return self._kernel(self._population, self._chance, goal, self._given, steps)

    def last_meeting(self) -> tuple[int, int, int] | None:
        if not self._made:
            return None
        chance, place = self._chance, (self._made - 1) % self._chance.block  # a call begins a block
        return int(chance.first[place]), int(chance.second[place]), int(chance.coins[place])

    def _refuse(self, error: BaseException | None = None) -> NoReturn:
        met = self._population[self._tried[:2]]
        codes = met if self._codes else self.space.encode_array(met)
        if self._codes and error is None:
            error = self._codes.meeting.failure(int(codes[0]), int(codes[1]), int(self._tried[2]))
        refuse_interaction(self.protocol, codes[0], codes[1], [int(self._tried[2])], error)

    @property
    def held(self) -> np.ndarray:
        """How many agents meet each of the stop's conditions."""
        return self._counts

    def counts_hold(self) -> bool:
        counted = not self.stop.conditions and self.stop.whole or self.stop.holds(self._counts)
        return bool(counted) and self._whole_holds()

    def configuration(self) -> Configuration:
        if self._codes:
            return self._codes.configuration(self._population)
        return Configuration(self.space, agents=copied(self._population))

    def view(self) -> Configuration:
        return self.configuration() if self._codes else Configuration(self.space, agents=self._population)

    @property
    def codes(self) -> np.ndarray | None:
        """Every agent's code, not to be written to; None where agents are kept as records."""
        return self._population if self._codes else None

    @property
    def remembered(self) -> np.ndarray:
        """The rows in which the scheduler keeps its memory, not to be written to."""
        return self._arcs

    def occupancy(self) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the states that agents are in, ascending, and how many are in each."""
        if not self._codes:
            return self.configuration().multiset
        counts = np.bincount(self._population, minlength=self.space.size)
        codes = np.flatnonzero(counts)
        return codes, counts[codes]

    def recent_occupancy(self, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        return super().recent_occupancy(most) if self._codes else few_states(self.space, self._population, most)

    @property
    def is_silent(self) -> bool:
        return self._silent

    def note_silence(self) -> None:
        self._silent = True

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        mine = (self._population, self._counts, self.rng, *self._memory)
        copies: tuple[Any, ...] = kept(mine, into and into[1:-1])
        return self.step, *copies, self._silent

    def restore(self, snapshot: Snapshot) -> None:
        self.step, population, counts, rng, *memory, self._silent = snapshot
        self._made = 0
        if len(population) != len(self._population):  # agents have come or gone
            self._population = np.empty_like(population)
        mine = self._population, self._counts, self.rng, *self._memory
        for part, saved in zip(mine, (population, counts, rng, *memory), strict=True):
            overwrite(part, saved)


_advance = Agents.advance  # a subclass with another `advance` makes every step by itself
