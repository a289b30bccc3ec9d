"""One protocol on one graph from one start, as the process that splitting works on."""

from typing import Any

import numpy as np

from hegemon.compute.compilation import part, specialize
from hegemon.compute.randomness import stream
from hegemon.compute.records import codec, widened
from hegemon.engines.population.agents import LARGEST_TABLE
from hegemon.engines.refusal import refuse_interaction
from hegemon.errors import InvalidInput
from hegemon.exact.instance import fixed_start
from hegemon.experiments.holding import kernels
from hegemon.experiments.holding.kernels import Clock, Entries, WalkTables
from hegemon.runs.setting import topology_for

MOST_AGENTS = 100_000
MOST_STATES = 2**22
SLICE = 10_000_000  # steps of compiled work between two looks at the clock
LOOKS_PER_TIME = 4  # looks at the importance in one unit of parallel time


class Process:
    """The protocol, its graph and its start, checked; kernels are made for one importance at a time by `Walker`."""

    def __init__(self, protocol, graph=None, start: object = "safe"):
        if protocol.model != "population":
            raise InvalidInput(f"{protocol.id} has the model {protocol.model!r}; holding is for population protocols")
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
        self.topology = topology_for(protocol, graph)
        self.named_start = start if isinstance(start, str) and start in protocol.starts else None
        self.start = fixed_start(protocol, start, self.topology)
        self.outputs = self._outputs()
        leaders = int(self.outputs[self.start].sum())
        if leaders != 1:
            raise InvalidInput(
                f"the start has {leaders} leaders; holding begins with exactly one: give another --start"
            )
        self.in_table = self.space.size <= LARGEST_TABLE
        self.table = np.zeros(self.space.size**2 if self.in_table else 0, np.uint32)
        self.kind = np.uint16 if self.in_table else np.int32
        n = protocol.n
        self.look = n // LOOKS_PER_TIME if n > 16 else 1

    def _outputs(self) -> np.ndarray:
        namespace, p, output = self.space.namespace, self.protocol.p, self.protocol.output
        return np.array([int(output(namespace(code), p)) for code in range(self.space.size)], np.int8)

    def key(self, seed: int, *path: int) -> np.uint64:
        """The key of the streams below a place in the tree of randomness."""
        return stream(seed, *path)[0]


class Walker:
    """Walks of one process under one importance; not to be shared by threads."""

    def __init__(self, process: Process, importance):
        self.process = process
        protocol, topology = process.protocol, process.topology
        records = protocol.record_types
        encode, decode, layout = codec(process.space)
        if topology.is_complete:
            pair, arcs = kernels.pair_complete, np.empty((0, 2), np.int32)
        else:
            pair = kernels.pair_arcs
            arcs = np.stack([topology.sources, topology.targets], axis=1).astype(np.int32)
        made: dict[str, Any] = {"records": records, "allocates": importance.allocates}
        compute = part(kernels.compute, records, interact=protocol.interact, encode=encode, decode=decode)
        memory: dict[str, Any]
        if process.in_table:
            memory = {"recall": kernels.recall_from_table, "remember": kernels.remember_in_table}
        else:
            memory = {"recall": kernels.recall_nothing, "remember": kernels.remember_nothing}
        self.importance, tables = importance.compiled(process)
        walk = part(kernels.walk, **made, pair=pair, compute=compute, importance=self.importance, **memory)
        self.draw_pairs = specialize(kernels.draw_pairs, **made, pair=pair)
        self._steady = specialize(kernels.steady, **made, walk=walk, keep=kernels.keep, copy=kernels.copy)
        self._survey = specialize(kernels.survey, **made, walk=walk, copy=kernels.copy)
        self._stage = specialize(kernels.stage, **made, walk=walk, keep=kernels.keep, begin_clone=kernels.begin_clone)
        self._heights = specialize(kernels.heights, **made, walk=walk, begin_clone=kernels.begin_clone)
        self.model = WalkTables(
            arcs, process.table, process.outputs, protocol.compiled_p, layout,
            np.zeros(2, widened(process.space.dtype)), tables, np.zeros(1, np.int64), process.look,
        )  # fmt: skip
        self.heartbeat = lambda: None
        self.steps = 0  # of all walks so far

    def entries(self, size: int) -> Entries:
        n = len(self.process.start)
        return Entries(np.empty((size, n), self.process.kind), np.empty(size), np.full((size, 4), -1, np.int64))

    def steady(self, rng, low: float, high: float, burn: int, steps: int, entries: Entries) -> tuple[int, int]:
        """How many entries, and losses, in so many steps after the first `burn` of the restarted process."""
        population, clock = self._begin(rng)
        start = self.process.start.astype(self.process.kind)
        for until in (burn, burn + steps):
            clock.at[3] = clock.at[4] = 0
            while clock.at[0] < until:
                self._run(self._steady, population, start, self.model, clock, low, high, until, entries, clock=clock)
        self.steps += burn + steps
        return int(clock.at[3]), int(clock.at[4])

    def survey(self, rng, looks: int) -> tuple[np.ndarray, int, int]:
        """The importance at so many looks of the restarted process, how many losses, and in how many steps."""
        population, clock = self._begin(rng)
        start, values = self.process.start.astype(self.process.kind), np.empty(looks)
        while clock.at[3] < looks:
            self._run(self._survey, population, start, self.model, clock, values, clock=clock)
        self.steps += int(clock.at[0])
        return values, int(clock.at[4]), int(clock.at[0])

    def stage(self, key, number: int, low: float, high: float, before: Entries, size: int, clones: int):
        """Entries of the next stage, how many, and whose clones they are."""
        population, clock = self._begin(np.zeros(4, np.uint64))
        after, parents = self.entries(clones), np.empty((clones, 3), np.int64)
        while clock.at[2] < clones:
            self._run(
                self._stage, population, self.model, clock, low, high, key, number, before, size, after, parents,
                clock=clock,
            )  # fmt: skip
        self.steps += int(clock.at[6])
        rose = int(clock.at[3])
        return after, rose, parents[:rose]

    def heights(self, key, number: int, low: float, before: Entries, size: int, clones: int) -> np.ndarray:
        """The largest importance that each clone sees before it falls."""
        population, clock = self._begin(np.zeros(4, np.uint64))
        highest = np.empty(clones)
        while clock.at[2] < clones:
            self._run(
                self._heights, population, self.model, clock, low, key, number, before, size, highest, clock=clock
            )
        self.steps += int(clock.at[6])
        return highest

    def _begin(self, rng) -> tuple[np.ndarray, Clock]:
        clock = Clock(np.zeros(8, np.int64), rng, np.full(4, -1, np.int64))
        return self.process.start.astype(self.process.kind), clock

    def _run(self, kernel, *arguments, clock: Clock) -> None:
        self.heartbeat()
        try:
            failed = kernel(*arguments, SLICE)
        except Exception as error:
            refuse_interaction(self.process.protocol, clock.last[0], clock.last[1], [0], error)
        if failed:
            refuse_interaction(self.process.protocol, clock.last[0], clock.last[1], [0])
