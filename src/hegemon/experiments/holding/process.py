"""One protocol on one graph from one start, and a crowd of weighted walkers on it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hegemon.compute.compilation import part, specialize
from hegemon.compute.randomness import stream
from hegemon.compute.records import codec, widened
from hegemon.engines.population.pairs import CODE as TABLE_CODE
from hegemon.engines.population.pairs import LARGEST_TABLE
from hegemon.engines.refusal import refuse_interaction
from hegemon.errors import InvalidInput
from hegemon.exact.instance import fixed_start
from hegemon.experiments.holding import kernels
from hegemon.experiments.holding.kernels import Losses, Sorting, Walkers, WalkTables
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.runs.setting import Start, topology_for

if TYPE_CHECKING:
    from hegemon.process.schedulers.scheduler import Scheduler

MOST_AGENTS = 100_000
MOST_STATES = 2**22
SLICE = 5_000_000  # steps of compiled work between two readings of the clock
MOST_WALKERS = 200_000
MEMORY = 5e8  # bytes for the walkers of one ensemble: the same on every machine, so that results are the same
LEAST = 50  # least walkers in all, per walker of a cell
LOOK, LOOK_AT = 60, 0.4  # the cost of a sample, in steps: LOOK, and LOOK_AT for every agent
STARTERS = 256  # walkers at the beginning of an ensemble
KEPT = 256  # losing meetings that are kept of one ensemble


class Process:
    """The protocol, its graph and its start, checked; kernels are made for one importance at a time by `Crowd`."""

    protocol: PopulationProtocol

    def __init__(
        self, asked: Protocol, graph: Any = None, start: Start = "safe", scheduler: "str | Scheduler | None" = None,
        seed: int = 0,
    ):  # fmt: skip
        protocol = cast(PopulationProtocol, asked)
        if not protocol.model.has_interactions:
            raise InvalidInput(f"{protocol.id} has the model {protocol.model}; holding is for population protocols")
        if not protocol.elects_leader:
            raise InvalidInput(f"{protocol.id} elects no leader, so there is nothing to hold")
        if protocol.n > MOST_AGENTS or protocol.states > MOST_STATES:
            raise InvalidInput(
                f"{protocol.id} with n = {protocol.n} has {protocol.states} states; holding takes at most "
                f"{MOST_AGENTS} agents and {MOST_STATES} states"
            )
        protocol.refuse_coins("its holding is measured by `run --until broken` or computed by `verify` instead")
        protocol.require_sound()
        self.protocol, self.space = protocol, protocol.space
        self.topology = topology_for(protocol, graph, seed)
        self.scheduler = scheduler_for(scheduler, protocol, self.topology)
        if not self.scheduler.memoryless or not self.scheduler.blind:
            raise InvalidInput(
                f"the scheduler {self.scheduler} remembers what has happened or looks at states, and holding begins "
                "anew from configurations alone; use uniform or weighted, or run --until broken, which follows it"
            )
        self.outputs = self._outputs()
        if isinstance(start, str) and start == "safe" and start not in protocol.starts:
            raise InvalidInput(self._without_safe())
        self.start = fixed_start(protocol, start, self.topology)
        leaders = int(self.outputs[self.start].sum())
        if leaders != 1:
            raise InvalidInput(
                f"the start has {leaders} leaders; holding begins with exactly one: give another --start"
            )
        self.in_table = self.space.size <= LARGEST_TABLE
        self.table = np.zeros(self.space.size**2 if self.in_table else 0, np.uint32)
        self.kind = np.uint16 if self.in_table else np.int32

    def _without_safe(self) -> str:
        """What to write where a protocol has no start `safe`: one leader, and followers."""
        which = [self.outputs.argmax(), self.outputs.argmin()]
        leader, follower = (repr(self.space.mapping_of(int(code))) for code in which)
        starts = f"Group(1, {leader}), Group(self.n - 1, {follower})"
        return (
            f"{self.protocol.id} has no start `safe`, with one leader, from which holding is measured; write one in "
            f"its class, `def start_safe(self, rng): return [{starts}]`, or give --start NAME or a .json or .csv file"
        )

    def _outputs(self) -> np.ndarray:
        namespace, holds, output = self.space.namespace, self.protocol.holds, self.protocol.output
        return np.array([holds(output, namespace(code)) for code in range(self.space.size)], np.int8)

    def key(self, seed: int, *path: int) -> np.uint64:
        """The key of the streams below a place in the tree of randomness."""
        return stream(seed, *path)[0]


def no_losses(kept: int, rng: np.ndarray, timed: int = 0) -> Losses:
    """Empty records with room for this many meetings, and for the times of this many losses."""
    numbers, first, clock = np.zeros((3, 1), np.int64)
    return Losses(
        numbers, np.array([-np.inf, 0.0]), np.zeros((kept, 4), np.int64), first, np.zeros(timed, np.int64), clock, rng
    )


class Crowd:
    """The walkers of one ensemble of a process; not to be shared by threads."""

    def __init__(self, process: Process, importance: Any):
        self.process, self.importance = process, importance
        protocol, topology = process.protocol, process.topology
        records = protocol.record_types
        encode, decode, layout = codec(process.space)
        pair, arcs = process.scheduler.compiled(topology)
        made: dict[str, Any] = {"records": records, "allocates": False}
        compute = part(kernels.compute, records, interact=protocol.interact, encode=encode, decode=decode)
        memories: dict[str, Any]
        if process.in_table:
            memories = {"recall": kernels.recall_from_table, "remember": kernels.remember_in_table}
        else:
            memories = {"recall": kernels.recall_nothing, "remember": kernels.remember_nothing}
        cell, cells = importance.compiled(process)
        walk = part(kernels.walk, **made, pair=pair, compute=compute, lose=kernels.lose, **memories)
        self._scatter = specialize(kernels.scatter, **made, walk=walk)
        self._move = specialize(
            kernels.move, records, walk=walk, cell=cell, begin_stream=kernels.begin_stream,
        )  # fmt: skip
        self._stream = specialize(kernels.begin_stream, allocates=False)
        self._divide = specialize(kernels.divide, allocates=False, sort=kernels.sort)
        self._deal = specialize(kernels.deal, allocates=False)
        self.draw_pairs = specialize(kernels.draw_pairs, **made, pair=pair)
        self.start = process.start.astype(process.kind)
        self.model = WalkTables(
            self.start, arcs, process.table, process.outputs, protocol.compiled_p, layout,
            np.zeros(2, widened(process.space.dtype)), cells, np.zeros(2, np.int64),
            TABLE_CODE if process.in_table else MOST_STATES.bit_length(), protocol.n,
        )  # fmt: skip
        bytes_each = 2 * protocol.n * np.dtype(process.kind).itemsize + 200
        self.most = int(np.clip(MEMORY / bytes_each, 1000, MOST_WALKERS))
        self.heartbeat: Callable[[], None] = lambda: None
        self.steps = self.work = 0  # steps of all walks so far; the same plus the cost of samples
        self.merits = np.empty(0)  # the merit of every cell
        self._now = self._then = self._room(0)
        self._sort_room(0)

    def _room(self, size: int) -> Walkers:
        return Walkers(np.empty((size, len(self.start)), self.process.kind), np.empty(size))

    def _sort_room(self, size: int) -> None:
        whole, real = [np.empty(size, np.int64) for _ in range(6)], [np.empty(size) for _ in range(2)]
        slots = np.empty(1 << (2 * size).bit_length(), np.int64)
        keys, names, ends, order, numbers, parents = whole
        self.sorting = Sorting(keys, slots, names, ends, order, real[0], numbers, real[1], parents)

    def begin(self, key: np.uint64, look: int, reach: int) -> None:
        """Place walkers `look` steps before their first sample: at moments of a plain run, spread over `reach` steps
        after at least as many; or all at the start, if that is 0."""
        self.model = self.model._replace(look=look)
        self._key, self.time, self.size, self.cells = key, 0, STARTERS, STARTERS
        if len(self._now.weights) < STARTERS:
            self._now = self._room(STARTERS)
        populations = self._now.populations[:STARTERS]
        if reach:
            rng = stream(int(key), 1)
            before = reach + int(rng[0] % np.uint64(reach))
            self.scatter(rng, before, max(1, reach // STARTERS), populations, no_losses(1, stream(int(key), 2)))
        else:
            populations[:] = self.start
        self._now.weights[:STARTERS] = -np.log(STARTERS)
        self.starters = self._now.populations[:STARTERS].copy()
        self.losses = no_losses(KEPT, stream(int(key), 0))

    def scatter(self, rng: np.ndarray, before: int, gap: int, populations: np.ndarray, losses: Losses) -> None:
        """Configurations of one plain run, `gap` steps apart, the first after `before` and `gap` steps."""
        self.run(self._scatter, self.start.copy(), self.model, rng, before, gap, populations, losses)
        self.steps += before + len(populations) * gap
        self.work += before + len(populations) * gap

    def count_anew(self) -> None:
        self.losses = no_losses(KEPT, self.losses.rng)

    @property
    def lost(self) -> float:
        """The logarithm of the weight that was lost since counting began."""
        top, sum_ = self.losses.weight
        return float(top + np.log(sum_)) if sum_ > 0 else -np.inf

    @property
    def ends(self) -> np.ndarray:
        """Meetings that lost the leader, a sample in proportion to their weights."""
        return self.losses.ends[: min(KEPT, int(self.losses.numbers[0]))]

    def iterate(self, each: int, walkers: int, learns: bool = False) -> None:
        """Make the steps up to the next sample, and draw the walkers of the next iteration."""
        if self.size > len(self.sorting.keys):
            self._sort_room(self.size * 5 // 4)
        first = 0
        slice_ = max(1, SLICE // self.model.look)
        while first < self.size:
            last = min(self.size, first + slice_)
            self.run(
                self._move, self._now, first, last, self.model, self._key, self.time, self.sorting, self.losses, learns
            )
            first = last
        self.steps += self.size * self.model.look
        self.work += self.size * self.cost_of_look
        least, most = LEAST * each, min(walkers, self.most)
        total, self.cells = self._divide(
            self._now, self.size, each, least, most, self.merits, self._key, self.time, self.sorting
        )
        if total > len(self._then.weights) or self._then is self._now:
            self._then = self._room(total * 5 // 4)
        if total > len(self.sorting.parents):
            self.sorting = self.sorting._replace(parents=np.empty(total * 5 // 4, np.int64))
        self._deal(self._now, self._then, self.cells, self._key, self.time, self.sorting)
        self._now, self._then, self.size = self._then, self._now, int(total)
        self.time += 1

    @property
    def cost_of_look(self) -> int:
        """The work of a walker from one sample to the next."""
        return self.model.look + LOOK + int(LOOK_AT * self.process.protocol.n)

    @property
    def populations(self) -> np.ndarray:
        return self._now.populations[: self.size]

    @property
    def weights(self) -> np.ndarray:
        return self._now.weights[: self.size]

    def stream(self, time: int, walker: int) -> np.ndarray:
        """The randomness of a walker in an iteration of this ensemble."""
        rng = np.empty(4, np.uint64)
        self._stream(rng, self._key, time, walker)
        return rng

    def moved(self, populations: np.ndarray, look: int, key: np.uint64, time: int) -> np.ndarray:
        """Move single walkers by `look` steps, in place; returns the cell of each."""
        size = len(populations)
        if size > len(self.sorting.keys):
            self._sort_room(size * 5 // 4)
        walkers, model = Walkers(populations, np.zeros(size)), self.model._replace(look=look)
        losses = no_losses(1, stream(int(key), 0))
        self.run(self._move, walkers, 0, size, model, key, time, self.sorting, losses, False)
        self.steps += size * look
        self.work += size * (look + self.cost_of_look - self.model.look)
        return self.sorting.keys[:size]

    def run(self, kernel: Any, *arguments: Any) -> None:
        self.heartbeat()
        tried = self.model.tried
        try:
            failed = kernel(*arguments)
        except Exception as error:  # in the author's code: said with the two states
            refuse_interaction(self.process.protocol, tried[0], tried[1], [0], error)
        if failed:
            refuse_interaction(self.process.protocol, tried[0], tried[1], [0])
