"""Engine `plain`: one interaction after the other, each made by the author's function in plain Python.

Nothing that an author wrote is compiled, so this is what every other engine is compared with. It draws pairs and coins
from the same words as engine `agents` does, and makes the same steps.
"""

from typing import Any, cast

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.engines.engine import Engine, Snapshot, overwrite, require_size
from hegemon.engines.pacing import Deadline
from hegemon.engines.population.draws import draws_of, move_words
from hegemon.engines.population.stepwise import _OnePair, draw_below
from hegemon.engines.refusal import refuse_interaction
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.authors import authored
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.models.variants import WrongField
from hegemon.models.words import checked
from hegemon.process.schedulers.own import OwnScheduler
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.process.stopping import Stop

MOST_AGENTS = 1_000_000  # each is a Python object

# ruff: noqa: F821 - `draw` is bound by specialize


def draw_block(population, chance, size):  # type: ignore[no-untyped-def]
    move_words(chance.rng, chance.before)
    draw(population, chance, size)


class PlainPopulation(Engine):
    """The engine: an agent is the code of its state, of any size."""

    name = "plain"
    honours = ("one_pair",)
    step = 0

    @classmethod
    def require_room(cls, protocol: PopulationProtocol, topology: Topology) -> None:
        if protocol.n > MOST_AGENTS:
            raise InvalidInput(
                f"engine plain moves at most {MOST_AGENTS:,} agents, one by one in Python; take a smaller n, or engine "
                "auto"
            )

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return True

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
        self.topology, self._scheduler = topology, scheduler
        drawn = scheduler if scheduler.blind else _OnePair()
        draw, self._chance = draws_of(drawn, topology, protocol.coins.size, rng)
        self._draw = specialize(draw_block, allocates=False, draw=draw)
        self._below = specialize(draw_below)
        self._memory = () if drawn.memoryless else (self._chance.arcs,)
        self._block = self._chance.block
        self._marked: dict[int, tuple[bool, ...]] = {}
        self.load(configuration)

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        if len(self._chance.arcs):
            require_size(self, configuration, self.topology.n)
        self.step = self.step if step is None else step
        self._take(self.space.encode_array(configuration.agents).tolist())

    def _take(self, codes: list[int]) -> None:
        self._codes = codes
        self._number = np.zeros(len(codes), np.int8)  # the kernel reads how many agents there are
        self._made = 0  # pairs of the block drawn last that were used
        marks = [self._marks(code) for code in codes]
        self._counts = np.array([sum(column) for column in zip(*marks, strict=True)], np.int64)

    # -- steps ---------------------------------------------------------------------------------------------

    def advance(self, limit: int) -> bool:
        deadline = Deadline()
        while self.step < limit and not deadline.is_over:
            size = self._draw_next(min(limit - self.step, self._block))
            for place in range(size):
                self._made = place + 1
                if self._meet(place):
                    self._draw_again(place + 1, size)
                    return True
        return False

    def _draw_next(self, size: int) -> int:
        """Draw the next pairs; of a scheduler that reads the states, the next one."""
        if not self._scheduler.blind:
            own = cast(OwnScheduler, self._scheduler)
            self._chance.arcs[:] = ((1, 0), own.choose(self.step, self.view().agents, self._drawn_below, self.topology))
        self._draw(self._number, self._chance, size)
        return size

    def _draw_again(self, made: int, size: int) -> None:
        """Give up what was drawn ahead: the later pairs are drawn again."""
        if made < size:
            self.rng[:] = self._chance.before
            self._draw(self._number, self._chance, made)

    def _drawn_below(self, bound: int) -> int:
        return int(self._below(self.rng, bound))

    def _meet(self, place: int) -> bool:
        """The interaction of a drawn pair; whether it meets the stop."""
        first, second, coin = (int(row[place]) for row in (self._chance.first, self._chance.second, self._chance.coins))
        before = self._codes[first], self._codes[second]
        after = self._after(*before, coin)
        self._codes[first], self._codes[second] = after
        self.step += 1
        return after != before and self._note(before, after)

    def _after(self, first: int, second: int, coin: int) -> tuple[int, int]:
        a, b = self.space.namespace(first), self.space.namespace(second)
        try:
            self.protocol.meet(a, b, coin)
            return self.space.code(a), self.space.code(b)
        except Exception as error:  # in the author's code: said with the two states
            calculated = isinstance(error, InvalidInput) and not isinstance(error, WrongField)
            refuse_interaction(self.protocol, first, second, [coin], error if calculated else None)

    # -- the stop ------------------------------------------------------------------------------------------

    def _marks(self, code: int) -> tuple[bool, ...]:
        """Which of the stop's conditions a state satisfies."""
        if code not in self._marked:
            state, p = checked(self.space.namespace(code)), self.protocol.checked_p
            with authored(f"{self.protocol.id}: a condition of {self.stop.name}"):
                self._marked[code] = tuple(bool(holds(state, p)) for holds in self.stop.conditions)
        return self._marked[code]

    def _note(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Count what two agents that changed satisfy now; whether the stop is met."""
        old, new = [self._marks(code) for code in before], [self._marks(code) for code in after]
        for marks, sign in ((old, -1), (new, 1)):
            for row in marks:
                self._counts += sign * np.array(row, np.int64)
        if self.stop.watch:
            return any(one[0] != other[0] for one, other in zip(old, new, strict=True))
        return (old != new or bool(self.stop.whole)) and self._holds()

    def _holds(self) -> bool:
        if self.stop.conditions and not self.stop.holds(self._counts):
            return False
        if not self.stop.whole:
            return bool(self.stop.conditions)
        states, p = [checked(self.space.namespace(code)) for code in self._codes], self.protocol.checked_p
        with authored(f"{self.protocol.id}: a function of {self.stop.name}"):
            return all(bool(holds(states, p)) for holds in self.stop.whole)

    def counts_hold(self) -> bool:
        return not self.stop.watch and self._holds()

    # -- what it is now ------------------------------------------------------------------------------------

    def configuration(self) -> Configuration:
        return Configuration(self.space, agents=self.space.decode_array(self.space.code_array(self._codes)))

    def last_meeting(self) -> tuple[int, int, int] | None:
        if not self._made:
            return None
        chance, place = self._chance, self._made - 1
        return int(chance.first[place]), int(chance.second[place]), int(chance.coins[place])

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        return self.step, tuple(self._codes), self.rng.copy(), tuple(rows.copy() for rows in self._memory)

    def restore(self, snapshot: Snapshot) -> None:
        self.step, codes, rng, memory = snapshot
        self._take([int(code) for code in codes])
        for part, saved in zip((self.rng, *self._memory), (rng, *memory), strict=True):
            overwrite(part, saved)

    @property
    def remembered(self) -> Any:
        """The rows in which the scheduler keeps its memory, not to be written to."""
        return self._chance.arcs
